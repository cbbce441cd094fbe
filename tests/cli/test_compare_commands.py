"""`salva compare` and `salva power`: exit codes, forms, and what garbage gets."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from compare.fake_entrants import cases, number, store
from in_process import salva

import salva as package
from salva.core.case import Case


def some(case: Case, repeat: int) -> bool:
    return number(case) < 3


def more(case: Case, repeat: int) -> bool:
    return number(case) < 7


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("runs")
    return str(store(folder / "v1", {"old": some})), str(store(folder / "v2", {"new": more}))


def test_without_a_form_it_prints_words(runs: tuple[str, str]) -> None:
    done = salva("compare", *runs)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "new is worse than old.")


def test_a_gate_fails_passes_and_says_why(runs: tuple[str, str]) -> None:
    failed = salva("compare", *runs, "--fail-if-worse", "0.05", "--format", "json")
    assert failed.returncode == 1
    assert "gate failed: new against old" in failed.stderr
    assert json.loads(failed.stdout)["verdict"] == "worse"
    passed = salva("compare", *reversed(runs), "--fail-if-worse", "0.05")
    assert passed.returncode == 0
    assert "gate passed" in passed.stderr
    by_variable = salva("compare", *runs, SALVA_FAIL_IF_WORSE="0.05")
    assert by_variable.returncode == 1


@pytest.mark.parametrize("margin", ["nan", "inf", "5"])
def test_a_margin_that_nothing_can_exceed_is_refused(runs: tuple[str, str], margin: str) -> None:
    done = salva("compare", *runs, "--fail-if-worse", margin)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--fail-if-worse" in done.stderr


def test_too_little_passes_no_gate(tmp_path: Path, runs: tuple[str, str]) -> None:
    few = cases(2)
    small = [str(store(tmp_path / name, {name: some}, few)) for name in "ab"]
    done = salva("compare", *small, "--fail-if-worse", "0.05")
    assert done.returncode == 3
    assert re.search(r"\b8 pairs .* 16\b", done.stderr)
    undecided = str(store(tmp_path / "none", {"none": lambda _case, _repeat: None}))
    assert salva("compare", runs[0], undecided, "--fail-if-worse", "0").returncode == 3
    assert salva("compare", runs[0], undecided).returncode == 0


def test_runs_that_cannot_be_compared_are_refused(tmp_path: Path, runs: tuple[str, str]) -> None:
    other = store(tmp_path / "other", {"m": some}, [replace(case, suite="prompts") for case in cases()])
    done = salva("compare", runs[0], str(other), "--format", "html", "-o", str(tmp_path / "page.html"))
    assert done.returncode == 2
    assert "[compare-suites]" in done.stderr
    assert not (tmp_path / "page.html").exists()
    assert salva("compare", runs[0]).returncode == 2
    assert salva("compare", str(tmp_path / "nothing"), runs[0]).returncode == 2
    assert salva("compare").returncode == 2
    assert salva("compare", *runs, "--fail-if-worse", "-1").returncode == 2


def test_forms_are_written_where_they_are_asked_for(tmp_path: Path, runs: tuple[str, str]) -> None:
    done = salva("compare", *runs, "--format", "html", cwd=tmp_path)
    assert (tmp_path / "comparison.html").read_text("utf-8").lstrip().startswith("<!doctype html>")
    assert done.stdout.strip() == "comparison.html"
    salva("compare", *runs, "--format", "md", "-o", str(tmp_path / "c.md"))
    assert "**new is worse than old**" in (tmp_path / "c.md").read_text("utf-8")


def test_no_folder_is_made_for_a_comparison(tmp_path: Path, runs: tuple[str, str]) -> None:
    done = salva("compare", *runs, "--format", "html", "-o", str(tmp_path / "typo" / "page.html"))
    assert (done.returncode, done.codes) == (2, ["folder-missing"])
    assert not (tmp_path / "typo").exists()


def test_from_python_it_is_the_same(runs: tuple[str, str]) -> None:
    made = package.compare_runs(runs[0], package.open_run(runs[1]))
    assert made.duels[0].leading.difference == pytest.approx(0.4)


def test_nothing_in_a_run_is_changed_by_comparing_it(runs: tuple[str, str]) -> None:
    before = {
        path: path.stat().st_mtime_ns
        for run in runs
        for path in Path(run).rglob("*")
        if path.is_file() and path.suffix != ".db-shm"
    }
    salva("compare", *runs, "--format", "json")
    after = {path: path.stat().st_mtime_ns for path in before}
    assert before == after


def test_power_answers_for_runs_and_suites(runs: tuple[str, str]) -> None:
    done = salva("power", runs[0], "--difference", "0.05")
    assert done.returncode == 0
    assert "it takes" in done.stdout
    assert "assuming:" in salva("power", "metalogic", "--half-width", "0.05").stdout
    assert salva("power", "nosuch").returncode == 2
    assert salva("power", runs[0], "--difference", "0.1", "--half-width", "0.1").returncode == 2
    assert salva("power", runs[0], "--difference", "5").returncode == 2
