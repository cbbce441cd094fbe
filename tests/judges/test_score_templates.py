"""Prompt templates for scores: the prompt, the key, and invalid files."""

from __future__ import annotations

from pathlib import Path

import pytest

from salva.core.protocols import Query
from salva.core.run_spec import ComponentSpec
from salva.core.score_rubric import SCORE_RUBRIC
from salva.errors import UsageError
from salva.judges.prompts import SYSTEM, judge_prompt
from salva.judges.replies import read_reply
from salva.judges.score_templates import PRESETS, score_template
from salva.registry import bind

SCORE = Query(role="judge", kind="score", text="a cat {and} a {prompt}", rubric=SCORE_RUBRIC)


def identity(**options: str) -> dict[str, object]:
    return dict(bind(ComponentSpec(role="judge", name="openai/m", options=options)).identity())


def written(folder: Path, text: str, name: str = "prompt.txt") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_text_replaces_its_placeholder(tmp_path: Path) -> None:
    template = score_template(written(tmp_path, "Rate {this}: {prompt}\n"))
    ask = judge_prompt(SCORE, is_structured=False, explains=False, template=template)
    assert ask.text.startswith(f"Rate {{this}}: {SCORE.text}\n\nReply")
    assert "Object Accuracy (0-50 points): [[number]]" in ask.text
    assert "How to grade" not in ask.text
    assert judge_prompt(SCORE, is_structured=True, explains=False, template=template).schema is not None


def test_the_papers_template_has_its_own_form() -> None:
    ask = judge_prompt(SCORE, is_structured=True, explains=True, template=score_template("semvarbench"))
    assert ask.schema is None
    assert ask.text.endswith(SCORE.text)
    assert ask.system == SYSTEM
    example = PRESETS["semvarbench"].split('example: "')[1].split('"')[0]
    assert read_reply(SCORE, example).scores == {"objects": 30.0, "relations": 35.0}


@pytest.mark.parametrize("kind", ["answer", "grade"])
def test_templates_do_not_change_other_queries(kind: str) -> None:
    query = Query(role="judge", kind=kind, text="is it red?", questions=("is it red?",) if kind == "grade" else ())
    assert judge_prompt(
        query, is_structured=False, explains=True, template=score_template("semvarbench")
    ) == judge_prompt(query, is_structured=False, explains=True)


def test_the_key_depends_on_the_content_and_not_on_the_path(tmp_path: Path) -> None:
    one = identity(prompt=written(tmp_path, "Rate {prompt}"))
    assert identity(prompt=written(tmp_path, "Rate {prompt}\n", "another.txt")) == one
    assert identity(prompt=written(tmp_path, "Please rate {prompt}")) != one
    assert str(tmp_path) not in str(one)
    plain = identity()
    assert plain["weights"] == ""
    assert "prompt" not in plain["options"]  # type: ignore[operator]  # a mapping
    assert len({str(identity(**options)) for options in ({}, {"prompt": "semvarbench"})} | {str(one)}) == 3


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b" \n", "is empty"),
        (b"Rate this picture", "has no {prompt}"),
        (b"{prompt} " + b"x" * 20_000, "has 20009 characters"),
        (b"Rate {prompt} as [[number]]", "does not name Object Accuracy and Relevance"),
        (b"Rate {prompt}: relevance [[number]]", "does not name Object Accuracy,"),
        (b"\xff\xfe{prompt}\x81", "prompt.txt"),
    ],
)
def test_invalid_templates_are_refused(tmp_path: Path, content: bytes, text: str) -> None:
    path = tmp_path / "prompt.txt"
    path.write_bytes(content)
    with pytest.raises(UsageError) as error:
        identity(prompt=str(path))
    assert text in str(error.value)


def test_unknown_templates_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"semvarbench.*\[option-invalid\]"):
        identity(prompt=str(tmp_path / "nowhere.txt"))
    for no_file in (str(tmp_path), "/dev/zero"):
        with pytest.raises(UsageError, match=r"semvarbench.*\[option-invalid\]"):
            identity(prompt=no_file)


def test_a_very_large_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # sparse on disk
    with pytest.raises(UsageError, match=r"1,099,511,627,776.*\[file-unreadable\]"):
        identity(prompt=str(path))
