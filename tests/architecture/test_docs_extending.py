"""The page on laws, followed on a copy of the package: what it adds is listed, applied and tested."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest
from architecture.doc_pages import DOCS, ROOT, blocks, commands
from architecture.doc_reader import Reader

LAWS = Path("src/salva/logic/laws.py")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package and its tests: links to the files as they are, but for the one that the page changes."""
    for room in ("src", "tests", "pyproject.toml"):
        subprocess.run(["cp", "-rs", str(ROOT / room), str(tmp_path)], check=True)
    (tmp_path / LAWS).unlink()
    return tmp_path


def test_a_law_is_one_entry(copy: Path) -> None:
    entry, commanded, *_ = blocks(DOCS / "how-to" / "add-a-law.md")
    before = (ROOT / LAWS).read_text(encoding="utf-8")
    head, end, tail = before.partition("\n)\n")
    added = indent(entry.text.rstrip(), 4 * " ")
    (copy / LAWS).write_text(f"{head}\n{added},{end}{tail}", encoding="utf-8")
    assert "LAWS = (" in head
    assert "LAWS = (" not in tail
    reader = Reader(copy)
    salva = f'export PYTHONPATH=src; salva() {{ {sys.executable} -m salva "$@"; }}; '
    listed, rewritten, tested = [reader.bash(salva + command) for command in commands(commanded)]
    assert "consensus" in listed
    assert "cat & dog | !cat & apple" in " ".join(rewritten.split())
    assert " passed" in tested
