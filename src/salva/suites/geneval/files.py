"""GenEval's metadata files: one object a line with tag, include, exclude and prompt; and files of rewritten prompts.

Whatever cannot be used is reported with its line, all of it at once. Knows nothing of results or images.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from salva.core.fingerprint import Json
from salva.errors import UsageError
from salva.files.tables import Row, read_json_lines, unusable
from salva.messages import message, text_of
from salva.suites.geneval.demands import demand_in, formula_of
from salva.suites.geneval.published import Demand

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
        raise UsageError(message("option-invalid", name="prompt", value=text, wanted="the text of the prompt"))
    demand = demand_in(metadata)
    return GenEvalPrompt(text=text, demand=demand, formula=formula_of(demand))


def with_rewritten(asked: Sequence[GenEvalPrompt], path: str) -> tuple[GenEvalPrompt, ...]:
    """The same prompts, those with their rewritten text that a file has one for."""
    asked_texts = {prompt.text for prompt in asked}
    texts: dict[str, str] = {}
    problems: list[str] = []
    for where, cells in _rows(path):
        prompt, new = cells.get("prompt"), cells.get("rewritten")
        if not isinstance(prompt, str) or not isinstance(new, str) or not new.strip():
            problems.append(f"{where}: needs the texts prompt and rewritten; has {sorted(cells)}")
        elif prompt not in asked_texts:
            problems.append(f"{where}: unknown prompt {prompt!r}")
        elif texts.setdefault(prompt, new) != new:
            problems.append(f"{where}: second text for {prompt!r}")
    if problems:
        raise unusable(path, problems, "lines")
    return tuple(replace(prompt, rewritten=texts.get(prompt.text, "")) for prompt in asked)


def _rows(path: str) -> list[Row[Json]]:
    """The objects of a file, or of the metadata files in a folder of images, folder by folder."""
    place = Path(path).expanduser()
    if not place.is_dir():
        return read_json_lines(place)
    files = [file for file in place.glob(f"*/{METADATA}") if file.parent.name.isdecimal()]
    if not files:
        raise UsageError(
            message(
                "suite-file-empty",
                path=path,
                what=f"folder 00000 with {METADATA}",
                wanted="the metadata file, or a folder in GenEval's layout",
            )
        )
    return [
        Row(f"{file.parent.name}, {row.where}", row.cells)
        for file in sorted(files, key=lambda file: int(file.parent.name))
        for row in read_json_lines(file)[:1]
    ]
