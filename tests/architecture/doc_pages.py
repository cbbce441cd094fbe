"""Pages of the documentation as tests read them: fenced blocks, the files they name, the commands in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
HOW_TO = sorted((DOCS / "how-to").glob("*.md"))
PAGES = [ROOT / "README.md", *sorted((DOCS / "tutorial").glob("*.md")), *HOW_TO]

LANGUAGES = {
    "sh": "commands that a test executes",
    "bash": "commands that need a cluster, another program or published data: a test plans the runs in it",
    "python": "executed, or saved where the text says so",
    "toml": "a file",
    "text": "output or input",
    "json": "output or input",
}
_BLOCK = re.compile(r"^```([\w-]*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
_SAVE = re.compile(r"[Ss]ave (?:this|it|them) as `([^`]+)`[^`]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block of a page."""

    language: str
    text: str
    file: str
    """The file that the sentence before it asks to save it as; empty for none."""


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        named = _SAVE.search(text[: found.start()].rstrip().rpartition("\n\n")[2])
        yield Block(language=found[1], text=found[2], file=named[1] if named else "")


def commands(block: Block) -> Iterator[str]:
    """The commands of a shell block, continued lines joined, comments left out."""
    for line in block.text.replace("\\\n", " ").splitlines():
        if shlex.split(line, comments=True):
            yield line


def salva_words(command: str) -> list[str]:
    """The arguments of a salva command; none of another one."""
    words = shlex.split(command, comments=True)
    return words[1:] if words[0].rpartition("/")[2] == "salva" else []


def values(words: list[str], flag: str) -> list[str]:
    """What a command gives for a repeatable flag."""
    return [words[i + 1] for i, word in enumerate(words) if word == flag]
