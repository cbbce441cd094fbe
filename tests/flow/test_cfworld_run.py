"""CF-World on the embedded models: a faultless painter near 1, one that follows its priors near 0, and gaps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from salva.core.case import Prompt
from salva.core.image import Picture
from salva.core.protocols import Rendered, RenderRequest
from salva.core.run_spec import RunSpec
from salva.core.verdict import Outcome
from salva.engine.progress import SilentProgress
from salva.errors import BackendError, SalvaError
from salva.generators.painter.component import Painter
from salva.report.summary import ModelSummary, decided, summarise_run
from salva.results.gate import PASSED, Gate
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.store.sqlite import open_run


def run(directory: Path, size: str = "quick", **settings: str) -> ModelSummary:
    named = {name.replace("__", "."): value for name, value in settings.items()}
    ask = RunSpec.of(suite="cfworld", models=("painter",), detector="pocket", size=size, settings=named)
    execute(make_plan(ask), directory, SilentProgress())
    (summary,) = decided(summarise_run(directory), Gate(max_failure_rate=0.2)).by_model.values()
    return summary


def value(summary: ModelSummary, name: str) -> float:
    number = summary.metrics[name].value
    assert number is not None
    return number


def test_a_faultless_painter_shows_every_level(tmp_path: Path) -> None:
    summary = run(tmp_path / "run")
    assert value(summary, "prr") >= 0.95
    assert value(summary, "rrr") >= 0.95
    assert list(summary.metrics)[:5] == ["prr", "rrr", "s_l1", "s_l2", "s_l3"]
    assert summary.results == {"total": 18, "pass": 18, "fail": 0, "undecided": 0, "error": 0, "refused": 0}
    assert {category.name: category.n for category in summary.categories} == {
        "pocket-colour": 6,
        "pocket-place": 6,
        "pocket-number": 6,
    }
    assert summary.gates[0].decision == PASSED


def test_a_painter_that_follows_its_priors_shows_the_fact(tmp_path: Path) -> None:
    summary = run(tmp_path / "run", model__faults="follows-prior:1")
    assert value(summary, "s_l1") >= 0.95, "facts are what is usual"
    assert value(summary, "s_l2") == pytest.approx(3 / 26, abs=0.03), "integrity alone"
    levels = next(table for table in summary.tables if table.name == "scores by level")
    points = {row[1]: row[levels.columns.index("point")] for row in levels.rows}
    assert points["l1"] == 1.0
    assert points["l2"] == points["l3"] == 0.0
    assert summary.failure_types["prior-lock-in"] == summary.results["fail"] == 18


def test_priors_that_win_only_where_the_outcome_is_unsaid_fail_deduction(tmp_path: Path) -> None:
    summary = run(tmp_path / "run", model__faults="follows-prior@l3:1")
    assert value(summary, "s_l2") >= 0.95
    assert value(summary, "s_l3") <= 0.15
    assert set(summary.failure_types) == {"deduction-failure", "prior-lock-in"}


def test_an_image_that_is_missing_costs_its_own_level_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paint = Painter.render

    def no_deduction(self: Painter, requests: list[RenderRequest]) -> list[Rendered | SalvaError]:
        broken = BackendError("out of paint", is_retryable=False)
        return [broken if r.prompt.role == "l3" else paint(self, [r])[0] for r in requests]

    monkeypatch.setattr(Painter, "render", no_deduction)
    directory = tmp_path / "run"
    summary = run(directory)
    assert value(summary, "prr") >= 0.95
    assert summary.metrics["rrr"].value is None
    with open_run(directory) as store:
        verdicts = [v for v in store.verdicts() if v.check == "levels"]
    assert {v.outcome for v in verdicts} == {Outcome.ERROR}
    assert all(v.scores["missing_l3"] == 1.0 and "out of paint" in v.reason for v in verdicts)
    monkeypatch.setattr(Painter, "render", paint)
    again = run(directory)
    assert value(again, "rrr") >= 0.95, "what failed is generated when the same command runs again"


def test_the_published_rule_scores_what_is_missing_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paint = Painter.render

    def no_deduction(self: Painter, requests: list[RenderRequest]) -> list[Rendered | SalvaError]:
        broken = BackendError("out of paint", is_retryable=False)
        return [broken if r.prompt.role == "l3" else paint(self, [r])[0] for r in requests]

    monkeypatch.setattr(Painter, "render", no_deduction)
    summary = run(tmp_path / "run", check__missing="zero", check__mean="questions")
    assert value(summary, "rrr") == 0.0


def test_images_of_nothing_and_of_other_entities_score_low(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paint = Painter.render

    def grey(_self: Painter, requests: list[RenderRequest]) -> list[Rendered | SalvaError]:
        return [Rendered(picture=Picture(rgb=b"\x80" * 3 * 256 * 256, width=256, height=256)) for _ in requests]

    def others(self: Painter, requests: list[RenderRequest]) -> list[Rendered | SalvaError]:
        pizzas = Prompt(role="l1", text="two pizzas", formula="2 pizza")
        return list(paint(self, [replace(request, prompt=pizzas) for request in requests]))

    for name, render in (("grey", grey), ("others", others)):
        monkeypatch.setattr(Painter, "render", render)
        summary = run(tmp_path / name)
        assert value(summary, "s_l1") <= 0.12, name
        assert not summary.metrics["prr"].value, f"{name}: behind the gate nothing is left"
        assert summary.results["pass"] == 0
        assert set(summary.failure_types) <= {"factual-failure"}
        assert summary.gates[0].decision != PASSED
