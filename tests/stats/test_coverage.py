"""The simulation of intervals and gates: a few cells keep what is demanded, and what is too sure is noticed."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from salva.stats.intervals import Interval, wilson
from salva.stats.rates import Counted, share
from salva.stats.stopping import Z_FULL

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def coverage(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    # Not under its own name, which a package has.
    spec = spec_from_file_location("bench_coverage", BENCH / "coverage.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "bench_coverage", module)
    spec.loader.exec_module(module)
    return module


def test_a_few_cells_keep_what_is_demanded(coverage: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert coverage.main(["--quick"]) == 0
    tables = capsys.readouterr().out.split("\n### ")[1:]
    assert len(tables) == 14
    assert all(table.count("**") == 2 for table in tables), "the smallest cell of each topic is marked"


def _too_sure(cases: list[Counted]) -> Interval:
    return wilson(share(cases), 4 * len(cases))


def test_what_is_too_sure_misses_its_mark(coverage: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "root_ratio_interval", lambda *_: Interval(low=0.4, high=0.5))
    monkeypatch.setattr(coverage, "look_z", lambda *_: Z_FULL)
    monkeypatch.setattr(coverage, "clusters_interval", _too_sure)
    for topic in ("ratios", "stopping", "others"):
        assert coverage.main(["--quick", "--only", topic]) == 1


@pytest.mark.parametrize(
    ("topic", "name"),
    [("rates", "seeds_interval"), ("repeats", "seeds_interval"), ("differences", "paired_difference")],
)
def test_runs_that_the_package_computes_otherwise_stop_the_simulation(
    coverage: ModuleType, monkeypatch: pytest.MonkeyPatch, topic: str, name: str
) -> None:
    monkeypatch.setattr(coverage, name, lambda *_: None)
    with pytest.raises(AssertionError):
        coverage.main(["--quick", "--only", topic])
