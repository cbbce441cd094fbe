"""same-scene on planted scenes: what differs, what does not, and who is to blame."""

from __future__ import annotations

import dataclasses
import re

import pytest
from checks.planted import At, box_at, judge, pair, row, text, things
from hypothesis import given
from hypothesis import strategies as st

from salva.checks.same_scene import SameScene, SameSceneOptions
from salva.core.case import Case, Prompt
from salva.core.observation import Detection, Detections
from salva.core.options import parse_options
from salva.core.protocols import Conclusion
from salva.core.verdict import (
    ENTITY_DUPLICATION,
    ENTITY_OMISSION,
    OPTICAL_CHARACTER,
    X_MISPOSITION,
    Y_MISPOSITION,
    Outcome,
)


def check(**given_options: str) -> SameScene:
    return SameScene(parse_options(SameSceneOptions, given_options, "check"))


def blame(concluded: Conclusion) -> list[tuple[str, str, str]]:
    return [(failure.failure_type, failure.role, failure.entity) for failure in concluded.failures]


AND = pair("cat & dog", "dog & cat")
X = pair("cat@right & dog@left", "dog@left & cat@right")
Y = pair("cat@bottom & dog@top")
TRIPLE = pair("cat@right & dog@left & apple@middle")


def test_same_labels_and_numbers_hold_wherever_things_stand() -> None:
    concluded = judge(check(), AND, row("cat", "dog"), row("dog", "cat"))
    assert concluded.outcome is Outcome.PASS
    assert concluded.failure_types == ()
    assert concluded.failures == ()


def test_a_second_cat_is_the_duplication_of_its_image() -> None:
    concluded = judge(check(), AND, row("cat", "cat", "dog"), row("dog", "cat"))
    assert concluded.outcome is Outcome.FAIL
    assert blame(concluded) == [(ENTITY_DUPLICATION, "a", "cat")]
    assert (concluded.failures[0].expected, concluded.failures[0].seen) == ("1", "2")


def test_a_missing_dog_is_the_omission_of_its_image() -> None:
    concluded = judge(check(), AND, row("cat", "dog"), row("cat"))
    assert blame(concluded) == [(ENTITY_OMISSION, "b", "dog")]
    assert concluded.failure_types == (ENTITY_OMISSION,)


def test_each_image_answers_for_its_own_part() -> None:
    concluded = judge(check(), AND, row("cat", "cat"), row("dog", "cat"))
    assert set(blame(concluded)) == {(ENTITY_DUPLICATION, "a", "cat"), (ENTITY_OMISSION, "a", "dog")}
    assert concluded.failure_types == (ENTITY_DUPLICATION, ENTITY_OMISSION)


def test_what_both_get_wrong_alike_is_no_difference() -> None:
    assert judge(check(), AND, row("cat", "cat"), row("cat", "cat")).outcome is Outcome.PASS
    concluded = judge(check(), AND, row("cat", "cat"), row("cat", "cat", "dog"))
    assert blame(concluded) == [(ENTITY_OMISSION, "a", "dog")]


def test_both_wrong_in_different_numbers_blames_both() -> None:
    concluded = judge(check(), AND, row("cat", "cat", "dog"), row("cat", "cat", "cat", "dog"))
    assert blame(concluded) == [(ENTITY_DUPLICATION, "a", "cat"), (ENTITY_DUPLICATION, "b", "cat")]


def test_two_right_pictures_of_an_or_differ_only_by_comparison() -> None:
    case = pair("cat | dog", determinate=False)
    concluded = judge(check(indeterminate="same-scene"), case, row("cat"), row("dog"))
    assert blame(concluded) == [(ENTITY_OMISSION, "", "cat"), (ENTITY_OMISSION, "", "dog")]
    assert re.findall(r"\d|'.'", concluded.failures[0].message) == ["1", "'a'", "0", "'b'"]


