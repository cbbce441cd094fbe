"""Text that users or other programs wrote, decoded into a Struct; what does not fit is an error with file and place."""

from __future__ import annotations

from typing import Literal, TypeVar

import msgspec

from salva.errors import SalvaError, UsageError
from salva.messages import message

_T = TypeVar("_T")


def converted(value: object, kind: type[_T]) -> _T:
    """The record that a part of a file holds; the error names the field."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.MsgspecError, RecursionError) as problem:
        where, why = _place_and_reason(problem)
        raise UsageError(message("entry-invalid", where=where, why=why)) from problem


def decoded(
    text: str,
    kind: type[_T],
    path: object,
    form: Literal["json", "toml"] = "json",
    error: type[SalvaError] = UsageError,
) -> _T:
    """The record that a text holds; path: the file it is from."""
    try:
        if form == "toml":
            return msgspec.toml.decode(text, type=kind)
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, RecursionError) as problem:
        where, why = _place_and_reason(problem)
        raise error(message("file-invalid", path=str(path), where=where, why=why)) from problem


def _place_and_reason(problem: Exception) -> tuple[str, str]:
    why, _, place = str(problem).partition(" - at `")
    return place.rstrip("`").removeprefix("$.") or "as a whole", why
