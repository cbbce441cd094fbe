"""Files of ratings as one table: documented columns, columns named by flags, and an error for anything else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from review.rating_rows import Rows, write

from salva.errors import UsageError
from salva.review.columns import Columns
from salva.review.rating_table import RatingTable, read_ratings

WIDE: Rows = [{"name": f"x{i}", "h1": i, "h2": i + 1, "mos": i + 0.5, "mos_std": 0.5, "clip": i / 9} for i in range(9)]
FLAGS = Columns(item=("name",), people=("h1", "h2"), judges=("clip",))


def code_of_reading(folder: Path, text: str, columns: Columns | None = None) -> UsageError:
    path = folder / "ratings.csv"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_ratings([path], columns)
    return caught.value


def values(table: RatingTable, who: str, measure: str = "rating") -> dict[str, float | None]:
    return dict(zip(table.items, table.columns(measure)[who], strict=True))


def test_flags_name_people_judges_and_items_and_nothing_else_is_taken(tmp_path: Path) -> None:
    table = read_ratings([write(tmp_path / "r.csv", WIDE)], FLAGS)
    assert (table.people, table.judges, table.item_columns) == (("h1", "h2"), ("clip",), ("name",))
    assert values(table, "h2") == {f"x{i}": i + 1 for i in range(9)}
    assert table.measures == ("rating",)
    assert not table.flaws


@pytest.mark.parametrize("shape", ["tsv", "semicolons", "json", "jsonl", "by id", "lists"])
def test_every_shape_of_file_gives_the_same_table(tmp_path: Path, shape: str) -> None:
    path, columns = tmp_path / "ratings", FLAGS
    if shape == "tsv":
        write(path, WIDE, "\t")
    elif shape == "semicolons":
        text = write(path, WIDE, ";").read_text().replace(".", ",")
        path.write_text("sep=;\n" + text, encoding="utf-8-sig")
    elif shape == "json":
        path.write_text(json.dumps({"version": 2, "rows": WIDE}))
    elif shape == "jsonl":
        path.write_text("\n".join(json.dumps(row) for row in WIDE))
    else:
        columns = Columns(people=FLAGS.people, judges=FLAGS.judges)
        rows = {str(row["name"]): {k: v for k, v in row.items() if k != "name"} for row in WIDE}
        if shape == "lists":
            rows = {key: {"h": [row["h1"], row["h2"]], "clip": row["clip"]} for key, row in rows.items()}
            columns = Columns(people=("h_1", "h_2"), judges=("clip",))
        path.write_text(json.dumps(rows))
    expected = read_ratings([write(tmp_path / "r.csv", WIDE)], FLAGS)
    table = read_ratings([path], columns)
    assert [table.columns("rating")[who] for who in (*table.people, *table.judges)] == [
        pytest.approx(expected.columns("rating")[who]) for who in ("h1", "h2", "clip")
    ]
    assert [*table.items] == [*expected.items]


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("human_1,human_2\n1,2\n", "column-missing", ("human_1, human_2", "--item", "case_id", "prompt")),
        ("id,human_1,clip\nx,1,2\n", "column-missing", ("id, human_1, clip", "--people")),
        ("id,mos,mos_std\nx,1,2\n", "column-missing", ("--people",)),
        ("id,rater,worker_id,score\nx,a,b,2\n", "column-ambiguous", ("rater, worker_id", "--rater")),
        ("id,rater,objects,relations,score\nx,a,1,1,2\n", "column-ambiguous", ("objects+relations, score",)),
        ("id,rater,score\n", "file-empty", ()),
        ("", "file-empty", ()),
        ("id,rater,score\nx,ann,\n", "ratings-missing", ("id, rater, score",)),
        ("id,rater,score\nx,ann,NaN\ny,ann,-\n", "ratings-missing", ()),
        ("id,score,score\nx,1,2\n", "column-duplicate", ()),
        ("[1, 2]", "json-shape", ()),
        ("{broken", "json-invalid", ()),
    ],
)
def test_what_is_not_certain_is_an_error_with_the_heading_and_the_flag(
    tmp_path: Path, text: str, code: str, words: tuple[str, ...]
) -> None:
    error = code_of_reading(tmp_path, text)
    assert error.code == code
    assert all(word in str(error) for word in words)


@pytest.mark.parametrize(
    "columns",
    [
        Columns(item=("nowhere",)),
        Columns(people=("nowhere",)),
        Columns(judges=("nowhere",)),
        Columns(rater="nowhere"),
        Columns(people=("score+nowhere",)),
    ],
)
def test_a_column_that_no_file_has_is_an_error(tmp_path: Path, columns: Columns) -> None:
    error = code_of_reading(tmp_path, "id,rater,score,human\nx,ann,1,2\n", columns)
    assert error.code == "column-missing"
    assert "nowhere" in str(error)


def test_one_row_a_rating_with_roles_repeats_and_a_judge_among_the_raters(tmp_path: Path) -> None:
    rows: Rows = [
        {"case_id": "c", "repeat": i, "model": "", "rater": who, "objects": 10 * i, "relations": 7, "note": "x"}
        for i in range(2)
        for who in ("ann", "", "gpt")
    ]
    table = read_ratings([write(tmp_path / "bob.csv", rows)], Columns(judges=("gpt",)))
    assert (table.people, table.judges) == (("ann", "bob"), ("gpt",)), "who wrote no name is called after the file"
    assert values(table, "ann") == {"c / 0": 7, "c / 1": 17}
    assert table.item_columns == ("case_id", "repeat"), "an empty column names nothing"
    assert table.ratings[0].parts == (0, 7)
    assert table.scales["gpt", "rating"] == (0, 100)


def test_a_sum_of_columns_is_one_rating_in_either_shape(tmp_path: Path) -> None:
    wide = write(tmp_path / "w.csv", [{"id": 1, "ann o": 3, "ann r": 4}])
    assert values(read_ratings([wide], Columns(people=("ann o+ann r",))), "ann o+ann r") == {"1": 7}
    long = write(tmp_path / "l.csv", [{"id": 1, "who": "ann", "o": 3, "r": 4}])
    table = read_ratings([long], Columns(rater="who", people=("o+r",)))
    assert values(table, "ann") == {"1": 7}
    assert not table.scales, "only documented columns have a known scale"


def test_scores_of_a_run_and_labels_are_measures(tmp_path: Path) -> None:
    row: dict[str, object] = {"case_id": "c", "rater": "ann", "failed": "FAIL", "passes_l1": "yes", "s_l1": 0.5}
    path = write(tmp_path / "r.csv", [{**row, "kappa": 0.3, "beauty": 3}])
    table = read_ratings([path], scores={"kappa"})
    assert {rating.measure: rating.value for rating in table.ratings} == {
        "failed": 1,
        "passes_l1": 1,
        "s_l1": 0.5,
        "kappa": 0.3,
    }


@pytest.mark.parametrize(
    ("column", "cell", "value"),
    [
        *(("failed", cell, 1) for cell in ("yes", "TRUE", "fail", "1")),
        *(("failed", cell, 0) for cell in ("no", "false", "PASS", "0.0")),
        *(
            ("passes_l1", cell, value)
            for cell, value in (("Yes", 1), ("true", 1), ("no", 0), ("pass", None), ("2", None))
        ),
        *(("failed", cell, None) for cell in ("2", "0.5x", "inf")),
    ],
)
def test_words_for_yes_and_no(tmp_path: Path, column: str, cell: str, value: float | None) -> None:
    rows: Rows = [{"id": 1, "rater": "ann", column: cell}, {"id": 2, "rater": "ann", column: 1}]
    table = read_ratings([write(tmp_path / "r.csv", rows)])
    assert values(table, "ann", column) == {"1": value, "2": 1}
    assert len(table.flaws) == (value is None)


def test_a_sheet_by_question_has_answers_and_labels(tmp_path: Path) -> None:
    rows: Rows = [
        {"case_id": "c", "image_role": "l1", "question": asked, "rater": "ann", "score": score}
        for asked, score in (("1", 0.5), ("2", 1.5), ("label", "yes"))
    ]
    table = read_ratings([write(tmp_path / "r.csv", rows)])
    assert table.measures == ("rating", "label")
    assert [flaw.where for flaw in table.flaws] == ["line 3"], "answers go from 0 to 1"
    assert table.scales["ann", "rating"] == (0, 1)


def test_gaps_are_silence_and_bad_cells_are_named_with_their_line(tmp_path: Path) -> None:
    cells = ("40", "", "n/a", "banana", "51", "-1", "50", "0")
    rows: Rows = [{"id": i, "rater": "ann", "objects": cell, "relations": 5} for i, cell in enumerate(cells)]
    table = read_ratings([write(tmp_path / "r.csv", rows)])
    assert [*values(table, "ann").values()] == [45, None, None, None, None, None, 55, 5]
    told = [flaw.where for flaw in table.flaws]
    assert told == [f"line {n}" for n in (3, 4, 5, 6, 7)]
    assert "relations without objects" in table.flaws[0].what
    assert "'banana'" in table.flaws[2].what
    assert table.notes[0].startswith("Read 8 items by id; people: 1 (ann); judges: none.")
    assert "line 7" in table.notes[1]


def test_copies_of_raters_are_put_under_each_other(tmp_path: Path) -> None:
    rows: Rows = [{"case_id": f"c{i}", "rater": who, "score": i} for who in ("ann", "bob") for i in range(3)]
    whole = read_ratings([write(tmp_path / "all.csv", rows)])
    parts = [write(tmp_path / f"{who}.csv", [r for r in rows if r["rater"] == who]) for who in ("ann", "bob")]
    unnamed = [write(tmp_path / path.name, [{**row, "rater": ""} for row in rows[:3]]) for path in parts]
    for table in (read_ratings(parts), read_ratings(unnamed)):
        assert (table.people, table.items.keys()) == (whole.people, whole.items.keys())
        assert [one.value for one in table.ratings] == [one.value for one in whole.ratings]
    again = read_ratings([tmp_path / "all.csv", write(tmp_path / "more.csv", [{**rows[0], "score": 9}])])
    assert [(flaw.file, flaw.where) for flaw in again.flaws] == [(str(tmp_path / "more.csv"), "line 2")]
    assert values(again, "ann")["c0"] == 0, "the first rating counts"


def test_judges_scores_in_a_file_of_their_own_are_joined_by_the_item(tmp_path: Path) -> None:
    people = write(tmp_path / "people.csv", [{"id": i, "model": "m", "rater": "ann", "score": i} for i in range(3)])
    wide = write(tmp_path / "wide.csv", [{"id": 2 - i, "model": "m", "clip": i, "group": "g"} for i in range(3)])
    long = write(tmp_path / "long.csv", [{"id": 2 - i, "model": "m", "judge": "clip", "score": i} for i in range(3)])
    for path, columns in ((wide, Columns(judges=("clip",))), (long, Columns())):
        table = read_ratings([people, path], columns)
        assert table.judges == ("clip",)
        assert values(table, "clip") == {"0 / m": 2, "1 / m": 1, "2 / m": 0}
    assert read_ratings([people, wide], Columns(judges=("clip",))).items["0 / m"].cell("group") == "g"
    with pytest.raises(UsageError) as caught:
        read_ratings([people, write(tmp_path / "bare.csv", [{"id": 1, "clip": 3}])], Columns(judges=("clip",)))
    assert caught.value.code == "column-missing"
    assert all(word in str(caught.value) for word in ("bare.csv", "'model'", "--item"))


def test_files_given_twice_and_names_of_two_kinds_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", [{"id": 1, "rater": "ann", "score": 3, "ann": 4}])
    for files, columns, code in (
        ([path, path], None, "file-twice"),
        ([path], Columns(judges=("ann",)), "rater-is-judge"),
    ):
        with pytest.raises(UsageError) as caught:
            read_ratings(files, columns)
        assert caught.value.code == code


def test_a_row_without_an_item_is_named(tmp_path: Path) -> None:
    rows: Rows = [{"case_id": key, "rater": "ann", "score": 1} for key in ("c", "", "d")]
    table = read_ratings([write(tmp_path / "r.csv", rows)])
    assert [*table.items] == ["c", "d"]
    assert [flaw.where for flaw in table.flaws] == ["line 3"]
