"""What a component would contact, open or run by its options: what a stranger's run may name and not decide.

A run directory is data. Whoever takes a component from run.json asks here first; what is named on the command line or
in the user's own configuration is the user's choice and is not asked about.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from salva.core.about import about_of, options_of
from salva.core.fingerprint import Json
from salva.core.options import as_typed, default_options, fields_of, target_field
from salva.core.run_spec import ComponentSpec
from salva.registry import load

_OURS = "salva."


def reached_options(asked: ComponentSpec) -> list[str]:
    """The options besides its name with which a run sends a component outside."""
    options_class = options_of(load(asked.role, (asked.typed or asked.name).partition("/")[0]))
    fields = fields_of(options_class)
    return [
        name
        for name, value in asked.options.items()
        if name in fields
        and fields[name].metadata.get("reaches") in ("file", "endpoint")
        and as_typed(value) not in (*_nowhere(fields[name]), as_typed(default_options(options_class).get(name)))
    ]


def reached_by(asked: ComponentSpec) -> list[str]:
    """What a component reaches outside the run and salva itself, in words; empty for one that reaches nothing.

    Of a component that is not salva's nobody knows what its texts mean, so each of them counts off its default.
    """
    name, _, target = (asked.typed or asked.name).partition("/")
    component = load(asked.role, name)
    is_ours = component.__module__.startswith(_OURS)
    options_class = options_of(component)
    about = about_of(component)
    target = target or str(asked.options.get(str(target_field(options_class)), about.default_target))
    options = {**asked.options, **({str(target_field(options_class)): target} if target else {})}
    reached = []
    for field in dataclasses.fields(options_class):
        value: Json = options.get(field.name, None if field.default is dataclasses.MISSING else field.default)
        is_foreign = not is_ours and isinstance(value, str | list) and value != field.default
        if (field.metadata.get("reaches") or is_foreign) and as_typed(value) not in _nowhere(field):
            reached.append(f"{asked.role}.{field.name} {as_typed(value)!r}")
    if not reached and about.is_remote:
        reached.append(f"the endpoint of {asked.name}")
    return reached


def _nowhere(field: dataclasses.Field[Any]) -> tuple[str, ...]:
    """Values of an option that name nothing outside."""
    return ("", "none", *field.metadata.get("keywords", ()))
