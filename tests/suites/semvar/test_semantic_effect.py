"""The semantic-effect check: what it asks, what it concludes, and when it cannot tell."""

from __future__ import annotations

from dataclasses import replace
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st
from suites.semvar.triples import SPATIAL, answered, scored, triple

from salva.checks.scenes import mentioned
from salva.core.case import Case
from salva.core.observation import Answer, Detection, Detections, Observation, Vector
from salva.core.options import parse_options
from salva.core.protocols import Conclusion, ImageObservations, Query
from salva.core.run_spec import RunSpec
from salva.core.verdict import Outcome
from salva.errors import UsageError
from salva.runs.plans import make_plan, spec_again
from salva.suites.semvar.effect import PAIRS
from salva.suites.semvar.semantic_effect import SemanticEffect, SemanticEffectOptions, score_query, text_query
from salva.suites.semvar.token_words import token_query

BLANK: dict[str, ImageObservations] = {}


def check(**options: float | bool) -> SemanticEffect:
    return SemanticEffect(SemanticEffectOptions(**{"flip_sample": 0.0, **options}))  # type: ignore[arg-type]  # tests give only what fits


def judged(case: Case, halves: dict[tuple[str, str], tuple[float, float]], **options: float) -> Conclusion:
    return check(**options).judge(case, scored(case, halves))


def row(*labels: str) -> Detections:
    """Things from left to right."""
    return Detections(
        boxes=tuple(
            Detection(label=label, score=1.0, box=(0.1 + 0.3 * i, 0.4, 0.3 + 0.3 * i, 0.6))
            for i, label in enumerate(labels)
        )
    )


def test_seven_scores_are_asked_and_nothing_else() -> None:
    case = triple()
    looks = check().needs(case, {"judge", "detector"}, BLANK)
    assert [(look.query.text, look.role) for look in looks] == [(case.prompt(t).text, i) for t, i in PAIRS]
    assert {(look.query.role, look.query.kind, look.query.formulas) for look in looks} == {("judge", "score", ())}


def test_formulas_go_with_the_texts_and_boxes_are_asked_for_them() -> None:
    case = triple(SPATIAL)
    looks = check().needs(case, {"judge", "detector"}, BLANK)
    scores = [look.query for look in looks if look.query.role == "judge"]
    assert {query.formulas for query in scores} == {(formula,) for formula in SPATIAL}
    assert [look.role for look in looks if look.query.role == "detector"] == ["a", "pv", "pi"]
    assert not [look for look in check().needs(case, {"judge"}, BLANK) if look.query.role == "detector"]


def test_it_needs_a_judge_and_three_roles() -> None:
    assert SemanticEffect.about.needs_roles == ("judge",)
    assert check().applies(triple())
    pair = replace(triple(), prompts=triple().prompts[:2])
    assert not check().applies(pair)


def test_a_picture_that_follows_the_meaning_holds() -> None:
    found = judged(triple(), {})
    assert found.outcome is Outcome.PASS
    assert found.scores["kappa"] == 1.0
    assert found.scores["alignment"] == 1.0
    assert found.failure_types == ()


@given(st.fixed_dictionaries({pair: st.tuples(st.integers(0, 50), st.integers(0, 50)) for pair in PAIRS}))
def test_scores_and_outcome_follow_from_the_halves(halves: dict[tuple[str, str], tuple[float, float]]) -> None:
    found = judged(triple(), halves)
    s = {pair: (objects + relations) / 100 for pair, (objects, relations) in halves.items()}
    gamma_w = abs(s["a", "pv"] - s["a", "a"]) + abs(s["pv", "pv"] - s["pv", "a"])
    gamma_wo = abs(s["a", "pi"] - s["a", "a"]) + abs(s["pi", "pi"] - s["pi", "a"])
    wanted = {"gamma_w": gamma_w, "gamma_wo": gamma_wo, "kappa": gamma_w - gamma_wo}
    wanted["alignment"] = sum(s[role, role] for role in ("a", "pv", "pi")) / 3
    for name, value in wanted.items():
        assert isclose(found.scores[name], value, rel_tol=0, abs_tol=1e-12)
    assert found.scores["s_pv_a"] == s["pv", "a"]
    assert found.scores["objects_pi"] == halves["pi", "pi"][0]
    points = {pair: int(objects + relations) for pair, (objects, relations) in halves.items()}
    in_points = abs(points["a", "pv"] - points["a", "a"]) + abs(points["pv", "pv"] - points["pv", "a"])
    in_points -= abs(points["a", "pi"] - points["a", "a"]) + abs(points["pi", "pi"] - points["pi", "a"])
    fits_other = any(points[text, image] - points[image, image] > 5 for text, image in (("pv", "a"), ("a", "pv")))
    assert (found.outcome is Outcome.PASS) == (in_points > 50 and not fits_other)
    assert ("other-meaning" in found.failure_types) == (in_points > 50 and fits_other)
    assert bool(found.failure_types) == (found.outcome is Outcome.FAIL)
    assert (
        set(found.failure_types)
        == {failure.failure_type for failure in found.failures}
        <= SemanticEffect.about.failure_types.keys()
    )


