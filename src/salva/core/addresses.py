"""Endpoint addresses as keys know them: where an answer came from, less what changes without changing that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from salva.core.fingerprint import Json

LABEL = "endpoint"
"""The option with which a user names an endpoint, in place of its address."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_USUAL_PORTS = {"http": 80, "https": 443}
_BEGINNINGS = ("http://", "https://")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyUse:
    """The key that a component sends, and where: what a class method `key_use(options)` says, for those that do."""

    url: str
    defaults: tuple[str, ...]
    """The variables of the default key."""
    option: str
    """The option that names another."""
    own_url: str = ""
    """Of the provider; empty where there is none."""
    variable: str = ""
    """The variable that the user names instead, or none."""


def plain_address(url: str) -> str:
    """Scheme, host and path of a URL, without the port on loopback, where one server has another every day."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return url
    scheme = parts.scheme.lower()
    is_said = port is not None and port != _USUAL_PORTS.get(scheme) and host not in _LOOPBACK
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}{f':{port}' if is_said else ''}{parts.path.rstrip('/')}"


def plain_words(words: Mapping[str, Json]) -> dict[str, Json]:
    """What the user chose, with addresses as keys know them, and without those that have a label."""
    labelled = {key.partition(".")[0] for key in words if key.partition(" of ")[0].endswith(f".{LABEL}")}
    plain: dict[str, Json] = {}
    for key, value in words.items():
        if not isinstance(value, str) or not value.startswith(_BEGINNINGS):
            plain[key] = value
        elif key.partition(".")[0] not in labelled:
            plain[key] = plain_address(value)
    return plain