@pytest.mark.parametrize(
    ("case", "good", "bad", "error"),
    [
        (X, things(("dog", 0.2, 0.5), ("cat", 0.8, 0.5)), things(("cat", 0.2, 0.5), ("dog", 0.8, 0.5)), X_MISPOSITION),
        (Y, things(("dog", 0.5, 0.2), ("cat", 0.5, 0.8)), things(("cat", 0.5, 0.2), ("dog", 0.5, 0.8)), Y_MISPOSITION),
    ],
)
def test_swapped_things_are_misplaced_in_the_image_that_breaks_its_prompt(
    case: Case, good: Detections, bad: Detections, error: str
) -> None:
    concluded = judge(check(), case, good, bad)
    assert concluded.failure_types == (error,)
    assert {failure.role for failure in concluded.failures} == {"b"}
    assert {failure.role for failure in judge(check(), case, bad, good).failures} == {"a"}
    assert judge(check(), case, bad, bad).outcome is Outcome.PASS


def test_order_counts_and_not_distance() -> None:
    near = things(("dog", 0.70, 0.5), ("cat", 0.72, 0.5))
    assert judge(check(), X, near, things(("dog", 0.1, 0.5), ("cat", 0.9, 0.5))).outcome is Outcome.PASS


def test_equal_centroids_are_no_order() -> None:
    level = things(("dog", 0.5, 0.2), ("cat", 0.5, 0.8))
    concluded = judge(check(), X, level, row("dog", "cat"))
    assert concluded.failure_types == (X_MISPOSITION,)
    assert judge(check(), X, level, level).outcome is Outcome.PASS
    mirrored = pair("cat@left & dog@right")
    assert judge(check(), mirrored, level, row("cat", "dog")).failure_types == (X_MISPOSITION,)


def test_order_is_compared_only_when_the_numbers_agree() -> None:
    concluded = judge(check(), X, row("dog", "cat"), row("cat", "dog", "dog"))
    assert concluded.failure_types == (ENTITY_DUPLICATION,)


def test_three_things_in_order() -> None:
    right = row("dog", "apple", "cat")
    assert judge(check(), TRIPLE, right, right).outcome is Outcome.PASS
    concluded = judge(check(), TRIPLE, right, row("apple", "dog", "cat"))
    assert concluded.failure_types == (X_MISPOSITION,)
    assert {failure.role for failure in concluded.failures} == {"b"}


def test_the_order_of_what_the_prompt_leaves_free_is_free() -> None:
    free = pair("cat@left & dog@left & apple@right")
    assert judge(check(), free, row("cat", "dog", "apple"), row("dog", "cat", "apple")).outcome is Outcome.PASS
    unplaced = pair("cat@left & dog@right & apple")
    assert judge(check(), unplaced, row("cat", "dog", "apple"), row("apple", "cat", "dog")).outcome is Outcome.PASS


def test_things_of_one_label_are_alike() -> None:
    case = pair("2 cat@left & dog@right")
    a = things(("cat", 0.1, 0.2), ("cat", 0.3, 0.8), ("dog", 0.9, 0.5))
    b = things(("cat", 0.3, 0.2), ("dog", 0.9, 0.5), ("cat", 0.3, 0.8))
    assert judge(check(), case, a, b).outcome is Outcome.PASS


def test_a_single_placed_thing_is_compared_by_halves() -> None:
    case = pair("cat@left")
    assert judge(check(), case, things(("cat", 0.1, 0.5)), things(("cat", 0.4, 0.5))).outcome is Outcome.PASS
    concluded = judge(check(), case, things(("cat", 0.1, 0.5)), things(("cat", 0.6, 0.5)))
    assert concluded.failure_types == (X_MISPOSITION,)
    assert {failure.role for failure in concluded.failures} == {"b"}


def test_a_single_thing_in_the_middle_is_compared_by_thirds() -> None:
    case = pair("cat@x-middle")
    assert judge(check(), case, things(("cat", 0.4, 0.5)), things(("cat", 0.6, 0.5))).outcome is Outcome.PASS
    concluded = judge(check(), case, things(("cat", 0.4, 0.5)), things(("cat", 0.2, 0.5)))
    assert concluded.failure_types == (X_MISPOSITION,)


def test_relations_put_things_in_order_too() -> None:
    case = pair("left_of(cat, dog)")
    concluded = judge(check(), case, row("cat", "dog"), row("dog", "cat"))
    assert concluded.failure_types == (X_MISPOSITION,)
    assert {failure.role for failure in concluded.failures} == {"b"}


