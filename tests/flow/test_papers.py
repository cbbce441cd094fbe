"""The page of what the papers have: its commands work, and their reports hold what it names."""

from __future__ import annotations

import html
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from in_process import salva

DOCS = Path(__file__).parents[2] / "docs"
PAPERS: list[dict[str, Any]] = tomllib.loads((DOCS / "papers.toml").read_text(encoding="utf-8"))["paper"]


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper["title"])
def test_the_commands_of_a_paper_give_what_the_page_says(paper: dict[str, Any], tmp_path: Path) -> None:
    for command in paper["commands"]:
        done = salva(*shlex.split(command)[1:], cwd=tmp_path)
        assert done.returncode in (0, 1), (command, done.stderr)
    page = html.unescape((tmp_path / "runs/paper/report/index.html").read_text(encoding="utf-8")).casefold()
    assert [name for name in paper["finds"] if name.casefold() not in page] == []


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper["title"])
def test_a_table_that_a_row_names_is_looked_for(paper: dict[str, Any]) -> None:
    named = {part for _, here in paper["rows"] for part in here.split("*")[1::2]}
    assert named <= set(paper["finds"])
