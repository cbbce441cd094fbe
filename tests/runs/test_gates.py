"""Gates of a command: read before anything is paid, kept with the run."""

from __future__ import annotations

from pathlib import Path

import pytest
from report.fake_runs import small_run, store_run

from salva.errors import UsageError
from salva.results.gate import Gate, GateDecision
from salva.runs.gates import keep_decisions, read_gate
from salva.store.queries import read_records


def test_limits_of_metrics_are_numbers_by_name() -> None:
    gate = read_gate("semvar", 0.5, ["kappa=0.3", "inconsistent=0.2"], on="upper", min_decided=8)
    assert gate == Gate(max_failure_rate=0.5, metrics={"kappa": 0.3, "inconsistent": 0.2}, on="upper", min_decided=8)
    assert not read_gate("semvar", None, [], on="interval", min_decided=16)


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ("kapa=0.3", "name-unknown"),
        ("chance=0.3", "gate-no-direction"),
        ("kappa=high", "option-invalid"),
        ("kappa", "setting-invalid"),
    ],
)
def test_a_limit_that_cannot_be_held_is_refused(limit: str, code: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_gate("semvar", None, [limit], on="interval", min_decided=16)
    assert refused.value.code == code


def test_decisions_are_kept_with_the_run_until_a_command_has_none(tmp_path: Path) -> None:
    records, images = small_run()
    store_run(tmp_path / "run", records, images)
    decision = GateDecision(metric="failure_rate", decision="passed", limit=0.5, value=0.1, interval=(0.0, 0.2))
    keep_decisions(tmp_path / "run", {"painter": [decision.to_json()]}, 3)
    kept = read_records(tmp_path / "run")
    assert (kept.gates, kept.max_errors) == ({"painter": [decision.to_json()]}, 3)
    keep_decisions(tmp_path / "run", {}, 0)
    assert read_records(tmp_path / "run").gates == {}
