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
    with pytest.raises(UsageError, match="no column prompt"):
        rows(tmp_path, "r.csv", "prompt_id\n17\n")


def test_pairs_come_from_columns_in_any_case_or_from_two_files(tmp_path: Path) -> None:
    sheet = rows(tmp_path, "p.csv", "prompt_A,PROMPT_B,formula_a,check\na,b,cat,Differ\n")
    assert sheet == [PromptRow(where="line 2", texts=("a", "b"), formulas=("cat", None), check="differ")]
    first, second = written(tmp_path, "a.txt", "one\n\ntwo\n\n\n"), written(tmp_path, "b.txt", "eins\r\n  \r\nzwei")
    read = read_prompt_rows(f"{first},{second}")
    assert [(row.where, row.texts) for row in read] == [("line 1", ("one", "eins")), ("line 3", ("two", "zwei"))]


def test_a_line_that_one_of_two_files_lacks_shifts_no_pair(tmp_path: Path) -> None:
    left = written(tmp_path, "l.txt", "a cat\n\na dog\na cow\na horse\na bird\n")
    right = written(tmp_path, "r.txt", "one cat\none banana\none dog\n\none horse")
    with pytest.raises(UsageError) as error:
        read_prompt_rows(f"{left},{right}")
    told = str(error.value).splitlines()
    assert "3 entries that cannot be used" in told[0]
    assert told[1] == f"  line 2: a prompt in {right!r} and none in {left!r}; line by line they are pairs"
    assert [line.partition(":")[0].strip() for line in told[1:]] == ["line 2", "line 4", "line 6"]


def test_two_files_are_texts(tmp_path: Path) -> None:
    a, b = written(tmp_path, "a.csv", "prompt\na cat\n"), written(tmp_path, "b.csv", "prompt\none cat\n")
    with pytest.raises(UsageError, match=r"a\.csv' is no text file; two files are read line by line"):
        read_prompt_rows(f"{a},{b}")


def test_a_name_with_a_comma_is_one_file(tmp_path: Path) -> None:
    assert read_prompts(Path(written(tmp_path, "a,b.txt", "a cat"))) == ["a cat"]


