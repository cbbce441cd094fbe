"""`salva agree RUN` on a run made of ratings: the figures of the files, and those of the verdicts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from review.rating_rows import RATERS, Rows, imported, triple_rows, wide_rows, write

from salva.cli.main import salva as command
from salva.core.table import Table
from salva.errors import StoreError, UsageError
from salva.review.agreement import file_agreement
from salva.review.ratings import Columns
from salva.review.run_agreement import imported_agreement, run_agreement
from salva.suites.semvar.effect import PAIRS


def test_agreement_of_an_imported_run_is_that_of_its_files_and_of_its_verdicts(tmp_path: Path) -> None:
    people = write(tmp_path / "people.csv", triple_rows(n_cases=8))
    of_judge = [{"judge" if k == "rater" else k: v for k, v in row.items()} for row in triple_rows(("gpt",), 8)]
    scores = write(tmp_path / "scores.csv", of_judge)
    imported(tmp_path / "run", people, scores)
    tables, told = imported_agreement(tmp_path / "run")
    from_files, said = file_agreement(people, Columns(), scores=scores)
    assert tables[: len(from_files)] == from_files
    assert told == said
    # A run of the judge alone, held against the same people, gives the same figures by score.
    imported(tmp_path / "judge", write(tmp_path / "gpt.csv", triple_rows(("gpt",), 8)))
    by_score, _ = run_agreement(tmp_path / "judge", people)
    mine = next(table for table in tables if table.name == "judges and people, by score")
    theirs = next(table for table in by_score if table.name == "judges and people")
    assert {row for row in theirs.rows if row[0] in ("kappa", "all s")} <= set(mine.rows)
    assert any(row[0] == "kappa" and row[2] == "pearson" for row in mine.rows)


def test_files_a_column_a_rater_are_merged_by_the_thing(tmp_path: Path) -> None:
    rows = wide_rows()
    one = write(tmp_path / "one.csv", [{k: v for k, v in row.items() if k != "human_2"} for row in rows])
    other: Rows = [{k: row[k] for k in ("item_id", "model", "human_1", "human_2")} for row in rows[::-1]]
    other[0]["human_1"] = 9
    read_in = imported(tmp_path / "run", one, write(tmp_path / "two.csv", other), item="item_id,model")
    tables, _ = imported_agreement(tmp_path / "run")
    whole, _ = file_agreement(write(tmp_path / "all.csv", rows), Columns(things=("item_id", "model")))
    assert tables == whole
    assert [problem.file for problem in read_in.problems] == ["two.csv"]
    assert "the first rating stands" in read_in.problems[0].what


def test_a_run_without_peoples_ratings_says_what_to_do_and_a_changed_copy_is_not_read(tmp_path: Path) -> None:
    from report.fake_runs import FakeImages, random_run, store_run

    records, _ = random_run(n_entities=2)
    store_run(tmp_path / "plain", records, FakeImages())
    with pytest.raises(UsageError, match="give them with --ratings FILE"):
        imported_agreement(tmp_path / "plain")
    imported(tmp_path / "run", write(tmp_path / "r.csv", wide_rows()))
    kept = tmp_path / "run" / "imported" / "1-r.csv"
    kept.write_text(kept.read_text() + "Thing 99,x,a cat,1,1,1\n")
    with pytest.raises(StoreError, match="not the file that was imported"):
        imported_agreement(tmp_path / "run")


def test_the_run_is_asked_as_the_file_is(tmp_path: Path) -> None:
    path, run = write(tmp_path / "r.csv", wide_rows()), tmp_path / "run"
    flags = ["--people", "human_1", "--judge", "tifa,human_2"]
    done = CliRunner().invoke(command, ["import", str(path), "--as", "ratings", *flags, "--out", str(run)])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("20 cases, 1 person, 2 judges, ")
    more = ["--by", "model", "--bins", "3", "--format", "json"]
    from_file = CliRunner().invoke(command, ["agree", str(path), *flags, *more])
    from_run = CliRunner().invoke(command, ["agree", str(run), *more])
    assert from_run.exit_code == 0, from_run.output
    assert from_run.stdout == from_file.stdout
    assert isinstance(CliRunner().invoke(command, ["agree", str(run), *flags]).exception, UsageError)


def agreement_of_import(run: Path, path: Path) -> tuple[list[Table], list[str]]:
    imported(run, path)
    return imported_agreement(run)


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
    expected, said = agreement_or_error(lambda: file_agreement(path, Columns()))
    tables, told = agreement_or_error(lambda: agreement_of_import(folder / "run", path))
    assert tables[: len(expected)] == expected
    # The file goes by its path, the run by its own, and a copy in it by its name.
    names = re.compile("|".join(map(re.escape, (str(path), str(folder / "run"), "r.csv"))))
    assert [names.sub("", line) for line in told] == [names.sub("", line) for line in said]
