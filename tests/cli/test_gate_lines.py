"""What `salva run` says and keeps at the gate, of figures that are already there."""

from __future__ import annotations

from pathlib import Path

import pytest
from in_process import salva
from report.fake_runs import judged, make_case
from results.test_rates import _leading, _truth

from salva.cli import run_command
from salva.report.summary import ModelSummary, Summary
from salva.results.leading import Leading
from salva.runs import gate as gates
from salva.runs.gate import Decision, Gate
from salva.runs.summary import RunSummary

OUTCOMES = dict.fromkeys(("PASS", "FAIL", "UNDECIDED", "ERROR"), 0)


def _leads() -> Leading:
    cases = [make_case(f"c{i}") for i in range(40)]
    return _leading(judged(cases, [_truth(case.case_id, True, True, named=2.0) for case in cases]))


def _model(name: str = "m", n_failed: int = 0, leading: Leading | None = None) -> ModelSummary:
    return ModelSummary(
        model=name,
        outcomes={**OUTCOMES, "PASS": 40, "ERROR": n_failed},
        errors={},
        numbers={},
        tables=(),
        leading=leading or _leads(),
    )


def _decided(monkeypatch: pytest.MonkeyPatch, n_failed: int, *models: ModelSummary) -> list[Decision]:
    monkeypatch.setattr(gates, "keep", lambda *_: None)
    figures = Summary(suite="s", cases=40, by_model=models)
    summary = RunSummary(outcomes={"PASS": 40, "ERROR": n_failed})
    return run_command._at_the_gate(figures, Gate(limit=0.5), summary, Path())


def test_what_failed_is_not_passed_also_where_another_relation_did(monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = _decided(monkeypatch, 0, _model())
    assert whole.passed
    for model in (_model(n_failed=2), _model()):
        (decision,) = _decided(monkeypatch, 2, model)
        assert (decision.passed, decision.decides) == (False, False)
        assert "2 verdicts ERROR" in decision.reason


def test_of_two_models_the_one_that_is_whole_passes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, part = _decided(monkeypatch, 2, _model("whole"), _model("part", n_failed=2))
    assert (whole.passed, part.passed) == (True, False)
    assert " 1 of 2 passed" in capsys.readouterr().err


@pytest.mark.parametrize("limit", ["--max-failure-rate", "--max-cost"])
def test_a_limit_that_is_no_number_is_refused_before_painting(tmp_path: Path, limit: str) -> None:
    out = tmp_path / "run"
    done = salva("run", "metalogic", "--model", "painter", "--size", "20", limit, "nan", "--out", str(out))
    assert (done.returncode, out.exists()) == (2, False)
    assert limit in done.stderr