def test_kappa_must_be_above_the_threshold() -> None:
    halves = {("a", "pv"): (50.0, 25.0), ("pv", "a"): (50.0, 25.0)}
    assert judged(triple(), halves).scores["kappa"] == 0.5
    assert judged(triple(), halves).outcome is Outcome.FAIL
    assert judged(triple(), halves, threshold=0.49).outcome is Outcome.PASS


OPPOSITE = {
    **dict.fromkeys((("a", "a"), ("pi", "pi"), ("pv", "pv"), ("a", "pi"), ("pi", "a")), (50.0, 0.0)),
    **dict.fromkeys((("a", "pv"), ("pv", "a")), (50.0, 50.0)),
}
"""What a judge says of a model that always shows the other meaning."""


def test_a_model_that_always_shows_the_other_meaning_fails_though_kappa_is_one() -> None:
    found = judged(triple(), OPPOSITE)
    assert found.scores["kappa"] == 1.0
    assert found.outcome is Outcome.FAIL
    assert found.failure_types[-1] == "other-meaning"
    failures = [failure for failure in found.failures if failure.failure_type == "other-meaning"]
    assert [(failure.role, failure.seen) for failure in failures] == [
        ("a", "A dog chases a cat"),
        ("pv", "A cat chases a dog"),
    ]
    assert "1.00" in failures[0].message
    assert "0.50" in failures[0].message


@pytest.mark.parametrize("image", ["a", "pv"])
def test_one_image_of_the_other_meaning_is_enough_from_the_margin_on(image: str) -> None:
    other = {"a": "pv", "pv": "a"}[image]

    def leading_by(points: float) -> dict[tuple[str, str], tuple[float, float]]:
        """This image fits the other text by so many points of a hundred more than its own, the rest is right."""
        rest = {("a", "a"): (50.0, 50.0), ("pi", "pi"): (50.0, 50.0), ("a", "pi"): (50.0, 50.0)}
        return {**rest, (image, image): (50.0, 0.0), (other, image): (50.0, points), ("pi", "a"): (50.0, 50.0)}

    assert judged(triple(), leading_by(5), threshold=-2).outcome is Outcome.PASS, "a judge's step is no lead"
    found = judged(triple(), leading_by(6), threshold=-2)
    assert (found.outcome, found.failure_types[-1]) == (Outcome.FAIL, "other-meaning")
    assert [failure.role for failure in found.failures if failure.failure_type == "other-meaning"] == [image]
    assert judged(triple(), leading_by(6), threshold=-2, margin=0.06).outcome is Outcome.PASS
    below = judged(triple(), leading_by(6))
    assert "other-meaning" not in below.failure_types, "where kappa fails, that says why"


def test_a_picture_that_stays_when_the_meaning_changes_is_insensitive() -> None:
    found = judged(triple(), {("a", "pv"): (50, 50), ("pv", "pv"): (50, 0)})
    assert found.scores["kappa"] == 0.0
    assert found.failure_types == ("reversed-role", "insensitive")
    assert [failure.role for failure in found.failures] == ["pv", ""]


def test_a_picture_that_fits_the_swapped_prompt_hardly_better_has_no_reversed_roles() -> None:
    halves = {("a", "pv"): (50.0, 40.0), ("pv", "pv"): (50.0, 30.0), ("pv", "a"): (50.0, 30.0)}
    assert judged(triple(), halves).failure_types == ("wrong-interaction", "insensitive")


def test_a_picture_that_changes_when_the_meaning_stays_is_oversensitive() -> None:
    found = judged(triple(), {("a", "pi"): (50, 0), ("pi", "pi"): (50, 0)})
    assert found.scores["kappa"] == 0.0
    assert found.failure_types == ("no-interaction", "oversensitive")


def test_where_neither_step_is_plainly_wrong_the_worse_is_named() -> None:
    halves = {("a", "pv"): (50.0, 15.0), ("pv", "a"): (50.0, 15.0), ("pi", "a"): (50.0, 25.0)}
    assert judged(triple(), halves).failure_types == ("insensitive",)
    halves |= {("a", "pv"): (50.0, 5.0), ("pv", "a"): (50.0, 5.0), ("a", "pi"): (50.0, 30.0)}
    assert judged(triple(), halves).failure_types == ("oversensitive",)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(text="", scores={}, reply="lovely", problem="no numbers in the reply"), "no numbers in the reply"),
        (Answer(text="", scores={"objects": 50.0}), "objects and relations"),
        (answered(51, 0), "from 0 to 50"),
        (None, "no reply"),
    ],
)
def test_a_score_nobody_could_read_is_never_a_zero(answer: Answer | None, reason: str) -> None:
    case = triple()
    observations = scored(case, {})
    seen = dict(observations["pv"].seen)
    query = score_query(case.prompt("a"))
    if answer is None:
        del seen[query]
    else:
        seen[query] = answer
    found = check().judge(case, {**observations, "pv": replace(observations["pv"], seen=seen)})
    assert found.outcome is Outcome.UNDECIDED
    assert reason in found.reason
    assert "image 'pv' with text 'a'" in found.reason
    assert "kappa" not in found.scores
    assert found.scores["judge_unreadable"] == float(bool(answer and answer.problem))


