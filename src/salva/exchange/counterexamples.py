"""A run's failed cases as folders of images, with an index for people and one for programs.

File names are made from ids, never from prompts, and no cell can be taken for a formula by a spreadsheet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

from salva.component_facts import rates_of, suite_about, widened
from salva.core.command import command_for
from salva.core.exchange import ExportCount
from salva.core.judgements import CaseVerdict
from salva.core.observation import Detection
from salva.core.options import NoOptions
from salva.core.run_spec import RunSpec
from salva.core.source import ImageSource, RunSource
from salva.core.table import Cell
from salva.core.verdict import Outcome, observers_text
from salva.files.outfiles import safe_name, write_bytes, write_text
from salva.files.tables import csv_text
from salva.imaging.files import png_of
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
        chosen = widened(records.asked)
        entries = [_write_pair(judged, chosen, source.images, out) for judged in failed]
        write_text(out / "index.jsonl", "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries))
        write_text(out / "index.csv", csv_text(_index_rows(entries)))
        return ExportCount(n=len(entries), what="counterexamples")


def _box_json(box: Detection) -> dict[str, Any]:
    named = {"label": box.label, "score": box.score, "box": box.box}
    return {**named, "raw": box.raw} if box.raw else named


def _write_pair(one: CaseVerdict, chosen: RunSpec, images: ImageSource, out: Path) -> dict[str, Any]:
    case, verdict = one
    folder = Path(safe_name(verdict.model)) / f"{safe_name(case.case_id)}-r{verdict.repeat}"
    shots: dict[str, Any] = {}
    for prompt in case.prompts:
        image_id = verdict.images.get(prompt.role)
        shot: dict[str, Any] = {"prompt": prompt.text, "formula": prompt.formula, "file": "", "image_id": image_id}
        if image_id is not None:
            shot["file"] = (folder / f"{safe_name(prompt.role)}.png").as_posix()
            write_bytes(out / shot["file"], png_of(images, image_id))
            seen = images.seen(image_id, verdict.observers)
            shot["boxes"] = [_box_json(box) for box in seen.boxes]
            shot["texts"] = [{"text": t.text, "score": t.score, "box": t.box} for t in seen.texts]
        shots[prompt.role] = shot
    return {
        "case_id": case.case_id,
        "suite": case.suite,
        "model": verdict.model,
        "repeat": verdict.repeat,
        "seed": case.seed(chosen.seed, verdict.repeat),
        "check": verdict.check,
        "observers": observers_text(verdict.observers),
        "failure_types": verdict.failure_types,
        "failures": [asdict(failure) for failure in verdict.failures],
        "labels": dict(case.labels),
        "command": command_for(case, verdict.model, chosen),
        "images": shots,
    }


def _index_rows(entries: Sequence[dict[str, Any]]) -> Iterator[list[Cell]]:
    """One row an image, with its prompt."""
    fixed = ("case_id", "suite", "model", "repeat", "seed", "check")
    yield [*fixed, "failure_types", "role", "prompt", "formula", "file", "failures"]
    for entry in entries:
        types = ";".join(entry["failure_types"])
        for role, shot in entry["images"].items():
            said = [failure["message"] for failure in entry["failures"] if failure["role"] in (role, "")]
            shown = (shot["prompt"], shot["formula"], shot["file"], "; ".join(said))
            yield [*(entry[name] for name in fixed), types, role, *shown]
