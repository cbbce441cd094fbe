"""GenEval's published rules: every verdict and reason of a foreign file of golden ones, and what each rule turns on."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.suites.geneval.demands import demand_in
from salva.suites.geneval.published import (
    COLOURS,
    JUDGES,
    MOST_BOXES,
    OTHER_SIDES,
    PUBLISHED,
    RL_SCORE,
    RL_STRICT,
    Clause,
    Demand,
    Ruling,
    SeenBox,
    fault_in,
    positions_of,
)

CAT, DOG = Clause(name="cat", count=1), Clause(name="dog", count=1)
LEFT_OF_CAT = replace(DOG, position="left of")


def _box(name: str, score: float = 0.95, at: tuple[float, float, float, float] = (10, 10, 30, 30)) -> SeenBox:
    return SeenBox(name=name, score=score, box=at)


def _judged(rule: str, demand: Demand, boxes: Sequence[SeenBox], colours: Sequence[str] = ()) -> Ruling:
    told = dict(zip(map(id, boxes), colours, strict=False))
    return JUDGES[rule](demand, boxes, lambda found: [told[id(box)] for box in found])


def _golden(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "geneval" / "golden_rules.jsonl").read_text().splitlines()]


def test_every_verdict_and_reason_of_the_published_program(foreign_data: Path) -> None:
    golden = _golden(foreign_data)
    assert golden
    for one in golden:
        boxes = [_box(d["class"], d["score"], tuple(d["box"])) for d in one["detections"]]
        ruling = _judged(PUBLISHED, demand_in(one["metadata"]), boxes, [d["colour"] for d in one["detections"]])
        assert (ruling.is_right, ruling.reason) == (one["correct"], one["reason"]), one["id"]
        assert ruling.is_right or tuple(map(fault_in, one["reason"].split("\n"))) == ruling.faults, one["id"]


def test_inverted_boxes_and_colours_are_seldom_right(foreign_data: Path) -> None:
    """Garbage in: each box called by the next class, each colour by the next colour."""
    golden = _golden(foreign_data)
    names = sorted({d["class"] for one in golden for d in one["detections"]})
    following = dict(zip(names, names[1:] + names[:1], strict=True))
    right = 0
    for one in golden:
        boxes = [_box(following[d["class"]], d["score"], tuple(d["box"])) for d in one["detections"]]
        colours = [COLOURS[(COLOURS.index(d["colour"]) + 1) % len(COLOURS)] for d in one["detections"]]
        right += _judged(PUBLISHED, demand_in(one["metadata"]), boxes, colours).is_right
    assert sum(one["correct"] for one in golden) > 0.3 * len(golden)
    assert right < 0.02 * len(golden)


@pytest.mark.parametrize(("tag", "threshold"), [("single_object", 0.3), ("counting", 0.9)])
def test_a_score_on_the_threshold_does_not_count(tag: str, threshold: float) -> None:
    demand = Demand(tag=tag, include=(CAT,))
    assert not _judged(PUBLISHED, demand, [_box("cat", threshold)]).is_right
    assert _judged(PUBLISHED, demand, [_box("cat", math.nextafter(threshold, 1))]).is_right


def test_at_least_so_many_and_only_exclude_counts_more() -> None:
    boxes = [_box("cat"), _box("cat"), _box("cat")]
    assert _judged(PUBLISHED, Demand(tag="two_object", include=(CAT,)), boxes).is_right
    exact = Demand(tag="counting", include=(replace(CAT, count=2),), exclude=(replace(CAT, count=3),))
    assert _judged(PUBLISHED, exact, boxes).reason == "expected cat<3, found 3"
    assert _judged(PUBLISHED, exact, boxes[:2]).is_right
    assert _judged(PUBLISHED, exact, boxes[:1]).reason == "expected cat>=2, found 1"


def test_of_more_than_sixteen_boxes_the_rest_is_not_there() -> None:
    boxes = [_box("cat") for _ in range(MOST_BOXES + 4)]
    demand = Demand(tag="counting", include=(CAT,), exclude=(replace(CAT, count=MOST_BOXES + 1),))
    assert _judged(PUBLISHED, demand, boxes).is_right


def test_colour_looks_at_the_most_confident_alone() -> None:
    red = Demand(tag="colors", include=(replace(CAT, colour="red"),))
    boxes = [_box("cat", 0.5), _box("cat", 0.9)]
    assert _judged(PUBLISHED, red, boxes, ["blue", "red"]).is_right
    wrong = _judged(PUBLISHED, red, boxes, ["red", "blue"])
    assert wrong.reason == "expected red cat>=1, found 0 red; and 1 blue"


def test_a_target_that_failed_fails_the_clause() -> None:
    demand = Demand(tag="position", include=(replace(CAT, colour="red"), LEFT_OF_CAT))
    boxes = [_box("cat", at=(60, 10, 80, 30)), _box("dog")]
    assert _judged(PUBLISHED, demand, boxes, ["red", ""]).is_right
    assert _judged(PUBLISHED, demand, boxes, ["blue", ""]).reason.endswith("no target for dog to be left of")


def test_position_is_not_looked_at_where_the_colour_failed() -> None:
    demand = Demand(tag="position", include=(CAT, replace(LEFT_OF_CAT, colour="red")))
    boxes = [_box("cat"), _box("dog", at=(60, 10, 80, 30))]
    assert _judged(PUBLISHED, demand, boxes, ["", "blue"]).reason == "expected red dog>=1, found 0 red; and 1 blue"


_SIDES = st.tuples(st.floats(0, 400), st.floats(0, 400), st.floats(1, 200), st.floats(1, 200)).map(
    lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3])
)


@given(_SIDES, _SIDES)
def test_positions_are_mirrored_and_never_contradict(one: Any, other: Any) -> None:
    seen = positions_of(one, other)
    assert {OTHER_SIDES[name] for name in seen} == set(positions_of(other, one))
    assert not any(OTHER_SIDES[name] in seen for name in seen)


@given(_SIDES)
def test_a_box_stands_nowhere_to_itself(box: Any) -> None:
    assert positions_of(box, box) == ()


def test_a_position_reaches_beyond_a_tenth_of_both_sizes() -> None:
    # Centres 4 apart, both 20 wide: 0.1 x 40 is taken off, and nothing is left.
    assert positions_of((4, 0, 24, 20), (0, 0, 20, 20)) == ()
    # 8 apart: 4 are left, and 4 / 8 is not beyond a half; 8.1 apart: it is.
    assert positions_of((8, 0, 28, 20), (0, 0, 20, 20)) == ()
    assert positions_of((8.1, 0, 28.1, 20), (0, 0, 20, 20)) == ("right of",)
    # Far off on both axes alike: each has more than half of the distance.
    assert positions_of((500, 500, 520, 520), (0, 0, 20, 20)) == ("below", "right of")


def test_strict_counts_every_box_and_wants_them_exactly() -> None:
    demand = Demand(tag="two_object", include=(CAT, DOG))
    assert _judged(RL_STRICT, demand, [_box("cat"), _box("dog")]).is_right
    wrong = _judged(RL_STRICT, demand, [_box("cat"), _box("cat"), _box("dog")])
    assert (wrong.is_right, wrong.score, wrong.reason) == (False, 0.0, "expected cat==1, found 2")


@pytest.mark.parametrize(
    ("demand", "boxes", "colours", "score"),
    [
        # One of two cats: half; a dog too many of one: nothing.
        (Demand(tag="two_object", include=(replace(CAT, count=2), DOG)), ["cat", "dog", "dog"], [], 0.25),
        # Five for one earns nothing, and not less.
        (Demand(tag="single_object", include=(CAT,)), ["cat"] * 5, [], 0.0),
        # The right number in the wrong colour.
        (Demand(tag="colors", include=(replace(CAT, colour="red"),)), ["cat"], ["blue"], 0.5),
        (Demand(tag="colors", include=(replace(CAT, colour="red"),)), ["cat"], ["red"], 1.0),
        # Not the right number: its colour earns nothing either.
        (Demand(tag="colors", include=(replace(CAT, colour="red"),)), ["cat", "cat", "cat"], ["red"] * 3, 0.0),
        # A failed position is 0 once: two numbers right, a position wrong.
        (Demand(tag="position", include=(CAT, LEFT_OF_CAT)), ["cat", "dog"], [], 2 / 3),
    ],
)
def test_partial_credit_by_hand(demand: Demand, boxes: list[str], colours: list[str], score: float) -> None:
    ruling = _judged(RL_SCORE, demand, [_box(name) for name in boxes], colours)
    assert ruling.score == pytest.approx(score)
    assert ruling.is_right is (score == 1)


def test_no_picture_no_credit() -> None:
    for rule in JUDGES:
        ruling = _judged(rule, Demand(tag="position", include=(CAT, LEFT_OF_CAT)), [])
        assert (ruling.is_right, ruling.score) == (False, 0.0)


_EVERYTHING = Demand(
    tag="everything",
    include=(
        replace(CAT, colour="red"),
        replace(DOG, count=2, position="left of"),
        Clause(name="teddy bear", count=1, position="above", target=1),
        Clause(name="potted plant", count=1),
    ),
    exclude=(replace(DOG, count=3),),
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("cat", "dog", "teddy bear", "potted plant")),
            st.sampled_from((0.1, 0.5, 0.95)),
            _SIDES,
            st.sampled_from(COLOURS),
        ),
        max_size=9,
    ),
    st.sampled_from(sorted(JUDGES)),
)
def test_the_words_of_a_fault_tell_it_again(
    seen: list[tuple[str, float, tuple[float, float, float, float], str]], rule: str
) -> None:
    boxes = [_box(*one[:3]) for one in seen]
    ruling = _judged(rule, _EVERYTHING, boxes, [colour for *_, colour in seen])
    assert tuple(fault_in(fault.message) for fault in ruling.faults) == ruling.faults


@pytest.mark.parametrize("line", ["", "wrong", "4 dogs where the prompt asks for 3", "expected cow>=1, found 0 " * 100])
def test_other_words_tell_no_fault(line: str) -> None:
    assert fault_in(line) is None
