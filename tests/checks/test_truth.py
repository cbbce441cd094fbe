"""truth on planted scenes: each image against its own prompt."""

from __future__ import annotations

from dataclasses import replace

import pytest
from checks.planted import judge, observations, painted, pair, row, text, things

from salva.checks.same_scene import SameScene
from salva.checks.scenes import SceneOptions
from salva.checks.truth import Truth
from salva.core.case import Case
from salva.core.observation import Detection, Detections
from salva.core.options import parse_options
from salva.core.protocols import Conclusion
from salva.core.verdict import (
    ENTITY_DUPLICATION,
    ENTITY_FORBIDDEN,
    ENTITY_OMISSION,
    OPTICAL_CHARACTER,
    X_MISPOSITION,
    Y_MISPOSITION,
    Outcome,
)

AND = pair("cat & dog", "dog & cat")
OR = pair("cat | dog", "dog | cat", determinate=False, check="truth")
NEGATION = pair("cat & !dog", "!dog & cat", check="truth")


def check(**given_options: str) -> Truth:
    return Truth(parse_options(SceneOptions, given_options, "check"))


def blame(concluded: Conclusion) -> list[tuple[str, str, str]]:
    return [(failure.failure_type, failure.role, failure.entity) for failure in concluded.failures]


def test_two_right_pictures_of_an_or_may_differ() -> None:
    concluded = judge(check(), OR, row("cat"), row("dog"))
    assert concluded.outcome is Outcome.PASS
    assert concluded.scores == {"right_a": 1.0, "right_b": 1.0, "both_wrong": 0.0, "named_a": 1.0, "named_b": 1.0}
    assert judge(check(), OR, row("cat", "dog"), row("dog")).outcome is Outcome.PASS


def test_how_sure_the_detector_is_of_what_the_prompts_name_is_kept() -> None:
    def seen(*scores: float, threshold: float | None = 0.4) -> Detections:
        things = row("cat", "dog", "bird")
        boxes = tuple(replace(box, score=score) for box, score in zip(things.boxes, scores, strict=True))
        return Detections(boxes=boxes, threshold=threshold)

    case = pair("cat & dog")
    scores = judge(check(), case, seen(0.9, 0.5, 0.99), seen(0.9, 0.3, 0.99)).scores
    assert scores["mean_score_a"] == pytest.approx(0.7), "a bird nobody named says nothing"
    assert scores["mean_score_b"] == 0.9, "what does not count is not counted"
    blind = judge(check(), case, seen(0.1, 0.1, 0.9), seen(0.9, 0.9, 0.9)).scores
    assert "mean_score_a" not in blind
    unscored = judge(check(), case, seen(1, 1, 1, threshold=None), seen(1, 1, 1, threshold=None)).scores
    assert "mean_score_a" not in unscored


def test_nothing_is_no_cat_or_dog() -> None:
    concluded = judge(check(), OR, row(), row("dog"))
    assert concluded.outcome is Outcome.FAIL
    assert concluded.scores == {"right_a": 0.0, "right_b": 1.0, "both_wrong": 0.0, "named_a": 0.0, "named_b": 1.0}
    assert concluded.failure_types == (ENTITY_OMISSION,)
    assert "nearest" in concluded.failures[0].message, "the prompt asks for no cat in particular"


def test_true_negation() -> None:
    assert judge(check(), NEGATION, row("cat"), row("cat")).outcome is Outcome.PASS
    concluded = judge(check(), NEGATION, row("cat", "dog"), row("cat"))
    assert blame(concluded) == [(ENTITY_FORBIDDEN, "a", "dog")]
    assert (concluded.failures[0].expected, concluded.failures[0].seen) == ("0", "1")
    assert concluded.failures[0].message.startswith("1 dog")


@pytest.mark.parametrize(
    ("a", "b", "right", "alike"),
    [
        (row("cat", "dog"), row("dog", "cat"), (1.0, 1.0), 0.0),
        (row("cat", "cat"), row("dog", "cat"), (0.0, 1.0), 0.0),
        (row("cat", "cat"), row("cat", "cat"), (0.0, 0.0), 1.0),
        (row("cat", "cat"), row("dog", "dog"), (0.0, 0.0), 0.0),
    ],
)
def test_both_right_one_wrong_wrong_alike_and_wrong(
    a: Detections, b: Detections, right: tuple[float, float], alike: float
) -> None:
    scores = judge(check(), AND, a, b).scores
    assert (scores["right_a"], scores["right_b"], scores["both_wrong"]) == (*right, alike)
    same = judge(SameScene(SameScene.Options()), AND, a, b).outcome
    assert (same is Outcome.PASS) == (right == (1.0, 1.0) or alike == 1.0)


