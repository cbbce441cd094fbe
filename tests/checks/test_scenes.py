"""From observations to scenes and unrequested text."""

from __future__ import annotations

import pickle

import pytest
from checks.planted import box_at, pair, text

from salva.checks.scenes import mentioned, unrequested_text
from salva.core.boxes import scene_of
from salva.core.observation import Detection, Detections
from salva.core.options import keyed_options
from salva.core.run_spec import ComponentSpec
from salva.core.verdict import ENTITY_OMISSION, OPTICAL_CHARACTER, X_MISPOSITION, Failure, failure_types_of
from salva.errors import UsageError
from salva.registry import bind


def test_the_better_of_two_boxes_is_kept_whatever_their_order() -> None:
    good = Detection(label="cat", score=0.9, box=box_at(0.5, 0.5))
    worse = Detection(label="cat", score=0.4, box=box_at(0.51, 0.5))
    for boxes in ((good, worse), (worse, good)):
        assert [thing.box for thing in scene_of(Detections(boxes=boxes), 0.7).things] == [good.box]


def test_other_labels_and_touching_things_are_not_merged() -> None:
    boxes = (
        Detection(label="cat", score=0.9, box=box_at(0.5, 0.5)),
        Detection(label="dog", score=0.9, box=box_at(0.5, 0.5)),
        Detection(label="cat", score=0.8, box=box_at(0.55, 0.5)),
    )
    assert len(scene_of(Detections(boxes=boxes), 0.7).things) == 3


@pytest.mark.parametrize(
    ("read", "prompt", "unrequested"),
    [
        ("STOP", "There is a cat", ("STOP",)),
        ("STOP", 'a sign that says "Stop!"', ()),
        ("ST0P", 'a sign that says "Stop!"', ("ST0P",)),
        ("sto", "a sign that says “stop here”", ()),
        ("H", "There is a cat", ()),
        ("-- .", "There is a cat", ()),
        ("isn't", "There isn't a cat and isn't a dog", ("isn't",)),
    ],
)
def test_text_is_asked_for_by_quoting_it(read: str, prompt: str, unrequested: tuple[str, ...]) -> None:
    assert unrequested_text(text(read), prompt, 0.5) == unrequested


def test_text_read_with_a_low_score_is_left_out() -> None:
    assert unrequested_text(text("CAT", score=0.3), "There is a cat", 0.5) == ()
    assert unrequested_text(text("CAT", score=0.5), "There is a cat", 0.5) == ("CAT",), "at the threshold it counts"


def test_errors_are_each_named_once_most_specific_first() -> None:
    failures = [
        Failure(failure_type=error, role="a", message="")
        for error in ("new-type", OPTICAL_CHARACTER, ENTITY_OMISSION, X_MISPOSITION, ENTITY_OMISSION)
    ]
    known = (X_MISPOSITION, ENTITY_OMISSION, OPTICAL_CHARACTER)
    assert failure_types_of(failures, known) == (*known, "new-type"), "a type that nothing knows is last and not lost"


def test_axes_come_from_places_and_relations() -> None:
    def axes(formula: str) -> str:
        return "".join(order.axis for order in mentioned(pair(formula)).compared.orders)

    assert axes("cat & dog") == ""
    assert axes("cat@left & dog@right") == "x"
    assert axes("cat@left & dog@top") == "xy"
    assert axes("above(cat, dog)") == "y"
    assert axes("next_to(cat, dog)") == ""


@pytest.mark.parametrize("name", ["same-scene", "truth"])
def test_the_registry_binds_both_and_they_survive_pickle(name: str) -> None:
    shared = {"counts": "at-least", "threshold": "0.5"}
    bound = bind(ComponentSpec(role="check", name=name, options=shared))
    check = pickle.loads(pickle.dumps(bound)).build()
    assert check.about.needs_roles == ("detector",)
    keyed = keyed_options(bound.options)
    assert {name: keyed[name] for name in shared} == {
        "counts": "at-least",
        "threshold": 0.5,
    }


@pytest.mark.parametrize("name", ["same-scene", "truth"])
@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"threshold": "1.5"}, "from 0 to 1"),
        ({"doubt": "nan"}, "it must be a number"),
        ({"counts": "loose"}, "exact, at-least"),
    ],
)
def test_odd_options_are_refused(name: str, given: dict[str, str], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        bind(ComponentSpec(role="check", name=name, options=given))


def test_a_detectors_own_name_counts_where_just_that_was_asked_for() -> None:
    boxes = (Detection(label="person", raw="man", score=0.9, box=(0.1, 0.1, 0.3, 0.3)),)
    assert [thing.label for thing in scene_of(Detections(boxes=boxes), 0.5, ("man",)).things] == ["man"]
    assert [thing.label for thing in scene_of(Detections(boxes=boxes), 0.5, ("person",)).things] == ["person"]
    assert [thing.label for thing in scene_of(Detections(boxes=boxes), 0.5, ("man", "person")).things] == ["person"]
