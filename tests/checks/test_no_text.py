"""Text that a prompt does not ask for fails a case by what a reader found; text on what carries text is no fault."""

from __future__ import annotations

import pytest
from checks.planted import text, things

from salva.checks.no_text import NoText
from salva.checks.scenes import READER
from salva.core.case import Case, Prompt
from salva.core.image import ImageRef
from salva.core.observation import Observation, Reading
from salva.core.options import NoOptions
from salva.core.protocols import ImageObservations, Query
from salva.core.verdict import OPTICAL_CHARACTER, Outcome

FAIL, PASS, UNDECIDED = Outcome.FAIL, Outcome.PASS, Outcome.UNDECIDED
CHECK = NoText(NoOptions())
CLOCK = Query(role="detector", labels=("clock",))
UNDER_THE_TEXT, ELSEWHERE = things(("clock", 0.25, 0.15)), things(("clock", 0.8, 0.8))


def case_of(prompt: str, other: str = "a cat") -> Case:
    named = ("clock",) if "clock" in prompt else ()
    prompts = (Prompt(role="a", text=prompt, entities=named), Prompt(role="b", text=other))
    return Case(case_id="x", suite="s", category="c", prompts=prompts, checks=("levels",))


def sight(*seen: tuple[Query, Observation]) -> ImageObservations:
    return ImageObservations(image=ImageRef(image_id="0" * 64, width=1, height=1), seen=dict(seen))


@pytest.mark.parametrize(
    ("prompt", "seen", "outcome"),
    [
        ("a dog", ((READER, text()),), PASS),
        ("a dog", ((READER, text("a dog")),), FAIL),
        ('a dog and the words "a dog"', ((READER, text("a dog")),), PASS),
        ("a dog", ((READER, Reading(problem="unreadable")),), UNDECIDED),
        ("a dog", (), UNDECIDED),
        ("two stars labelled HOT and COOL", ((READER, text("HOT")),), PASS),
        ("a clock", ((READER, text("12")), (CLOCK, UNDER_THE_TEXT)), PASS),
        ("a clock", ((READER, text("a clock")), (CLOCK, ELSEWHERE)), FAIL),
        ("a busy street", ((READER, text("OPEN")),), PASS),
        ("a busy street", ((READER, text("STREETVIEW")),), FAIL),
        ("a clock", ((READER, text("12")),), PASS),
    ],
)
def test_unrequested_text_fails_a_case(
    prompt: str, seen: tuple[tuple[Query, Observation], ...], outcome: Outcome
) -> None:
    made = CHECK.judge(case_of(prompt), {"a": sight(*seen), "b": sight((READER, text()))})
    assert made.outcome is outcome
    assert made.failure_types == ((OPTICAL_CHARACTER,) if outcome is FAIL else ())
    assert [failure.role for failure in made.failures] == ["a"] * (outcome is FAIL)


def test_all_text_counts_where_a_formula_says_what_the_image_shows() -> None:
    case = Case(
        case_id="x",
        suite="s",
        category="c",
        prompts=(Prompt(role="a", text="a dog", formula="dog"),),
        checks=("levels",),
    )
    assert CHECK.judge(case, {"a": sight((READER, text("OPEN")))}).outcome is FAIL


def test_one_image_with_text_is_enough_whatever_the_others_are() -> None:
    unread, captioned = sight((READER, Reading(problem="unreadable"))), sight((READER, text("a cat")))
    made = CHECK.judge(case_of("a dog"), {"a": unread, "b": captioned})
    assert (made.outcome, [failure.role for failure in made.failures]) == (FAIL, ["b"])


def test_boxes_are_asked_for_where_a_prompt_names_what_carries_text() -> None:
    def asked(prompt: str, *roles: str) -> list[tuple[str, Query]]:
        return [(need.role, need.query) for need in CHECK.needs(case_of(prompt), {"reader", *roles}, {})]

    assert asked("a dog", "detector") == [("a", READER), ("b", READER)]
    assert asked("a clock", "detector") == [("a", READER), ("a", CLOCK), ("b", READER)]
    assert asked("a clock") == asked("two stars labelled HOT", "detector") == [("b", READER)]
    assert asked("a bus with a clock", "detector") == [("b", READER)], "nobody asks where the bus is"
    assert not CHECK.applies(case_of("a label", "the text of a letter"))