@pytest.mark.parametrize(
    "content",
    [
        '{"prompt": "a cat", "n": 3}\n\n{"prompt": "a dog"}\n',
        '[{"prompt": "a cat", "n": 3}, {"Prompt": "a dog"}]',
        '["a cat", "a dog"]',
        '"a cat"\n"a dog"\n',
        '{"annotations": [{"caption": "a cat", "n": 3}, {"caption": "a dog"}]}',
    ],
)
@pytest.mark.parametrize("name", ["p.json", "p.jsonl"])
def test_json_is_read_in_every_shape_people_write(tmp_path: Path, name: str, content: str) -> None:
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
    ("name", "content", "told"),
    [
        ("p.txt", "", "holds no prompt"),
        ("p.csv", "", "an empty file"),
        ("p.csv", "prompt\n", "holds no prompt"),
        ("p.csv", "promt,style\na cat,oil\n", "Did you mean 'prompt' by 'promt'"),
        ("p.csv", "a cat on a mat\na dog\n", "Name the column in the first line"),
        ("p.csv", "prompt\na cat, a dog\n", "wants quotation marks"),
        ("p.csv", "prompt,n\n,3\n", "line 2: no prompt"),
        ("p.csv", "prompt_a,prompt_b\na cat,\n", "line 2: no prompt_b"),
        ("p.csv", "prompt_a\na cat\n", "prompt_a and no prompt_b"),
        ("p.csv", "prompt,formula\na cat,cat &\n", "line 2: the formula 'cat &' cannot be read"),
        ("p.jsonl", '{"prompt": 3}', "1 entry that cannot be used:\n  entry 1: prompt is 3, which is no text"),
        ("p.jsonl", '{"prompt": "a cat"}\n{"promt": "a dog"}', "line 2: no prompt; it has 'promt'"),
        ("p.jsonl", '{"prompt": "a"}\n{"prompt"', "line 2 is no JSON: Expecting ':' delimiter at column 10"),
        ("p.json", "[1, 2]", "an object or a prompt was expected"),
        ("p.json", '{"promts": []}', "has no column prompt"),
        ("p.txt", b"\xff\xfe\x00", "UTF"),
        ("p.txt", b"caf\xe9", "save the file in UTF-8"),
        ("p.xlsx", b"PK\x03\x04", "save its sheet as CSV"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, content: str | bytes, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        rows(tmp_path, name, content)


def test_every_bad_entry_is_named_in_one_reading(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        rows(tmp_path, "p.csv", "prompt,formula\n,cat\na cat,((\na dog,dog\n")
    assert "2 entries" in str(error.value)
    assert "line 2" in str(error.value)
    assert "line 3" in str(error.value)


def test_whatever_is_wrong_with_each_line_all_are_named(tmp_path: Path) -> None:
    content = [
        '{"prompt": "a cat"}',
        '{"prompt": "a dog"',
        "[1, 2]",
        '{"prompt": 3}',
        '{"promt": "a cow"}',
        '{"prompt": "a bird", "formula": "bird &"}',
        "nonsense",
    ]
    with pytest.raises(UsageError) as error:
        rows(tmp_path, "p.jsonl", "\n".join(content))
    first, *others = str(error.value).splitlines()
    assert "6 entries that cannot be used" in first
    assert [line.split()[1].rstrip(":") for line in others] == ["2", "3", "4", "5", "6", "7"]
    wrong = ("no JSON", "an object", "no text", "it has 'promt'", "formula", "no JSON")
    assert all(told in line for line, told in zip(others, wrong, strict=True))
    with pytest.raises(UsageError, match=r"50 entries.*\n  line 2 is no JSON: .* \(and 49 more of this kind\)"):
        rows(tmp_path, "q.jsonl", '{"prompt": "a cat"}\n' + "nonsense\n" * 50)
    with pytest.raises(UsageError, match=r"2 entries.*\n  line 2: no prompt\n  line 3: 3 cells under 2 columns"):
        rows(tmp_path, "p.csv", "prompt,n\n,3\na cat,1,2\n")


def test_of_json_that_is_broken_the_place_is_named(tmp_path: Path) -> None:
    for content in ('{\n  "p1": "a cat",\n  "p2" "a dog"\n}', '[\n  {"prompt": "a cat"}\n  {"prompt": "a dog"}\n]'):
        with pytest.raises(UsageError, match=r"p\.json' is no JSON: Expecting .* line 3 column"):
            rows(tmp_path, "p.json", content)


def test_a_folder_and_nothing_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        read_prompt_rows(str(tmp_path))
    with pytest.raises(UsageError, match="cannot be read"):
        read_prompt_rows(str(tmp_path / "none.txt"))


@pytest.mark.parametrize(
    "names",
    [
        *(("p1", "p2"), ("000123", "7"), ("prompt_1", "prompt_2"), ("Prompt 0", "Prompt 1"), ("img-0001", "img-0002")),
        *(("text1", "text2"), ("cat on mat.png", "dog.jpg"), ("3f9a", "b07c")),
    ],
)
def test_ids_of_every_kind_people_have_are_ids(tmp_path: Path, names: tuple[str, str]) -> None:
    found = rows(tmp_path, "p.json", json.dumps(dict(zip(names, ("a cat", "a dog"), strict=True))))
    assert [(row.texts, row.labels["id"]) for row in found] == [(("a cat",), names[0]), (("a dog",), names[1])]


def test_many_names_without_a_number_are_ids_too(tmp_path: Path) -> None:
    things = ("cat", "dog", "bird", "cow", "tent", "horse", "bus", "car", "cup", "bed", "book", "clock")
    found = rows(tmp_path, "p.json", json.dumps({name: f"a photo of a {name}" for name in things}))
    assert [row.labels["id"] for row in found] == list(things)
    with pytest.raises(UsageError, match="has no column prompt"):
        rows(tmp_path, "q.json", json.dumps({name: name for name in things}))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.jsonl", {"sentence": "a cat on a mat", "category": "animals"}),
        ("p.json", {"sentence": "a cat on a mat", "category": "animals"}),
        ("p.json", {"title": "x", "author": "me"}),
        ("p.json", {"title": "mine", "p1": "a cat"}),
        ("p.jsonl", {"p1": "a cat", "p2": "a dog"}),
    ],
)
def test_fields_are_no_ids_and_a_line_is_one_entry(tmp_path: Path, name: str, content: object) -> None:
    with pytest.raises(UsageError, match="has no column prompt"):
        rows(tmp_path, name, json.dumps(content))


def test_prompts_by_letter_or_beside_other_fields_are_one_entry(tmp_path: Path) -> None:
    (pair,) = rows(tmp_path, "p.json", '{"prompt_a": "a cat", "prompt_b": "one cat"}')
    assert pair.texts == ("a cat", "one cat")
    (other,) = rows(tmp_path, "q.json", '{"prompt_1": "a cat", "prompt_2": "a dog", "check": "differ"}')
    assert (other.texts, other.check) == (("a cat", "a dog"), "differ")
    (line,) = rows(tmp_path, "r.jsonl", '{"prompt_1": "a cat", "prompt_2": "one cat"}')
    assert line.texts == ("a cat", "one cat")


@pytest.mark.parametrize(
    "content", [{"p1": "a cat", "p2": "a dog"}, {"p1": {"prompt": "a cat"}, "p2": {"prompt": "a dog"}}]
)
def test_of_an_object_of_ids_each_is_a_label(tmp_path: Path, content: object) -> None:
    found = rows(tmp_path, "p.json", json.dumps(content))
    assert [(row.texts, row.labels) for row in found] == [(("a cat",), {"id": "p1"}), (("a dog",), {"id": "p2"})]


def test_an_object_with_a_list_of_prompts_is_that_list(tmp_path: Path) -> None:
    found = rows(tmp_path, "p.json", '{"name": "mine", "prompts": ["a cat", {"prompt": "a dog", "seed": 3}]}')
    assert [row.texts for row in found] == [("a cat",), ("a dog",)]


@pytest.mark.parametrize("content", ['{"promt": "a cat"}', '{"p1": "a cat", "p2": 3}', "{}"])
def test_an_object_of_anything_else_is_told_what_is_read(tmp_path: Path, content: str) -> None:
    with pytest.raises(UsageError, match=r"has no column prompt.*an object of ids and prompts, or save"):
        rows(tmp_path, "p.json", content)
