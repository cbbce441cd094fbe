"""Reasoning told from painting: L3 plain, L3 deduced and L2 within groups, and garbage in their place."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest
from judged import judged
from suites.cfworld.graded import group

from salva.core.judgements import Judgements
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.table import Cell
from salva.core.verdict import Outcome, Verdict
from salva.suites.cfworld.deduction import COMPARED
from salva.suites.cfworld.tables import CfWorldTables

Scores = Mapping[str, float]


def judgements(model: str, scores: Sequence[Scores], inner: Judgements | None = None) -> Judgements:
    cases = [group(f"g{i}") for i in range(len(scores))]
    verdicts = [
        Verdict(
            case_id=case.case_id,
            repeat=0,
            arm="pair",
            model=model,
            check="levels",
            observers=("judge",),
            outcome=Outcome.PASS,
            scores=dict(given),
        )
        for case, given in zip(cases, scores, strict=True)
    ]
    return judged(cases, verdicts, inner=inner)


def levels(l2: float, l3: float) -> Scores:
    return {"s_l1": 1.0, "s_l2": l2, "s_l3": l3, "gated_l2": l2, "gated_l3": l3}


def compared(told: Sequence[float], plain: Sequence[float], deduced: Sequence[float]) -> Measured:
    alone = judgements("plain", [levels(a, b) for a, b in zip(told, plain, strict=True)])
    wrapped = judgements("deduced", [levels(a, b) for a, b in zip(told, deduced, strict=True)], alone)
    return CfWorldTables(NoOptions()).measure(wrapped)


def rows(result: Measured) -> dict[str, dict[str, Cell]]:
    table = next(table for table in result.tables if table.name == "deduce, then draw")
    return {str(row[2]): dict(zip(table.columns, row, strict=True)) for row in table.rows}


def number(value: Cell) -> float:
    assert isinstance(value, int | float)
    return float(value)


def test_a_painter_that_lacked_deduction_gains_all_of_it() -> None:
    result = compared([0.9] * 10, [0.2] * 10, [0.9] * 10)
    gained, left, whole = rows(result).values()
    assert gained["mean_difference"] == pytest.approx(0.7)
    assert gained["says"] == "deduction was missing"
    assert (gained["first higher"], gained["second higher"]) == (10, 0)
    assert gained["p"] == pytest.approx(2 / 2**10)
    assert left["mean_difference"] == pytest.approx(0.0)
    assert left["says"] == "no difference shown"
    total = number(gained["mean_difference"]) + number(left["mean_difference"])
    assert whole["mean_difference"] == pytest.approx(total)
    adds, ahead = result.metrics["deducing_adds"], result.metrics["stated_ahead_of_deduced"]
    assert [adds.title, ahead.title] == [difference.name for difference in COMPARED[:2]]
    assert adds.value == gained["mean_difference"]
    assert adds.interval == (gained["from"], gained["to"])
    assert adds.reason.endswith("deduction was missing")
    assert (ahead.value, ahead.n) == (left["mean_difference"], 10)


def test_a_painter_that_cannot_paint_it_gains_nothing() -> None:
    gained, left, _ = rows(compared([0.9] * 10, [0.2] * 10, [0.2] * 10)).values()
    assert gained["says"] == "no difference shown"
    assert left["says"] == COMPARED[1].higher


def test_a_rewriter_that_misleads_is_said_to() -> None:
    gained, *_ = rows(compared([0.9] * 10, [0.6] * 10, [0.1] * 10)).values()
    assert gained["says"] == COMPARED[0].lower
    assert number(gained["to"]) < 0


def test_dice_show_no_difference() -> None:
    dice = random.Random(5)
    thrown = [[dice.random() for _ in range(40)] for _ in range(3)]
    assert {row["says"] for row in rows(compared(*thrown)).values()} == {"no difference shown"}


def test_only_groups_with_all_three_scores_count_and_few_of_them_say_nothing() -> None:
    alone = judgements("plain", [levels(0.9, 0.2), {"s_l2": 0.9}, levels(0.9, 0.2)])
    wrapped = judgements("deduced", [levels(0.9, 0.9), levels(0.9, 0.9), {"s_l1": 1.0}], alone)
    gained, *_ = rows(CfWorldTables(NoOptions()).measure(wrapped)).values()
    assert gained["n"] == 1
    assert gained["from"] is None


def test_without_the_model_inside_there_is_nothing_to_compare() -> None:
    result = CfWorldTables(NoOptions()).measure(judgements("deduced", [levels(0.9, 0.9)] * 6))
    assert not [table for table in result.tables if table.name == "deduce, then draw"]
    assert not {"deducing_adds", "stated_ahead_of_deduced"} & result.metrics.keys()
