"""Tables of strangers: whatever a spreadsheet or a notebook makes of one is read, or named with its line."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.core.exchange import Flaw
from salva.core.printable import printable
from salva.errors import UsageError
from salva.files.tables import (
    Row,
    columns_of,
    csv_text,
    read_json,
    read_json_lines,
    read_rows,
    read_sheet,
    shown_problems,
    unusable,
)


def _file(folder: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        "id,text\n1,a cat\n",
        "\ufeffid,text\r\n1,a cat\r\n",
        "id;text\n1;a cat\n",
        "id\ttext\n1\ta cat\n",
        "sep=;\nid;text\n1;a cat\n",
        " id , text \n1,a cat\n,\n\n",
        "id,text\n1,a cat\n".encode("utf-16"),
        '"id","text"\n"1","a cat"\n',
    ],
)
def test_one_table_in_the_shapes_that_spreadsheets_give_it(tmp_path: Path, content: str | bytes) -> None:
    sheet = read_sheet(_file(tmp_path, content))
    assert sheet.columns == ("id", "text")
    where = "line 3" if isinstance(content, str) and content.startswith("sep") else "line 2"
    assert sheet.rows == (Row(where, {"id": "1", "text": "a cat"}),)


def test_a_row_stands_where_it_begins_also_after_a_cell_of_several_lines(tmp_path: Path) -> None:
    sheet = read_sheet(_file(tmp_path, 'id,text\n1,"two\nlines"\n2,one\n'))
    assert [row.where for row in sheet.rows] == ["line 2", "line 4"]


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (b"id,text\n1,\xff\xfe\n", "file-invalid", "line 2"),
        (b"id,text\n1,a\0b\n", "file-invalid", "line 2"),
        (b"id,id\n1,2\n", "column-duplicate", "'id'"),
        (b"id,text\n1,2\n1\n1,2,3\n", "rows-invalid", "line 3: 1 cell under 2 columns\n  line 4: 3"),
        (b'id,text\n1,"open\n2,x\n', "file-invalid", "line 3"),
        (b"id,text\n1," + b"x" * 200_000 + b"\n", "file-invalid", "line 2"),
        (b"PK\x03\x04rest", "file-unreadable", "CSV"),
    ],
)
def test_what_is_no_table_is_one_error_with_its_line(tmp_path: Path, content: bytes, code: str, words: str) -> None:
    path = _file(tmp_path, content)
    with pytest.raises(UsageError) as caught:
        read_sheet(path)
    assert caught.value.code == code
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_reader_may_take_rows_that_are_too_short_itself(tmp_path: Path) -> None:
    ragged: list[Flaw] = []
    sheet = read_sheet(_file(tmp_path, "id,text\n1\n2,x\n"), ragged)
    assert [row.cells for row in sheet.rows] == [{"id": "2", "text": "x"}]
    assert [str(flaw) for flaw in ragged] == ["t.csv line 2: 1 cell under 2 columns"]


def test_json_has_entries_and_json_lines_have_lines(tmp_path: Path) -> None:
    assert read_rows(_file(tmp_path, '[{"a": 1}, {"a": null}]')) == [
        Row("entry 1", {"a": 1}),
        Row("entry 2", {"a": None}),
    ]
    lines = _file(tmp_path, '{"a": 1}\n\n{"a": "x\u2028y"}\n', "t.jsonl")
    assert read_rows(lines) == read_json_lines(lines) == [Row("line 1", {"a": 1}), Row("line 3", {"a": "x\u2028y"})]
    assert read_rows(_file(tmp_path, "a\n1\n")) == [Row("line 2", {"a": "1"})]


def test_objects_by_id_or_under_one_key_or_a_line_each_are_rows(tmp_path: Path) -> None:
    by_id = read_rows(_file(tmp_path, '{"x": {"a": 1}, "y": {"a": 2}}', "t.json"))
    assert [row.cells for row in by_id] == [{"id": "x", "a": 1}, {"id": "y", "a": 2}]
    under_a_key = read_rows(_file(tmp_path, '{"version": 2, "rows": [{"a": 1}]}', "t.json"))
    assert under_a_key == [Row("entry 1", {"a": 1})]
    lines = read_rows(_file(tmp_path, '{"a": 1}\n{"a": 2}\n', "t.txt"))
    assert lines == [Row("line 1", {"a": 1}), Row("line 2", {"a": 2})]


def test_nan_is_missing(tmp_path: Path) -> None:
    assert read_rows(_file(tmp_path, '[{"a": NaN, "b": Infinity}]', "t.json"))[0].cells == {"a": None, "b": None}
    assert read_sheet(_file(tmp_path, "a,b\nnan,x\nNaN ,Nantes\n")).rows == (
        Row("line 2", {"a": "", "b": "x"}),
        Row("line 3", {"a": "", "b": "Nantes"}),
    )


def test_a_key_twice_is_an_error_or_reported_and_the_last_counts(tmp_path: Path) -> None:
    path = _file(tmp_path, '{"a": 1}\n{"a": 1, "a": 2}\n', "t.jsonl")
    with pytest.raises(UsageError) as caught:
        read_json_lines(path)
    assert caught.value.code == "key-duplicate"
    flaws: list[Flaw] = []
    assert read_json_lines(path, flaws)[1].cells == {"a": 2}
    assert [(flaw.file, flaw.where) for flaw in flaws] == [("t.jsonl", "line 2")]
    assert read_json(_file(tmp_path, '{"x": {"b": 1, "b": 3}}', "t.json"), flaws) == {"x": {"b": 3}}
    assert len(flaws) == 2


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("{", "json-invalid", "line 1"),
        ('{"a": 1}\n[1]\n', "json-shape", "line 2"),
        ('{"a": ' + "[" * 100_000, "json-invalid", ""),
    ],
)
def test_a_line_that_is_no_object_is_named(tmp_path: Path, content: str, code: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_json_lines(_file(tmp_path, content, "t.jsonl"))
    assert caught.value.code == code
    assert words in str(caught.value)


@pytest.mark.parametrize("content", ["[1, 2]", '{"a": 1}', '{"a": [{"b": 1}], "c": [{"b": 1}]}'])
def test_json_without_a_list_of_objects_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_rows(_file(tmp_path, content, "t.json"))
    assert caught.value.code == "json-shape"


def test_a_heading_is_read_without_the_rest(tmp_path: Path) -> None:
    assert columns_of(_file(tmp_path, b"id;text\n" + b"x" * 200_000)) == ("id", "text")
    assert columns_of(_file(tmp_path, b"\xff\xff\xff")) == ()
    assert columns_of(tmp_path / "nowhere.csv") == ()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.csv") as caught:
        read_sheet(tmp_path / "nowhere.csv")
    assert caught.value.code == "file-unreadable"


def test_the_first_problems_are_shown_and_the_others_counted() -> None:
    few = ["line 2: no id", "line 3: parent '7' is nowhere", "line 4: no id"]
    assert shown_problems(few) == few
    first, second, *_, last = str(unusable("f.csv", [f"line {n}: no id" for n in range(2, 35)])).splitlines()
    assert " 33 " in first
    assert second == "  line 2: no id"
    assert last.startswith("  and 13 more")


@given(st.lists(st.sampled_from("abcdefghijklmnopqrstuvwxyz")))
def test_no_problem_is_lost_from_the_counts(kinds: list[str]) -> None:
    lines = shown_problems([f"line {n}: {kind}" for n, kind in enumerate(kinds)])
    more = [int(found[1]) for line in lines if (found := re.search(r"and (\d+) more", line))]
    n_named = sum(line.startswith("line") for line in lines)
    assert n_named + sum(more) == len(kinds)


@given(st.lists(st.tuples(st.text(), st.text().filter(str.strip)), min_size=1))
def test_what_is_written_is_read_again(rows: list[tuple[str, str]]) -> None:
    text = csv_text([("a", "b"), *rows])
    written = list(csv.reader(io.StringIO(text, newline="")))[1:]
    assert [cell.removeprefix("'") for row in written for cell in row] == [
        printable(cell).removeprefix("'") for row in rows for cell in row
    ]
