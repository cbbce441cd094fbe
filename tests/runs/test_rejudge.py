"""What a run is judged by again: what it was judged by, each component for itself, and the changes."""

from __future__ import annotations

from typing import Any

from salva.core.fingerprint import Json
from salva.core.plan import Plan
from salva.core.run_spec import ComponentSpec, RunSpec
from salva.registry import defaults
from salva.runs.rejudge import changed_plan


def part(role: str, name: str, **options: Json) -> ComponentSpec:
    return ComponentSpec(role=role, name=name, options={**defaults(role, name), **options})


ASKED = RunSpec(
    suite=part("suite", "metalogic", brackets=True),
    models=(part("model", "painter", side=512),),
    observers=(
        part("detector", "pocket", floor=0.03),
        part("judge", "google/x", attempts=5),
        part("judge", "openai/x", attempts=1),
    ),
    checks=(
        part("check", "same-scene", scope="all", counts="at-least"),
        part("check", "truth", doubt=0.7),
    ),
    size="6",
)


def options(spec: Plan, role: str) -> dict[str, Any]:
    return {binding.label: binding.options for binding in spec.bindings() if binding.role == role}


def test_each_component_keeps_its_own_options() -> None:
    spec = changed_plan(ASKED, RunSpec())
    judges = options(spec, "judge")
    assert (judges["google/x"].attempts, judges["openai/x"].attempts) == (5, 1)
    assert (spec.suite.options.brackets, spec.models[0].options.side) == (True, 512)
    checks = options(spec, "check")
    assert checks["same-scene"].scope == "all"


def test_a_change_reaches_whoever_knows_it_and_a_relation_judged_for_the_first_time_follows_the_settings() -> None:
    judges = ("google/x", "openai/x")
    spec = changed_plan(
        ASKED, RunSpec.of("", judges=judges, settings={"judge.attempts": "2", "check.threshold": "0.5"})
    )
    assert {judge.options.attempts for judge in spec.judges} == {2}
    assert options(spec, "detector")["pocket"].floor == 0.03, "looks are found under what they were made with"
    assert options(spec, "check")["truth"].threshold == 0.5
    checks = options(spec, "check")
    assert checks["same-answers"].counts == "at-least"
    exact = options(changed_plan(ASKED, RunSpec.of("", counts="exact")), "check")
    assert {exact[name].counts for name in ("same-scene", "truth", "same-answers")} == {"exact"}


def test_a_component_named_anew_has_its_own_defaults() -> None:
    spec = changed_plan(ASKED, RunSpec.of("", judges=("scene",), reader="none"))
    assert [judge.label for judge in spec.judges] == ["scene"]
    assert spec.reader is None
