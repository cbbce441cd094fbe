"""Nonsense in, nonsense out, and it says so: whatever is fed to a run, a worse model never gets a better number."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest
from msgspec.structs import replace

from salva import registry
from salva.errors import UsageError
from salva.results.trust import DETECTOR_BLIND, NONE, OK

FILE = Path(__file__).parents[2] / "bench" / "garbage.py"
NONSENSE = (
    "grey images",
    "random pixels",
    "entities the prompt does not name",
    "words the detector does not know",
    "a blind detector",
)
SIZE = "20"
"""Pairs; a gate wants sixteen of them."""
N_SHUFFLES = 4


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
    asked = bench.ask(bench.GARBAGE[name], SIZE)
    if name == "words the detector does not know":
        with pytest.raises(UsageError, match=r"zebra.*\[check-undecided\]"):
            bench.summarised(asked)
        return
    # Not even a gate that lets everything through.
    model = bench.summarised(asked, limit=1.0)
    assert model.n == 0 or model.failure_rate >= 0.95
    assert model.trust.status == NONE
    assert model.trust.has(DETECTOR_BLIND)
    assert [gate.decision for gate in model.gates] == ["inconclusive"]


def test_a_detector_that_says_the_opposite_makes_nearly_all_wrong(bench: ModuleType) -> None:
    model = bench.summarised(bench.ask(bench.GARBAGE["an inverted detector"], SIZE))
    assert model.failure_rate >= 0.85
    assert [gate.decision for gate in model.gates] == ["failed"]


def test_the_faultless_painter_stays_at_zero(bench: ModuleType) -> None:
    model = bench.summarised(bench.ask(bench.GARBAGE["the faultless painter"], SIZE), limit=0.2)
    assert (model.failure_rate, model.coverage, model.trust.status) == (0.0, 1.0, OK)
    assert [gate.decision for gate in model.gates] == ["passed"]


def test_shuffled_images_score_what_chance_says(bench: ModuleType) -> None:
    model = bench.summarised(bench.shuffled("42", N_SHUFFLES))
    assert model.n == 42 * N_SHUFFLES
    assert model.failure_rate == pytest.approx(model.metrics["chance"].value, abs=0.05)


def test_any_number_of_pairs_can_be_shuffled(bench: ModuleType) -> None:
    assert bench.summarised(bench.shuffled(SIZE, 1)).failure_rate > 0.5


def test_images_shuffled_one_by_one_differ_as_often_as_chance_says(bench: ModuleType) -> None:
    asked = bench.shuffled("42", N_SHUFFLES)
    settings: Mapping[str, str] = {**asked.settings, "model.singly": "true"}
    model = bench.summarised(replace(asked, settings=settings, check="same-scene"))
    assert model.failure_rate == pytest.approx(model.metrics["chance"].value, abs=0.05)


def test_the_command_names_the_reason_and_exits_with_3(tmp_path: Path) -> None:
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
    assert re.search(r"^trust +none\b", done.stdout, re.MULTILINE)
