"""Prompts from a file of one's own: a line each, or the named columns and keys of CSV and JSON lines.

A path comes in, texts go out; a line without a prompt is named. Knows nothing of what the prompts are for.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from salva.errors import UsageError

NAMES = ("prompt", "caption", "text")
_PREFIXES = ("prompt_", "prompt.")
"""prompt_A and prompt_B of a file of pairs, prompt.a and prompt.b as `salva cases --format csv` prints them."""
_N_SHOWN = 20
_Found = Iterator[tuple[str, list[object]]]
"""Where a line stands, and what is in the places for prompts."""


def read_prompts(path: Path) -> list[str]:
    """Every prompt of a file, in its order."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error}") from error
    kind = path.suffix.lower()
    read = {".csv": _of_csv, ".jsonl": _of_json_lines}.get(kind, _of_lines)
    prompts: list[str] = []
    problems: list[str] = []
    try:
        for where, found in read(text):
            good = [one.strip() for one in found if isinstance(one, str) and one.strip()]
            prompts += good
            if not found or len(good) < len(found):
                problems.append(f"{where}: no prompt")
    except (ValueError, csv.Error) as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error}") from error
    if problems:
        shown = "".join(f"\n  {problem}" for problem in problems[:_N_SHOWN])
        left = f"\n  and {len(problems) - _N_SHOWN} more" if len(problems) > _N_SHOWN else ""
        raise UsageError(f"{str(path)!r} has {len(problems)} lines that cannot be used:{shown}{left}")
    if not prompts:
        raise UsageError(f"{str(path)!r} holds no prompt; write one a line")
    return prompts


def _of_lines(text: str) -> _Found:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"line {number}", [line]


def _of_csv(text: str) -> _Found:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    header = reader.fieldnames or ()
    columns = [name for name in header if _is_prompt(name)]
    if not columns:
        raise ValueError(
            f"it has no column {', '.join(NAMES)} or prompt_...; got {', '.join(header) or 'an empty file'}"
        )
    for row in reader:
        yield f"line {reader.line_num}", [row[name] for name in columns]


def _of_json_lines(text: str) -> _Found:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                entry = json.loads(line)
            except ValueError as error:
                raise ValueError(f"line {number} is no JSON: {error}") from error
            yield f"line {number}", _of_object(entry)


def _of_object(entry: object) -> list[object]:
    """The prompts of one line; `salva cases --format jsonl` prints them by role."""
    if not isinstance(entry, Mapping):
        return []
    by_role = entry.get("prompts")
    if isinstance(by_role, Mapping):
        return [*by_role.values()]
    return [value for name, value in entry.items() if _is_prompt(str(name))]


def _is_prompt(name: str) -> bool:
    return name.strip() in NAMES or name.strip().startswith(_PREFIXES)
