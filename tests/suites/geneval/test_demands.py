"""Clauses, formulas, English and metadata say the same of a prompt, and what none of them can say is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.core.case import Case, Prompt
from salva.errors import UsageError
from salva.logic.equivalence import are_equivalent, is_determinate
from salva.logic.notation import parse
from salva.messages import code_of
from salva.suites.geneval.demands import (
    commuted,
    demand_in,
    demand_of,
    demands_of,
    exchanged,
    formula_of,
    metadata_of,
    names_of,
    other_side,
    text_of,
)
from salva.suites.geneval.published import COLOURS, POSITIONS, Clause, Demand

_NAMES = ("cat", "dog", "teddy bear", "orange", "scissors", "wine glass")


@st.composite
def demands(draw: st.DrawFn) -> Demand:
    names = draw(st.lists(st.sampled_from(_NAMES), min_size=1, max_size=4, unique=True))
    include: list[Clause] = []
    for name in names:
        position, target = "", 0
        is_placed = draw(st.booleans())
        if include and is_placed:
            position, target = draw(st.sampled_from(POSITIONS)), draw(st.integers(0, len(include) - 1))
        colour = draw(st.sampled_from(("", "", *COLOURS)))
        count = draw(st.integers(1, 4))
        include.append(Clause(name=name, count=count, colour=colour, position=position, target=target))
    unwanted = draw(st.lists(st.sampled_from(include), max_size=2, unique=True))
    more = tuple(Clause(name=one.name, count=one.count + 1) for one in unwanted)
    return Demand(tag=draw(st.sampled_from(("counting", "position", "mine"))), include=tuple(include), exclude=more)


@given(demands(), st.booleans())
def test_a_formula_holds_all_that_the_clauses_say(demand: Demand, in_full: bool) -> None:
    assert demand_of(demand.tag, formula_of(demand, in_full=in_full)) == demand


@given(demands())
def test_metadata_comes_back_equal(demand: Demand) -> None:
    assert demand_in(json.loads(json.dumps(metadata_of(demand, "a photo")))) == demand


def test_the_official_prompts_in_all_their_forms(foreign_data: Path) -> None:
    lines = (foreign_data / "geneval" / "evaluation_metadata.jsonl").read_text().splitlines()
    words = 0
    for line in lines:
        metadata = json.loads(line)
        demand = demand_in(metadata)
        assert json.dumps(metadata_of(demand, metadata["prompt"])) == line
        formula = parse(formula_of(demand))
        assert is_determinate(formula)
        for turned in (commuted(demand), other_side(demand)):
            assert turned is None or are_equivalent(formula, parse(formula_of(turned)))
        swapped = exchanged(demand)
        assert swapped is None or not are_equivalent(formula, parse(formula_of(swapped)))
        words += text_of(demand) == metadata["prompt"]
    # The published program puts an s behind every noun.
    odd = ("knifes", "persons", "sheeps", "chs", "shs")
    assert len(lines) - words == sum(any(end in line for end in odd) for line in lines)


def test_two_clauses_about_one_thing_are_fine_until_one_is_placed() -> None:
    cars = (Clause(name="car", count=1, colour="red"), Clause(name="car", count=1, colour="blue"))
    assert formula_of(Demand(tag="mine", include=cars)) == "red car & blue car"
    placed = Demand(tag="mine", include=(*cars, Clause(name="dog", count=1, position="above", target=1)))
    with pytest.raises(UsageError, match="clauses-not-formula"):
        formula_of(placed)


@pytest.mark.parametrize("formula", ["cat | dog", "cat@left", "next_to(cat, dog)", "!(cat & dog)", "cat ("])
def test_what_clauses_cannot_say_has_none(formula: str) -> None:
    assert demand_of("mine", formula) is None


def test_a_case_of_another_suite_asks_for_nothing_here() -> None:
    prompt = Prompt(role="a", text="a cat", formula="cat")
    case = Case(case_id="c", suite="s", category="x", prompts=(prompt,), checks=("truth",))
    assert demands_of(case) is None


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"tag": None}, "tag"),
        ({"include": []}, "include"),
        ({"include": ["cat"]}, "include[0]"),
        ({"include": [{"count": 1}]}, "include[0]"),
        ({"include": [{"class": "cat", "count": 0}]}, "include[0].count"),
        ({"include": [{"class": "cat", "count": True}]}, "include[0].count"),
        ({"include": [{"class": "cat", "count": 1, "color": "mauve"}]}, "include[0].color"),
        ({"include": [{"class": "cat", "count": 1, "position": ["left of", 0]}]}, "include[0].position"),
        ({"include": [{"class": "cat", "count": 1, "position": "left of"}]}, "include[0].position"),
        ({"exclude": {"class": "cat"}}, "exclude"),
        ({"exclude": [{"class": "cat", "count": 2, "color": "red"}]}, "exclude"),
    ],
)
def test_invalid_metadata_is_refused_with_its_place(change: dict[str, Any], where: str) -> None:
    metadata = {"tag": "single_object", "include": [{"class": "cat", "count": 1}], "prompt": "a cat", **change}
    with pytest.raises(UsageError) as error:
        demand_in(metadata)
    assert code_of(error.value) == "entry-invalid"
    assert str(error.value).startswith(f"{where}: ")


def test_names_are_those_of_all_clauses() -> None:
    demand = Demand(
        tag="mine",
        include=(Clause(name="dog", count=1), Clause(name="cat", count=1)),
        exclude=(Clause(name="ox", count=1),),
    )
    assert names_of([demand]) == ("cat", "dog", "ox")
