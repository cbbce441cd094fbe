"""What salva exported as TIFA-lite comes back as the run it was: its cases, who looked, the rule; nothing is believed
that the published columns beside it contradict."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import in_process
import pytest
from report.fake_runs import make_verdict

from salva.core.case import Case, Finding
from salva.core.exchange import ReadIn
from salva.exchange.exporting import export_run
from salva.exchange.importing import import_files
from salva.files.tables import csv_text
from salva.store.queries import read_records
from salva.suites.faithfulness.suite import Faithfulness
from salva.suites.faithfulness.tifa_files import ORIGIN_COLUMNS
from salva.suites.faithfulness.tifa_origin import Told, cases_as_made, origin_cells

Rows = list[dict[str, str]]


def paint(out: Path, *arguments: str) -> None:
    command = ("run", "faithfulness", "--model", "painter", "--set", "model.faults=entity-omission:0.5")
    done = in_process.salva(*command, "--reader", "none", *arguments, "--no-progress", "--out", str(out))
    assert done.returncode == 0, done.stderr


def back(tmp_path: Path, change: Callable[[Rows], object] = lambda _: None) -> ReadIn:
    """The run in tmp_path/run, exported and imported again; change: what somebody does to the verdicts between."""
    export_run(tmp_path / "run", "tifa-lite", tmp_path / "files")
    verdicts = tmp_path / "files" / "verdicts_painter.csv"
    with verdicts.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    change(rows)
    verdicts.write_text(csv_text([tuple(rows[0]), *(tuple(row.values()) for row in rows)]), encoding="utf-8")
    return import_files(sorted((tmp_path / "files").glob("*.csv")), "tifa-lite", tmp_path / "again")


def asks(case: Case) -> object:
    prompts = tuple((prompt.role, prompt.text, prompt.formula) for prompt in case.prompts)
    return case.case_id, case.category, case.check, prompts, case.equivalent, case.determinate, case.cluster


@pytest.mark.parametrize(
    "asked",
    [
        ("--size", "quick"),
        ("--size", "quick", "--repeats", "2", "--only", "law=associative", "--embedder", "none"),
        ("--size", "quick", "--set", "check.min_stability=0.8", "--only", "dimension=vertical"),
        ("--size", "contrast", "--set", "suite.pairs=1", "--embedder", "none"),
    ],
)
def test_a_run_and_its_own_export_can_be_compared(tmp_path: Path, asked: tuple[str, ...]) -> None:
    paint(tmp_path / "run", *asked)
    back(tmp_path)
    before, after = (read_records(tmp_path / name) for name in ("run", "again"))
    assert [asks(case) for case in before.cases] == [asks(case) for case in after.cases]
    told = {(v.case_id, v.repeat, v.check, v.observers): v.outcome for v in before.verdicts}
    assert all(told[v.case_id, v.repeat, v.check, v.observers] == v.outcome for v in after.verdicts)
    rules = {rule.name: rule.options for rule in before.asked.checks}
    judged_by = {verdict.check for verdict in after.verdicts}
    assert all(rules[rule.name] == rule.options for rule in after.asked.checks if rule.name in judged_by)
    if "contrast" in asked:
        return  # Such a run leads with truth, which the project's files have no place for.
    done = in_process.salva("compare", str(tmp_path / "run"), str(tmp_path / "again"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("no difference shown between run and again")


@pytest.mark.parametrize("size", ["quick", "contrast"])
def test_words_that_only_their_maker_can_read_keep_their_formulas(size: str) -> None:
    cases = list(Faithfulness(Faithfulness.Options()).cases(size))
    nothing_known = {"check": "same-answers", "equivalent": None, "determinate": None}
    unread = {
        case.labels["pair_id"]: replace(
            case,
            case_id=f"of-a-file-{number}",
            prompts=tuple(replace(prompt, formula=None) for prompt in case.prompts),
            findings=(Finding(kind="no-formula", sentence="no formula found"),),
            **nothing_known,  # type: ignore[arg-type]  # three fields of three types
        )
        for number, case in enumerate(cases)
    }
    told = []
    for case in cases:
        cells = origin_cells(case, make_verdict(case.case_id, check=case.check), ())
        row = dict(zip(ORIGIN_COLUMNS, map(str, cells), strict=True))
        told.append(Told(case.labels["pair_id"], row, pytest.fail))
    assert list(cases_as_made(unread, told).values()) == cases


@pytest.fixture(scope="module")
def painted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("painted")
    paint(folder / "run", "--size", "quick", "--only", "law=commutative", "--embedder", "none")
    return folder


@pytest.fixture
def folder(painted: Path, tmp_path: Path) -> Path:
    (tmp_path / "run").symlink_to(painted / "run")
    return tmp_path


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"case_id": "../../etc"}, "no case of this pair (case id '../../etc' may hold only"),
        (
            {"case_id": "a" * 9, "formula_A": "cup & !cup"},
            "no case of this pair ('cup & !cup' is not what its prompt says",
        ),
        ({"formula_B": "((("}, "case_id and formulas are not used"),
        ({"case_id": "faithfulness-commutative-attributes-001"}, "is that of another pair too; no case_id is used"),
    ],
)
def test_an_id_or_a_formula_that_cannot_be_is_named_and_not_used(
    folder: Path, cells: dict[str, str], problem: str
) -> None:
    read_in = back(folder, lambda rows: rows[0].update(cells))
    assert problem in " ".join(map(str, read_in.problems))
    assert read_in.cases[0].case_id == "faithfulness-comm-conj-001"
    assert len({case.case_id for case in read_in.cases}) == 4
    assert {v.case_id for v in read_in.verdicts} == {case.case_id for case in read_in.cases}


def test_two_rows_that_call_one_pair_by_two_names_are_named(tmp_path: Path) -> None:
    paint(tmp_path / "run", "--size", "quick", "--only", "law=commutative", "--embedder", "none", "--repeats", "2")
    read_in = back(tmp_path, lambda rows: rows[1].update(case_id="other"))
    (flaw,) = read_in.problems
    assert "another case_id or other formulas of pair 'comm_conj_001' than before; the first stand" in flaw.what


@pytest.mark.parametrize(
    ("column", "cell", "problem"),
    [
        ("seen_by", "[1]", ""),
        ("seen_by", "{", ""),
        ("seen_by", "", ""),
        ("rule", "[]", "the rule of same-answers is not used (rule is no JSON object)"),
        ("rule", '{"min_stability": 7}', "it must be from 0 to 1"),
        ("rule", '{"questions_of": "x"}', "questions_of"),
        ("rule", '{"clip_scale": "inches"}', "inches"),
        ("rule", "{", "the rule of same-answers is not used"),
        ("rule", "", ""),
    ],
)
def test_who_looked_and_by_which_rule_is_taken_where_it_can_be(
    folder: Path, column: str, cell: str, problem: str
) -> None:
    read_in = back(folder, lambda rows: [row.update({column: cell}) for row in rows])
    said = " ".join(map(str, read_in.problems))
    assert problem in said
    assert bool(problem) == bool(said)
    observers = {verdict.observers for verdict in read_in.verdicts}
    assert (observers == {("imported",)}) is (column == "seen_by")
    options = {rule.name: rule.options for rule in read_in.rules}["same-answers"]
    assert (options == {"clip_scale": "percent"}) is (column == "rule")


def test_one_verdict_on_other_answers_leaves_all_under_one_name(folder: Path) -> None:
    read_in = back(folder, lambda rows: rows[0].update(scores="{}"))
    (flaw,) = read_in.problems
    assert "a verdict on other answers" in flaw.what
    assert {verdict.observers for verdict in read_in.verdicts} == {("imported",)}
    assert read_in.cases[0].case_id == "faithfulness-commutative-conjunctive-001"


def test_verdicts_of_an_earlier_version_are_read_as_before(folder: Path) -> None:
    read_in = back(folder, lambda rows: [row.pop(name) for row in rows for name in ORIGIN_COLUMNS])
    assert read_in.problems == ()
    assert {verdict.observers for verdict in read_in.verdicts} == {("imported",)}
    assert read_in.cases[0].case_id == "faithfulness-comm-conj-001"
