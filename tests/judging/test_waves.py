"""Waves of questions: asked until nothing new comes, concluded once, and whatever broke is a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

import pytest

from salva.core.case import Case, Prompt
from salva.core.image import ImageRef
from salva.core.observation import Answer, Observation
from salva.core.options import NoOptions
from salva.core.protocols import Check, Conclusion, ImageObservations, Need, Query
from salva.core.verdict import Outcome
from salva.errors import PluginError, UsageError
from salva.judging.waves import Missing, Waves, conclude
from salva.testing.fakes import FakeAnswers

CASE = Case(
    case_id="one",
    suite="fake",
    category="all",
    prompts=(Prompt(role="a", text="cat, dog"), Prompt(role="b", text="dog, cat")),
    checks=("answers",),
)
FIRST, SECOND = Query(role="judge", text="how many?"), Query(role="judge", text="even?")
IMAGES = {role: ImageRef(image_id=f"image of {role}", width=2, height=2) for role in "ab"}


def waves_of(
    check: Check, images: Mapping[str, ImageRef | Missing] = IMAGES, roles: Collection[str] = ("judge",)
) -> Waves:
    waves = Waves(case=CASE, check=check, label="answers", roles=roles)
    for role, image in images.items():
        waves.show(role, image)
    return waves


def answers() -> FakeAnswers:
    return FakeAnswers(NoOptions())


def two(look: Need) -> Answer:
    return Answer(text="2" if look.query == FIRST else "True", scores={})


def test_a_later_question_is_asked_when_the_first_is_answered_and_none_twice() -> None:
    asked: list[Need] = []

    def look(wanted: Need) -> Observation:
        asked.append(wanted)
        return two(wanted)

    concluded = conclude(waves_of(answers()), look)
    assert asked == [Need(role=role, query=query) for query in (FIRST, SECOND) for role in "ab"]
    assert concluded.conclusion == Conclusion(outcome=Outcome.PASS, scores={"n_answers": 2.0})
    assert concluded.images == {"a": "image of a", "b": "image of b"}
    assert not concluded.is_retryable


def test_what_needs_nothing_seen_is_asked_with_its_image_and_not_again() -> None:
    first = tuple(Need(role=role, query=FIRST) for role in "ab")
    waves = Waves(case=CASE, check=answers(), label="answers", roles=("judge",), first_observations=first)
    assert waves.show("b", IMAGES["b"]) == [first[1]]
    assert waves.show("a", IMAGES["a"]) == [first[0]]
    for look in first:
        waves.answer(look, Answer(text="0", scores={}))
    assert waves.next_needs() == [], "nothing is there to ask further about"
    assert waves.conclude().conclusion.scores == {"n_answers": 1.0}


@pytest.mark.parametrize("is_final", [True, False])
def test_an_image_that_is_not_there_fails_the_conclusion_and_nothing_is_asked(is_final: bool) -> None:
    waves = waves_of(answers(), {**IMAGES, "b": Missing(reason="refused", is_final=is_final)})
    assert waves.next_needs() == []
    concluded = waves.conclude()
    assert concluded.conclusion == Conclusion(outcome=Outcome.ERROR, reason="image 'b' was not generated: refused")
    assert concluded.images == {"a": "image of a"}
    assert concluded.is_retryable == (not is_final)


def test_a_look_without_an_answer_fails_the_conclusion() -> None:
    asked: list[Need] = []

    def look(wanted: Need) -> Observation | Missing:
        asked.append(wanted)
        return two(wanted) if wanted.role == "a" else Missing(reason="the judge sleeps")

    concluded = conclude(waves_of(answers()), look)
    assert concluded.conclusion == Conclusion(outcome=Outcome.ERROR, reason="the judge sleeps")
    assert len(asked) == 2, "no further wave is asked about a case that cannot be judged"
    assert concluded.is_retryable


class Listing(FakeAnswers):
    """A check that scores every answer it has."""

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        scores = {f"{role}: {query.text}": 1.0 for role, sight in observations.items() for query in sight.seen}
        return Conclusion(outcome=Outcome.PASS, scores=scores)


def test_whoever_takes_gaps_scores_what_was_seen_and_the_rest_is_missing() -> None:
    waves = Waves(case=CASE, check=Listing(NoOptions()), label="listing", roles=("judge",), takes_gaps=True)
    for role, image in IMAGES.items():
        waves.show(role, image)

    def look(wanted: Need) -> Observation | Missing:
        is_asleep = wanted == Need(role="b", query=SECOND)
        return Missing(reason="the judge sleeps") if is_asleep else two(wanted)

    concluded = conclude(waves, look)
    assert concluded.conclusion.outcome is Outcome.ERROR
    assert concluded.conclusion.reason == "the judge sleeps"
    assert set(concluded.conclusion.scores) == {"a: how many?", "a: even?", "b: how many?"}
    assert concluded.is_retryable


class Odd(FakeAnswers):
    """A check whose questions are made up by a test."""

    def __init__(self, ask: Callable[[Mapping[str, ImageObservations]], Sequence[Need]]) -> None:
        self._ask = ask

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        return self._ask(observations)


def raising(error: Exception) -> Callable[[object], Sequence[Need]]:
    def ask(_: object) -> Sequence[Need]:
        raise error

    return ask


def test_a_relation_that_breaks_fails_its_conclusion_and_our_own_errors_go_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PLANTED_KEY", "s3cret-value")
    concluded = conclude(waves_of(Odd(raising(KeyError("s3cret-value")))), two)
    assert concluded.conclusion.outcome is Outcome.ERROR
    assert re.fullmatch(
        r"the check 'answers' failed: KeyError: '\[PLANTED_KEY\]' \(in test_waves.py line \d+\)",
        concluded.conclusion.reason,
    )
    with pytest.raises(UsageError, match="threshold"):
        conclude(waves_of(Odd(raising(UsageError("threshold is 7")))), two)


@pytest.mark.parametrize(
    "look", [Need(role="a", query=Query(role="reader")), Need(role="c", query=Query(role="judge"))], ids=str
)
def test_a_relation_may_ask_only_who_and_what_is_there(look: Need) -> None:
    with pytest.raises(PluginError, match=r"\[check-need-unknown\]"):
        waves_of(Odd(lambda _: [look])).next_needs()


def test_a_relation_must_come_to_an_end() -> None:
    def ask(observations: Mapping[str, ImageObservations]) -> Sequence[Need]:
        return [Need(role="a", query=Query(role="judge", text=f"and {len(observations['a'].seen)}?"))]

    n_asked: list[Need] = []
    with pytest.raises(PluginError, match=r"\[check-endless\]"):
        conclude(waves_of(Odd(ask)), lambda look: n_asked.append(look) or two(look))  # type: ignore[func-returns-value]  # to count
    assert len(n_asked) == 100
