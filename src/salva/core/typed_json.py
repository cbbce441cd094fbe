"""JSON values checked by type: each value of the kind it should have, or a ValueError that says where."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from salva.core.fingerprint import Json

_WANTED = {dict: "an object", list: "a list", str: "a text", int: "a whole number", bool: "true or false"}
_T = TypeVar("_T")


def parsed_json(text: str) -> Json:
    """What a JSON text says; NaN and numbers beyond all bounds, which salva never writes, are a ValueError."""
    return cast(Json, _DECODER.decode(text))


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is no number")
    return number


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)


def as_object(value: Json, what: str) -> dict[str, Json]:
    """The value, which is an object; what: how a person would call it."""
    if not isinstance(value, dict):
        raise ValueError(f"{what} is {shortened(value)}, where an object was expected")
    return value


def entry(content: Mapping[str, Json], key: str, kind: type[_T], default: _T | None = None) -> _T:
    """What stands under a key; a default is taken where nothing does."""
    if key not in content and default is not None:
        return default
    value: Any = content.get(key)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        state = f"is {shortened(value)}" if key in content else "is missing"
        raise ValueError(f"{key!r} {state}, where {_WANTED[kind]} was expected")
    return value


def shortened(value: Json) -> str:
    """A value as JSON, cut for a message."""
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
