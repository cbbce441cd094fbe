"""Addresses of endpoints: options are stored with a run and named in messages, so no password may be in them.

An address that an endpoint names in its answer is somebody else's word: it must not send this machine to servers that
only this machine can reach.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import parse_qsl, urlsplit
from urllib.request import getproxies, proxy_bypass

from salva.core.secrets import SECRET_PARAMETER, redact
from salva.messages import message

_PASSWORD = re.compile(r"(?<=//)[^/?#]*@")


def check_url(option: str, url: str, instead: str) -> None:
    """Refuse an option that holds a password; ValueError does not repeat it.

    instead: where the password may stand.
    """
    if _PASSWORD.search(url):
        raise ValueError(message("url-holds-secret", option=option, what="a user or password", instead=instead))
    _, _, query = url.partition("?")
    named = [name for name, _ in parse_qsl(query, keep_blank_values=True) if SECRET_PARAMETER.search(name)]
    if named or redact(url) != url:
        what = f"what looks like a key ({named[0]}=...)" if named else "a key of yours"
        raise ValueError(message("url-holds-secret", option=option, what=what, instead=instead))


def strange_network(url: str, endpoint: str) -> str:
    """The network that a URL leads to if an endpoint has no business naming it; empty where it may.

    An endpoint may name what is public and what is on the same kind of network as itself, such as loopback. A name that
    nobody knows here leads nowhere from here. A name that means another address when it is asked for again is not seen.
    """
    strange = [network for network in _networks_of(url) if network != _PUBLIC]
    allowed = set(_networks_of(endpoint)) if strange else set()
    return next((network for network in strange if network not in allowed), "")


def expiry_of(url: str, said: Mapping[str, object]) -> float | None:
    """When a signed URL ends, in seconds since 1970: as the answer says, or the URL; None where neither does."""
    for name in ("expires_at", "expires"):
        if isinstance(when := said.get(name), int | float):
            return float(when)
    query = {name.lower(): value for name, value in parse_qsl(urlsplit(url).query)}
    try:
        if "se" in query:  # Azure
            return datetime.fromisoformat(query["se"]).timestamp()
        if "expires" in query:  # CloudFront, and S3 before its fourth version
            return float(query["expires"])
        for cloud in ("x-amz", "x-goog"):
            if f"{cloud}-expires" in query:
                signed = datetime.strptime(query[f"{cloud}-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
                return signed.timestamp() + float(query[f"{cloud}-expires"])
    except (ValueError, KeyError, OverflowError):
        pass
    return None


def server_of(url: str) -> str:
    """Scheme, host and port of a URL; empty for what is none."""
    try:
        parts = urlsplit(url.strip())
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return ""
    scheme = parts.scheme.lower()
    shown_host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown_host}:{port or _USUAL_PORTS.get(scheme, 0)}" if host else ""


def is_own_network(url: str) -> bool:
    """Whether a URL leads to this machine or a private network, and nowhere else."""
    networks = _networks_of(url)
    return bool(networks) and _PUBLIC not in networks


_USUAL_PORTS = {"http": 80, "https": 443}
_PUBLIC, _LOOPBACK = "public", "loopback"
_GLOBAL = IPv6Network("2000::/3")


def _networks_of(url: str) -> tuple[str, ...]:
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    if (address := _literal(host)) is not None:
        return (_network_of(address),)
    if host == "localhost" or host.endswith(".localhost"):
        return (_LOOPBACK,)
    if parts.scheme in getproxies() and not proxy_bypass(host):
        # The proxy resolves names, and this machine may not.
        return ()
    try:
        return _looked_up(host)
    except (OSError, UnicodeError):
        return ()


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host is in figures, one number or hexadecimal ones included; None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))
    except (OSError, UnicodeError):
        return None


@lru_cache(maxsize=256)  # an image each is fetched from the same few hosts, and a lookup may take seconds
def _looked_up(host: str) -> tuple[str, ...]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(_network_of(ip_address(address[0])) for *_, address in found))


def _network_of(ip: IPv4Address | IPv6Address) -> str:
    if isinstance(ip, IPv6Address):
        ip = ip.ipv4_mapped or ip.sixtofour or ip
    if ip.is_loopback or ip.is_unspecified:
        return _LOOPBACK
    if ip.is_link_local:
        return "link-local"
    is_own = ip.is_multicast or (isinstance(ip, IPv6Address) and ip not in _GLOBAL)
    return _PUBLIC if ip.is_global and not is_own else "private"


def shown(url: str) -> str:
    """An address for messages: without password and without query, which may be a signature."""
    return _PASSWORD.sub("", url).partition("?")[0]
