"""From observations to scenes and unrequested text."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from checks.planted import box_at, painted, pair, row, text

from salva.checks.scenes import (
    READER,
    SceneOptions,
    is_alike,
    mentioned,
    see,
    text_failure,
    unrequested_text,
)
from salva.core.boxes import scene_of
from salva.core.image import ImageRef
from salva.core.observation import Detection, Detections, Observation, Reading, TextSpan
from salva.core.options import keyed_options, parse_options
from salva.core.protocols import ImageObservations, Query
from salva.core.run_spec import ComponentSpec
from salva.core.verdict import ENTITY_OMISSION, OPTICAL_CHARACTER, X_MISPOSITION, Failure, failure_types_of
from salva.errors import UsageError
from salva.registry import bind


def test_the_better_of_two_boxes_is_kept_whatever_their_order() -> None:
    good = Detection(label="cat", score=0.9, box=box_at(0.5, 0.5))
    worse = Detection(label="cat", score=0.4, box=box_at(0.51, 0.5))
    for boxes in ((good, worse), (worse, good)):
        assert [thing.box for thing in scene_of(Detections(boxes=boxes)).things] == [good.box]


def test_other_labels_and_touching_things_are_not_merged() -> None:
    boxes = (
        Detection(label="cat", score=0.9, box=box_at(0.5, 0.5)),
        Detection(label="dog", score=0.9, box=box_at(0.5, 0.5)),
        Detection(label="cat", score=0.8, box=box_at(0.55, 0.5)),
    )
    assert len(scene_of(Detections(boxes=boxes)).things) == 3


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
    assert unrequested_text(text(read), prompt) == unrequested


def test_text_read_with_a_low_score_is_left_out() -> None:
    assert unrequested_text(text("CAT", score=0.3), "There is a cat") == ()
    assert unrequested_text(text("CAT", score=0.5), "There is a cat") == ("CAT",), "at the threshold it counts"


@pytest.mark.parametrize(("at", "unrequested"), [((0.4, 0.4), ()), ((0.9, 0.9), ("12",))])
def test_text_on_an_entity_that_carries_text_is_no_fault(at: tuple[float, float], unrequested: tuple[str, ...]) -> None:
    read = Reading(spans=(TextSpan(text="12", score=0.9, box=(at[0], at[1], at[0] + 0.05, at[1] + 0.05)),))
    assert unrequested_text(read, "There is a clock", [(0.2, 0.2, 0.6, 0.6)]) == unrequested


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
    "given", [{"threshold": "1.5"}, {"doubt": "nan"}, {"counts": "loose"}, {"threshold": "0.5", "doubt": "0.4"}]
)
def test_odd_options_are_refused(name: str, given: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"\[option-invalid\]"):
        bind(ComponentSpec(role="check", name=name, options=given))


def test_a_detectors_own_name_counts_where_just_that_was_asked_for() -> None:
    boxes = (Detection(label="person", raw="man", score=0.9, box=(0.1, 0.1, 0.3, 0.3)),)
    assert [thing.label for thing in scene_of(Detections(boxes=boxes), ("man",)).things] == ["man"]
    assert [thing.label for thing in scene_of(Detections(boxes=boxes), ("person",)).things] == ["person"]
    assert [thing.label for thing in scene_of(Detections(boxes=boxes), ("man", "person")).things] == ["person"]


def looked(seen: Observation, reading: Reading | None = None, colours: Detections | None = None) -> ImageObservations:
    """What observers saw of an image of CASE."""
    what = mentioned(CASE)
    queries: dict[Query, Observation] = {what.query: seen}
    if reading is not None:
        queries[READER] = reading
    if colours is not None and what.colour_query is not None:
        queries[what.colour_query] = colours
    return ImageObservations(image=ImageRef(image_id="i", width=1, height=1), seen=queries)


CASE = pair("red cat & dog", texts=('a cat "HI"', "prompt b"))
SEEN = row("cat", "dog")


def test_what_was_seen_of_every_image() -> None:
    told = painted(("cat", "red"), ("dog", None))
    seen = see(CASE, {"a": looked(SEEN, text("hi", "STOP")), "b": looked(SEEN, colours=told)}, SceneOptions())
    assert not isinstance(seen, str)
    a, b = seen
    assert (a.role, a.text, b.role, b.text) == ("a", ("STOP",), "b", ())
    assert [(thing.label, thing.colour) for thing in b.scene.things] == [("cat", "red"), ("dog", None)]
    assert a.scores == (0.9, 0.9)
    assert (a.has_scores, a.threshold, a.doubt) == (False, None, None)


@pytest.mark.parametrize(
    ("stated", "options", "worth"),
    [
        ({"threshold": 0.4, "doubt": 0.6}, {}, (True, 0.4, 0.6)),
        ({"threshold": 0.4, "doubt": 0.6}, {"threshold": 0.5, "doubt": 0.7}, (True, 0.5, 0.7)),
        ({"threshold": 0.4, "doubt": 0.6}, {"doubt": 0.0}, (True, 0.4, 0.0)),
        ({}, {"doubt": 0.5}, (True, None, 0.5)),
        ({}, {"doubt": 0.0}, (False, None, 0.0)),
        ({"threshold": 0.4, "floor": 0.4}, {}, (True, 0.4, None)),
    ],
)
def test_scores_are_worth_what_the_detector_or_the_check_says(
    stated: dict[str, float], options: dict[str, float], worth: tuple[bool, float | None, float | None]
) -> None:
    boxes = Detections(boxes=SEEN.boxes, **stated)  # type: ignore[arg-type]  # numbers alone
    seen = see(CASE, {role: looked(boxes) for role in "ab"}, SceneOptions(**options))  # type: ignore[arg-type]  # as above
    assert not isinstance(seen, str)
    assert [(one.has_scores, one.threshold, one.doubt) for one in seen] == [worth, worth]


@pytest.mark.parametrize(
    ("b", "options", "why"),
    [
        (None, {}, ("no detections", "prompt 'b'")),
        (looked(text("x")), {}, ("no detections", "prompt 'b'")),
        (looked(SEEN, Reading(problem="no words")), {}, ("text", "prompt 'b'", "no words")),
        (looked(Detections(floor=0.3)), {"threshold": 0.2}, ("prompt 'b'", "below 0.3", "threshold is 0.2")),
        (
            looked(Detections(boxes=SEEN.boxes[:1], threshold=0.1, floor=0.2)),
            {},
            ("prompt 'b'", "below 0.2", "threshold is 0.1"),
        ),
        (
            looked(Detections(boxes=(replace(SEEN.boxes[0], score=1.5),), threshold=0.5)),
            {},
            ("prompt 'b'", "cat", "score 1.5"),
        ),
    ],
)
def test_nobody_can_tell_and_why(b: ImageObservations | None, options: dict[str, float], why: tuple[str, ...]) -> None:
    observations = {"a": looked(SEEN), **({"b": b} if b else {})}
    told = see(CASE, observations, SceneOptions(**options))  # type: ignore[arg-type]  # numbers alone
    assert isinstance(told, str)
    assert [part for part in why if part not in told] == []


def test_scores_of_a_detector_without_a_threshold_may_be_anything() -> None:
    odd = Detections(boxes=(replace(SEEN.boxes[0], score=1.5),))
    assert not isinstance(see(CASE, {role: looked(odd) for role in "ab"}, SceneOptions()), str)
    bounds = Detections(boxes=tuple(replace(SEEN.boxes[0], score=score) for score in (0.0, 1.0)), threshold=0.0)
    assert not isinstance(see(CASE, {role: looked(bounds) for role in "ab"}, SceneOptions()), str)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_thresholds_are_shares_and_doubt_is_above(value: float) -> None:
    assert SceneOptions(threshold=value, doubt=value)
    assert SceneOptions(threshold=0.5, doubt=0.0)
    for given in ({"threshold": "0.5", "doubt": "0.4"}, {"doubt": "-0.1"}, {"threshold": "1.1"}):
        with pytest.raises(UsageError) as refused:
            parse_options(SceneOptions, given, "check")
        assert refused.value.code == "option-invalid"


def test_a_long_text_is_cut_where_it_is_told() -> None:
    short, long = (text_failure("a", ("x" * n,)) for n in (80, 81))
    assert short.seen == "x" * 80
    assert long.seen == "x" * 79 + "…"
    assert (short.failure_type, short.role, short.expected) == (OPTICAL_CHARACTER, "a", "no text")


@pytest.mark.parametrize(
    ("a", "b", "counts", "alike"),
    [
        (painted(("cat", "red"), ("dog", "blue")), painted(("cat", "red"), ("dog", "red")), "exact", True),
        (painted(("cat", "red"), ("dog", None)), painted(("cat", "blue"), ("dog", None)), "exact", False),
        (painted(("cat", "red"), ("dog", None)), painted(("cat", "blue"), ("dog", None)), "at-least", False),
        (painted(("cat", "red")), painted(("cat", "red"), ("cat", "red")), "exact", False),
        (painted(("cat", "red"), ("dog", None)), painted(("cat", "red")), "exact", False),
    ],
)
def test_two_images_are_alike_in_what_the_prompts_speak_of(
    a: Detections, b: Detections, counts: str, alike: bool
) -> None:
    seen = see(CASE, {"a": looked(a), "b": looked(b)}, SceneOptions())
    assert not isinstance(seen, str)
    first, second = seen
    what = mentioned(CASE)
    assert is_alike(first, second, what, counts=counts) is alike
    with_text = replace(first, text=("STOP",))
    assert not is_alike(with_text, second, what, counts=counts)
    assert is_alike(with_text, replace(second, text=("GO",)), what, counts=counts) is alike
