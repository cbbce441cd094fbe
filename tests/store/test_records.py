"""Records of work: what is not said of it is empty, and keys are made of all that can change an outcome."""

from __future__ import annotations

from dataclasses import replace

from record_defaults import defaults

import salva.store
from salva.core.protocols import Query
from salva.store.records import Status, StoredComponent, StoredObservation, StoredRender

RENDER = StoredRender(component_id="c", text="t", formula=None, seed=1, repeat=0, status=Status.ERROR)
LOOK = StoredObservation(component_id="c", image_id="i", query=Query(role="judge"), given={}, status=Status.ERROR)


def test_what_is_not_said_is_empty() -> None:
    assert {name: value for name, value in defaults(salva.store).items() if value} == {}


def test_a_key_changes_with_whatever_can_change_the_outcome() -> None:
    renders = [
        *(RENDER, replace(RENDER, component_id="d"), replace(RENDER, text="u"), replace(RENDER, formula="cat")),
        *(replace(RENDER, seed=2), replace(RENDER, repeat=1), replace(RENDER, passes_over=True)),
    ]
    assert len({render.key() for render in renders}) == len(renders)
    assert replace(RENDER, status=Status.DONE, image_id="i", error="e", provenance={"a": 1}).key() == RENDER.key()
    looks = [
        *(LOOK, replace(LOOK, component_id="d"), replace(LOOK, image_id="j"), replace(LOOK, given={"reader": "k"})),
        *(replace(LOOK, query=replace(LOOK.query, repeat=1)), replace(LOOK, query=replace(LOOK.query, side=8))),
    ]
    assert len({look.key() for look in looks}) == len(looks)
    assert replace(LOOK, status=Status.DONE, error="e", label="j").key() == LOOK.key()


def test_a_component_says_where_its_answers_come_from() -> None:
    here = StoredComponent(component_id="c", role="judge", label="j", is_formula_seen=False, identity={})
    assert here.endpoint == ""
    assert replace(here, identity={"endpoint": "http://host"}).endpoint == "http://host"
