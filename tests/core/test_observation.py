"""Observations: what they refuse, and their stored form where little is said."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from salva.core.masks import mask_of
from salva.core.observation import (
    Answer,
    Detection,
    Detections,
    Reading,
    SeenRelation,
    TextSpan,
    observation_from_json,
    observation_to_json,
)

CAT = Detection(label="cat", score=0.9, box=(0.1, 0.2, 0.3, 0.4))
MASKED = replace(CAT, raw="tabby", colour="red", mask=mask_of([1, 3], left=2, top=3, width=2, height=2))
ON = SeenRelation(subject=0, predicate="on", object=1, score=0.5)


def test_detections_come_back_with_masks_relations_and_numbers() -> None:
    seen = Detections(boxes=(CAT, MASKED), floor=0.05, threshold=0.0, doubt=0.6, relations=(ON,))
    stored = json.loads(json.dumps(observation_to_json(seen)))
    assert stored["relations"] == [[0, "on", 1, 0.5]]
    assert observation_from_json(stored) == seen
    none_seen = replace(seen, relations=())
    assert observation_from_json(observation_to_json(none_seen)) == none_seen, "none seen is not nothing said"


def test_what_is_not_said_is_not_stored() -> None:
    assert observation_to_json(Detections(boxes=(CAT,))) == {
        "kind": "detections",
        "boxes": [{"label": "cat", "score": 0.9, "box": [0.1, 0.2, 0.3, 0.4]}],
    }
    assert observation_to_json(Reading()) == {"kind": "reading", "spans": ()}
    answered = observation_to_json(Answer(text="yes", scores={}))
    assert answered == {
        "kind": "answer",
        "text": "yes",
        "scores": {},
        "reply": "",
        "problem": "",
        "usage": {},
        "snapshot": "",
    }


def test_a_reading_keeps_all_that_was_said() -> None:
    span = TextSpan(text="STOP", score=0.5, box=(0, 0, 1, 1))
    reading = Reading(spans=(span,), reply="r", problem="p", usage={"n_calls": 1}, snapshot="s")
    assert observation_from_json(observation_to_json(reading)) == reading


@pytest.mark.parametrize("changes", [{"subject": 2}, {"object": 2}, {"subject": -1}, {"object": -1}])
def test_relations_are_between_boxes_that_are_there(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"about boxes .* 2$"):
        Detections(boxes=(CAT, CAT), relations=(ON._replace(**changes),))
    assert Detections(boxes=(CAT, CAT), relations=(ON, ON._replace(subject=1, object=0))).relations


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="'sound'"):
        observation_from_json({"kind": "sound"})


@pytest.mark.parametrize(
    ("wanted", "name"), [((), "person"), (("man",), "man"), (("man", "person"), "person"), (("dog",), "person")]
)
def test_a_box_has_the_word_that_was_asked_for(wanted: tuple[str, ...], name: str) -> None:
    assert replace(CAT, label="person", raw="man").name_for(wanted) == name
