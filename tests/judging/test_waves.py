"""Waves of questions: asked until nothing new comes, concluded once, and whatever broke is a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

import pytest

from salva.core.case import Case, Prompt
from salva.core.image import ImageRef
from salva.core.observation import Answer, Observation
from salva.core.options import NoOptions
from salva.core.protocols import Conclusion, Look, Query, Relation, Sight
from salva.core.verdict import Outcome
from salva.errors import PluginError, UsageError
from salva.judging.waves import Missing, Waves, conclude
from salva.testing.fakes import FakeAnswers

CASE = Case(
    case_id="one",
    suite="fake",
    category="all",
    prompts=(Prompt(role="a", text="cat, dog"), Prompt(role="b", text="dog, cat")),
    relation="answers",
)
FIRST, SECOND = Query(role="judge", text="how many?"), Query(role="judge", text="even?")
IMAGES = {role: ImageRef(image_id=f"image of {role}", width=2, height=2) for role in "ab"}


def waves_of(
    relation: Relation, images: Mapping[str, ImageRef | Missing] = IMAGES, roles: Collection[str] = ("judge",)
) -> Waves:
    waves = Waves(case=CASE, relation=relation, label="answers", roles=roles)
    for role, image in images.items():
        waves.show(role, image)
    return waves


def answers() -> FakeAnswers:
    return FakeAnswers(NoOptions())


def two(look: Look) -> Answer:
    return Answer(text="2" if look.query == FIRST else "True", scores={})


def test_a_later_question_is_asked_when_the_first_is_answered_and_none_twice() -> None:
    asked: list[Look] = []

    def look(wanted: Look) -> Observation:
        asked.append(wanted)
        return two(wanted)

    concluded = conclude(waves_of(answers()), look)
    assert asked == [Look(role=role, query=query) for query in (FIRST, SECOND) for role in "ab"]
    assert concluded.conclusion == Conclusion(outcome=Outcome.HOLDS, scores={"n_answers": 2.0})
    assert concluded.images == {"a": "image of a", "b": "image of b"}
    assert not concluded.is_retryable


def test_what_needs_nothing_seen_is_asked_with_its_image_and_not_again() -> None:
    first = tuple(Look(role=role, query=FIRST) for role in "ab")
    waves = Waves(case=CASE, relation=answers(), label="answers", roles=("judge",), first_looks=first)
    assert waves.show("b", IMAGES["b"]) == [first[1]]
    assert waves.show("a", IMAGES["a"]) == [first[0]]
    for look in first:
        waves.answer(look, Answer(text="0", scores={}))
    assert waves.next_looks() == [], "nothing is there to ask further about"
    assert waves.conclude().conclusion.scores == {"n_answers": 1.0}


@pytest.mark.parametrize("is_final", [True, False])
def test_an_image_that_is_not_there_fails_the_conclusion_and_nothing_is_asked(is_final: bool) -> None:
    waves = waves_of(answers(), {**IMAGES, "b": Missing(reason="refused", is_final=is_final)})
    assert waves.next_looks() == []
    concluded = waves.conclude()
    assert concluded.conclusion == Conclusion(outcome=Outcome.FAILED, reason="image 'b' was not painted: refused")
    assert concluded.images == {"a": "image of a"}
    assert concluded.is_retryable == (not is_final)


def test_a_look_without_an_answer_fails_the_conclusion() -> None:
    asked: list[Look] = []

    def look(wanted: Look) -> Observation | Missing:
        asked.append(wanted)
        return two(wanted) if wanted.role == "a" else Missing(reason="the judge sleeps")

    concluded = conclude(waves_of(answers()), look)
    assert concluded.conclusion == Conclusion(outcome=Outcome.FAILED, reason="the judge sleeps")
    assert len(asked) == 2, "no further wave is asked about a case that cannot be judged"
    assert concluded.is_retryable


class Listing(FakeAnswers):
    """A relation that scores every answer it has."""

    def judge(self, case: Case, sights: Mapping[str, Sight]) -> Conclusion:
        scores = {f"{role}: {query.text}": 1.0 for role, sight in sights.items() for query in sight.seen}
        return Conclusion(outcome=Outcome.HOLDS, scores=scores)


def test_whoever_takes_gaps_scores_what_was_seen_and_the_rest_is_missing() -> None:
    waves = Waves(case=CASE, relation=Listing(NoOptions()), label="listing", roles=("judge",), takes_gaps=True)
    for role, image in IMAGES.items():
        waves.show(role, image)

    def look(wanted: Look) -> Observation | Missing:
        is_asleep = wanted == Look(role="b", query=SECOND)
        return Missing(reason="the judge sleeps") if is_asleep else two(wanted)

    concluded = conclude(waves, look)
    assert concluded.conclusion.outcome is Outcome.FAILED
    assert concluded.conclusion.reason == "the judge sleeps"
    assert set(concluded.conclusion.scores) == {"a: how many?", "a: even?", "b: how many?"}
    assert concluded.is_retryable


class Odd(FakeAnswers):
    """A relation whose questions are made up by a test."""

    def __init__(self, ask: Callable[[Mapping[str, Sight]], Sequence[Look]]) -> None:
        self._ask = ask

    def looks(self, case: Case, roles: Collection[str], sights: Mapping[str, Sight]) -> Sequence[Look]:
        return self._ask(sights)


def raising(error: Exception) -> Callable[[object], Sequence[Look]]:
    def ask(_: object) -> Sequence[Look]:
        raise error

    return ask


def test_a_relation_that_breaks_fails_its_conclusion_and_our_own_errors_go_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PLANTED_KEY", "s3cret-value")
    concluded = conclude(waves_of(Odd(raising(KeyError("s3cret-value")))), two)
    assert concluded.conclusion.outcome is Outcome.FAILED
    assert re.fullmatch(
        r"the relation 'answers' failed: KeyError: '\[PLANTED_KEY\]' \(in test_waves.py line \d+\)",
        concluded.conclusion.reason,
    )
    with pytest.raises(UsageError, match="threshold"):
        conclude(waves_of(Odd(raising(UsageError("threshold is 7")))), two)


@pytest.mark.parametrize(
    "look", [Look(role="a", query=Query(role="reader")), Look(role="c", query=Query(role="judge"))], ids=str
)
def test_a_relation_may_ask_only_who_and_what_is_there(look: Look) -> None:
    with pytest.raises(PluginError, match="which this run cannot answer"):
        waves_of(Odd(lambda _: [look])).next_looks()


def test_a_relation_must_come_to_an_end() -> None:
    def ask(sights: Mapping[str, Sight]) -> Sequence[Look]:
        return [Look(role="a", query=Query(role="judge", text=f"and {len(sights['a'].seen)}?"))]

    n_asked: list[Look] = []
    with pytest.raises(PluginError, match="'answers' still has questions after 100 waves"):
        conclude(waves_of(Odd(ask)), lambda look: n_asked.append(look) or two(look))  # type: ignore[func-returns-value]  # to count
    assert len(n_asked) == 100
