"""No stored picture or look is made again because a component gained an option."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from salva.core.fingerprint import fingerprint
from salva.core.options import NoOptions, option, parse_options, target_field
from salva.core.spec import Binding
from salva.registry import load
from salva.testing.specs import bound

TABLE: dict[str, list[str]] = json.loads((Path(__file__).parent / "component_ids.json").read_text())
"""Role and name to version and component id, at default options and without weights, as version 0.1.0 had them."""


def component_id(binding: Binding) -> str:
    return fingerprint([binding.role, binding.identity()])


@pytest.mark.parametrize("name", TABLE)
def test_the_ids_of_version_0_1_0_are_still_the_ids(name: str) -> None:
    role, _, label = name.partition(" ")
    version, stored = TABLE[name]
    component = load(role, label.partition("/")[0])
    assert str(component.version) == version, "its work is made again now; on purpose? then take it out of the table"
    options_class = getattr(component, "Options", NoOptions)
    given = {str(target_field(options_class)): "x"} if "/" in label else {}
    binding = Binding(role=role, label=label, component=component, options=parse_options(options_class, given, role))
    assert component_id(binding) == stored, (
        f"the key of {name} changed, so all its stored work would be made again; mark a new option with since=, "
        "and where the same options mean something else now, raise the component's version"
    )


def with_options(**fields: Any) -> type[Any]:
    """The same component in a version with these options."""
    annotations = {name: type(field.default) for name, field in fields.items()}
    options: type[Any] = type("Options", (), {"__annotations__": annotations, **fields})
    made = dataclass(frozen=True, kw_only=True)(options)
    return type("Component", (), {"version": "1", "Options": made})


def test_an_option_that_comes_later_enters_the_id_only_where_it_is_chosen() -> None:
    before = with_options(threshold=option(0.5, "x"))
    after = with_options(threshold=option(0.5, "x"), halves=option(False, "x", since="0.2"))
    careless = with_options(threshold=option(0.5, "x"), halves=option(False, "x"))
    stored = component_id(bound("detector", before, "mine", threshold=0.4))
    assert component_id(bound("detector", after, "mine", threshold=0.4)) == stored
    assert component_id(bound("detector", after, "mine", threshold=0.4, halves=True)) != stored
    assert component_id(bound("detector", careless, "mine", threshold=0.4)) != stored
