"""Thresholds, duplicates and names act on boxes as the options say."""

from __future__ import annotations

import numpy as np
import pytest

from salva.core.observation import Detection
from salva.core.options import parse_options
from salva.core.scene import Box
from salva.errors import UsageError
from salva.perception.detectors.boxes import BoxOptions, BoxRules, from_centres, overlaps, strongest

CAT = (0.1, 0.1, 0.5, 0.5)
NEARLY = (0.1, 0.1, 0.5, 0.49)
FAR = (0.6, 0.6, 0.9, 0.9)


def found(boxes: list[Box], scores: list[float], labels: list[str], **options: str) -> tuple[Detection, ...]:
    rules = BoxRules(parse_options(BoxOptions, options, "detector"))
    return rules.detections(boxes, scores, labels).boxes


def test_weak_boxes_are_dropped_and_the_strongest_comes_first() -> None:
    seen = found([CAT, FAR, (0.0, 0.8, 0.1, 0.9)], [0.4, 0.9, 0.29], ["cat", "dog", "cow"])
    assert [box.label for box in seen] == ["dog", "cat"]
    assert found([CAT], [0.4], ["cat"], threshold="0.41") == ()


def test_one_thing_seen_twice_under_one_name_is_one() -> None:
    (seen,) = found([CAT, NEARLY], [0.5, 0.8], ["cat", "kitten"])
    assert seen == Detection(label="cat", score=0.8, box=NEARLY, raw="kitten")


def test_two_things_of_one_kind_that_overlap_less_than_allowed_stay_two() -> None:
    half = (0.1, 0.2, 0.5, 0.6)  # shares 0.6 of what both cover
    assert len(found([CAT, half], [0.5, 0.8], ["cat", "cat"])) == 1
    assert len(found([CAT, half], [0.5, 0.8], ["cat", "cat"], nms_iou="0.61")) == 2
    assert len(found([CAT, half], [0.5, 0.8], ["cat", "dog"])) == 2


def test_one_thing_under_two_names_keeps_the_stronger_one() -> None:
    assert [box.label for box in found([CAT, NEARLY], [0.5, 0.8], ["cat", "dog"])] == ["dog"]
    assert len(found([CAT, NEARLY], [0.5, 0.8], ["cat", "dog"], duplicate_iou="1")) == 2


def test_without_scores_what_was_said_first_stays() -> None:
    assert [box.label for box in found([CAT, CAT], [1.0, 1.0], ["cow", "horse"])] == ["cow"]


def test_boxes_are_cut_at_the_edges_and_nothing_without_area_or_number_is_kept() -> None:
    nan = float("nan")
    boxes = [
        (-0.5, 0.2, 0.3, 1.7),
        (0.5, 0.5, 0.5, 0.9),
        (0.6, 0.5, 0.2, 0.9),
        (nan, 0.0, 1.0, 1.0),
        (1.1, 0.1, 1.5, 0.5),
    ]
    seen = found(boxes, [0.9] * 5, ["a", "b", "c", "d", "e"], names="none")
    assert [(box.label, box.box) for box in seen] == [("a", (0.0, 0.2, 0.3, 1.0))]
    assert found([CAT], [nan], ["cat"]) == ()


def test_names_asked_for_are_left_alone() -> None:
    rules = BoxRules(BoxOptions())
    (seen,) = rules.detections([CAT], [0.9], ["kitten"], are_names=True).boxes
    assert (seen.label, seen.raw) == ("kitten", "")


def test_nothing_found_is_nothing() -> None:
    assert found([], [], []) == ()


def test_centres_become_corners() -> None:
    assert from_centres([[0.5, 0.4, 0.2, 0.6]]) == pytest.approx(np.array([[0.4, 0.1, 0.6, 0.7]]))


def test_overlaps_are_shares_of_the_union() -> None:
    others = np.array([CAT, (0.3, 0.1, 0.7, 0.5), FAR])
    assert overlaps(np.array(CAT), others) == pytest.approx([1, 1 / 3, 0])


def test_a_chain_of_boxes_keeps_its_ends() -> None:
    """The middle one goes because of the first; the last overlaps only the middle one, so it stays."""
    chain = np.array([(0.0, 0.0, 0.4, 1.0), (0.1, 0.0, 0.5, 1.0), (0.2, 0.0, 0.6, 1.0)])
    assert strongest(chain, 0.5) == [0, 2]


@pytest.mark.parametrize(
    "setting",
    [{"threshold": "1.1"}, {"nms_iou": "-0.1"}, {"duplicate_iou": "nan"}, {"names": "none", "names_file": "x"}],
)
def test_impossible_options_are_refused(setting: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=next(iter(setting))):
        parse_options(BoxOptions, setting, "detector")