def test_one_sentence_in_two_roles_decides_nothing_but_keeps_its_scores() -> None:
    case = triple(texts=("A cat chases a dog", "A dog chases a cat", "a dog chases a cat."))
    found = check().judge(case, scored(case, {}))
    assert found.outcome is Outcome.UNDECIDED
    assert found.outcome is Outcome.UNDECIDED
    assert found.scores["kappa"] == 1.0


def test_boxes_tell_what_is_wrong_where_there_are_any() -> None:
    case = triple(SPATIAL)
    query = mentioned(case).query
    more: dict[str, dict[Query, Observation]] = {
        "a": {query: row("cat", "dog")},
        "pv": {query: row("cat", "dog")},
        "pi": {query: row("cat")},
    }
    wrong = {("a", "pv"): (50.0, 50.0), ("pv", "pv"): (50.0, 0.0)}
    found = check().judge(case, scored(case, wrong, more))
    assert [(failure.failure_type, failure.role) for failure in found.failures] == [
        ("reversed-role", "pv"),
        ("missing-objects", "pi"),
        ("insensitive", ""),
    ]
    assert found.failure_types == ("reversed-role", "missing-objects", "insensitive")


def test_texts_are_embedded_only_where_somebody_can_and_their_distance_is_kept() -> None:
    case = triple()
    looks = check().needs(case, {"judge", "embedder"}, BLANK)
    asked = [look for look in looks if look.query.role == "embedder"]
    assert [(look.role, look.query.text) for look in asked] == [("a", prompt.text) for prompt in case.prompts]
    vectors = dict(zip(("a", "pv", "pi"), ((1.0, 0.0), (1.0, 0.0), (0.0, 2.0)), strict=True))
    more = {"a": {text_query(case.prompt(role)): Vector(values=values) for role, values in vectors.items()}}
    found = check().judge(case, scored(case, {}, more))
    assert found.scores["text_distance_pv"] == 0.0
    assert found.scores["text_distance_pi"] == 1.0
    assert "text_distance_pv" not in judged(case, {}).scores


def test_questions_asked_again_show_flips_and_the_first_answer_counts() -> None:
    case = triple()
    twice = check(flip_sample=1)
    looks = [look for look in twice.needs(case, {"judge"}, BLANK) if look.query.repeat]
    assert len(looks) == 7
    again = replace(score_query(case.prompt("a")), repeat=1)
    found = twice.judge(case, scored(case, {}, {"a": {again: answered(0, 0)}}))
    assert found.scores["kappa"] == 1.0
    assert (found.scores["judge_repeated"], found.scores["judge_flipped"]) == (1.0, 1.0)
    assert found.scores["judge_answers"] == 8.0


def test_words_are_asked_for_one_by_one_on_request() -> None:
    case = triple()
    looks = check(tokens=True).needs(case, {"judge"}, BLANK)
    grades = [look for look in looks if look.query.kind == "grade"]
    assert [look.role for look in grades] == ["a", "pv", "pi"]
    assert len(grades[0].query.questions) == 3
    replies = {"a": {"q1": 1.0, "q2": 0.5, "q3": 0.0}, "pv": {"q1": 0.4, "q2": 0.0, "q3": 0.0}}
    more = {role: {token_query(case.prompt(role)): Answer(text="", scores=scores)} for role, scores in replies.items()}
    found = check(tokens=True).judge(case, scored(case, {}, more))
    assert found.scores["tokens_a"] == pytest.approx(2 / 3)
    assert found.scores["tokens_pv"] == 0.0
    assert "tokens_pi" not in found.scores


@pytest.mark.parametrize("given", [{"threshold": "3"}, {"flip_sample": "1.5"}, {"margin": "-0.1"}])
def test_options_out_of_range_are_refused(given: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=next(iter(given))):
        parse_options(SemanticEffectOptions, given, "check")


def thresholds(suite: str, threshold: str) -> dict[str, float | None]:
    """The thresholds of a run's checks, as set and as a rejudgement would set them."""
    asked = RunSpec.of(
        suite=suite, models=("painter",), detector="pocket", judges=("scene",), settings={"check.threshold": threshold}
    )
    plan = make_plan(asked)
    again = make_plan(spec_again(plan.run_spec()))
    found, later = (
        {b.label: b.options.threshold for b in made.checks if hasattr(b.options, "threshold")} for made in (plan, again)
    )
    assert found == later
    return found


def test_the_threshold_of_kappa_reaches_no_check_of_boxes() -> None:
    of_boxes = {"truth": None, "same-scene": None, "named-entities": None}
    assert thresholds("semvar", "-0.5") == {"semantic-effect": -0.5, **of_boxes}
    assert thresholds("semvar", "0.01")["semantic-effect"] == 0.01, "no floor of boxes stands against it"
    assert set(thresholds("actesting", "0.6").values()) == {0.6}
    with pytest.raises(UsageError, match="threshold-below-floor"):
        thresholds("actesting", "0.01")
