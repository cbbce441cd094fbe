"""`salva agree RUN` on a run made of ratings: the figures of the files, and those of the verdicts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from review.rating_rows import RATERS, WIDE, WIDE_COLUMNS, Rows, imported, raises_code, triple_rows, wide_rows, write

from salva.cli.main import salva as command
from salva.core.table import Table
from salva.errors import StoreError, UsageError
from salva.review.agreement import AgreementOptions, table_agreement
from salva.review.columns import Columns
from salva.review.rating_table import read_ratings
from salva.review.run_agreement import reviewed_agreement, run_agreement
from salva.suites.semvar.effect import PAIRS


def test_agreement_of_an_imported_run_is_that_of_its_files_and_of_its_verdicts(tmp_path: Path) -> None:
    people = write(tmp_path / "people.csv", triple_rows(n_cases=8))
    of_judge = [{"judge" if k == "rater" else k: v for k, v in row.items()} for row in triple_rows(("gpt",), 8)]
    scores = write(tmp_path / "scores.csv", of_judge)
    imported(tmp_path / "run", people, scores)
    tables, told = reviewed_agreement(tmp_path / "run")
    from_files, notes = table_agreement(read_ratings([people, scores]))
    assert tables[: len(from_files)] == from_files
    assert told == notes
    # A run of the judge alone, held against the same people, gives the same figures by score.
    imported(tmp_path / "judge", write(tmp_path / "gpt.csv", triple_rows(("gpt",), 8)))
    by_score, _ = run_agreement(tmp_path / "judge", [people])
    mine = next(table for table in tables if table.name == "judges and people, by score")
    theirs = next(table for table in by_score if table.name == "judges and people")
    assert {row for row in theirs.rows if row[0] in ("kappa", "all s")} <= set(mine.rows)
    assert any(row[0] == "kappa" and row[2] == "pearson" for row in mine.rows)


def test_files_a_column_a_rater_are_merged_by_the_item(tmp_path: Path) -> None:
    rows = wide_rows()
    one = write(tmp_path / "one.csv", [{k: v for k, v in row.items() if k != "human_2"} for row in rows])
    other: Rows = [{k: row[k] for k in ("id", "model", "human_1", "human_2")} for row in rows[::-1]]
    other[0]["human_1"] = 9
    read_in = imported(tmp_path / "run", one, write(tmp_path / "two.csv", other), **WIDE)
    tables, _ = reviewed_agreement(tmp_path / "run", options=AgreementOptions(scales={"tifa": (0, 1)}))
    whole = read_ratings([write(tmp_path / "all.csv", rows)], WIDE_COLUMNS)
    assert tables == table_agreement(whole, AgreementOptions(scales={"tifa": (0, 1)}))[0]
    assert [problem.file for problem in read_in.problems] == ["two.csv"]


def test_a_run_without_peoples_ratings_and_a_changed_copy_are_errors(tmp_path: Path) -> None:
    from report.fake_runs import FakeImages, random_run, store_run

    records, _ = random_run(n_entities=2)
    store_run(tmp_path / "plain", records, FakeImages())
    with raises_code("run-unrated"):
        reviewed_agreement(tmp_path / "plain")
    imported(tmp_path / "run", write(tmp_path / "r.csv", wide_rows()), **WIDE)
    kept = tmp_path / "run" / "imported" / "1-r.csv"
    kept.write_text(kept.read_text() + "Item 99,x,a cat,1,1,1\n")
    with pytest.raises(StoreError) as caught:
        reviewed_agreement(tmp_path / "run")
    assert caught.value.code == "import-changed"


def test_the_run_is_asked_as_the_file_is(tmp_path: Path) -> None:
    path, run = write(tmp_path / "r.csv", wide_rows()), tmp_path / "run"
    flags = ["--people", "human_1", "--judge", "tifa,human_2"]
    done = CliRunner().invoke(command, ["import", str(path), "--as", "ratings", *flags, "--out", str(run)])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("20 cases, 1 person, 2 judges, ")
    flags = ["--people", "human_1", "--judge", "tifa", "--judge", "human_2"]
    more = ["--by", "model", "--bins", "3", "--scale", "0-7", "--format", "json"]
    from_file = CliRunner().invoke(command, ["agree", str(path), *flags, *more])
    from_run = CliRunner().invoke(command, ["agree", str(run), *more])
    assert from_run.exit_code == 0, from_run.output
    assert from_run.stdout == from_file.stdout
    assert getattr(CliRunner().invoke(command, ["agree", str(run), *flags]).exception, "code", "") == "flag-unrelated"


def agreement_of_import(run: Path, path: Path, judge: str) -> tuple[list[Table], list[str]]:
    imported(run, path, judge=judge)
    return reviewed_agreement(run)


def agreement_or_error(made: Callable[[], tuple[list[Table], list[str]]]) -> tuple[list[Table], list[str]]:
    try:
        return made()
    except UsageError as error:
        return [], [str(error)]


CELL = st.one_of(st.integers(0, 50).map(str), st.sampled_from(["", "NA", "51", "x", "12.5"]))


@settings(max_examples=60, deadline=None)
@given(
    cells=st.lists(
        st.tuples(st.sampled_from(RATERS), st.integers(0, 3), st.sampled_from(PAIRS), CELL, CELL),
        min_size=8,
        max_size=30,
    ),
    shape=st.sampled_from(["triples", "things"]),
    judge=st.booleans(),
)
def test_import_then_agree_is_agree_on_the_file(
    tmp_path_factory: pytest.TempPathFactory,
    cells: list[tuple[str, int, tuple[str, str], str, str]],
    shape: str,
    judge: bool,
) -> None:
    folder = tmp_path_factory.mktemp("agree")
    rows: Rows = []
    for who, case, (text, image), objects, relations in cells:
        row: dict[str, object] = {"case_id": f"c-{case}", "rater": who}
        row |= {"text_role": text, "image_role": image} if shape == "triples" else {"question": f"{text} {image}"}
        row |= {"objects": objects, "relations": relations}
        rows.append({**row, **({"gpt": case * 10 + len(text)} if judge else {})})
    path = write(folder / "r.csv", rows)
    columns = Columns(judges=("gpt",) if judge else ())
    expected, notes = agreement_or_error(lambda: table_agreement(read_ratings([path], columns)))
    tables, told = agreement_or_error(lambda: agreement_of_import(folder / "run", path, "gpt" if judge else ""))
    assert tables[: len(expected)] == expected
    # A file goes by its path, and its copy in the run by its name.
    assert [note.replace(str(path), "r.csv") for note in notes] == told