def test_scope_all_sees_what_nobody_mentioned() -> None:
    with_tree, without = row("cat", "dog", "tree"), row("cat", "dog")
    assert judge(check(), AND, with_tree, without).outcome is Outcome.PASS
    concluded = judge(check(scope="all"), AND, with_tree, without)
    assert blame(concluded) == [(ENTITY_DUPLICATION, "a", "tree")]


def test_scope_all_compares_the_order_of_everything() -> None:
    a, b = row("tree", "dog", "cat"), row("dog", "cat", "tree")
    assert judge(check(), X, a, b).outcome is Outcome.PASS
    concluded = judge(check(scope="all"), X, a, b)
    assert blame(concluded) == [(X_MISPOSITION, "", "cat, dog, tree")]
    (failure,) = concluded.failures
    assert (failure.expected, failure.seen) == ("tree, dog, cat", "dog, cat, tree")


def test_scope_all_needs_no_formula() -> None:
    prompts = tuple(Prompt(role=role, text="a cat") for role in "ab")
    case = dataclasses.replace(pair("cat", check="truth"), prompts=prompts)
    assert not check().applies(case)
    assert check(scope="all").applies(case)
    concluded = judge(check(scope="all"), case, row("cat", "cat"), row("cat"))
    assert blame(concluded) == [(ENTITY_OMISSION, "", "cat")]


def test_a_pair_without_formulas_that_names_the_check_is_compared_over_every_label() -> None:
    prompts = tuple(Prompt(role=role, text="a cat") for role in "ab")
    case = dataclasses.replace(pair("cat"), prompts=prompts, checks=("right-answers", "same-scene"))
    assert check().applies(case)
    assert judge(check(), case, row("cat", "tree"), row("cat", "tree")).outcome is Outcome.PASS
    assert blame(judge(check(), case, row("cat", "tree"), row("cat"))) == [(ENTITY_OMISSION, "", "tree")]
    assert judge(check(), case, row(), row()).outcome is Outcome.UNDECIDED
    assert not check().applies(dataclasses.replace(case, checks=("right-answers",)))


def test_text_in_one_image_alone() -> None:
    same = row("cat", "dog")
    concluded = judge(check(), AND, same, same, reads=(text("THERE IS A CAT"), text()))
    assert concluded.failure_types == (OPTICAL_CHARACTER,)
    assert (concluded.failures[0].role, concluded.failures[0].seen) == ("a", "THERE IS A CAT")
    both = judge(check(), AND, same, same, reads=(text("cat"), text("a dog and")))
    assert both.outcome is Outcome.PASS


def test_at_least_does_not_tell_more_apart() -> None:
    many, one = row("cat", "cat", "dog"), row("cat", "dog")
    assert judge(check(counts="at-least"), AND, many, one).outcome is Outcome.PASS
    assert judge(check(counts="at-least"), AND, row("dog"), one).failure_types == (ENTITY_OMISSION,)
    assert judge(check(counts="at-least"), X, row("dog", "dog", "cat"), row("dog", "cat")).outcome is Outcome.PASS


def test_at_least_of_everything_counts_what_nobody_mentioned_exactly() -> None:
    """The prompts state no number of trees, so there is none to count up to."""
    one_tree, two_trees = row("cat", "dog", "tree"), row("cat", "cat", "dog", "tree", "tree")
    everything = check(counts="at-least", scope="all")
    assert judge(everything, AND, one_tree, row("cat", "cat", "dog", "tree")).outcome is Outcome.PASS
    assert blame(judge(everything, AND, one_tree, two_trees)) == [(ENTITY_DUPLICATION, "b", "tree")]


def test_two_boxes_on_one_cat_are_one_cat() -> None:
    cat, dog = box_at(0.3, 0.5), box_at(0.7, 0.5)
    twice = Detections(
        boxes=(
            Detection(label="cat", score=0.9, box=cat),
            Detection(label="cat", score=0.6, box=box_at(0.305, 0.5)),
            Detection(label="dog", score=0.9, box=dog),
        )
    )
    assert judge(check(), AND, twice, row("cat", "dog")).outcome is Outcome.PASS


def test_nothing_seen_is_inconclusive() -> None:
    concluded = check().judge(AND, {})
    assert concluded.outcome is Outcome.UNDECIDED
    assert "prompt 'a'" in concluded.reason


