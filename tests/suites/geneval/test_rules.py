"""The check: which rule judges, whose colours it goes by, and what nobody could tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest

from salva.core.case import Case
from salva.core.image import ImageRef
from salva.core.masks import Mask, mask_of
from salva.core.observation import Detection, Detections, Observation, Vector
from salva.core.options import value_of
from salva.core.protocols import ImageObservations, Query
from salva.core.run_spec import RunSpec
from salva.core.verdict import Outcome
from salva.errors import UsageError
from salva.runs.plans import make_plan, published_rule
from salva.suites.geneval.demands import demand_in, formula_of
from salva.suites.geneval.files import GenEvalPrompt
from salva.suites.geneval.published import COLOURS, PUBLISHED, RL_SCORE, RL_STRICT
from salva.suites.geneval.rules import COLOURS_BY_EMBEDDER, OURS, GenEvalRule, RuleOptions
from salva.suites.geneval.suite import task_case

IMAGE = ImageRef(image_id="i", width=200, height=100)
DETECTOR, BOTH = ("detector", "colour_reader"), ("detector", "colour_reader", "embedder")


def _case(*include: dict[str, object], tag: str = "mine", **more: object) -> Case:
    metadata = {"tag": tag, "include": list(include), **more}
    demand = demand_in(metadata)  # type: ignore[arg-type]  # as JSON
    return task_case("geneval-x", GenEvalPrompt(text="x", demand=demand, formula=formula_of(demand)))


def _cat(score: float = 0.95, colour: str | None = None, mask: Mask | None = None, at: float = 0.1) -> Detection:
    return Detection(label="cat", score=score, box=(at, 0.1, at + 0.2, 0.4), colour=colour, mask=mask)


def _seen(*boxes: Detection, floor: float | None = 0.05) -> Detections:
    return Detections(boxes=boxes, floor=floor, threshold=None if floor is None else 0.4)


def _concluded(
    rule: str,
    case: Case,
    boxes: Detections,
    roles: Collection[str] = DETECTOR,
    colours: Mapping[int, str] | None = None,
) -> tuple[Outcome, Mapping[str, float], str]:
    """Asked wave after wave; colours: what an embedder says of the parts, in their order."""
    check = GenEvalRule(RuleOptions(rule=rule))
    seen: dict[Query, Observation] = {}
    n_parts = 0
    for _ in range(3):
        for look in check.needs(case, roles, {"a": ImageObservations(image=IMAGE, seen=seen)}):
            if look.query in seen:
                continue
            if look.query.role == "embedder":
                said = (colours or {}).get(n_parts, "red")
                seen[look.query] = Vector(values=tuple(float(colour == said) for colour in COLOURS))
                n_parts += 1
            else:
                seen[look.query] = boxes
    conclusion = check.judge(case, {"a": ImageObservations(image=IMAGE, seen=seen)})
    told = conclusion.reason or "; ".join(failure.message for failure in conclusion.failures)
    return conclusion.outcome, conclusion.scores, told


RED_CAT = {"class": "cat", "count": 1, "color": "red"}


def test_ours_is_left_to_truth() -> None:
    case = _case(RED_CAT)
    assert not GenEvalRule(RuleOptions()).applies(case)
    assert not GenEvalRule(RuleOptions(rule=OURS)).applies(case)
    assert GenEvalRule(RuleOptions(rule=PUBLISHED)).applies(case)


def test_published_asks_for_this_check_and_rule() -> None:
    plan = make_plan(published_rule(RunSpec.of(suite="geneval", models=["painter"])))
    assert plan.spec.check == "geneval"
    assert "reader" not in {observer.role for observer in plan.observers()}
    assert {check.label: value_of(check.options, "rule") for check in plan.checks}["geneval"] == PUBLISHED
    with pytest.raises(UsageError, match=r"check\.rule"):
        published_rule(RunSpec.of(suite="geneval", settings={"check.rule": RL_STRICT}))


def test_more_than_asked_for_is_right_by_the_published_rule_alone() -> None:
    case = _case({"class": "cat", "count": 1})
    two = _seen(_cat(), _cat(at=0.6))
    assert _concluded(PUBLISHED, case, two)[0] is Outcome.PASS
    outcome, scores, told = _concluded(RL_STRICT, case, two)
    assert (outcome, scores["right_a"], told) == (Outcome.FAIL, 0.0, "expected cat==1, found 2")
    assert _concluded(RL_SCORE, case, two)[1]["credit_a"] == 0.0


def test_one_box_said_twice_counts_twice() -> None:
    case = _case({"class": "cat", "count": 2})
    assert _concluded(PUBLISHED, case, _seen(_cat(), _cat()))[0] is Outcome.PASS


def test_colours_by_the_pixels_are_said_to_be() -> None:
    case = _case(RED_CAT)
    outcome, scores, told = _concluded(PUBLISHED, case, _seen(_cat(colour="blue")))
    assert outcome is Outcome.FAIL
    assert scores[COLOURS_BY_EMBEDDER] == 0.0
    assert told.startswith("expected red cat>=1, found 0 red; and 1 blue (")
    assert told.endswith("pixels say)")
    assert _concluded(PUBLISHED, case, _seen(_cat(colour="red")))[0] is Outcome.PASS


def test_a_colour_nobody_told_is_undecided() -> None:
    outcome, _, told = _concluded(PUBLISHED, _case(RED_CAT), _seen(_cat()))
    assert (outcome, "cat" in told) == (Outcome.UNDECIDED, True)


def test_colours_by_an_embedder_whatever_the_pixels_say() -> None:
    case = _case(RED_CAT)
    outcome, scores, _ = _concluded(PUBLISHED, case, _seen(_cat(colour="blue")), BOTH, {0: "red"})
    assert (outcome, scores[COLOURS_BY_EMBEDDER]) == (Outcome.PASS, 1.0)
    outcome, _, told = _concluded(PUBLISHED, case, _seen(_cat(colour="red")), BOTH, {0: "pink"})
    assert outcome is Outcome.FAIL
    assert told.startswith("expected red cat>=1, found 0 red; and 1 pink (")
    assert told.endswith("embedder says)")


def test_an_embedder_is_asked_about_the_most_confident_alone() -> None:
    case = _case(RED_CAT)
    check = GenEvalRule(RuleOptions(rule=PUBLISHED))
    boxes = _seen(_cat(0.5), _cat(0.9, at=0.5), _cat(0.2, at=0.7))
    (first,) = check.needs(case, BOTH, {"a": ImageObservations(image=IMAGE)})
    looks = check.needs(case, BOTH, {"a": ImageObservations(image=IMAGE, seen={first.query: boxes})})
    (part,) = [look.query for look in looks if look.query.role == "embedder"]
    assert part.box == boxes.boxes[1].box
    assert len(part.choices) == len(COLOURS)
    assert part.choices[0] == "a photo of a red cat\na photo of a red-colored cat\na photo of a red object"


def test_the_mask_goes_with_the_box_where_it_can_be_read() -> None:
    whole = mask_of([0, 12], left=20, top=10, width=4, height=3)
    torn = Mask(left=20, top=10, width=4, height=3, packed="nonsense")
    outside = mask_of([0, 12], left=198, top=10, width=4, height=3)
    check = GenEvalRule(RuleOptions(rule=PUBLISHED))
    for mask, told in ((whole, (20, 10, 4, 3, whole.packed)), (torn, ()), (outside, ()), (None, ())):
        (first,) = check.needs(_case(RED_CAT), BOTH, {"a": ImageObservations(image=IMAGE)})
        sight = ImageObservations(image=IMAGE, seen={first.query: _seen(_cat(mask=mask))})
        queries = [look.query for look in check.needs(_case(RED_CAT), BOTH, {"a": sight})]
        assert [query.mask for query in queries if query.role == "embedder"] == [told]


def test_positions_are_those_of_pixels_and_not_of_shares() -> None:
    """The picture is twice as wide as high: 0.15 to the right is 30 pixels, 0.2 down is 20."""
    case = _case({"class": "cat", "count": 1}, {"class": "dog", "count": 1, "position": ["right of", 0]})
    dog = Detection(label="dog", score=0.9, box=(0.25, 0.3, 0.27, 0.32))
    cat = Detection(label="cat", score=0.9, box=(0.1, 0.1, 0.12, 0.12))
    assert _concluded(PUBLISHED, case, _seen(cat, dog))[0] is Outcome.PASS
    below = _case({"class": "cat", "count": 1}, {"class": "dog", "count": 1, "position": ["below", 0]})
    outcome, _, told = _concluded(PUBLISHED, below, _seen(cat, dog))
    assert (outcome, told) == (Outcome.PASS, "")
    left = _case({"class": "cat", "count": 1}, {"class": "dog", "count": 1, "position": ["left of", 0]})
    told = _concluded(PUBLISHED, left, _seen(cat, dog))[2]
    assert told == "expected dog left of target, found below and right of target"


def test_boxes_that_were_not_kept_decide_nothing() -> None:
    outcome, _, told = _concluded(PUBLISHED, _case({"class": "cat", "count": 1}), _seen(_cat(), floor=0.4))
    assert outcome is Outcome.UNDECIDED
    assert "0.4" in told


def test_a_detector_without_scores_is_taken_at_its_word() -> None:
    counted = _case({"class": "cat", "count": 1}, tag="counting")
    assert _concluded(PUBLISHED, counted, _seen(_cat(0.0), floor=None))[0] is Outcome.PASS
    assert _concluded(PUBLISHED, counted, _seen(_cat(0.5)))[0] is Outcome.FAIL


def test_nothing_seen_is_wrong() -> None:
    for rule in (PUBLISHED, RL_STRICT, RL_SCORE):
        outcome, scores, _ = _concluded(rule, _case(RED_CAT), _seen())
        assert (outcome, scores["right_a"], scores["named_a"]) == (Outcome.FAIL, 0.0, 0.0)
