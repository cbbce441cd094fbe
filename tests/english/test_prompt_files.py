"""Files of prompts as people have them: text, CSV from a spreadsheet, JSON in three shapes, two files side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from salva.english.prompt_files import PromptRow, read_prompt_rows, read_prompts
from salva.errors import UsageError


def written(folder: Path, name: str, content: str | bytes) -> str:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(file)


def rows(folder: Path, name: str, content: str | bytes) -> list[PromptRow]:
    return read_prompt_rows(written(folder, name, content))


def test_a_text_file_is_a_prompt_a_line_whatever_its_ends_and_gaps(tmp_path: Path) -> None:
    read = rows(
        tmp_path, "p.txt", b'\xef\xbb\xbfa cat\r\n\r\n  a dog, and "a" bird \r\n\xe4\xb8\x80\xe5\x8f\xaa\xe7\x8c\xab\n'
    )
    assert [row.texts for row in read] == [("a cat",), ('a dog, and "a" bird',), ("一只猫",)]
    assert [row.where for row in read] == ["line 1", "line 3", "line 4"]


def test_lines_may_end_as_they_did_on_old_machines(tmp_path: Path) -> None:
    read = rows(tmp_path, "p.txt", b"a cat\ra dog\r\na bird\r")
    assert [(row.where, row.texts) for row in read] == [
        ("line 1", ("a cat",)),
        ("line 2", ("a dog",)),
        ("line 3", ("a bird",)),
    ]


@pytest.mark.parametrize("column", ["category", "Category", " CATEGORY "])
def test_a_category_is_one_in_capitals_too(tmp_path: Path, column: str) -> None:
    (row,) = rows(tmp_path, "p.csv", f"Prompt,{column},Style\na cat,animals,Oil\n")
    assert row.labels == {"category": "animals", "Style": "Oil"}


def test_a_sheet_from_a_spreadsheet_is_read_with_its_labels(tmp_path: Path) -> None:
    content = '\ufeffPrompt;Style;Formula\r\n"a cat; ""Tom""";oil;cat\r\n;;\r\na dog;;\r\n'
    first, second = rows(tmp_path, "p.csv", content)
    assert first == PromptRow(where="line 2", texts=('a cat; "Tom"',), formulas=("cat",), labels={"Style": "oil"})
    assert (second.texts, second.formulas, second.labels) == (("a dog",), (None,), {})


@pytest.mark.parametrize("columns", ["prompt,prompt_id", "caption,Prompt ID", "prompt,prompt_source"])
def test_a_column_about_prompts_is_a_label_and_never_painted(tmp_path: Path, columns: str) -> None:
    (row,) = rows(tmp_path, "p.csv", f"{columns}\na cat,17\n")
    assert row.texts == ("a cat",)
    assert row.labels == {columns.split(",")[1]: "17"}
    (pair,) = rows(tmp_path, "q.csv", "prompt_id,prompt_a,prompt_b\n17,a cat,a dog\n")
    assert (pair.texts, pair.labels) == (("a cat", "a dog"), {"prompt_id": "17"})


def test_pairs_come_from_columns_in_any_case_or_from_two_files(tmp_path: Path) -> None:
    sheet = rows(tmp_path, "p.csv", "prompt_A,PROMPT_B,formula_a,expect\na,b,cat,Differ\n")
    assert sheet == [PromptRow(where="line 2", texts=("a", "b"), formulas=("cat", None), expect="differ")]
    first, second = written(tmp_path, "a.txt", "one\n\ntwo\n\n\n"), written(tmp_path, "b.txt", "eins\r\n  \r\nzwei")
    read = read_prompt_rows(f"{first},{second}")
    assert [(row.where, row.texts) for row in read] == [("line 1", ("one", "eins")), ("line 3", ("two", "zwei"))]


def test_a_sheet_may_mix_prompts_and_pairs(tmp_path: Path) -> None:
    sheet = rows(
        tmp_path,
        "p.csv",
        "id,caption,prompt,prompt_a,prompt_b,expect\n1,,one,,,\n2,said,,a,b,differ\n3,two,,,,\n",
    )
    assert [(row.texts, row.expect) for row in sheet] == [(("one",), ""), (("a", "b"), "differ"), (("two",), "")]
    assert [row.labels for row in sheet] == [{"id": "1"}, {"id": "2", "caption": "said"}, {"id": "3"}]
    for half in ("a,", ",b"):
        with pytest.raises(UsageError, match=r"line 3: .*\[prompt-missing\]"):
            rows(tmp_path, "q.csv", f"prompt,prompt_a,prompt_b\none,,\n,{half}\n")


def test_a_line_that_one_of_two_files_lacks_shifts_no_pair(tmp_path: Path) -> None:
    left = written(tmp_path, "l.txt", "a cat\n\na dog\na cow\na horse\na bird\n")
    right = written(tmp_path, "r.txt", "one cat\none banana\none dog\n\none horse")
    with pytest.raises(UsageError) as error:
        read_prompt_rows(f"{left},{right}")
    told = str(error.value).splitlines()
    assert [line.partition(":")[0].strip() for line in told[1:]] == ["line 2", "line 4", "line 6"]