@pytest.mark.parametrize(
    ("case", "given_options", "applies"),
    [
        (AND, {}, True),
        (pair("cat | dog", determinate=False), {}, False),
        (pair("cat | dog", determinate=False, check="truth"), {"indeterminate": "same-scene"}, True),
        (pair("cat & !dog", check="truth"), {}, True),
        (pair("cat", "dog", equivalent=False), {"indeterminate": "same-scene"}, False),
        (pair("cat", "dog", equivalent=False), {"scope": "all"}, False),
        (pair("cat", "dog", equivalent=False), {"indeterminate": "same-scene", "scope": "all"}, True),
        (
            pair("cat", "dog", equivalent=False, check="truth"),
            {"indeterminate": "same-scene", "scope": "all"},
            False,
        ),
        (pair("cat & dog", determinate=None, equivalent=None), {}, True),
    ],
)
def test_which_cases_are_its_own(case: Case, given_options: dict[str, str], applies: bool) -> None:
    assert check(**given_options).applies(case) is applies


def test_the_detector_is_told_what_the_prompts_mention() -> None:
    asked = check().needs(TRIPLE, {"detector"}, {})
    assert [(look.role, look.query.role, look.query.labels) for look in asked] == [
        ("a", "detector", ("apple", "cat", "dog")),
        ("b", "detector", ("apple", "cat", "dog")),
    ]
    assert len(check().needs(TRIPLE, {"detector", "reader"}, {})) == 4


PLACED = st.lists(
    st.tuples(
        st.sampled_from(["cat", "dog", "apple", "tree"]),
        st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]),
        st.sampled_from([0.2, 0.5, 0.8]),
    ),
    max_size=5,
)


@given(a=PLACED, b=PLACED, case=st.sampled_from([AND, X, Y, TRIPLE]), scope=st.sampled_from(["mentioned", "all"]))
def test_the_comparison_has_no_direction(a: list[At], b: list[At], case: Case, scope: str) -> None:
    one = judge(check(scope=scope), case, things(*a), things(*b))
    other = judge(check(scope=scope), case, things(*b), things(*a))
    assert (one.outcome, one.failure_types) == (other.outcome, other.failure_types)
    assert judge(check(scope=scope), case, things(*a), things(*reversed(a))).outcome is Outcome.PASS


def test_each_label_that_differs_is_blamed_once() -> None:
    """Of two right images of an or that differ in one label the other is told by comparison alone."""
    either = pair("cat & (dog | cow)")
    concluded = judge(check(), either, row("cat", "cat", "dog"), row("cat", "cow"))
    assert blame(concluded)[0] == (ENTITY_DUPLICATION, "a", "cat")
    assert {(role, entity) for _, role, entity in blame(concluded)[1:]} == {("", "cow"), ("", "dog")}
    assert concluded.scores == {
        "labels_that_differ": 3,
        "orders_that_differ": 0,
        "text_differs": 0,
        **{name: value for name, value in concluded.scores.items() if name == "certainty"},
    }


def test_what_nobody_asked_for_is_too_much_and_told_with_its_numbers() -> None:
    concluded = judge(check(scope="all"), AND, row("cat", "dog", "cow", "cow"), row("cat", "dog", "cow"))
    (failure,) = concluded.failures
    assert (failure.failure_type, failure.role, failure.entity) == (ENTITY_DUPLICATION, "a", "cow")
    assert (failure.expected, failure.seen) == ("1", "2")
    assert re.findall(r"\d|'.'", failure.message) == ["2", "'a'", "1", "'b'"]
    concluded = judge(check(scope="all"), AND, row("cat", "dog"), row("cat", "dog", "cow"))
    assert blame(concluded) == [(ENTITY_DUPLICATION, "b", "cow")]


def test_without_a_formula_less_is_told_by_comparison() -> None:
    unread = pair(None, equivalent=None, determinate=None)
    concluded = judge(check(scope="all"), unread, row("cat"), row("cat", "cat"))
    (failure,) = concluded.failures
    assert (failure.failure_type, failure.role) == (ENTITY_OMISSION, "")
    assert (failure.expected, failure.seen) == ("2", "1")