@pytest.mark.parametrize(
    ("formula", "wrong", "error"),
    [
        ("cat@right & dog@left", row("cat", "dog"), X_MISPOSITION),
        ("cat@bottom & dog@top", row("cat", "dog"), Y_MISPOSITION),
        ("left_of(dog, cat)", row("cat", "dog"), X_MISPOSITION),
        ("above(dog, cat)", row("cat", "dog"), Y_MISPOSITION),
        ("cat & dog", row("cat", "dog", "dog"), ENTITY_DUPLICATION),
        ("3 cat & dog", row("cat", "cat", "dog"), ENTITY_OMISSION),
        ("cat & dog", row(), ENTITY_OMISSION),
    ],
)
def test_each_planted_fault_gives_its_error(formula: str, wrong: Detections, error: str) -> None:
    concluded = judge(check(), pair(formula), wrong, wrong)
    assert concluded.failure_types == (error,)
    assert {failure.role for failure in concluded.failures} == {"a", "b"}
    assert concluded.scores["both_wrong"] == 1.0


def test_things_that_are_not_next_to_each_other() -> None:
    case = pair("next_to(cat, dog)")
    near, far = things(("cat", 0.4, 0.5), ("dog", 0.55, 0.5)), things(("cat", 0.1, 0.1), ("dog", 0.9, 0.9))
    concluded = judge(check(), case, near, far)
    assert concluded.failure_types == ("wrong-relation",)
    assert {failure.role for failure in concluded.failures} == {"b"}


def test_numbers_and_words_that_prove_it() -> None:
    concluded = judge(check(), AND, row("cat", "cat", "dog"), row("dog"))
    assert [failure.message.partition(",")[0] for failure in concluded.failures] == ["2 cats", "no cat"]
    assert [(failure.expected, failure.seen) for failure in concluded.failures] == [("1", "2"), ("1", "0")]


def test_a_misplaced_thing_beside_an_extra_one_is_found_once_each() -> None:
    case = pair("cat@right & dog@left")
    a = things(("cat", 0.1, 0.5), ("dog", 0.5, 0.5), ("dog", 0.9, 0.5))
    errors = judge(check(), case, a, row("dog", "cat")).failure_types
    assert ENTITY_DUPLICATION in errors


def test_text_nobody_asked_for() -> None:
    right = row("cat", "dog")
    concluded = judge(check(), AND, right, right, reads=(text("CAT"), text("CAT")))
    assert concluded.failure_types == (OPTICAL_CHARACTER,)
    assert concluded.scores == {"right_a": 0.0, "right_b": 0.0, "both_wrong": 1.0, "named_a": 2.0, "named_b": 2.0}


@pytest.mark.parametrize(("left", "right", "is_right"), [("clock", "cat", 1.0), ("cat", "clock", 0.0)])
def test_text_on_a_clock_is_no_fault_of_the_image(left: str, right: str, is_right: float) -> None:
    whole = (0.0, 0.0, 0.5, 1.0), (0.5, 0.0, 1.0, 1.0)
    seen = Detections(
        boxes=tuple(Detection(label=name, score=0.9, box=box) for name, box in zip((left, right), whole, strict=True))
    )
    concluded = judge(check(), pair("clock & cat"), seen, seen, reads=(text("12"), text("12")))
    assert concluded.scores["right_a"] == is_right


def test_wrong_alike_means_the_text_too() -> None:
    wrong = row("cat", "cat")
    assert judge(check(), AND, wrong, wrong, reads=(text("CAT"), text())).scores["both_wrong"] == 0.0
    assert judge(check(), AND, wrong, wrong, reads=(text(), text())).scores["both_wrong"] == 1.0


def test_reading_at_least_allows_more() -> None:
    many = row("cat", "cat", "dog")
    assert judge(check(), AND, many, many).outcome is Outcome.FAIL
    assert judge(check(counts="at-least"), AND, many, many).outcome is Outcome.PASS


def test_places_go_by_the_order_of_centres() -> None:
    case = pair("cat@right & dog@left")
    close = things(("dog", 0.45, 0.5), ("cat", 0.55, 0.5))
    assert judge(check(), case, close, close).outcome is Outcome.PASS


def test_a_colour_nobody_looked_at_is_inconclusive() -> None:
    case = pair("red cat & dog")
    concluded = judge(check(), case, row("cat", "dog"), row("cat", "dog"))
    assert concluded.outcome is Outcome.UNDECIDED
    assert "colour of the cat" in concluded.reason
    assert judge(check(), case, row("dog"), row("dog")).failure_types == (ENTITY_OMISSION,)


