"""Addresses of endpoints: options are stored with a run and named in messages, so no password may be in them.

An address that an endpoint names in its answer is somebody else's word: it must not send this machine to servers that
only this machine can reach.
"""

from __future__ import annotations

import re
import socket
from ipaddress import IPv6Address, ip_address
from urllib.parse import parse_qsl, urlsplit

from salva.core.secrets import SECRET_PARAMETER, redact

_PASSWORD = re.compile(r"(?<=//)[^/?#]*@")


def check_url(option: str, url: str, instead: str) -> None:
    """Refuse an option that holds a password; ValueError does not repeat it.

    instead: where the password may stand.
    """
    if _PASSWORD.search(url):
        raise ValueError(f"{option} holds a user or password, and options are stored with the run; {instead}")
    _, _, query = url.partition("?")
    named = [name for name, _ in parse_qsl(query, keep_blank_values=True) if SECRET_PARAMETER.search(name)]
    if named or redact(url) != url:
        what = f"what looks like a key ({named[0]}=...)" if named else "a key of yours"
        raise ValueError(f"{option} holds {what}, and options are stored with the run; {instead}")


def strange_network(url: str, endpoint: str) -> str:
    """The network that a URL leads to if an endpoint has no business naming it; empty where it may.

    An endpoint may name what is public and what is on the same kind of network as itself, such as loopback. A name that
    nobody knows here leads nowhere from here.
    """
    allowed = {_PUBLIC, *_networks_of(endpoint)}
    return next((network for network in _networks_of(url) if network not in allowed), "")


_PUBLIC = "public"


def _networks_of(url: str) -> list[str]:
    host = (urlsplit(url).hostname or "").rstrip(".")
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [_network_of(str(address[0])) for *_, address in found]


def _network_of(address: str) -> str:
    ip = ip_address(address)
    if isinstance(ip, IPv6Address):
        ip = ip.ipv4_mapped or ip.sixtofour or ip
    if ip.is_loopback or ip.is_unspecified:
        return "loopback"
    if ip.is_link_local:
        return "link-local"
    return _PUBLIC if ip.is_global and not ip.is_multicast else "private"


def shown(url: str) -> str:
    """An address for messages: without password and without query, which may be a signature."""
    return _PASSWORD.sub("", url).partition("?")[0]
