"""The general tables, from hand-made verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from report.fake_runs import judged, make_case, make_verdict

from salva.core.case import Case, Finding, Prompt
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.table import Table
from salva.core.verdict import Outcome, Verdict
from salva.results.metrics.failure_rates import FailureRates
from salva.results.rates import headline_figure

PASS, FAIL, UNDECIDED, ERROR = Outcome


def _named(table: Table, row: int = 0) -> dict[str, object]:
    return dict(zip(table.columns, table.rows[row], strict=True))


def _measured(cases: Sequence[Case], verdicts: Sequence[Verdict], chosen: str = "") -> Measured:
    return FailureRates(NoOptions()).measure(judged(cases, verdicts, chosen))


def test_numbers_and_errors() -> None:
    cases = [make_case(f"case-{n}", cluster=f"c{n % 3}") for n in range(6)]
    outcomes = [FAIL, FAIL, PASS, PASS, UNDECIDED, ERROR]
    verdicts = [
        make_verdict(
            case.case_id,
            outcome,
            errors=("entity-omission", "x-misposition")[: 2 - index] if outcome is FAIL else (),
            reason="timed out" if outcome is ERROR else "",
        )
        for index, (case, outcome) in enumerate(zip(cases, outcomes, strict=True))
    ]
    measured = _measured(cases, verdicts)
    tables = {table.name: table for table in measured.tables}
    assert measured.numbers["failure_rate"] == 0.5
    assert (measured.numbers["bound_low"], measured.numbers["bound_high"]) == (2 / 6, 4 / 6)
    assert tables["error types"].rows == (("entity-omission", 2, 1.0, 0.5), ("x-misposition", 1, 0.5, 0.25))
    assert tables["undecided"].rows == (("ERROR", "timed out", 1),)
    assert measured.numbers["excess"] is None
    assert "control" not in tables
    assert "by observers" not in tables


def test_the_tables_have_the_interval_of_the_headline_and_say_which() -> None:
    cases = [make_case(f"case-{n}", category=f"category-{n // 2}", cluster=f"c{n % 3}") for n in range(20)]
    of_run = judged(cases, [make_verdict(case.case_id, FAIL if n % 3 else PASS) for n, case in enumerate(cases)])
    tables = {table.name: table for table in FailureRates(NoOptions()).measure(of_run).tables}
    figure = headline_figure(of_run)
    assert figure is not None
    assert figure.interval is not None
    for row in (_named(tables["outcomes"], 0), _named(tables["outcomes"], 1), _named(tables["decided by"])):
        assert (row["rate"], row["low"], row["high"]) == pytest.approx(
            (figure.rate, figure.interval.low, figure.interval.high)
        )
    for name in ("outcomes", "by category", "decided by"):
        assert "for these prompts under other seeds" in tables[name].note


def test_triples_are_no_pairs_to_hold_same_scene_against() -> None:
    triple = replace(make_case(), prompts=(*make_case().prompts, Prompt(role="c", text="a cat")))
    tables = _measured([triple], [make_verdict(triple.case_id, check="truth")]).tables
    assert "same-scene against truth" not in [table.name for table in tables]


def test_same_scene_against_truth_shows_what_same_scene_cannot_see() -> None:
    cases = [make_case(f"case-{n}") for n in range(3)] + [make_case("open", check="truth", determinate=False)]
    both_wrong = {"right_a": 0.0, "right_b": 0.0, "both_wrong": 1.0}
    right = {"right_a": 1.0, "right_b": 1.0, "both_wrong": 0.0}
    verdicts = [make_verdict(case.case_id) for case in cases[:3]]
    verdicts += [make_verdict("case-0", FAIL, check="truth", scores=both_wrong)]
    verdicts += [make_verdict(name, check="truth", scores=right) for name in ("case-1", "case-2", "open")]
    tables = {table.name: table for table in _measured(cases, verdicts).tables}
    compared = tables["same-scene against truth"]
    assert _named(compared, 0) | {} == {
        "truth": "both right",
        "same-scene PASS": 2,
        "same-scene FAIL": 0,
        "same-scene UNDECIDED": 0,
        "same-scene ERROR": 0,
        "same-scene none": 1,
        "n": 3,
    }
    assert _named(compared, 1)["truth"] == "both wrong, images agree"
    assert _named(compared, 1)["same-scene PASS"] == 1
    assert [row[:3] for row in tables["decided by"].rows] == [
        ("truth", "each image is compared with its own prompt", 3),
        ("truth", "several worlds fit the prompts, so two correct images may differ", 1),
    ]


def test_control_stands_beside_the_same_seed_rate_of_the_same_cases() -> None:
    cases = [make_case(f"case-{n}", cluster=f"c{n}") for n in range(4)]
    shares = {"differs_between": 1.0, "differs_within_a": 0.5, "differs_within_b": 0.0}
    verdicts = [make_verdict(case.case_id, arm="control", scores=shares) for case in cases[:2]]
    verdicts += [make_verdict(case.case_id, FAIL if n in (0, 2, 3) else PASS) for n, case in enumerate(cases)]
    measured = _measured(cases, verdicts)
    row = _named(next(table for table in measured.tables if table.name == "control"))
    assert (row["n"], row["squared_distance"], row["same_seed_rate"]) == (2, 0.75, 0.5)
    assert measured.numbers["excess"] == 0.75


def test_findings_about_different_things_are_one_row() -> None:
    general = "two e1s and e2 tell them apart"
    sentences = {"one": "two cats and an apple tell them apart", "two": "two dogs and a cat tell them apart"}
    cases = [
        make_case(case_id, findings=(Finding(kind="second-reading", sentence=sentence, general=general),) * 2)
        for case_id, sentence in sentences.items()
    ]
    tables = {table.name: table for table in _measured(cases, []).tables}
    assert tables["findings"].rows == (("two e1s and e2 tell them apart", 2, "one"),)


def test_a_second_detector_gets_its_own_row() -> None:
    verdicts = [make_verdict(observers=("pocket",)), make_verdict(observers=("florence2",), outcome=FAIL)]
    measured = _measured([make_case()], verdicts)
    table = next(table for table in measured.tables if table.name == "by observers")
    assert {row[1]: row[4] for row in table.rows} == {"pocket": 0.0, "florence2": 1.0}
    assert measured.numbers["failure_rate"] == 0.0


def test_what_was_told_without_a_judge_counts_for_every_judge() -> None:
    cases = [make_case(f"case-{n}") for n in range(5)]
    alone = [make_verdict(case.case_id, FAIL, observers=("boxes",)) for case in cases[:3]]
    asked = [
        make_verdict(case.case_id, outcome, observers=("boxes", judge))
        for case in cases[3:]
        for judge, outcome in (("one", PASS), ("two", FAIL))
    ]
    table = next(table for table in _measured(cases, [*alone, *asked]).tables if table.name == "by observers")
    assert {row[1]: row[2:5] for row in table.rows} == {"boxes+one": (5, 3, 0.6), "boxes+two": (5, 5, 1.0)}


def test_a_judge_that_came_later_is_shown_over_the_same_images() -> None:
    cases = [make_case(f"case-{n}") for n in range(5)]
    before = [make_verdict(case.case_id, FAIL, observers=("boxes",)) for case in cases]
    later = [make_verdict(case.case_id, PASS, observers=("boxes", "judge")) for case in cases[3:]]
    measured = _measured(cases, [*before, *later])
    table = next(table for table in measured.tables if table.name == "by observers")
    assert {row[1]: row[2:5] for row in table.rows} == {"boxes": (5, 5, 1.0), "boxes+judge": (5, 3, 0.6)}
    assert measured.numbers["failure_rate"] == 1.0, "what leads stays as it is"


def test_the_headline_can_be_chosen() -> None:
    verdicts = [make_verdict(), make_verdict(check="truth", outcome=FAIL)]
    assert _measured([make_case()], verdicts).numbers["failure_rate"] == 1.0
    assert _measured([make_case()], verdicts, "same-scene").numbers["failure_rate"] == 0.0


def test_no_verdicts_make_a_report_without_numbers() -> None:
    numbers = _measured([make_case()], []).numbers
    assert numbers["failure_rate"] is None
    assert numbers["failure_low"] is None