def test_two_files_are_texts(tmp_path: Path) -> None:
    a, b = written(tmp_path, "a.csv", "prompt\na cat\n"), written(tmp_path, "b.csv", "prompt\none cat\n")
    with pytest.raises(UsageError, match=r"\[prompt-files-not-text\]"):
        read_prompt_rows(f"{a},{b}")


def test_a_name_with_a_comma_is_one_file(tmp_path: Path) -> None:
    assert read_prompts(Path(written(tmp_path, "a,b.txt", "a cat"))) == ["a cat"]


@pytest.mark.parametrize(
    "content",
    [
        '{"prompt": "a cat", "n": 3}\n\n{"prompt": "a dog"}\n',
        '[{"prompt": "a cat", "n": 3}, {"Prompt": "a dog"}]',
        '["a cat", "a dog"]',
        '{"annotations": [{"caption": "a cat", "n": 3}, {"caption": "a dog"}]}',
    ],
)
@pytest.mark.parametrize("name", ["p.json", "p.jsonl"])
def test_json_is_read_in_every_shape_people_write(tmp_path: Path, name: str, content: str) -> None:
    name = "p.json" if "annotations" in content else name
    read = rows(tmp_path, name, content)
    assert [row.texts for row in read] == [("a cat",), ("a dog",)]
    assert read[0].labels == ({"n": "3"} if '"n"' in content else {})


def test_what_salva_prints_of_cases_is_read_again(tmp_path: Path) -> None:
    case = {
        "case_id": "x",
        "prompts": {"a": "a cat", "b": "a dog"},
        "formulas": {"a": "cat", "b": None},
        "labels": {"law": "l"},
        "questions": {"a": [], "b": []},
        "findings": ["two readings"],
    }
    (row,) = rows(tmp_path, "p.jsonl", json.dumps(case))
    assert (row.texts, row.formulas) == (("a cat", "a dog"), ("cat", None))
    assert row.labels == {"case_id": "x", "law": "l"}


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("p.txt", "", "file-empty"),
        ("p.csv", "", "prompt-column-missing"),
        ("p.csv", "prompt\n", "file-empty"),
        ("p.csv", "promt,style\na cat,oil\n", "prompt-column-missing"),
        ("p.csv", "prompt_id\n17\n", "prompt-column-missing"),
        ("p.csv", "a cat on a mat\na dog\n", "prompt-column-missing"),
        ("p.csv", "prompt\na cat, a dog\n", "rows-invalid"),
        ("p.csv", "prompt,n\n,3\n", "prompt-missing"),
        ("p.csv", "prompt_a,prompt_b\na cat,\n", "prompt-missing"),
        ("p.csv", "prompt_a\na cat\n", "prompt-missing"),
        ("p.csv", "prompt,formula\na cat,cat &\n", "prompt-formula"),
        ("p.csv", "prompt_a,prompt_b,expect\na cat,a dog,difer\n", "prompt-cell"),
        ("p.csv", "prompt,expect\na cat,differ\n", "expect-single"),
        ("p.jsonl", '{"prompt": 3}', "prompt-missing"),
        ("p.jsonl", '{"prompt": "a cat"}\n{"promt": "a dog"}', "prompt-missing"),
        ("p.jsonl", '{"prompt": "a"}\n{"prompt"', "json-invalid"),
        ("p.jsonl", '"a cat"', "json-shape"),
        ("p.json", "[1, 2]", "prompt-missing"),
        ("p.json", '{"promts": []}', "json-shape"),
        ("p.json", '{"p1": "a cat", "p2": "a dog"}', "json-shape"),
        ("p.json", '[{"prompt": "a"} {"prompt": "b"}]', "json-invalid"),
        ("p.txt", b"\xff\xfe\x00", "file-invalid"),
        ("p.txt", b"caf\xe9", "file-invalid"),
        ("p.xlsx", b"PK\x03\x04", "file-unreadable"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, content: str | bytes, code: str) -> None:
    with pytest.raises(UsageError, match=rf"\[{code}\]"):
        rows(tmp_path, name, content)


def test_every_bad_entry_is_named_in_one_reading(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        rows(tmp_path, "p.csv", "prompt,formula\n,cat\na cat,((\na dog,dog\na cow,cow,3\n")
    assert error.value.code == "rows-invalid"
    told = str(error.value).splitlines()[1:]
    assert [line.split()[1].rstrip(":") for line in told] == ["2", "3", "5"]


def test_a_folder_and_nothing_are_no_files(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.txt"):
        with pytest.raises(UsageError, match=r"\[file-unreadable\]"):
            read_prompt_rows(str(path))


def test_prompts_by_digit_are_one_entry(tmp_path: Path) -> None:
    (row,) = rows(tmp_path, "r.jsonl", '{"prompt_1": "a cat", "prompt_2": "a dog", "expect": "differ"}')
    assert (row.texts, row.expect) == (("a cat", "a dog"), "differ")


def test_of_an_object_of_ids_each_is_a_label(tmp_path: Path) -> None:
    found = rows(tmp_path, "p.json", json.dumps({"p1": {"prompt": "a cat"}, "p2": {"prompt": "a dog"}}))
    assert [(row.texts, row.labels) for row in found] == [(("a cat",), {"id": "p1"}), (("a dog",), {"id": "p2"})]
