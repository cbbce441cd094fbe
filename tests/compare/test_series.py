"""Figures as series: what a report shows is what is compared, with the same number, whatever the suite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import salva
from salva import component_facts
from salva.compare.comparing import compare_runs
from salva.compare.entrants import read_entrants
from salva.compare.pairing import figure_over
from salva.compare.series import Series, failure_series, metric_series

SUITES: dict[str, set[str]] = {
    "semvar": {"kappa", "alignment"},
    "cfworld": {"prr", "rrr"},
    "actesting": set(),
    "metalogic": {"inconsistent", "both_wrong"},
}
PLAIN = {"run.preflight": "off", "run.contrast": "off"}
SPOILT = {**PLAIN, "model.faults": "entity-omission:0.4"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    folder = tmp_path_factory.mktemp("runs")

    def made(suite: str, name: str, settings: dict[str, str]) -> Path:
        size = "quick" if suite == "cfworld" else "10"
        flags: dict[str, Any] = {"size": size, "reader": "none", "settings": settings}
        return salva.run_suite(suite, model="painter", out=folder / name, **flags).directory

    return {suite: (made(suite, f"{suite}-good", PLAIN), made(suite, f"{suite}-bad", SPOILT)) for suite in SUITES}


def over_all(series: Series) -> float | None:
    return figure_over(series, [key for key, terms in series.terms.items() if terms is not None])


@pytest.mark.parametrize("suite", SUITES)
def test_series_have_the_values_of_the_report(suite: str, runs: dict[str, tuple[Path, Path]]) -> None:
    for run in runs[suite]:
        (entrant,) = read_entrants([run])
        assert over_all(failure_series(entrant.judged)) == pytest.approx(entrant.figures.failure_rate)
        made = metric_series(entrant.judged, component_facts.own_figures(suite))
        assert SUITES[suite] <= made.keys()
        for name, series in made.items():
            assert over_all(series) == pytest.approx(entrant.figures.metrics[name].value), name


@pytest.mark.parametrize("suite", SUITES)
def test_a_model_with_faults_is_worse(suite: str, runs: dict[str, tuple[Path, Path]]) -> None:
    one, turned = compare_runs(runs[suite]), compare_runs(runs[suite][::-1])
    assert one.difference is not None
    assert one.interval is not None
    assert one.interval[0] <= one.difference <= one.interval[1]
    assert one.difference > 0
    assert turned.difference == pytest.approx(-one.difference)
    metrics = one.comparisons[0].metrics
    assert all(metrics[name].worsening > 0 for name in SUITES[suite] - {"both_wrong"})
