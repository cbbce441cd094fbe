"""Beside the tasks: pairs, rewritten prompts, prompts that grow and second observers, each by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from suites.geneval.judged_pictures import cases_of, judged, verdicts

from salva.core.case import Case
from salva.core.judgements import Judgements
from salva.core.table import Table
from salva.suites.geneval.further_tables import further_charts, further_tables
from salva.suites.geneval.shares import by_standpoint
from salva.suites.geneval.suite import VARIANTS


def _table(made: Judgements, name: str) -> list[dict[str, object]]:
    tables: dict[str, Table] = {table.name: table for table in further_tables(made, by_standpoint(made))}
    return [dict(zip(tables[name].columns, row, strict=True)) for row in tables[name].rows]


def test_only_what_is_there_has_a_table() -> None:
    cases = cases_of()
    made = judged(cases, verdicts(cases, lambda *_: True))
    assert not list(further_tables(made, by_standpoint(made)))
    assert not list(further_charts(by_standpoint(made)))


def test_pairs_by_variant() -> None:
    cases = cases_of(variants=tuple(VARIANTS))
    made = judged(cases, verdicts(cases, lambda case, _: case.labels.get("kind") != "exchanged"))
    rows = {row["variant"]: row for row in _table(made, "variants")}
    assert [(name, row["both_right_rate"], row["n"]) for name, row in rows.items()] == [
        ("commuted", 1.0, 8),
        ("other-side", 1.0, 4),
        ("exchanged", 0.0, 4),
    ]


def test_prompts_that_grow() -> None:
    cases = [case for case in cases_of("beyond") if case.category == "hard"]
    made = judged(cases, verdicts(cases, lambda case, _: int(case.labels["atoms"]) < 4))
    assert [(row["atoms"], row["right_rate"], row["n"]) for row in _table(made, "by atoms")] == [
        (2, 1.0, 40),
        (3, 1.0, 40),
        (4, 0.0, 40),
        (5, 0.0, 40),
        (6, 0.0, 40),
    ]
    (chart,) = further_charts(by_standpoint(made))
    assert chart.name == "geneval-atoms"


def test_what_rewriting_buys_is_paired(tmp_path: Path) -> None:
    plain = cases_of()
    rows = [{"prompt": case.prompts[0].text, "rewritten": f"{case.prompts[0].text}, in colour"} for case in plain]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    cases = cases_of(rewritten=str(tmp_path / "r.jsonl"))
    assert len(cases) == 2 * len(plain)

    # Rewriting mends counting, and spoils one of four colours.
    def right(case: Case, _: int) -> bool:
        kind = case.labels.get("kind")
        if case.labels["tag"] == "counting":
            return kind == "rewritten"
        return not (kind == "rewritten" and case is spoilt)

    spoilt = next(case for case in cases if case.labels["tag"] == "colors" and case.labels.get("kind") == "rewritten")
    made = judged(cases, verdicts(cases, right))
    gains = {row["task"]: row for row in _table(made, "gain by rewriting")}
    assert gains["counting"]["difference"] == 1
    assert gains["colors"]["difference"] == pytest.approx(-1 / 4)
    assert gains["overall"]["difference"] == pytest.approx((1 - 1 / 4) / 6)
    assert gains["overall"]["n"] == 24
    low, high = gains["overall"]["low"], gains["overall"]["high"]
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert low < (1 - 1 / 4) / 6 < high
