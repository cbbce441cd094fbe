"""GenEval's result lines: filename, tag, prompt, correct, reason, and metadata and details as JSON strings.

Lines come in as the published program writes them, or as we do with the rule with them; each becomes one record, or a
sentence that says what is wrong with it. Knows nothing of runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

import msgspec

from salva.core.fingerprint import Json
from salva.errors import UsageError
from salva.messages import message
from salva.suites.geneval.demands import metadata_of
from salva.suites.geneval.files import GenEvalPrompt, asked_in
from salva.suites.geneval.published import PUBLISHED, RULES, SeenBox

RESULTS = "results.jsonl"
SAMPLES = "samples"
_BoxRows = dict[str, list[tuple[float, float, float, float, float]]]
_N_SHOWN = 60
_TRUE, _FALSE = (True, 1, "true", "True"), (False, 0, "false", "False")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultLine:
    """What one line says."""

    filename: str
    asked: GenEvalPrompt
    is_right: bool
    reason: str
    boxes: tuple[SeenBox, ...] | None
    """Those above the threshold; None where the line has none that can be read."""
    rule: str = PUBLISHED
    seen_by: tuple[str, ...] = ()
    model: str = ""
    errors: tuple[str, ...] = ()
    """The error type of each line of the reason, where somebody says so."""


def picture_path(number: int, repeat: int) -> str:
    """Where an image of a prompt lies, as the published program wants it."""
    return f"{number:05}/{SAMPLES}/{repeat:04}.png"


def line_of(result: ResultLine) -> str:
    """The line that says it, keys in the published order."""
    metadata = metadata_of(result.asked.demand, result.asked.text)
    details: dict[str, list[list[float]]] = {}
    for box in result.boxes or ():
        details.setdefault(box.name, []).append([*box.box, box.score])
    said: dict[str, Json] = {
        "filename": result.filename,
        "tag": result.asked.demand.tag,
        "prompt": result.asked.text,
        "correct": result.is_right,
        "reason": result.reason,
        "metadata": json.dumps(metadata),
        "details": json.dumps(details),
        "rule": result.rule,
        "seen_by": list(result.seen_by),
        "model": result.model,
        "failure_types": list(result.errors),
    }
    return json.dumps(said, ensure_ascii=False)


def result_in(cells: Mapping[str, Json]) -> ResultLine:
    """What a line says; UsageError where it cannot be used."""
    correct = cells.get("correct")
    if correct not in (*_TRUE, *_FALSE):
        raise UsageError(message("option-invalid", name="correct", value=correct, wanted="true or false"))
    asked = asked_in(_metadata(cells))
    for name, expected in (("prompt", asked.text), ("tag", asked.demand.tag)):
        if cells.get(name) not in (None, expected):
            raise UsageError(
                message("option-invalid", name=name, value=cells[name], wanted=f"{expected!r}, its metadata")
            )
    rule = cells.get("rule", PUBLISHED)
    return ResultLine(
        filename=str(cells.get("filename") or ""),
        asked=asked,
        is_right=correct in _TRUE,
        reason=str(cells.get("reason") or ""),
        boxes=_boxes(cells.get("details")),
        rule=rule if isinstance(rule, str) and rule in (*RULES, "ours") else PUBLISHED,
        seen_by=_names(cells.get("seen_by")),
        model=str(cells.get("model") or ""),
        errors=_names(cells.get("failure_types")),
    )


def _names(said: Json) -> tuple[str, ...]:
    return tuple(str(name) for name in said if name) if isinstance(said, list) else ()


def _metadata(cells: Mapping[str, Json]) -> dict[str, Json]:
    stored = cells.get("metadata")
    try:
        read = json.loads(stored) if isinstance(stored, str) else stored
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        shown = repr(stored)[:_N_SHOWN]
        raise UsageError(message("option-invalid", name="metadata", value=shown, wanted="an object, or its JSON"))
    return read


def _boxes(stored: Json) -> tuple[SeenBox, ...] | None:
    """The boxes of the details, by class; None where they are not what they should be."""
    try:
        by_class = (
            msgspec.json.decode(stored, type=_BoxRows) if isinstance(stored, str) else msgspec.convert(stored, _BoxRows)
        )
    except (msgspec.MsgspecError, RecursionError):
        return None
    return tuple(
        SeenBox(name=name, score=score, box=(x0, y0, x1, y1))
        for name, rows in by_class.items()
        for x0, y0, x1, y1, score in rows
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPlace:
    """What a file name says: whose image, of which prompt, and which of its images."""

    model: str = ""
    number: int | None = None
    sample: int | None = None


def placed(filename: str) -> ResultPlace:
    """The parts of MODEL/00000/samples/0000.png; empty where a name is of another kind."""
    parts = PurePosixPath(filename.replace("\\", "/")).parts
    match parts[-4:]:
        case (*model, number, "samples", file) if number.isdecimal():
            digits = re.fullmatch(r"(\d+)\.\w+", file)
            return ResultPlace(
                model=model[0] if model and model[0] not in ("/", ".", "..") else "",
                number=int(number),
                sample=int(digits[1]) if digits else None,
            )
    return ResultPlace()
