"""Records checked by their annotations: every field holds what its annotation says, all the way down, or a ValueError
says which does not. Annotations are read once a class."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any, ForwardRef, TypeVar, get_args, get_origin, get_type_hints

_T = TypeVar("_T")
_Test = Callable[[Any], bool]


def checked(record: _T) -> _T:
    """The record itself, a dataclass whose fields were found to hold what they are for."""
    kind: Any = type(record)
    for name, is_right in _tests(kind):
        if not is_right(getattr(record, name)):
            raise ValueError(f"{name!r} is {repr(getattr(record, name))[:60]}, which is not what stands there")
    return record


@functools.cache
def _tests(kind: type[Any]) -> tuple[tuple[str, _Test], ...]:
    hints = get_type_hints(kind)
    return tuple((field.name, _test_of(hints[field.name])) for field in dataclasses.fields(kind))


def _test_of(hint: Any) -> _Test:
    parts, origin = get_args(hint), get_origin(hint)
    if origin is Mapping or origin is dict:
        is_key, is_value = map(_test_of, parts)
        return lambda value: (
            isinstance(value, Mapping) and all(map(is_key, value)) and all(map(is_value, value.values()))
        )
    if (origin is tuple and parts[1:] == (...,)) or origin is list:
        kind, is_part = origin, _test_of(parts[0])
        return lambda value: isinstance(value, kind) and all(map(is_part, value))
    if origin is tuple:
        tests = tuple(map(_test_of, parts))
        return lambda value: (
            isinstance(value, tuple)
            and len(value) == len(tests)
            and all(is_right(part) for is_right, part in zip(tests, value, strict=True))
        )
    if parts:
        others = tuple(_test_of(part) for part in parts if part is not NoneType)
        is_first, may_be_none = others[0], NoneType in parts
        if len(others) == 1:
            return lambda value: value is None or is_first(value)
        return lambda value: (value is None and may_be_none) or any(is_it(value) for is_it in others)
    return _plain_test_of(hint)


def _plain_test_of(hint: Any) -> _Test:
    if isinstance(hint, ForwardRef):
        # JSON within JSON: its reader checks it.
        return lambda _: True
    if dataclasses.is_dataclass(hint):
        kind: Any = hint
        return lambda value: isinstance(value, kind) and checked(value) is value
    if hint is float:
        return _is_number
    if hint in (int, str, bool):
        return lambda value: type(value) is hint
    return lambda value: isinstance(value, hint)


def _is_number(value: Any) -> bool:
    kind = type(value)
    # Of infinity and NaN the difference from themselves is none: every row has many numbers, and this is soon told.
    return (kind is float or kind is int) and value - value == 0
