"""What went wrong inside a component, in words that are safe to print and to store."""

from __future__ import annotations

import os

from salva.errors import SalvaError

_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_SHORTEST_SECRET = 6


def redact(text: str) -> str:
    """The text without the value of any variable that is named like a secret."""
    for name, value in os.environ.items():
        if name.upper().endswith(_SECRET_NAMES) and len(value) >= _SHORTEST_SECRET and value in text:
            text = text.replace(value, f"[{name}]")
    return text


def described(error: BaseException) -> str:
    """Type and message of an exception, safe to store; never a traceback, which may hold arguments."""
    text = str(error) if isinstance(error, SalvaError) else f"{type(error).__name__}: {error}"
    return redact(text)[:2000]
