"""A verdict that hangs on boxes in doubt is UNDECIDED, every other one says how sure it is."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import pytest
from checks.planted import judge, pair, row
from hypothesis import given, settings
from hypothesis import strategies as st

from salva.checks.doubt import MOST_TOGETHER
from salva.checks.same_scene import SameScene, SameSceneOptions
from salva.checks.scenes import SceneOptions
from salva.checks.truth import Truth
from salva.core.case import Case
from salva.core.observation import Detections
from salva.core.options import parse_options
from salva.core.protocols import Conclusion
from salva.core.verdict import CERTAINTY, ENTITY_OMISSION, Outcome
from salva.errors import UsageError

AND = pair("cat & dog", "dog & cat")
OR = pair("cat | dog", "dog | cat", determinate=False, check="truth")
CAT_ALONE = pair("cat & !dog", "!dog & cat")
THRESHOLD, DOUBT = 0.4, 0.6


def scored(*seen: tuple[str, float], **stated: float | None) -> Detections:
    """Things side by side with their scores, by a detector that says what these are worth."""
    plain = row(*(label for label, _ in seen))
    boxes = tuple(replace(box, score=score) for box, (_, score) in zip(plain.boxes, seen, strict=True))
    worth: dict[str, Any] = {"floor": 0.05, "threshold": THRESHOLD, "doubt": DOUBT, **stated}
    return Detections(boxes=boxes, **worth)


def truth(case: Case, a: Detections, b: Detections, **options: str) -> Conclusion:
    return judge(Truth(parse_options(SceneOptions, options, "check")), case, a, b)


def same(case: Case, a: Detections, b: Detections, **options: str) -> Conclusion:
    return judge(SameScene(parse_options(SameSceneOptions, options, "check")), case, a, b)


SURE = scored(("cat", 0.9), ("dog", 0.8))


@pytest.mark.parametrize("decide", [truth, same])
def test_a_pair_that_hangs_on_a_box_in_doubt_is_undecided(decide: Callable[..., Conclusion]) -> None:
    weak = scored(("cat", 0.9), ("dog", 0.45))
    concluded = decide(AND, SURE, weak)
    assert concluded.outcome is Outcome.UNDECIDED
    assert not concluded.failure_types
    assert not concluded.failures
    assert re.findall(r"[a-z]+ 0\.45|'b'|0\.4\b|0\.6|PASS|FAIL", concluded.reason) == [
        *("dog 0.45", "'b'", "0.4", "0.6", "PASS", "FAIL"),
    ]
    assert concluded.scores[CERTAINTY] == 0.45
    assert "right_a" not in concluded.scores, "nobody may count an image of an undecided pair as right or wrong"


def test_below_the_threshold_there_is_nothing_and_nothing_to_doubt() -> None:
    concluded = truth(AND, SURE, scored(("cat", 0.9), ("dog", 0.39)))
    assert (concluded.outcome, concluded.failure_types) == (Outcome.FAIL, (ENTITY_OMISSION,))
    assert concluded.scores[CERTAINTY] == 1.0, "no box makes this picture right"


@pytest.mark.parametrize("score", [0.6, 0.61, 1.0])
def test_at_the_doubt_a_box_is_sure(score: float) -> None:
    concluded = truth(AND, SURE, scored(("cat", 0.95), ("dog", score)))
    assert concluded.outcome is Outcome.PASS
    assert concluded.scores[CERTAINTY] == min(score, 0.8)


def test_a_thing_too_many_that_may_not_be_there() -> None:
    dog = scored(("cat", 0.9), ("dog", 0.5))
    concluded = truth(CAT_ALONE, dog, scored(("cat", 0.9)))
    assert concluded.outcome is Outcome.UNDECIDED
    assert "without it FAIL would be PASS" in concluded.reason
    # The other picture is wrong whatever becomes of the dog.
    wrong_anyway = truth(CAT_ALONE, dog, scored(("dog", 0.9)))
    assert wrong_anyway.outcome is Outcome.FAIL
    assert wrong_anyway.scores[CERTAINTY] == 1.0


def test_doubt_that_changes_nothing_decides() -> None:
    """One of two alternatives stays; what no prompt mentions plays no part; FAIL with and without."""
    assert truth(OR, scored(("cat", 0.5), ("dog", 0.9)), SURE).outcome is Outcome.PASS
    assert truth(AND, scored(("cat", 0.9), ("dog", 0.8), ("cow", 0.45)), SURE).outcome is Outcome.PASS
    assert truth(AND, scored(("cow", 0.9), ("dog", 0.45)), SURE).failure_types == (ENTITY_OMISSION,)
    both = truth(OR, scored(("cat", 0.5), ("dog", 0.55)), SURE)
    assert both.outcome is Outcome.UNDECIDED
    assert "cat 0.50" in both.reason
    assert "dog 0.55" in both.reason
    assert both.scores[CERTAINTY] == 0.55, "both must go for the verdict to change"


def test_same_scene_over_all_labels_doubts_all_labels() -> None:
    with_cow = scored(("cat", 0.9), ("dog", 0.8), ("cow", 0.45))
    assert same(AND, with_cow, with_cow).outcome is Outcome.PASS
    concluded = same(AND, with_cow, with_cow, scope="all")
    assert concluded.outcome is Outcome.UNDECIDED
    assert "cow 0.45" in concluded.reason


def test_a_pair_without_formulas_that_agrees_on_doubtful_things_alone_is_undecided() -> None:
    bare = pair(None, equivalent=None, determinate=None)
    weak = scored(("cow", 0.45))
    assert same(bare, weak, weak, scope="all").outcome is Outcome.UNDECIDED


def test_a_box_seen_twice_is_one_thing_and_goes_with_its_double() -> None:
    cat = row("cat").boxes[0]
    twice = Detections(
        boxes=(replace(cat, score=0.9), replace(cat, score=0.45)), floor=0.05, threshold=THRESHOLD, doubt=DOUBT
    )
    concluded = truth(pair("cat"), twice, twice)
    assert (concluded.outcome, concluded.scores[CERTAINTY]) == (Outcome.PASS, 0.9)


def test_the_relation_has_the_last_word() -> None:
    weak = scored(("cat", 0.9), ("dog", 0.45))
    assert truth(AND, SURE, weak, doubt="0").outcome is Outcome.PASS
    assert truth(AND, SURE, weak, doubt="0.45").outcome is Outcome.PASS
    assert truth(AND, SURE, SURE, doubt="0.85").outcome is Outcome.UNDECIDED
    assert truth(AND, SURE, weak, threshold="0.5").outcome is Outcome.FAIL
    # A threshold above the detector's doubt leaves nothing in doubt.
    assert truth(AND, SURE, scored(("cat", 0.9), ("dog", 0.75)), threshold="0.7").outcome is Outcome.PASS
    with pytest.raises(UsageError, match=r"check\.doubt is 0\.3.*option-invalid"):
        parse_options(SceneOptions, {"threshold": "0.5", "doubt": "0.3"}, "check")


def test_a_look_of_an_earlier_version_and_a_detector_without_scores_have_no_doubt() -> None:
    old = scored(("cat", 0.9), ("dog", 0.45), floor=0.4, threshold=None, doubt=None)
    for a, b in ((old, old), (SURE, old), (old, SURE)):
        concluded = truth(AND, a, b)
        assert concluded.outcome is Outcome.PASS
        assert CERTAINTY not in concluded.scores
    assert truth(AND, old, old, doubt="0.6").outcome is Outcome.UNDECIDED, "unless somebody asks for it"


LABELS = ("cat", "dog", "cow")
SEEN = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from([0.2, 0.42, 0.5, 0.58, 0.7, 0.9])), max_size=3)
FORMULAS = (
    "cat & dog",
    "cat | dog",
    "cat & !dog",
    "2 cat",
    "!(cat & dog)",
    "cat@left & dog@right",
    "left_of(dog, cat)",
)


@settings(max_examples=300, deadline=None)
@given(a=SEEN, b=SEEN, formula=st.sampled_from(FORMULAS), is_truth=st.booleans())
def test_against_every_choice_of_the_doubtful_boxes(
    a: list[tuple[str, float]], b: list[tuple[str, float]], formula: str, is_truth: bool
) -> None:
    """Every subset of the boxes in doubt, each judged without doubt: agree, or undecided."""
    decide = truth if is_truth else same
    case = pair(formula)
    images = scored(*a), scored(*b)
    choices = []
    for image in images:
        counting = [box for box in image.boxes if box.score >= THRESHOLD]
        sure = [box for box in counting if box.score >= DOUBT]
        weak = [box for box in counting if box.score < DOUBT]
        choices.append([(*sure, *kept) for n in range(len(weak) + 1) for kept in combinations(weak, n)])
    outcomes = {
        decide(
            case, *(replace(image, boxes=boxes) for image, boxes in zip(images, picked, strict=True)), doubt="0"
        ).outcome
        for picked in product(*choices)
    }
    concluded = decide(case, *images)
    if len(outcomes) > 1:
        assert concluded.outcome is Outcome.UNDECIDED
        assert concluded.scores[CERTAINTY] < DOUBT
    else:
        assert {concluded.outcome} == outcomes
        assert concluded.scores[CERTAINTY] >= DOUBT
        assert concluded.failure_types == decide(case, *images, doubt="0").failure_types


def test_of_many_boxes_in_doubt_each_goes_alone_and_with_all_weaker_ones() -> None:
    n = MOST_TOGETHER + 3
    many = scored(*(("dog", 0.41 + i / 100) for i in range(n)))
    nothing = scored()
    assert truth(pair("!dog"), many, nothing).outcome is Outcome.UNDECIDED, "all of them together"
    last = scored(*(("dog", 0.41 + i / 100) for i in range(n)), ("cat", 0.59))
    assert truth(pair(f"{n} dog & !cat"), last, last).outcome is Outcome.UNDECIDED, "one of them alone"


def test_two_looks_that_disagree_leave_a_pair_undecided_where_it_matters() -> None:
    """A detector without scores, asked twice: a box has the share of the looks that have it."""
    half = {"floor": 0.5, "threshold": 0.5, "doubt": 1.0}
    agree = scored(("cat", 1.0), ("dog", 1.0), **half)
    one_has_it = scored(("cat", 1.0), ("dog", 0.5), **half)
    assert truth(AND, agree, agree).outcome is Outcome.PASS
    assert truth(AND, agree, one_has_it).outcome is Outcome.UNDECIDED
    assert truth(OR, agree, one_has_it).outcome is Outcome.PASS


@pytest.mark.parametrize("score", [math.nan, math.inf, -0.1, 1.2])
def test_scores_that_are_none_decide_nothing(score: float) -> None:
    concluded = truth(AND, SURE, scored(("cat", 0.9), ("dog", score)))
    assert concluded.outcome is Outcome.UNDECIDED
    assert str(score) in concluded.reason


def test_equal_scores_are_all_sure_or_all_in_doubt() -> None:
    for score, outcome in ((0.5, Outcome.UNDECIDED), (0.6, Outcome.PASS), (0.3, Outcome.FAIL)):
        seen = scored(("cat", score), ("dog", score))
        assert truth(AND, seen, seen).outcome is outcome


def test_a_threshold_below_what_was_kept_decides_nothing() -> None:
    concluded = truth(AND, SURE, replace(SURE, floor=0.4), threshold="0.3")
    assert concluded.outcome is Outcome.UNDECIDED
    assert re.findall(r"'b'|0\.\d", concluded.reason) == ["'b'", "0.4", "0.3"]
