"""`salva compare` and `salva power`: exit codes, forms, and what garbage gets."""

from __future__ import annotations

import json
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


def test_without_a_form_it_prints_a_few_lines(runs: tuple[str, str]) -> None:
    done = salva("compare", *runs)
    assert done.returncode == 0
    assert done.stdout.startswith("metalogic: old -> new")
    assert len(done.stdout.splitlines()) <= 12
    verbose = salva("compare", *runs, "-v")
    assert verbose.stdout.startswith(done.stdout)
    assert "by category" in verbose.stdout


def test_a_gate_passes_fails_or_is_inconclusive(runs: tuple[str, str]) -> None:
    failed = salva("compare", *runs, "--fail-if-worse", "0.05", "--format", "json")
    assert failed.returncode == 1
    made = json.loads(failed.stdout)
    assert (made["decision"], made["gate"]["decision"], made["exit_code"]) == ("worse", "failed", 1)
    assert failed.stderr.startswith("gate failed: ")
    assert salva("compare", *reversed(runs), "--fail-if-worse", "0.05").returncode == 0
    assert salva("compare", *runs, "--fail-if-worse", "0.4").returncode == 3
    assert salva("compare", *runs, "--fail-if-worse", "0.41", "--gate-on", "point").returncode == 0
    assert salva("compare", *runs, "--fail-if-worse", "0.9", "--min-decided", "41").returncode == 3
    assert salva("compare", *runs, SALVA_FAIL_IF_WORSE="0.05").returncode == 1


def test_the_margin_says_what_is_no_difference(runs: tuple[str, str]) -> None:
    def decision(*flags: str) -> str:
        return str(json.loads(salva("compare", runs[0], runs[0], "--format", "json", *flags).stdout)["decision"])

    assert decision() == "inconclusive"
    assert decision("--margin", "0.2") == "no-difference-shown"


@pytest.mark.parametrize("margin", ["nan", "inf", "5", "-1"])
def test_a_margin_that_nothing_can_exceed_is_refused(runs: tuple[str, str], margin: str) -> None:
    done = salva("compare", *runs, "--fail-if-worse", margin)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--fail-if-worse" in done.stderr


def test_too_little_passes_no_gate(tmp_path: Path, runs: tuple[str, str]) -> None:
    few = cases(2)
    small = [str(store(tmp_path / name, {name: some}, few)) for name in "ab"]
    done = salva("compare", *small, "--fail-if-worse", "0.9", "--format", "json")
    assert done.returncode == 3
    assert "gate-few-decided" in done.codes
    undecided = str(store(tmp_path / "none", {"none": lambda _case, _repeat: None}))
    assert salva("compare", runs[0], undecided, "--fail-if-worse", "0").returncode == 3
    assert salva("compare", runs[0], undecided).returncode == 0


def test_runs_that_cannot_be_compared_are_refused(tmp_path: Path, runs: tuple[str, str]) -> None:
    other = store(tmp_path / "other", {"m": some}, [replace(case, suite="prompts") for case in cases()])
    done = salva("compare", runs[0], str(other), "--format", "html", "-o", str(tmp_path / "page.html"))
    assert (done.returncode, done.codes) == (2, ["compare-settings"])
    assert not (tmp_path / "page.html").exists()
    assert salva("compare", runs[0]).returncode == 2
    assert salva("compare", str(tmp_path / "nothing"), runs[0]).returncode == 2
    assert salva("compare").returncode == 2


def test_forms_are_written_where_they_are_asked_for(tmp_path: Path, runs: tuple[str, str]) -> None:
    done = salva("compare", *runs, "--format", "html", cwd=tmp_path)
    assert (tmp_path / "comparison.html").read_text("utf-8").lstrip().startswith("<!doctype html>")
    assert done.stdout.strip() == "comparison.html"
    salva("compare", *runs, "--format", "md", "-o", str(tmp_path / "c.md"))
    assert (tmp_path / "c.md").read_text("utf-8").startswith("# metalogic: old -")


def test_no_folder_is_made_for_a_comparison(tmp_path: Path, runs: tuple[str, str]) -> None:
    done = salva("compare", *runs, "--format", "html", "-o", str(tmp_path / "typo" / "page.html"))
    assert (done.returncode, done.codes) == (2, ["folder-missing"])
    assert not (tmp_path / "typo").exists()


def test_from_python_it_is_the_same(runs: tuple[str, str]) -> None:
    made = package.compare_runs(runs[0], package.open_run(runs[1]))
    assert made.difference == pytest.approx(0.4)
    assert (made.pairs, made.decision, made.gate) == (40, "worse", None)
    gate = package.compare_runs(*runs, fail_if_worse=0.05, gate_on="upper").gate
    assert gate is not None
    assert (gate.decision, gate.limit) == ("failed", 0.05)


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
    for subject in ((runs[0], "--difference", "0.05"), ("metalogic", "--half-width", "0.05"), ()):
        done = salva("power", *subject)
        assert done.returncode == 0, done.stderr
        assert done.stdout
    refusals = (("nosuch",), (runs[0], "--difference", "0.1", "--half-width", "0.1"), (runs[0], "--difference", "5"))
    assert [salva("power", *flags).returncode for flags in refusals] == [2, 2, 2]
