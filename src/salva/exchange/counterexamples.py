"""A run's failed cases as folders of images, with an index for people and one for programs.

File names are made from ids, never from prompts, and no cell can be taken for a formula by a spreadsheet.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import ClassVar

from salva.component_facts import rates_of, suite_about, widened
from salva.core.case import Case
from salva.core.command import command_for
from salva.core.exchange import ExportCount
from salva.core.fingerprint import Json
from salva.core.judgements import CaseVerdict
from salva.core.observation import Detection
from salva.core.options import NoOptions
from salva.core.run_spec import RunSpec
from salva.core.source import ImageSource, RunSource
from salva.core.table import Cell
from salva.core.verdict import Outcome, Verdict, observers_text
from salva.errors import StoreError
from salva.files.outfiles import cannot_write, safe_name, write_bytes, write_text
from salva.files.tables import csv_text
from salva.messages import message
from salva.results.headline import leading_verdicts


class Counterexamples:
    """A folder: every failed case as images, with an index."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        """Nothing can be chosen."""

    def write(self, source: RunSource, out: Path) -> ExportCount:
        """OUT/<model>/<case id>-r<repeat>/<role>.png, OUT/index.jsonl and OUT/index.csv."""
        records = source.records
        rates = rates_of(verdict.check for verdict in records.verdicts)
        leads = suite_about(records.suite).leads
        leading = leading_verdicts(records.cases, records.verdicts, rates, records.asked.check, leads)
        failed = [judged for group in leading.values() for judged in group if judged.verdict.outcome is Outcome.FAIL]
        try:
            out.mkdir(parents=True, exist_ok=True)
            chosen = widened(records.asked)
            entries = [_write_pair(judged, chosen, source.images, out) for judged in failed]
        except OSError as error:
            raise cannot_write(out, error) from error
        write_text(out / "index.jsonl", "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries))
        write_text(out / "index.csv", csv_text(_index_rows(entries)))
        return ExportCount(n=len(entries), what="counterexamples")


def _box_json(box: Detection) -> Json:
    named: dict[str, Json] = {"label": box.label, "score": box.score, "box": list(box.box)}
    return {**named, "raw": box.raw} if box.raw else named


def _write_pair(one: CaseVerdict, chosen: RunSpec, images: ImageSource, out: Path) -> dict[str, Json]:
    case, verdict = one
    folder = Path(safe_name(verdict.model)) / f"{safe_name(case.case_id)}-r{verdict.repeat}"
    (out / folder).mkdir(parents=True, exist_ok=True)
    shots: dict[str, Json] = {}
    for prompt in case.prompts:
        image_id = verdict.images.get(prompt.role)
        file = ""
        seen: dict[str, Json] = {}
        if image_id is not None:
            file = (folder / f"{safe_name(prompt.role)}.png").as_posix()
            _save_png(images.file_bytes(image_id), out / file, image_id)
            observations = images.seen(image_id, verdict.observers)
            boxes = [_box_json(box) for box in observations.boxes]
            texts: list[Json] = [{"text": t.text, "score": t.score, "box": list(t.box)} for t in observations.texts]
            seen = {"boxes": boxes, "texts": texts}
        shots[prompt.role] = {
            "prompt": prompt.text,
            "formula": prompt.formula,
            "file": file,
            "image_id": image_id,
            **seen,
        }
    return _entry(case, verdict, chosen) | {"images": shots}


def _entry(case: Case, verdict: Verdict, chosen: RunSpec) -> dict[str, Json]:
    failures: list[Json] = [asdict(failure) for failure in verdict.failures]
    return {
        "case_id": case.case_id,
        "suite": case.suite,
        "model": verdict.model,
        "repeat": verdict.repeat,
        "seed": case.seed(chosen.seed, verdict.repeat),
        "check": verdict.check,
        "observers": observers_text(verdict.observers),
        "failure_types": list(verdict.failure_types),
        "failures": failures,
        "labels": dict(case.labels),
        "command": command_for(case, verdict.model, chosen),
    }


def _index_rows(entries: Sequence[dict[str, Json]]) -> Iterator[list[Cell]]:
    """One row an image, with its prompt."""
    fixed = ("case_id", "suite", "model", "repeat", "seed", "check")
    yield [*fixed, "failure_types", "role", "prompt", "formula", "file", "failures"]
    for entry in entries:
        shots = entry["images"]
        assert isinstance(shots, dict)
        for role, shot in shots.items():
            assert isinstance(shot, dict)
            messages = _messages(entry["failures"], role)
            values = [entry[name] for name in fixed] + [_joined(entry["failure_types"]), role]
            values += [shot["prompt"], shot["formula"], shot["file"], messages]
            yield [value if isinstance(value, str | int | float) else "" for value in values]


def _messages(failures: Json, role: str) -> str:
    listed = failures if isinstance(failures, list) else []
    own = [failure for failure in listed if isinstance(failure, dict) and failure["role"] in (role, "")]
    return "; ".join(str(failure["message"]) for failure in own)


def _joined(values: Json) -> str:
    return ";".join(str(value) for value in values) if isinstance(values, list) else ""


def _save_png(data: bytes, path: Path, image_id: str) -> None:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as image:
            image.convert("RGB").save(png := io.BytesIO(), "PNG")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise StoreError(message("image-damaged", path=image_id)) from error
    write_bytes(path, png.getvalue())
