"""An image that lacks what its own prompt names fails; what the detector cannot name is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from checks.planted import judge, row

from salva.checks.named_entities import NamedEntities, NamedEntitiesOptions
from salva.checks.scenes import mentioned
from salva.core.case import Case, Prompt, case_from_json, case_to_json
from salva.core.observation import Detection, Detections
from salva.core.run_spec import RunSpec
from salva.core.verdict import Outcome
from salva.engine.run_components import AppliedCheck, Cast
from salva.runs.cases import planned_cases
from salva.runs.plans import AllButSuite, make_plan
from salva.suites.actesting.observing import boxes_query


def case_of(a: str, b: str) -> Case:
    """A pair of prompts that name these entities."""
    prompts = (Prompt(role=role, text=role, entities=tuple(names.split())) for role, names in (("a", a), ("b", b)))
    return Case(case_id="x", suite="s", category="c", prompts=tuple(prompts), checks=("entity-change",))


def check(**options: float) -> NamedEntities:
    return NamedEntities(NamedEntitiesOptions(**options))  # type: ignore[arg-type]  # tests give only what fits


def scored(**best: float) -> Detections:
    """One box of each label with its score, by a detector that doubts."""
    boxes = tuple(Detection(label=name, score=score, box=(0.1, 0.1, 0.4, 0.4)) for name, score in best.items())
    return Detections(boxes=boxes, floor=0.1, threshold=0.3, doubt=0.6)


def test_each_image_is_held_against_its_own_prompt() -> None:
    case = case_of("cat dog", "cat bird")
    right = judge(check(), case, row("cat", "dog", "dog"), row("bird", "cow", "cat"))
    assert right.outcome is Outcome.PASS
    assert right.scores == {"right_a": 1, "named_a": 2, "right_b": 1, "named_b": 2}
    wrong = judge(check(), case, row("cat", "dog"), row("cat", "dog"))
    assert (wrong.outcome, wrong.failure_types) == (Outcome.FAIL, ("entity-omission",))
    assert [(failure.role, failure.entity) for failure in wrong.failures] == [("b", "bird")]
    assert wrong.scores == {"right_a": 1, "named_a": 2, "right_b": 0, "named_b": 1}


def test_a_prompt_that_names_nothing_is_not_observed() -> None:
    case = case_of("", "cat")
    assert [need.role for need in check().needs(case, {"detector"}, {})] == ["b"]
    assert judge(check(), case, row(), row("cat")).scores == {"right_b": 1, "named_b": 1}
    assert not check().applies(case_of("", ""))


def test_an_entity_in_doubt_decides_nothing_and_a_missing_one_does() -> None:
    case = case_of("cat", "cat")
    sure, doubtful, none = scored(cat=0.9), scored(cat=0.5, dog=0.9), scored(cat=0.2)
    assert judge(check(), case, sure, sure).outcome is Outcome.PASS
    undecided = judge(check(), case, sure, doubtful)
    assert (undecided.outcome, undecided.scores) == (Outcome.UNDECIDED, {"named_a": 1, "right_a": 1, "named_b": 1})
    failed = judge(check(), case, doubtful, none)
    assert (failed.outcome, failed.scores) == (Outcome.FAIL, {"named_a": 1, "named_b": 0, "right_b": 0})
    assert judge(check(doubt=0), case, sure, doubtful).outcome is Outcome.PASS
    assert judge(check(threshold=0.55), case, sure, doubtful).outcome is Outcome.FAIL
    twice = Detections(boxes=(*sure.boxes, *doubtful.boxes), floor=0.1, threshold=0.3, doubt=0.6)
    assert judge(check(), case, twice, twice).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("seen", "reason"), [(scored(cat=float("nan")), "score nan"), (replace(scored(cat=0.9), floor=0.5), "not kept")]
)
def test_scores_that_say_nothing_decide_nothing(seen: Detections, reason: str) -> None:
    concluded = judge(check(), case_of("cat", "cat"), seen, seen)
    assert concluded.outcome is Outcome.UNDECIDED
    assert reason in concluded.reason


def test_named_entities_are_stored_with_the_case() -> None:
    case = case_of("cat dog", "")
    assert case_from_json(case_to_json(case)) == case
    assert "entities" not in str(case_to_json(case_of("", "")))


def applied(
    suite: str, names: frozenset[str] | None, **asked: object
) -> Iterator[tuple[Case, dict[str, AppliedCheck]]]:
    """The cases of a quick run with a detector of this vocabulary, and the checks of each."""
    ask = RunSpec.of(suite=suite, models=("painter",), detector="pocket", size="quick", **asked)  # type: ignore[arg-type]
    plan = make_plan(ask, foreign=AllButSuite())
    cast = Cast.of(plan, names=names)
    for case in planned_cases(plan):
        yield case, {one.part.label: one for one in cast.checks_of(case)}


def test_what_the_detector_cannot_name_is_left_out_and_the_rest_is_judged() -> None:
    case, _ = next(applied("actesting", None))
    first, *others = sorted({name for prompt in case.prompts for name in prompt.entities})
    _, by_label = next(applied("actesting", frozenset(others)))
    assert by_label["entity-change"].undecidable
    vetoing = by_label["named-entities"]
    assert not vetoing.undecidable
    judged = vetoing.waves(case).case
    assert {name for prompt in judged.prompts for name in prompt.entities} == {*others}
    assert {need.query.labels for need in vetoing.first_observations} == {tuple(others)}
    assert first not in others
    _, without = next(applied("actesting", frozenset(("nothing",))))
    assert "named-entities" not in without


@pytest.mark.parametrize("suite", ["actesting", "semvar"])
def test_it_asks_what_other_checks_ask_so_that_nothing_is_observed_twice(suite: str) -> None:
    for case, by_label in applied(suite, None):
        asked = {(need.role, need.query) for need in by_label["named-entities"].first_observations}
        assert asked == {(prompt.role, mentioned(case).query) for prompt in case.prompts}
        assert asked <= {(need.role, need.query) for need in by_label["truth"].first_observations}
        if case.mutation is not None:
            assert {query for _, query in asked} == {boxes_query(case.mutation)}


@pytest.mark.parametrize("chosen", [{"published": True}, {"check": "entity-change"}])
def test_a_run_that_chooses_its_check_judges_no_vetoes(chosen: dict[str, object]) -> None:
    _, by_label = next(applied("actesting", None, **chosen))
    assert set(by_label) == {"entity-change"}
    _, by_label = next(applied("actesting", None, check="named-entities"))
    assert "named-entities" in by_label
