"""The documentation as text: short pages, and files that are what a page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from architecture.doc_pages import DOCS, HOW_TO, LANGUAGES, PAGES, ROOT, blocks


def words(page: Path) -> int:
    return len(page.read_text(encoding="utf-8").split())


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_a_how_to_page_is_read_in_three_minutes(page: Path) -> None:
    assert words(page) <= 600
    assert "**Goal:**" in page.read_text(encoding="utf-8") or page.stem == "install"


def test_the_readme_the_glossary_and_the_map_are_short() -> None:
    glossary = DOCS / "glossary.md"
    assert words(ROOT / "README.md") <= 650
    assert len(re.findall(r"^\| ", glossary.read_text(encoding="utf-8"), flags=re.MULTILINE)) - 1 <= 25
    assert words(DOCS / "map.md") <= 3_000
    assert sum(map(words, [*PAGES, glossary])) <= 17_400


def test_explanations_decisions_and_benchmarks_are_short() -> None:
    explanations = {page.stem: words(page) for page in (DOCS / "explanation").glob("*.md")}
    assert [page for page, n_words in explanations.items() if n_words > 1_200] == []
    assert sum(explanations.values()) <= 15_100
    assert words(DOCS / "benchmarks.md") <= 2_500
    assert sum(map(words, (DOCS / "decisions").glob("*.md"))) <= 5_500


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_block_says_what_it_is(page: Path) -> None:
    assert {block.language for block in blocks(page)} <= set(LANGUAGES)


def test_the_page_on_releases_shows_the_file() -> None:
    shown = next(block for block in blocks(DOCS / "how-to" / "check-a-release.md") if block.language == "toml")
    _, _, content = (DOCS / "how-to" / "release-check.toml").read_text(encoding="utf-8").partition("\n")
    assert shown.text == content


def test_an_entry_of_the_changelog_is_one_short_line() -> None:
    fragments = [path for path in (ROOT / "changelog.d").glob("*.md") if path.name != "README.md"]
    latest = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    entries = [line.removeprefix("- ") for line in latest.splitlines() if line.startswith("- ")]
    assert len(entries) <= 60
    for entry in [*entries, *(path.read_text(encoding="utf-8").strip() for path in fragments)]:
        assert len(entry.split()) <= 20
        assert "\n" not in entry
