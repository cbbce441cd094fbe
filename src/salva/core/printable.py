"""Foreign text made safe to print: what moves a cursor, colours a terminal or turns writing round is escaped."""

from __future__ import annotations

import json
import re

_UNSEEN = re.compile(
    # Controls but line break and tab; deleted; C1 controls; marks, embeddings and isolates of direction; what has no
    # width and joins nothing; line and paragraph separators; lone surrogates; what is no character; tags.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    """The text with control characters and marks of direction as escapes, such as \\x1b and \\u202e."""
    return _UNSEEN.sub(_escaped, text) if _UNSEEN.search(text) else text


def printable_json(value: object, indent: int | None = None, *, allow_nan: bool = False) -> str:
    """A value as JSON that can be printed: the same characters as JSON's own escapes, so that nothing is lost."""
    return _UNSEEN.sub(_in_json, json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=allow_nan))


def _in_json(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1] if match[0] != "\x7f" else "\\u007f"


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
