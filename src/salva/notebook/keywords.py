"""Keywords of salva.run_suite.

A keyword that does not exist and a value of another kind are named, with what was meant where that is clear.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict

from salva.core.options import as_typed
from salva.core.secrets import cut
from salva.engine.budget import Limits
from salva.errors import UsageError, unknown_name
from salva.messages import message

RETRY = ("refused", "unreadable", "unknown")
Setting = str | int | float | bool | None | Iterable[str | int | float]
"""What an option can be set to."""


Size = Literal["quick", "paper", "full", "beyond"] | int | str
Counts = Literal["exact", "at-least"]


class RunFlags(TypedDict, total=False):
    """What else a run can be asked for, as the flags of `salva run`."""

    path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
    detector: str | Iterable[str]
    reader: str
    embedder: str
    judge: str | Iterable[str]
    size: Size
    repeats: int
    seed: int
    control: bool
    only: str | Iterable[str] | Mapping[str, str | int]
    shard: str
    check: str
    counts: Counts
    published: bool


OTHERS = (
    *("suite", "model", "name", "version", "out", "settings", "executor", "progress", "images"),
    *("max_images", "max_cost", "retry"),
)
"""The keywords that are no flags of a run's specification."""
_FIELDS = {"judge": "judges"}
"""What a keyword is called in the specification, where that is another name."""


def read_suite(suite: object) -> str:
    """The suite's name."""
    return _text("suite", suite)


def read_out(out: object) -> Path | None:
    """The directory that a run shall have, where one is named."""
    if out is not None and not isinstance(out, str | os.PathLike):
        raise keyword_invalid("out", out, "a text or a path")
    return None if out is None else Path(out)


def read_flags(flags: Mapping[str, object]) -> dict[str, Any]:
    """Every flag that is given, as an ask takes it; None is as good as not given."""
    read: dict[str, Any] = {}
    for name, value in flags.items():
        if name not in _READERS:
            raise unknown_name("keyword of run_suite", name, {*_READERS, *OTHERS})
        if value is not None:
            read[_FIELDS.get(name, name)] = _READERS[name](name, value)
    return read


def read_limits(max_images: object, max_cost: object) -> Limits:
    """The limits of a call."""
    if max_images is not None and _whole("max_images", max_images) < 1:
        raise keyword_invalid("max_images", max_images, "1 or more")
    if max_cost is not None and (not isinstance(max_cost, int | float) or isinstance(max_cost, bool) or max_cost < 0):
        raise keyword_invalid("max_cost", max_cost, "a number of USD")
    return Limits(max_images=max_images, max_cost_usd=max_cost)  # type: ignore[arg-type]  # checked above


def read_retry(retry: object) -> tuple[str, ...]:
    """What is asked again."""
    texts = _texts("retry", retry)
    for text in texts:
        if text not in RETRY:
            raise keyword_invalid("retry", text, " or ".join(RETRY))
    return texts


def read_settings(settings: object) -> dict[str, str]:
    """Options by ROLE.OPTION, each as --set takes it."""
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise keyword_invalid("settings", settings, "a mapping such as {'model.steps': 20}")
    read = {}
    for key, value in settings.items():
        plain = list(value) if isinstance(value, tuple | set | frozenset) else value
        if not isinstance(key, str):
            raise keyword_invalid("settings", key, "a mapping with texts such as 'model.steps' as keys")
        if not isinstance(plain, str | int | float | list | None):
            raise keyword_invalid(f"settings[{key!r}]", value, "a text, a number, True or False, or a list")
        read[key] = as_typed(plain)
    return read


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise keyword_invalid(name, value, "a text")
    return value


def _texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    listed = tuple(value) if isinstance(value, Iterable) else (value,)
    if not all(isinstance(word, str) for word in listed):
        raise keyword_invalid(name, value, "a text or a list of texts")
    return listed


def _one(name: str, value: object) -> str:
    texts = _texts(name, value)
    if len(texts) != 1:
        raise keyword_invalid(name, value, "one text")
    return texts[0]


def _paths(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str | os.PathLike):
        return (os.fspath(value),)
    listed = tuple(value) if isinstance(value, Iterable) else (value,)
    if not all(isinstance(path, str | os.PathLike) for path in listed):
        raise keyword_invalid(name, value, "a path or a list of paths")
    return tuple(os.fspath(path) for path in listed)


def _labels(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, Mapping):
        return tuple(f"{label}={wanted}" for label, wanted in value.items())
    texts = _texts(name, value)
    for text in texts:
        if "=" not in text:
            raise keyword_invalid(name, text, "LABEL=VALUE, as in 'law=numbering'")
    return texts


def _size(name: str, value: object) -> str:
    return value if isinstance(value, str) else str(_whole(name, value, "a named size or a whole number"))


def _whole(name: str, value: Any, wanted: str = "a whole number") -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise keyword_invalid(name, value, wanted) from None


def _truth(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise keyword_invalid(name, value, "True or False")
    return value


def keyword_invalid(name: str, value: object, wanted: str) -> UsageError:
    """The error for a keyword with a value it cannot take."""
    shown = cut(repr(value), 80)
    return UsageError(message("keyword-invalid", name=name, value=shown, kind=a_kind(value), wanted=wanted))


def a_kind(value: object) -> str:
    """The type of a value, with its article."""
    kind = type(value).__name__
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"


_READERS: Mapping[str, Callable[[str, Any], object]] = {
    "path": _paths,
    "detector": _one,
    "reader": _text,
    "embedder": _text,
    "judge": _texts,
    "size": _size,
    "repeats": _whole,
    "seed": _whole,
    "control": _truth,
    "only": _labels,
    "shard": _text,
    "check": _text,
    "counts": _text,
    "published": _truth,
}
