"""Floors, duplicates and names of boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from salva.core.boxes import boxes_above
from salva.core.observation import Detection, Detections
from salva.core.options import parse_options
from salva.core.scene import Box
from salva.detectors.boxes import (
    MAX_BOXES,
    BoxRules,
    FloorOptions,
    NameOptions,
    ScoreScale,
    check_floor,
    from_centres,
    overlaps,
    strongest,
)
from salva.errors import BackendError, UsageError

SCALE = ScoreScale(threshold=0.3, doubt=0.5)
CAT = (0.1, 0.1, 0.5, 0.5)
NEARLY = (0.1, 0.1, 0.5, 0.49)
FAR = (0.6, 0.6, 0.9, 0.9)


def found(boxes: list[Box], scores: list[float], labels: list[str], **rules: Any) -> tuple[Detection, ...]:
    return seen(boxes, scores, labels, **rules).boxes


def seen(boxes: list[Box], scores: list[float], labels: list[str], **rules: Any) -> Detections:
    detections = BoxRules(SCALE, **{"floor": 0.05, "names": "table", **rules}).detections(boxes, scores, labels)
    assert isinstance(detections, Detections)
    return detections


def test_boxes_from_the_floor_on_are_kept_strongest_first() -> None:
    detections = seen([CAT, FAR, (0.0, 0.8, 0.1, 0.9)], [0.4, 0.9, 0.04], ["cat", "dog", "cow"])
    assert [box.label for box in detections.boxes] == ["dog", "cat"]
    assert (detections.floor, detections.threshold, detections.doubt) == (0.05, 0.3, 0.5)
    assert found([CAT], [0.4], ["cat"], floor=0.41) == ()


def test_boxes_above_a_threshold_do_not_depend_on_the_floor() -> None:
    """A weaker box never removes a stronger one, so a lower floor changes nothing above a threshold."""
    rng = np.random.default_rng(5)
    corners = rng.random((400, 2)) * 0.7
    boxes = [(float(x), float(y), float(x) + 0.25, float(y) + 0.25) for x, y in corners]
    scores = [float(score) for score in rng.random(400)]
    labels = [("cat", "dog", "kitten")[int(i)] for i in rng.integers(0, 3, 400)]
    everything = seen(boxes, scores, labels, nms_iou=0.3)
    for threshold in (0.2, 0.5, 0.8):
        alone = found(boxes, scores, labels, nms_iou=0.3, floor=threshold)
        assert boxes_above(everything, threshold) == alone
    assert len(found(boxes, scores, labels, nms_iou=1, duplicate_iou=1)) == MAX_BOXES


def test_overlapping_boxes_with_the_same_name_are_one() -> None:
    (only,) = found([CAT, NEARLY], [0.5, 0.8], ["cat", "kitten"])
    assert only == Detection(label="cat", score=0.8, box=NEARLY, raw="kitten")


def test_boxes_that_overlap_less_than_the_limit_stay() -> None:
    half = (0.1, 0.2, 0.5, 0.6)  # shares 0.6 of what both cover
    assert len(found([CAT, half], [0.5, 0.8], ["cat", "cat"])) == 1
    assert len(found([CAT, half], [0.5, 0.8], ["cat", "cat"], nms_iou=0.61)) == 2
    assert len(found([CAT, half], [0.5, 0.8], ["cat", "dog"])) == 2


def test_overlapping_boxes_with_two_names_keep_the_stronger() -> None:
    assert [box.label for box in found([CAT, NEARLY], [0.5, 0.8], ["cat", "dog"])] == ["dog"]
    assert len(found([CAT, NEARLY], [0.5, 0.8], ["cat", "dog"], duplicate_iou=1)) == 2


def test_of_equal_scores_the_first_box_stays() -> None:
    assert [box.label for box in found([CAT, CAT], [1.0, 1.0], ["cow", "horse"])] == ["cow"]


def test_boxes_are_clipped_and_those_without_area_are_dropped() -> None:
    nan = float("nan")
    boxes = [
        (-0.5, 0.2, 0.3, 1.7),
        (0.5, 0.5, 0.5, 0.9),
        (0.6, 0.5, 0.2, 0.9),
        (nan, 0.0, 1.0, 1.0),
        (1.1, 0.1, 1.5, 0.5),
    ]
    kept = found(boxes, [0.9] * 5, ["a", "b", "c", "d", "e"], names="none")
    assert [(box.label, box.box) for box in kept] == [("a", (0.0, 0.2, 0.3, 1.0))]


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -0.2, 1.7])
def test_an_invalid_score_is_an_error(score: float) -> None:
    outcome = BoxRules(SCALE).detections([CAT, FAR], [0.9, score], ["cat", "dog"])
    assert isinstance(outcome, BackendError)
    assert not outcome.is_retryable
    assert outcome.code == "numbers-invalid"


def test_scores_slightly_out_of_range_are_clipped() -> None:
    assert [box.score for box in found([CAT, FAR], [1.0002, -0.0001], ["cat", "dog"], floor=0)] == [1.0, 0.0]


def test_requested_names_are_not_changed() -> None:
    detections = BoxRules(SCALE).detections([CAT], [0.9], ["kitten"])
    assert isinstance(detections, Detections)
    assert [(box.label, box.raw) for box in detections.boxes] == [("kitten", "")]


def test_a_detector_without_scores_has_no_threshold() -> None:
    detections = BoxRules().detections([CAT], [1.0], ["cat"])
    assert isinstance(detections, Detections)
    assert (detections.floor, detections.threshold, detections.doubt) == (None, None, None)


def test_no_boxes() -> None:
    assert found([], [], []) == ()


def test_centres_become_corners() -> None:
    assert from_centres([[0.5, 0.4, 0.2, 0.6]]) == pytest.approx(np.array([[0.4, 0.1, 0.6, 0.7]]))


def test_overlap_is_intersection_over_union() -> None:
    others = np.array([CAT, (0.3, 0.1, 0.7, 0.5), FAR])
    assert overlaps(np.array(CAT), others) == pytest.approx([1, 1 / 3, 0])


def test_suppression_of_a_chain_of_boxes() -> None:
    """The first removes the middle one; the last only overlaps the middle one, so it stays."""
    chain = np.array([(0.0, 0.0, 0.4, 1.0), (0.1, 0.0, 0.5, 1.0), (0.2, 0.0, 0.6, 1.0)])
    assert strongest(chain, 0.5) == [0, 2]
    assert strongest(chain, 0.5, ["cat", "dog", "cat"]) == [0, 1, 2], "of one name only"
    assert strongest(chain, 0.5, ["cat", "cat", "dog"]) == [0, 2]


@pytest.mark.parametrize(
    ("of", "name", "value"),
    [
        (FloorOptions, "floor", "nan"),
        (FloorOptions, "floor", "-0.01"),
        (FloorOptions, "floor", "1.01"),
        (NameOptions, "names", "no such file"),
    ],
)
def test_invalid_options_are_refused(of: type[Any], name: str, value: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_options(of, {name: value}, "detector")
    assert raised.value.code == "option-invalid"


def test_the_floor_is_at_most_the_threshold() -> None:
    assert [parse_options(FloorOptions, {"floor": floor}, "detector").floor for floor in ("0", "1")] == [0, 1]
    check_floor(0.3, 0.3)
    check_floor(0.05, 0.01)
    with pytest.raises(UsageError) as raised:
        check_floor(0.31, 0.3)
    assert raised.value.code == "option-invalid"
