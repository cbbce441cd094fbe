"""Prompts from a file of one's own: a line each, or the named columns and keys of CSV and JSON lines.

A path comes in, texts go out; a line without a prompt is named. Knows nothing of what the prompts are for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from salva.errors import UsageError
from salva.files.infiles import file_text
from salva.files.tables import read_json_lines, read_sheet, unusable

NAMES = ("prompt", "caption", "text")
_PREFIXES = ("prompt_", "prompt.")
"""prompt_A and prompt_B of a file of pairs, prompt.a and prompt.b as `salva cases --format csv` prints them."""
_Places = Iterator[tuple[str, list[object]]]
"""Where a line stands, and what is in the places for prompts."""


def read_prompts(path: Path) -> list[str]:
    """Every prompt of a file, in its order."""
    read = {".csv": _of_table, ".tsv": _of_table, ".jsonl": _of_json_lines}.get(path.suffix.lower(), _of_lines)
    prompts: list[str] = []
    problems: list[str] = []
    for where, values in read(path):
        texts = [value.strip() for value in values if isinstance(value, str) and value.strip()]
        prompts += texts
        if not values or len(texts) < len(values):
            problems.append(f"{where}: no prompt")
    if problems:
        raise unusable(str(path), problems, "lines")
    if not prompts:
        raise UsageError(f"{str(path)!r} holds no prompt; write one a line")
    return prompts


def _of_lines(path: Path) -> _Places:
    for number, line in enumerate(file_text(path).split("\n"), 1):
        if line.strip():
            yield f"line {number}", [line]


def _of_table(path: Path) -> _Places:
    sheet = read_sheet(path)
    columns = [name for name in sheet.columns if _is_prompt(name)]
    if not columns:
        header = ", ".join(sheet.columns) or "an empty file"
        raise UsageError(
            f"{str(path)!r} cannot be read: it has no column {', '.join(NAMES)} or prompt_...; got {header}"
        )
    for where, row in sheet.rows:
        yield where, [row[name] for name in columns]


def _of_json_lines(path: Path) -> _Places:
    for where, fields in read_json_lines(path):
        yield where, _of_object(fields)


def _of_object(entry: Mapping[str, object]) -> list[object]:
    """The prompts of one line; `salva cases --format jsonl` prints them by role."""
    by_role = entry.get("prompts")
    if isinstance(by_role, Mapping):
        return [*by_role.values()]
    return [value for name, value in entry.items() if _is_prompt(str(name))]


def _is_prompt(name: str) -> bool:
    return name.strip() in NAMES or name.strip().startswith(_PREFIXES)
