"""The metrics and tables that every suite has, from hand-made verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from report.fake_runs import judged, make_case, make_verdict

from salva.core.case import Case, Finding
from salva.core.metric import LOWER
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.verdict import Outcome, Verdict
from salva.results.chance import chance_to_differ
from salva.results.metrics.failure_rates import MAX_ROWS, FailureRates
from salva.results.rates import failure_rate

PASS, FAIL, UNDECIDED, ERROR = Outcome


def _measured(cases: Sequence[Case], verdicts: Sequence[Verdict], chosen: str = "") -> Measured:
    return FailureRates(NoOptions()).measure(judged(cases, verdicts, chosen))


def _rows(measured: Measured, name: str) -> list[dict[str, object]]:
    """The rows of a table; none where there is no such table."""
    table = next((table for table in measured.tables if table.name == name), None)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows] if table else []


def _truth(case_id: str, right_a: bool, right_b: bool) -> Verdict:
    scores = {"right_a": float(right_a), "right_b": float(right_b)}
    return make_verdict(case_id, PASS if right_a and right_b else FAIL, check="truth", scores=scores)


def test_tables_of_results() -> None:
    cases = [make_case(f"case-{n}") for n in range(6)]
    outcomes = [FAIL, FAIL, PASS, PASS, UNDECIDED, ERROR]
    verdicts = [
        make_verdict(
            case.case_id,
            outcome,
            check="truth",
            errors=("entity-omission", "x-misposition")[: 2 - index] if outcome is FAIL else (),
            reason="timed out" if outcome is ERROR else "",
        )
        for index, (case, outcome) in enumerate(zip(cases, outcomes, strict=True))
    ]
    measured = _measured(cases, verdicts)
    types = [tuple(row.values()) for row in _rows(measured, "failure types")]
    assert types == [("entity-omission", 2, 1.0, 0.5), ("x-misposition", 1, 0.5, 0.25)]
    assert [tuple(row.values()) for row in _rows(measured, "undecided")] == [("ERROR", "timed out", 1)]
    (category,) = _rows(measured, "by category")
    assert (category["n"], category["failed"], category["rate"], category["undecided"]) == (4, 2, 0.5, 2)
    for absent in ("by method", "control", "by observers"):
        assert not _rows(measured, absent)


def test_agreement_stands_beside_the_rate_and_never_in_it() -> None:
    cases = [make_case(name) for name in ("right", "one", "alike", "apart")]
    verdicts = [
        *(_truth("right", True, True), _truth("one", True, False)),
        *(_truth("alike", False, False), _truth("apart", False, False)),
        *(make_verdict("right"), make_verdict("one", FAIL), make_verdict("alike"), make_verdict("apart", FAIL)),
    ]
    of_run = judged(cases, verdicts)
    metrics = FailureRates(NoOptions()).measure(of_run).metrics
    assert failure_rate(of_run.results).rate == 0.75
    inconsistent, both_wrong = metrics["inconsistent"], metrics["both_wrong"]
    assert (inconsistent.value, inconsistent.n, inconsistent.better) == (0.5, 4, LOWER)
    assert (both_wrong.value, both_wrong.n, both_wrong.better) == (0.25, 4, LOWER)
    for metric in (inconsistent, both_wrong):
        assert metric.value is not None
        assert metric.interval is not None
        assert metric.interval[0] < metric.value < metric.interval[1]


def test_what_nobody_measured_is_null_with_a_reason() -> None:
    alone = _measured([make_case()], [_truth("case-1", True, True)]).metrics
    compared = _measured([make_case()], [make_verdict()]).metrics
    for metric in (alone["inconsistent"], alone["both_wrong"], compared["both_wrong"], compared["wording_effect"]):
        assert metric.value is None
        assert metric.reason
    none = _measured([replace(make_case(), equivalent=False)], [make_verdict(outcome=FAIL)]).metrics["inconsistent"]
    assert none.value is None, "images of different meanings may well differ"
    assert all(metric.value is None for metric in _measured([make_case()], []).metrics.values())


def test_chance_is_that_of_what_makes_the_result() -> None:
    cases = [
        replace(case, prompts=tuple(replace(prompt, formula=formula) for prompt in case.prompts))
        for n, formula in enumerate(("cat", "dog", "2 cat", "apple & dog"))
        for case in [make_case(f"case-{n}")]
    ]
    truth = _measured(cases, [_truth(case.case_id, True, True) for case in cases]).metrics["chance"]
    same = _measured(cases, [make_verdict(case.case_id) for case in cases], "same-scene").metrics["chance"]
    assert (same.value, same.n, same.better) == (chance_to_differ(cases, cases), 4, "")
    assert truth.value is not None
    assert same.value is not None
    assert truth.value > 0.5


def test_checks_and_methods_have_rows_of_their_own() -> None:
    cases = [make_case(f"case-{n}") for n in range(3)]
    verdicts = [_truth("case-0", True, False), make_verdict("case-0"), make_verdict("case-1"), make_verdict("case-2")]
    measured = _measured(cases, verdicts)
    assert {row["check"]: (row["PASS"], row["FAIL"]) for row in _rows(measured, "checks")} == {
        "same-scene": (3, 0),
        "truth": (0, 1),
    }
    assert {row["check"]: (row["cases"], row["failed"]) for row in _rows(measured, "by method")} == {
        "truth": (1, 1),
        "same-scene": (2, 0),
    }


def test_control_stands_beside_the_same_seed_rate_of_the_same_cases() -> None:
    cases = [make_case(f"case-{n}", cluster=f"c{n}") for n in range(4)]
    shares = {"differs_between": 1.0, "differs_within_a": 0.5, "differs_within_b": 0.0}
    verdicts = [make_verdict(case.case_id, arm="control", scores=shares) for case in cases[:2]]
    verdicts += [make_verdict(case.case_id, FAIL if n in (0, 2, 3) else PASS) for n, case in enumerate(cases)]
    measured = _measured(cases, verdicts)
    (row,) = _rows(measured, "control")
    assert (row["n"], row["squared_distance"], row["same_seed_rate"]) == (2, 0.75, 0.5)
    distance = measured.metrics["wording_distance"]
    assert (distance.value, distance.n, distance.better) == (0.75, 2, LOWER)
    assert "wording_distance" not in _measured(cases, verdicts[2:]).metrics


def test_findings_about_different_entities_are_one_row_and_many_are_summed_up() -> None:
    general = "two e1s and e2 tell them apart"
    sentences = {"one": "two cats and an apple tell them apart", "two": "two dogs and a cat tell them apart"}
    cases = [
        make_case(case_id, findings=(Finding(kind="second-reading", sentence=sentence, general=general),) * 2)
        for case_id, sentence in sentences.items()
    ]
    assert [tuple(row.values()) for row in _rows(_measured(cases, []), "findings")] == [(general, 2, "one")]
    many = [make_case(f"c{n}", findings=(Finding(kind="one", sentence=str(n)),)) for n in range(MAX_ROWS + 3)]
    rows = _rows(_measured(many, []), "findings")
    assert (len(rows), rows[-1]["cases"]) == (MAX_ROWS + 1, 3)


@pytest.mark.parametrize("first", ["boxes", "other"])
def test_a_second_detector_gets_its_own_row_and_no_part_in_the_rate(first: str) -> None:
    verdicts = [make_verdict(observers=(name,), outcome=said) for name, said in (("boxes", PASS), ("other", FAIL))]
    rows = _rows(_measured([make_case()], verdicts), "by observers")
    assert {row["observer"]: row["rate"] for row in rows} == {"boxes": 0.0, "other": 1.0}
