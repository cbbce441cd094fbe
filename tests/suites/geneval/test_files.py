"""Reading metadata: every fault of a file is told at once with its line, and rewritten prompts keep their clauses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from salva.errors import UsageError
from salva.suites.geneval.files import read_metadata, with_rewritten

BENCH = {"tag": "single_object", "include": [{"class": "bench", "count": 1}], "prompt": "a photo of a bench"}
COW = {"tag": "single_object", "include": [{"class": "cow", "count": 1}], "prompt": "a photo of a cow"}


def _file(path: Path, *rows: object) -> str:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return str(path)


def test_all_official_prompts(foreign_data: Path) -> None:
    asked = read_metadata(str(foreign_data / "geneval" / "evaluation_metadata.jsonl"))
    assert len(asked) == 553
    assert len({one.text for one in asked}) == 553


def test_every_broken_line_is_told_at_once(tmp_path: Path) -> None:
    path = _file(
        tmp_path / "m.jsonl", BENCH, {**COW, "prompt": ""}, {**COW, "include": [{"class": "cow", "count": -1}]}
    )
    with pytest.raises(UsageError) as error:
        read_metadata(path)
    assert "2 lines" in str(error.value)
    assert "line 2: prompt is ''" in str(error.value)
    assert "line 3: include[0].count" in str(error.value)


@pytest.mark.parametrize(("text", "code"), [("{half", "json-invalid"), ("[1]", "json-shape")])
def test_a_line_that_is_no_object(tmp_path: Path, text: str, code: str) -> None:
    with pytest.raises(UsageError, match="line 2") as caught:
        read_metadata(_file(tmp_path / "m.jsonl", BENCH, text))
    assert caught.value.code == code


def test_an_empty_file_and_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no prompt"):
        read_metadata(_file(tmp_path / "m.jsonl"))
    with pytest.raises(UsageError, match="cannot be read"):
        read_metadata(str(tmp_path / "none.jsonl"))


def test_rewritten_by_prompt(tmp_path: Path) -> None:
    asked = read_metadata(_file(tmp_path / "m.jsonl", BENCH, COW))
    new = {"prompt": COW["prompt"], "rewritten": "One brown cow in a meadow"}
    told = with_rewritten(asked, _file(tmp_path / "r.jsonl", new))
    assert [one.rewritten for one in told] == ["", "One brown cow in a meadow"]
    assert [one.formula for one in told] == ["bench", "cow"]


def test_rewritten_prompts_nobody_asked(tmp_path: Path) -> None:
    asked = read_metadata(_file(tmp_path / "m.jsonl", BENCH))
    rows = [
        {"prompt": "a photo of a dog", "rewritten": "x"},
        {"prompt": BENCH["prompt"], "rewritten": "y"},
        {"prompt": BENCH["prompt"], "rewritten": "z"},
        {"rewritten": "w"},
    ]
    with pytest.raises(UsageError) as error:
        with_rewritten(asked, _file(tmp_path / "r.jsonl", *rows))
    assert "unknown prompt" in str(error.value)
    assert "second text" in str(error.value)
    assert "line 4: " in str(error.value)
