"""The `salva run` line of a specification, and the line that generates one case of a run again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from msgspec import structs

from salva.core.case import Case
from salva.core.options import as_typed
from salva.core.python_objects import FUNCTION, PIPELINE
from salva.core.run_spec import CONTRAST, NOBODY, OFF, PREFLIGHT, ComponentSpec, RunSpec


def words_of(spec: RunSpec) -> list[str]:
    """A specification as `salva run` takes it, without quotes."""
    words = ["salva", "run", spec.suite.name]
    for model in spec.models:
        words += ["--model", model.text]
    for observer in spec.observers:
        words += [f"--{observer.role}", observer.text]
    for name, flag in spec.plain_flags().items():
        if isinstance(flag, bool):
            words += [_flag(name)] if flag else []
        elif flag != "":
            words += [_flag(name), str(flag)]
    for name, value in spec.only:
        words += ["--only", f"{name}={value}"]
    for setting in dict.fromkeys(_settings(spec)):
        words += ["--set", setting]
    return words


def has_python_objects(models: Iterable[ComponentSpec]) -> bool:
    """Whether a Python program handed over one of these models, so that no shell can name it."""
    return any(model.typed.partition("/")[0] in (FUNCTION, PIPELINE) for model in models)


def command_for(case: Case, model: str, chosen: RunSpec) -> str:
    """`salva run` narrowed to one case and model, quoted for a shell; empty where no shell can generate its images.

    chosen: what was asked, of the whole suite and without defaults.
    """
    if chosen.imported or not chosen.size:
        return ""
    generators = tuple(component for component in chosen.models if component.name == model)
    if has_python_objects(generators):
        return ""
    # A role that was left empty must be named too: the command line has default observers.
    roles = {observer.role for observer in chosen.observers}
    empty = [role for role in ("detector", "reader") if role not in roles]
    for role in empty:
        chosen = chosen.with_observers(role, [NOBODY])
    narrowed = structs.replace(
        chosen, suite=structs.replace(chosen.suite, name=case.suite), models=generators, only=tuple(case.labels.items())
    )
    words = words_of(structs.replace(narrowed, check=""))
    return shlex.join(words if generators else [*words[:3], "--model", model, *words[3:]])


def _flag(field: str) -> str:
    return f"--{field.replace('_', '-')}"


def _settings(spec: RunSpec) -> Iterator[str]:
    yield from (f"{name}={value}" for name, value in spec.settings.items())
    for component in spec.components():
        yield from (f"{component.prefix}.{option}={as_typed(value)}" for option, value in component.options.items())
    yield from (
        f"{name}={OFF}" for name, is_on in ((PREFLIGHT, spec.preflight), (CONTRAST, spec.contrast)) if not is_on
    )
