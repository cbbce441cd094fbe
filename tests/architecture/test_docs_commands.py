"""Every command in README and the docs that tests a foreign model says who looks at its pictures."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from salva import registry
from salva.core.about import about_of

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    *(ROOT / "docs" / "tutorial").glob("*.md"),
]


def commands(page: Path) -> Iterator[list[str]]:
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in re.findall(r"^(?:\S*/)?salva run .*$", text, flags=re.MULTILINE):
        yield shlex.split(line, comments=True)


def values(words: list[str], flag: str) -> list[str]:
    return [words[i + 1] for i, word in enumerate(words) if word == flag]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_command_for_a_foreign_model_names_who_looks(page: Path) -> None:
    at_home = {
        entry.name
        for entry in registry.entries("model")
        if about_of(registry.load("model", entry.name)).defaults.get("detector")
    }
    for words in commands(page):
        foreign = [model for model in values(words, "--model") if model.partition("/")[0] not in at_home]
        looking = values(words, "--detector") or (words[2] != "metalogic" and values(words, "--judge"))
        assert looking or not foreign, f"{page.name}: {shlex.join(words)}"


def test_there_are_such_commands() -> None:
    assert sum(1 for page in PAGES for words in commands(page) if values(words, "--detector")) > 10
