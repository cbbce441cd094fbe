"""What the site needs beyond docs/: the pages at the root of the repository, and the order of the navigation.

A hook of mkdocs (see mkdocs.yml). Pages are written with links that GitHub follows; here those that lead out of docs/
become links within the site or, where they lead to source files, the names of these files.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
ROOT_PAGES = {
    ROOT / "README.md": "index.md",
    ROOT / "CHANGELOG.md": "changelog.md",
    ROOT / "CONTRIBUTING.md": "contributing.md",
    ROOT / "SECURITY.md": "security.md",
}
ORDER = (
    "index.md",
    "tutorial",
    "how-to",
    "explanation",
    "reference",
    "glossary.md",
    "map.md",
    "benchmarks.md",
    "decisions",
    "changelog.md",
    "contributing.md",
    "security.md",
)
_LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Every page in the navigation, in the order of ORDER, a folder as a section."""
    nav: list[str | dict[str, list[str]]] = []
    for name in ORDER:
        if name.endswith(".md"):
            nav.append(name)
        else:
            nav.append({name.capitalize(): sorted(f"{name}/{path.name}" for path in (DOCS / name).glob("*.md"))})
    config.nav = nav
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages of the root."""
    for path, place in ROOT_PAGES.items():
        text = linked(path.read_text(encoding="utf-8"), written_in=ROOT, shown_in=DOCS)
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Links of a page of docs/; those of the root's pages are done."""
    if page.file.src_uri in ROOT_PAGES.values():
        return markdown
    folder = (DOCS / page.file.src_uri).parent
    return linked(markdown, written_in=folder, shown_in=folder)


def linked(markdown: str, *, written_in: Path, shown_in: Path) -> str:
    """The text with links as they lead in the site; a link to nowhere stays, for mkdocs to find."""

    def moved(link: re.Match[str]) -> str:
        words, target, anchor = link[1], (written_in / link[2]).resolve(), link[3] or ""
        if target in ROOT_PAGES:
            target = DOCS / ROOT_PAGES[target]
        elif not target.exists():
            return link[0]
        elif not target.is_relative_to(DOCS):
            name = target.relative_to(ROOT).as_posix()
            return words if name in words else f"{words} (`{name}`)"
        return f"[{words}]({os.path.relpath(target, shown_in)}{anchor})"

    return _LINK.sub(moved, markdown)
