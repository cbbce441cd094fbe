"""GenEval's metadata files: one object a line with tag, include, exclude and prompt; and files of rewritten prompts.

Whatever cannot be used is told with its line, all of it at once. Knows nothing of results or images.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from salva.core.fingerprint import Json
from salva.core.quantity import quantity
from salva.errors import UsageError
from salva.files.tables import Row, read_json_lines, unusable
from salva.messages import message, text_of
from salva.suites.geneval.demands import demand_in, formula_of
from salva.suites.geneval.published import Demand

_REWRITTEN = ("rewritten", "rewritten_prompt", "refined_prompt", "long_prompt")
_N_SHOWN = 3
METADATA = "metadata.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class GenEvalPrompt:
    """One prompt and what it asks for."""

    text: str
    demand: Demand
    formula: str
    rewritten: str = ""
    """The same said otherwise, where somebody rewrote it."""


def read_metadata(path: str) -> tuple[GenEvalPrompt, ...]:
    """The prompts of a metadata file, in its order."""
    asked: list[GenEvalPrompt] = []
    problems: list[str] = []
    for where, cells in _rows(path):
        try:
            asked.append(asked_in(cells))
        except UsageError as error:
            problems.append(f"{where}: {text_of(error)}")
    if problems:
        raise unusable(path, problems, "lines")
    if not asked:
        raise UsageError(
            message(
                "suite-file-empty",
                path=path,
                what="prompts",
                wanted="JSON lines with tag, include and prompt",
            )
        )
    return tuple(asked)


def asked_in(metadata: dict[str, Json]) -> GenEvalPrompt:
    """The prompt of one metadata object; UsageError says what is wrong with it."""
    text = metadata.get("prompt")
    if not isinstance(text, str) or not text.strip():
        raise UsageError(message("field-invalid", name="prompt", value=text, wanted="the text of the prompt"))
    demand = demand_in(metadata)
    return GenEvalPrompt(text=text, demand=demand, formula=formula_of(demand))


def with_rewritten(asked: Sequence[GenEvalPrompt], path: str) -> tuple[GenEvalPrompt, ...]:
    """The same prompts, those with their rewritten text that a file has one for.

    The file names each prompt beside its new text, or is the metadata once more, line by line, with other prompts.
    """
    rows = _rows(path)
    if any(name in cells for _, cells in rows for name in _REWRITTEN):
        return _by_prompt(asked, rows, path)
    return _line_by_line(asked, path)


def _by_prompt(asked: Sequence[GenEvalPrompt], rows: Sequence[Row[Json]], path: str) -> tuple[GenEvalPrompt, ...]:
    asked_texts = {prompt.text for prompt in asked}
    texts: dict[str, str] = {}
    problems: list[str] = []
    for where, cells in rows:
        prompt = cells.get("prompt")
        new = next((cells[name] for name in _REWRITTEN if name in cells), None)
        if not isinstance(prompt, str) or not isinstance(new, str) or not new.strip():
            problems.append(f"{where}: needs the texts prompt and {_REWRITTEN[0]}; has {sorted(cells)}")
        elif prompt not in asked_texts:
            problems.append(f"{where}: unknown prompt {prompt!r}")
        elif texts.setdefault(prompt, new) != new:
            problems.append(f"{where}: second text for {prompt!r}")
    if problems:
        raise unusable(path, problems, "lines")
    return tuple(replace(prompt, rewritten=texts.get(prompt.text, "")) for prompt in asked)


def _line_by_line(asked: Sequence[GenEvalPrompt], path: str) -> tuple[GenEvalPrompt, ...]:
    others = read_metadata(path)
    if len(others) != len(asked):
        raise UsageError(
            message(
                "rewritten-mismatch",
                path=path,
                why=f"it has {quantity(len(others), 'lines')} for {quantity(len(asked), 'prompts')}",
            )
        )
    unlike = [i for i, (one, other) in enumerate(zip(asked, others, strict=True), 1) if one.demand != other.demand]
    if unlike:
        lines = ", ".join(map(str, unlike[:_N_SHOWN]))
        raise UsageError(
            message(
                "rewritten-mismatch",
                path=path,
                why=f"{quantity(len(unlike), 'lines')} have other clauses (first: {lines})",
            )
        )
    return tuple(replace(one, rewritten=other.text) for one, other in zip(asked, others, strict=True))


def _rows(path: str) -> list[Row[Json]]:
    """The objects of a file, or of the metadata files in a folder of images, folder by folder."""
    place = Path(path).expanduser()
    if not place.is_dir():
        return read_json_lines(place)
    folders = sorted(
        (folder for folder in place.iterdir() if folder.name.isdecimal()), key=lambda folder: int(folder.name)
    )
    files = [folder / METADATA for folder in folders if (folder / METADATA).is_file()]
    if not files:
        raise UsageError(
            message(
                "suite-file-empty",
                path=path,
                what=f"folder 00000 with {METADATA}",
                wanted="the metadata file, or a folder in GenEval's layout",
            )
        )
    return [Row(f"{file.parent.name}, {row.where}", row.cells) for file in files for row in read_json_lines(file)[:1]]
