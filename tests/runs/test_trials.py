"""What the answers about salva's own pictures say about whoever gave them."""

from __future__ import annotations

import pytest

from salva.core.observation import Answer, Detection, Detections
from salva.core.protocols import ObserveRequest, Query
from salva.core.run_spec import ComponentSpec
from salva.registry import bind
from salva.runs.trials import KINDS, DetectorTrial, JudgeTrial, drawing


def said(kind: str, value: float | str) -> Answer:
    """A judge's answer of a kind; words are what it says instead of an answer."""
    if value == "?":
        return Answer(text="", scores={}, reply="lovely", problem="no number in it")
    if kind == "answer":
        return Answer(text=value if isinstance(value, str) else "yes" if value else "no", scores={})
    return Answer(text="", scores={"objects": 50.0 * float(value), "relations": 20.0, "q1": float(value)})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("there", "absent", "passes"),
    [(1, 0, True), (1, 1, False), (0, 0, False), (0, 1, False), ("?", "?", False)],
    ids=["honest", "always yes", "always no", "inverted", "unreadable"],
)
def test_a_judge_must_tell_what_is_there_from_what_is_not(kind: str, there: float, absent: float, passes: bool) -> None:
    finding = JudgeTrial(kind=kind).finding([said(kind, there), said(kind, absent)])
    assert (finding is None) is passes
    if finding is not None:
        assert finding.stops
        assert "cat" in finding.problem
        assert "airplane" in finding.problem


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("there", "absent"), [("?", 0), (1, "?"), ("?", 1)])
def test_one_answer_has_told_nothing_apart(kind: str, there: float | str, absent: float | str) -> None:
    finding = JudgeTrial(kind=kind).finding([said(kind, there), said(kind, absent)])
    assert finding is not None
    assert finding.stops
    assert "unreadable, no number in it" in finding.problem


def test_words_that_are_no_choice_are_no_answer() -> None:
    assert JudgeTrial(kind="answer").finding([said("answer", "perhaps"), said("answer", "no")]) is not None


@pytest.mark.parametrize(("kind", "highest"), [("score", 50), ("grade", 1)])
@pytest.mark.parametrize(("there", "absent"), [(1.2, 0), (1, -0.1), (float("inf"), 0), (float("nan"), 0)])
def test_a_score_out_of_its_range_is_no_answer(kind: str, highest: int, there: float, absent: float) -> None:
    finding = JudgeTrial(kind=kind).finding([said(kind, there), said(kind, absent)])
    assert finding is not None
    assert finding.stops
    assert f"from 0 to {highest}" in finding.problem


def test_a_judge_that_judges_what_a_detector_saw_is_only_told_to_be_blind() -> None:
    blind = JudgeTrial(kind="answer", relies_on_others=True).finding([said("answer", "no"), said("answer", "no")])
    assert blind is not None
    assert not blind.stops
    yes_man = JudgeTrial(kind="answer", relies_on_others=True).finding([said("answer", "yes"), said("answer", "yes")])
    assert yes_man is not None
    assert yes_man.stops


@pytest.mark.parametrize("kind", KINDS)
def test_the_scene_judge_passes_with_our_own_detector(kind: str) -> None:
    detector = bind(ComponentSpec(role="detector", name="pocket")).build()
    judge = bind(ComponentSpec(role="judge", name="scene")).build()
    trial = JudgeTrial(kind=kind)
    requests = []
    for question in trial.questions():
        (boxes,) = detector.observe([ObserveRequest(picture=question.picture, query=question.query)])
        requests.append(ObserveRequest(picture=question.picture, query=question.query, given={"detector": boxes}))
    assert trial.finding(judge.observe(requests)) is None


def boxes(*scores: float, threshold: float | None = 0.4) -> Detections:
    seen = tuple(Detection(label="cow", score=score, box=(0.0, 0.0, 1.0, 1.0)) for score in scores)
    return Detections(boxes=seen, floor=None if threshold is None else 0.05, threshold=threshold)


def test_a_detector_must_see_nothing_in_nothing() -> None:
    trial = DetectorTrial(thresholds=(None,))
    assert trial.finding([boxes(0.3), boxes()]) is None
    finding = trial.finding([boxes(0.3), boxes(0.7)])
    assert finding is not None
    assert finding.stops
    assert "cow (0.70) in plain grey" in finding.problem
    assert "noise" not in finding.problem


def test_a_detector_that_takes_words_is_held_to_every_query() -> None:
    asked = tuple(Query(role="detector", labels=(label,)) for label in ("cat", "dog"))
    trial = DetectorTrial(queries=asked, thresholds=(None,))
    assert [question.query.labels for question in trial.questions()] == [("cat",), ("cat",), ("dog",), ("dog",)]
    assert trial.finding([boxes(), boxes(), boxes(), boxes(0.3)]) is None
    finding = trial.finding([boxes(), boxes(), boxes(), boxes(0.9)])
    assert finding is not None
    assert "cow (0.90) in plain grey" in finding.problem


def test_the_relations_threshold_is_what_counts() -> None:
    assert DetectorTrial(thresholds=(0.8,)).finding([boxes(0.7), boxes()]) is None
    assert DetectorTrial(thresholds=(0.8, 0.2)).finding([boxes(0.3), boxes()]) is not None
    assert DetectorTrial(thresholds=(0.8, None)).finding([boxes(0.5), boxes()]) is not None


def test_a_detector_without_scores_is_told_and_not_stopped() -> None:
    finding = DetectorTrial(thresholds=(None,)).finding([boxes(1.0, threshold=None), boxes(threshold=None)])
    assert finding is not None
    assert not finding.stops
    assert "gives no scores" in finding.problem


def test_our_own_detector_sees_nothing_in_nothing_and_a_cat_in_the_drawing() -> None:
    detector = bind(ComponentSpec(role="detector", name="pocket")).build()
    trial = DetectorTrial(thresholds=(None,))
    requests = [ObserveRequest(picture=question.picture, query=question.query) for question in trial.questions()]
    assert trial.finding(detector.observe(requests)) is None
    (seen,) = detector.observe([ObserveRequest(picture=drawing(), query=requests[0].query)])
    assert [box.label for box in seen.boxes if box.score >= seen.threshold] == ["cat"]


def test_the_pictures_are_the_same_everywhere() -> None:
    """Another picture has another key: every run under way would be asked again."""
    noise, grey = (question.picture.image_id()[:16] for question in DetectorTrial().questions())
    assert (noise, grey, drawing().image_id()[:16]) == ("cd990393cfa0c696", "75e53686044d2b88", "0b2011383d90093d")
