"""Whether the components and cases of a run are what run.json and the registry say, not what the rows call them.

Labels can be edited; identities are what work is stored under. Nothing that the run names is opened or contacted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest

from salva.core.case import case_to_json
from salva.core.fingerprint import Json, fingerprint
from salva.core.options import as_typed
from salva.core.plan import Plan
from salva.core.run_file import RunFile
from salva.core.run_spec import ComponentSpec
from salva.engine.run_components import ROLE_ORDER
from salva.errors import SalvaError
from salva.messages import text_of
from salva.registry import bind, colour_reader
from salva.runs.cases import placed_cases
from salva.runs.reach import reached_by
from salva.store.records import StoredComponent
from salva.store.rows import to_text
from salva.store.sqlite import RunStore


def component_problems(store: RunStore) -> Iterator[str]:
    """Rows of components whose id is not that of their identity; empty for each that is right."""
    for component in store.components():
        is_same = component.component_id == fingerprint([component.role, dict(component.identity)])
        yield "" if is_same else f"component {component.component_id} ({component.label}) has another identity"


def label_problems(store: RunStore, content: RunFile) -> Iterator[str]:
    """Components that are called what run.json and their identity do not call them, or that have other options."""
    specs = [*content.spec.components(), *content.current_judging().spec.components()]
    for component in store.components():
        own = [part for part in specs if part.role == component.role and _is_of(part, component)]
        name = f"the {component.role} {component.label!r}"
        if component.role in ("model", *ROLE_ORDER) and not own and not _is_called(component, _name(component)):
            yield f"{name} is {_name(component)!r} by its identity, and run.json does not call it so"
        elif component.role not in ("model", *ROLE_ORDER) and component.label != colour_reader().label:
            yield f"{name} has a label of its own"
        elif own and not any(_has_options(part, component) for part in own) and component.label == own[0].name:
            yield f"{name} has other options by run.json than by its identity"
    stored = {component.component_id: component for component in store.components()}
    for listed in content.components:
        if listed.role != "model":
            continue
        known = stored.get(listed.component_id)
        if known is None:
            yield f"run.json names the model {listed.identity.get('name')!r}, whose work is not in this store"
        elif fingerprint(["model", dict(listed.identity)]) != listed.component_id:
            yield f"run.json has another identity of the model {known.label!r}"
    called = {(c.role, c.label) for c in stored.values()}
    for model in content.spec.models:
        if content.imported is None and ("model", model.name) not in called:
            yield f"run.json asks for the model {model.name!r}, whose work is not in this store"


def _name(component: StoredComponent) -> str:
    return str(component.identity.get("name", ""))


def _is_of(part: ComponentSpec, component: StoredComponent) -> bool:
    return (part.typed or part.name) == _name(component) and _is_called(component, part.name)


def _is_called(component: StoredComponent, name: str) -> bool:
    """Whether a label is a name, alone or with options in brackets that the component has."""
    if component.label == name:
        return True
    if component.role == "model" or not (component.label.startswith(f"{name}(") and component.label.endswith(")")):
        return False
    left = component.label[len(name) + 1 : -1]
    for option, value in sorted({**_options(component), "endpoint": component.endpoint}.items()):
        shown = f"{option}={value if isinstance(value, str) else json.dumps(value)}"
        if left == shown or left.startswith(f"{shown},"):
            left = left[len(shown) + 1 :]
    return not left


def _has_options(part: ComponentSpec, component: StoredComponent) -> bool:
    options = _options(component)
    return all(as_typed(options[name]) == as_typed(value) for name, value in part.options.items() if name in options)


def _options(component: StoredComponent) -> Mapping[str, Json]:
    options = component.identity.get("options")
    return options if isinstance(options, dict) else {}


def case_problems(store: RunStore, content: RunFile) -> tuple[list[str], str]:
    """How the stored cases differ from those that the suite makes, and why they could not be made; empty where they do
    not differ and where they could.

    Cases of a file are no work of the suite's: their rows are held to their digests alone.
    """
    if content.imported is not None:
        return [], ""
    spec = content.spec
    try:
        if reached_by(spec.suite):
            return [], ""
        options = {option: as_typed(value) for option, value in spec.suite.options.items()}
        suite = bind(ComponentSpec(role="suite", name=spec.suite.name, options=options))
        made_by = next((part.identity for part in content.components if part.role == "suite"), {})
        if dict(made_by) != suite.identity():
            was = f"version {made_by.get('version')} of the suite {spec.suite.name!r} made them"
            return [], f"{was}, and version {suite.component.version} is installed"
        planned = placed_cases(Plan(spec=spec, suite=suite, models=()))
        problems = []
        rows = store.rows("SELECT ordinal, case_id, record FROM cases ORDER BY ordinal")
        for row, case in zip_longest(rows, planned):
            if row is None:
                problems.append(f"case {case[1].case_id}: the suite has it, and it is not stored")
            elif case is None or (row["ordinal"], row["case_id"]) != (case[0], case[1].case_id):
                problems.append(f"case {row['case_id']}: the suite has no such case in its place")
            elif row["record"] != to_text(case_to_json(case[1])):
                problems.append(f"case {row['case_id']} is not what the suite makes of it")
        return problems, ""
    except SalvaError as error:
        return [], text_of(error)