def judge_coloured(case: Case, a: Detections, b: Detections) -> Conclusion:
    return check().judge(case, observations(check(), case, {"a": (a,), "b": (b,)}, "colour_reader"))


@pytest.mark.parametrize(
    ("formula", "seen", "wrong"),
    [
        ("red cat & dog", painted(("cat", "red"), ("dog", None)), []),
        ("red cat & dog", painted(("cat", "blue"), ("dog", None)), [("wrong-colour", "cat")]),
        ("red cat & blue dog", painted(("cat", "blue"), ("dog", "blue")), [("wrong-colour", "cat")]),
        ("cat & !red cat", painted(("cat", "red")), [("wrong-colour", "cat")]),
        ("cat & !red cat", painted(("cat", "blue")), []),
        ("red cat | blue dog", painted(("dog", "blue")), []),
        ("2 red cat", painted(("cat", "red"), ("cat", "green")), [("wrong-colour", "cat")]),
        ("red cat", painted(("bird", None)), [(ENTITY_OMISSION, "cat")]),
    ],
)
def test_colours_that_somebody_saw_are_judged(formula: str, seen: Detections, wrong: list[tuple[str, str]]) -> None:
    concluded = judge_coloured(pair(formula, check="truth"), seen, seen)
    assert concluded.outcome is (Outcome.FAIL if wrong else Outcome.PASS), concluded.reason
    assert [(failure.failure_type, failure.entity) for failure in concluded.failures if failure.role == "a"] == wrong


@pytest.mark.parametrize(
    ("formula", "a", "b", "alike"),
    [
        ("red cat", "blue", "blue", 1.0),
        ("red cat", "blue", "green", 0.0),
        ("red cat & 2 dog", "red", "red", 1.0),
    ],
)
def test_two_pictures_wrong_in_different_colours_are_not_wrong_alike(
    formula: str, a: str, b: str, alike: float
) -> None:
    concluded = judge_coloured(pair(formula, check="truth"), painted(("cat", a)), painted(("cat", b)))
    assert concluded.outcome is Outcome.FAIL
    assert concluded.scores["both_wrong"] == alike


def test_a_colour_nobody_could_tell_makes_the_pair_undecided_and_is_named() -> None:
    case = pair("red cat & dog", check="truth")
    right, unsure = painted(("cat", "red"), ("dog", None)), painted(("cat", None), ("dog", "red"))
    for a, b, role in ((right, unsure, "b"), (unsure, right, "a")):
        concluded = judge_coloured(case, a, b)
        assert concluded.outcome is Outcome.UNDECIDED
        assert ("cat" in concluded.reason, repr(role) in concluded.reason) == (True, True)
    # One of two cats is enough: nobody knows whether it is the red one too many.
    two = painted(("cat", "red"), ("cat", None), ("dog", None))
    assert judge_coloured(case, two, two).outcome is Outcome.UNDECIDED


def test_colours_are_asked_for_only_where_a_formula_speaks_of_them() -> None:
    def roles(formula: str, *bound: str) -> set[str]:
        return {look.query.role for look in check().needs(pair(formula), bound, {})}

    assert roles("cat & dog", "detector", "colour_reader") == {"detector"}
    assert roles("red cat & dog", "detector", "colour_reader") == {"detector", "colour_reader"}
    assert roles("red cat & dog", "detector") == {"detector"}
    assert len(list(SameScene(SameScene.Options()).needs(pair("red cat"), ("detector", "colour_reader"), {}))) == 2


def test_a_colour_that_only_the_other_wording_names_counts_in_their_joint_frame() -> None:
    case = pair("cat & (cat | red cat)", "cat", check="truth")
    unsure, told = painted(("cat", None)), painted(("cat", "red"))
    assert judge_coloured(case, told, unsure).outcome is Outcome.UNDECIDED
    assert judge_coloured(case, told, told).outcome is Outcome.PASS


def test_nothing_seen_is_inconclusive() -> None:
    assert check().judge(AND, {}).outcome is Outcome.UNDECIDED


@pytest.mark.parametrize(
    ("case", "applies"),
    [(AND, True), (OR, True), (pair(None), False), (pair("cat & !cat"), False)],
)
def test_which_cases_are_its_own(case: Case, applies: bool) -> None:
    assert check().applies(case) is applies


def test_a_proved_pair_gets_one_truth_for_both_wordings() -> None:
    # By itself "a cat" says nothing of dogs; beside the wording that names one, a second dog is one too many for both.
    case = pair("cat & (cat | dog)", "cat")
    assert case.equivalent
    for scene in (row("cat"), row("cat", "dog"), row("cat", "dog", "dog"), row("cat", "cat")):
        scores = judge(check(), case, scene, scene).scores
        assert scores["right_a"] == scores["right_b"]
