"""Figures as series: what leads in a report leads here, with the same number, whatever the suite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import salva
from salva.compare.comparing import compare_runs
from salva.compare.entrants import read_entrants
from salva.compare.pairing import figure_over
from salva.report.summary import summarise_run

SUITES = {"semvar": "kappa", "faithfulness": "faith_mean", "cfworld": "prr", "actesting": "failure_rate"}
SPOILT = {"model.faults": "entity-omission:0.4"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    folder = tmp_path_factory.mktemp("runs")

    def made(suite: str, name: str, settings: dict[str, str]) -> Path:
        size = "quick" if suite == "cfworld" else "8"
        flags: dict[str, Any] = {"size": size, "reader": "none", "settings": settings}
        return salva.run_suite(suite, model="painter", out=folder / name, **flags).directory

    return {suite: (made(suite, f"{suite}-good", {}), made(suite, f"{suite}-bad", SPOILT)) for suite in SUITES}


@pytest.mark.parametrize("suite", SUITES)
def test_the_figure_that_leads_is_the_reports(suite: str, runs: dict[str, tuple[Path, Path]]) -> None:
    for run in runs[suite]:
        (entrant,) = read_entrants([run])
        leading = entrant.series[0]
        assert leading.name == SUITES[suite]
        keys = [key for key, terms in leading.terms.items() if terms is not None]
        assert figure_over(leading, keys) == pytest.approx(summarise_run(run).by_model[0].numbers[leading.name])


@pytest.mark.parametrize("suite", SUITES)
def test_a_painter_with_faults_is_on_the_bad_side(suite: str, runs: dict[str, tuple[Path, Path]]) -> None:
    figure = compare_runs(runs[suite]).duels[0].leading
    assert figure.difference is not None
    assert figure.interval is not None
    assert figure.interval.low <= figure.difference <= figure.interval.high
    assert (figure.difference < 0) is figure.is_high_good
    # Turned round it is the same on the other side.
    other = compare_runs(runs[suite][::-1]).duels[0].leading
    assert other.difference == pytest.approx(-figure.difference)
