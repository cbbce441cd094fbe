"""From boxes to a scene: which boxes count and which of them are one entity."""

from __future__ import annotations

from typing import Any

import pytest

from salva.core.boxes import boxes_above, labels_without_colour, overlap, placed_entities, scene_of
from salva.core.observation import Detection, Detections
from salva.core.scene import Box, Scene, Thing

HERE: Box = (0.1, 0.1, 0.5, 0.5)
NEAR: Box = (0.1, 0.1, 0.5, 0.4)
FAR: Box = (0.6, 0.6, 0.9, 0.9)


def seen(label: str, score: float, box: Box = HERE, **more: Any) -> Detection:
    return Detection(label=label, score=score, box=box, **more)


def test_boxes_count_from_the_threshold_on() -> None:
    boxes = (seen("cat", 0.5), seen("dog", 0.3), seen("cow", 0.1))
    assert boxes_above(Detections(boxes=boxes)) == boxes
    assert boxes_above(Detections(boxes=boxes, threshold=0.3)) == boxes[:2]
    assert boxes_above(Detections(boxes=boxes, threshold=0.3), 0.4) == boxes[:1]
    assert boxes_above(Detections(boxes=boxes, threshold=0.3), 0.0) == boxes
    odd = (seen("cat", float("nan")),)
    assert boxes_above(Detections(boxes=odd, threshold=0.3)) == odd, "whoever judges must hear of it"


def test_two_boxes_of_one_label_that_overlap_are_one_entity(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes = (seen("cat", 0.4, NEAR), seen("cat", 0.8, HERE), seen("cat", 0.6, FAR), seen("dog", 0.5, NEAR))
    placed = placed_entities(Detections(boxes=boxes))
    assert [(one.thing.label, one.score) for one in placed] == [("cat", 0.8), ("cat", 0.6), ("dog", 0.5)]
    assert len(placed_entities(Detections(boxes=boxes), threshold=0.6)) == 2
    monkeypatch.setattr("salva.core.boxes.MERGE_IOU", overlap(HERE, NEAR))
    assert len(placed_entities(Detections(boxes=boxes))) == 4, "at the limit they are two"


def test_a_scene_has_the_words_that_were_asked_for_and_the_colours() -> None:
    man = seen("person", 0.9, raw="man", colour="red")
    assert scene_of(Detections(boxes=(man,))) == Scene(things=(Thing(label="person", box=HERE, colour="red"),))
    assert scene_of(Detections(boxes=(man,)), ("man",)).things[0].label == "man"
    assert man.name_for(("man", "person")) == "person"
    assert scene_of(Detections(boxes=(man,)), threshold=0.95).things == ()


def test_names_whose_colour_nobody_could_tell() -> None:
    things = [
        Thing(label=name, box=HERE, colour=colour) for name, colour in zip("bca", (None, "red", None), strict=True)
    ]
    assert labels_without_colour(Scene(things=tuple(things)), ("a", "b", "c")) == ("a", "b")
    assert labels_without_colour(Scene(things=tuple(things)), ("b",)) == ("b",)


@pytest.mark.parametrize(
    ("other", "share"),
    [
        (HERE, 1.0),
        (NEAR, 0.75),
        (FAR, 0.0),
        ((0.5, 0.1, 0.9, 0.5), 0.0),
        ((0.1, 0.5, 0.5, 0.9), 0.0),
        ((0.3, 0.2, 0.7, 0.4), 0.04 / 0.20),
        ((0.0, 0.3, 0.3, 1.0), 0.04 / 0.33),
    ],
)
def test_overlap_is_intersection_over_union(other: Box, share: float) -> None:
    assert overlap(HERE, other) == pytest.approx(share)
    assert overlap(other, HERE) == pytest.approx(share)


def test_a_thing_is_where_its_centre_is() -> None:
    thing = Thing(label="cat", box=(0.1, 0.2, 0.5, 0.8))
    assert thing.x == pytest.approx(0.3)
    assert thing.y == pytest.approx(0.5)
