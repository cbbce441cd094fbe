"""Addresses of endpoints: options are stored with a run and named in messages, so no password may be in them."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

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


def shown(url: str) -> str:
    """An address for messages: without password and without query, which may be a signature."""
    return _PASSWORD.sub("", url).partition("?")[0]
