"""What `model=` of salva.run_suite may be: names, functions, pipelines, several of them; to what an ask takes.

What has no text is called by a name and handed over; which one of that name it is, the caller says with version=.
Nothing is loaded and nothing is called.
"""

from __future__ import annotations

import functools
import inspect
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from salva.core.python_objects import FUNCTION, PIPELINE, Batched
from salva.core.run_spec import ROLES, split_name
from salva.errors import UsageError, unknown_name
from salva.messages import message
from salva.notebook.keywords import keyword_invalid

OneModel = str | Callable[..., object] | Batched
Model = OneModel | Iterable[OneModel] | Mapping[str, OneModel]
"""What can be tested: a name, a pipeline or a function; several of them, or names to them."""
Version = str | int | Mapping[str, str | int] | None
"""Which one of its name a model is; by name where there are several."""
_LAZY = (inspect.iscoroutinefunction, inspect.isasyncgenfunction, inspect.isgeneratorfunction)
_WANTED = (
    "a name such as 'pocket', a function (prompt, seed) -> picture, salva.batched(function) or a diffusers pipeline"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Models as an ask takes them, and what stands behind those that are handed over."""

    texts: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    """Which version each is that is handed over."""
    things: Mapping[str, object] = field(default_factory=dict)
    one_off: tuple[str, ...] = ()
    """Those of which nobody said which version they are."""

    @property
    def note(self) -> str:
        """What whoever gave no version should hear."""
        return (
            f"without version= nobody can tell whether {', '.join(self.one_off)} is what it was: nothing that is "
            "stored is used again, and a run that is interrupted does not go on"
        )

    @property
    def shown(self) -> str:
        """As somebody would write them in a call."""
        words = [split_name(text)[0] if split_name(text)[0] in self.things else repr(text) for text in self.texts]
        return words[0] if len(words) == 1 else f"[{', '.join(words)}]"


def read_models(model: object, name: str, version: Version) -> Models:
    """What was given, checked."""
    listed = list(_each(model, name))
    if not listed and model != ():
        raise keyword_invalid("model", model, _WANTED)
    texts: list[str] = []
    things: dict[str, object] = {}
    for called, painter in listed:
        if isinstance(painter, str):
            texts.append(f"{called}={painter}" if called else painter)
            continue
        kind = _kind(painter)
        called = called or _own_name(painter)
        texts.append(f"{called}={kind}/{called}")
        if not split_name(texts[-1])[0]:
            raise keyword_invalid("name", called, "letters, digits, dots, dashes and underscores")
        if called in things:
            raise keyword_invalid("name", called, "another for each model: model={'first': ..., 'second': ...}")
        things[called] = painter
    versions = _versions(version, things)
    one_off = [called for called in things if called not in versions]
    settings = {f"{called}.version": versions.get(called) or f"one-off-{secrets.token_hex(8)}" for called in things}
    return Models(texts=tuple(texts), settings=settings, things=things, one_off=tuple(one_off))


def _each(model: object, name: str) -> Iterator[tuple[str, object]]:
    """Every model with the name it is given, empty for none."""
    if not isinstance(name, str):
        raise keyword_invalid("name", name, "a text")
    if isinstance(model, Mapping):
        if name:
            raise UsageError(message("options-conflict", first="name=", second="model=", why="model= holds the names"))
        for called, painter in model.items():
            if not isinstance(called, str) or not called:
                raise keyword_invalid("model", model, "a mapping from names to models")
            yield called, painter
    elif isinstance(model, str) or _is_thing(model):
        yield name, model
    elif isinstance(model, Iterable):
        several = list(model)
        if name and len(several) != 1:
            raise keyword_invalid("name", name, f"left out with {len(several)} models; name them: model={{NAME: ...}}")
        yield from ((name, painter) for painter in several)
    else:
        raise keyword_invalid("model", model, f"{_WANTED}, or several of these")


def is_function(one: object) -> bool:
    """Whether something that was handed over is called with prompts and seeds, and is no pipeline."""
    return _kind(one) == FUNCTION


def _is_thing(one: object) -> bool:
    return isinstance(one, Batched) or callable(one)


def _kind(one: object) -> str:
    """The generator that plays it; refuses what cannot be one."""
    if isinstance(one, type):
        raise keyword_invalid("model", one, f"{_WANTED}, or a plugin that --plugin FILE:CLASS names")
    if _is_a(one, "diffusers", "DiffusionPipeline"):
        return PIPELINE
    if _is_a(one, "torch", "Module"):
        # It can be called, and takes numbers: whatever it is given, it paints nothing of a prompt.
        raise keyword_invalid("model", one, "the pipeline of this module, or a function that calls it")
    if not _is_thing(one):
        raise keyword_invalid("model", one, _WANTED)
    function, given = (one.call, ([], [])) if isinstance(one, Batched) else (one, ("", 0))
    wanted = "(prompts, seeds)" if isinstance(one, Batched) else "(prompt, seed)"
    # Of an object that is called as a function its method counts.
    if any(is_lazy(one) for is_lazy in _LAZY for one in (function, type(function).__call__)):
        raise keyword_invalid("model", one, "a function that returns the image, not a coroutine or a generator")
    try:
        signature = inspect.signature(function)  # type: ignore[arg-type]  # it is callable
    except ValueError:
        return FUNCTION  # built in, and says nothing of itself
    try:
        signature.bind(*given)
    except TypeError as error:
        raise keyword_invalid(
            "model", one, f"callable as {wanted}, and {_own_name(one)}{signature} is not: {error}"
        ) from None
    return FUNCTION


def _is_a(one: object, library: str, kind: str) -> bool:
    """Whether a thing is of a library's class, without the library being imported for it."""
    return any(k.__name__ == kind and k.__module__.partition(".")[0] == library for k in type(one).__mro__)


def _own_name(one: object) -> str:
    """What a thing is called where nobody says."""
    bare: Any = one.call if isinstance(one, Batched) else one
    while isinstance(bare, functools.partial):
        bare = bare.func
    said = str(getattr(bare, "__name__", type(bare).__name__))
    plain = re.sub(r"[^A-Za-z0-9.-]+", "-", said).strip("-.")
    if said == "<lambda>" or not plain:
        return "function"
    return f"my-{plain}" if plain in ROLES else plain


def _versions(version: Version, things: Mapping[str, object]) -> dict[str, str]:
    """Name to version, as far as they are said."""
    if version is None:
        return {}
    if not things:
        raise UsageError(message("version-invalid", version=version, why="model= has a version of its own"))
    given = version if isinstance(version, Mapping) else dict.fromkeys(things, version)
    for called, said in given.items():
        if called not in things:
            raise unknown_name("model that is handed over", str(called), things)
        if not isinstance(said, str | int) or isinstance(said, bool) or said == "":
            raise UsageError(message("version-invalid", version=said, why="give a text or a whole number"))
    return {called: str(said) for called, said in given.items()}
