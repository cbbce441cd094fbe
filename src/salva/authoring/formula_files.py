"""Prompts and the formulas that were proposed for them, as a file of prompts: rows in, JSON lines out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from salva.core.fingerprint import Json
from salva.english.prompt_files import CHECK, FORMULA_BY, PromptRow
from salva.english.prompt_reading import read_prompt, read_prompts


def unread(rows: Sequence[PromptRow]) -> list[str]:
    """Every different prompt that has no formula and that the grammar cannot read, in their order."""
    return list(dict.fromkeys(text for row in rows for text in _without(row)))


def _without(row: PromptRow) -> list[str]:
    if len(row.texts) == 2:
        found = read_prompts(*row.texts, is_published=False).formulas
    else:
        found = tuple(read_prompt(text).formula for text in row.texts)  # type: ignore[assignment]  # one, or a group
    return [text for text, given, read in zip(row.texts, row.formulas, found, strict=True) if not (given or read)]


def proposed_in(rows: Sequence[PromptRow]) -> dict[str, str]:
    """Prompt to the formula that a text model proposed, of a file that was written here."""
    return {
        text: formula
        for row in rows
        if row.formula_by
        for text, formula in zip(row.texts, row.formulas, strict=True)
        if formula is not None
    }


def lines_with(rows: Sequence[PromptRow], accepted: Mapping[str, str], writer: str) -> str:
    """The rows as JSON lines, each with the formulas it had or got; whose they are stands beside them."""
    return "".join(json.dumps(entry_of(row, accepted, writer), ensure_ascii=False) + "\n" for row in rows)


def entry_of(row: PromptRow, accepted: Mapping[str, str], writer: str) -> dict[str, Json]:
    """One row as an object of a file of prompts."""
    names = [""] if len(row.texts) == 1 else [f"_{role}" for role in "abcdefgh"[: len(row.texts)]]
    entry: dict[str, Json] = {f"prompt{name}": text for name, text in zip(names, row.texts, strict=True)}
    formula_by = row.formula_by
    for name, text, given in zip(names, row.texts, row.formulas, strict=True):
        if not given and text in accepted:
            formula_by = writer
        if formula := given or accepted.get(text):
            entry[f"formula{name}"] = formula
    said = {CHECK: row.check, FORMULA_BY: formula_by}
    return entry | {name: value for name, value in said.items() if value} | dict(row.labels)
