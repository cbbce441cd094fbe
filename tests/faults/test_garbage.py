"""Nonsense in, nonsense out, and it says so: whatever is fed to a run, a worse model never gets a better number."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest
from msgspec.structs import replace

from salva import registry
from salva.errors import UsageError
from salva.report.lead import warning_of
from salva.results.leading import BLIND, OK
from salva.runs.gate import Gate, decide

FILE = Path(__file__).parents[2] / "bench" / "garbage.py"
NONSENSE = (
    "a grey painter",
    "a painter of random pixels",
    "things the prompt does not name",
    "words the detector does not know",
    "a blind detector",
)
SIZE = "20"
"""Pairs; a gate wants sixteen of them."""
N_SHUFFLES = 8


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The file that measures garbage, with its components known for the length of a test."""
    spec = importlib.util.spec_from_file_location("bench_garbage", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "bench_garbage", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(registry, "_loose", {})
    module.register()
    return module


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_all_wrong_or_not_decided_and_passes_no_gate(name: str, bench: ModuleType) -> None:
    refused = ""
    try:
        leading = bench.leading(bench.ask(bench.GARBAGE[name], SIZE))
    except UsageError as error:
        refused = str(error)
    if refused:
        assert name == "words the detector does not know", f"nothing else can be known before painting: {refused}"
        assert "zebra" in refused
        return
    figure = leading.figure
    assert figure is None or figure.n == 0 or figure.rate >= 0.95, figure
    assert leading.oracle == BLIND or leading.decides_too_little
    assert "images" in leading.reason or "pairs" in leading.reason, "one sentence says why"
    for rate in ("", "wrong", "inconsistent", "both_wrong"):
        # Not even a gate that lets everything through.
        decision = decide("model", leading, Gate(limit=1.0, rate=rate))
        assert not decision.passed, (rate, decision)
        assert decision.reason


def test_a_detector_that_says_the_opposite_makes_nearly_all_wrong(bench: ModuleType) -> None:
    leading = bench.leading(bench.ask(bench.GARBAGE["an inverted detector"], SIZE))
    assert leading.figure.rate >= 0.85
    assert not decide("model", leading, Gate(limit=0.1)).passed


def test_the_faultless_painter_stays_at_zero(bench: ModuleType) -> None:
    leading = bench.leading(bench.ask(bench.GARBAGE["the faultless painter"], SIZE))
    assert leading.figure.rate == 0.0
    assert (leading.oracle, leading.figure.n_undecided) == (OK, 0)
    assert decide("model", leading, Gate(limit=0.0)).passed


def test_shuffled_pictures_score_what_chance_says(bench: ModuleType) -> None:
    asked = bench.shuffled("quick", N_SHUFFLES)
    few_numbers: Mapping[str, str] = {**asked.settings, "suite.counts": "1"}
    leading = bench.leading(replace(asked, settings=few_numbers))
    assert leading.figure.n == 20 * N_SHUFFLES
    assert leading.chance is not None
    assert leading.figure.rate == pytest.approx(leading.chance, abs=0.05)


def test_any_number_of_pairs_can_be_shuffled(bench: ModuleType) -> None:
    assert bench.leading(bench.shuffled(SIZE, 1)).figure.rate > 0.5


def test_pictures_shuffled_one_by_one_differ_as_often_as_chance_says(bench: ModuleType) -> None:
    asked = bench.shuffled("quick", N_SHUFFLES)
    settings: Mapping[str, str] = {**asked.settings, "suite.counts": "1", "model.singly": "true"}
    leading = bench.leading(replace(asked, settings=settings, check="same-scene"))
    assert leading.rate == "inconsistent"
    assert leading.chance is not None
    assert leading.figure.rate == pytest.approx(leading.chance, abs=0.05)
    assert "shuffled" in warning_of(leading)


def test_the_command_says_why_and_exits_with_3(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from salva.cli.main import main; main()", "run", "metalogic", "--size", "20"),
            *("--plugin", f"{FILE}:Grey", "--model", "grey", "--detector", "pocket", "--reader", "none"),
            *("--max-failure-rate", "1", "--no-progress", "--out", str(tmp_path / "run")),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert done.returncode == 3, done.stderr
    assert " 0 of 40 " in " ".join((done.stdout + done.stderr).split())
