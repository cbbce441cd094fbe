"""A run's failed cases as folders of images, with a slide each, an index for people and one for programs.

File names are made from ids, never from prompts, and no cell can be taken for a formula by a spreadsheet.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

from salva.component_facts import widened
from salva.core.command import command_for
from salva.core.exchange import ExportCount
from salva.core.observation import Detection
from salva.core.options import NoOptions
from salva.core.result import Result
from salva.core.run_spec import RunSpec
from salva.core.source import ImageSource, RunSource, Seen
from salva.core.table import Cell
from salva.core.verdict import observers_text
from salva.exchange.slides import Mark, Panel, slide
from salva.files.outfiles import safe_name, write_bytes, write_text
from salva.files.tables import csv_text
from salva.imaging.files import encode_picture, stored_picture
from salva.run_results import results_of_run

_COLUMNS = ("case_id", "suite", "model", "repeat", "seed", "category", "check", "observers", "failure_types")


class Counterexamples:
    """A folder: every failed case as images and a slide, with an index."""

    version: ClassVar[str] = "2"

    def __init__(self, options: NoOptions) -> None:
        """Nothing can be chosen."""

    def write(self, source: RunSource, out: Path) -> ExportCount:
        """OUT/<model>/<case id>-r<repeat>.png for slides, its images in a folder of that name, and OUT/index.*."""
        chosen = widened(source.records.asked)
        failed = [result for result in results_of_run(source.records) if result.is_fail]
        entries = [_write_case(result, chosen, source.images, out) for result in failed]
        write_text(out / "index.jsonl", "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries))
        write_text(out / "index.csv", csv_text(_index_rows(entries)))
        return ExportCount(n=len(entries), what="counterexamples")


def _write_case(result: Result, chosen: RunSpec, images: ImageSource, out: Path) -> dict[str, Any]:
    """The files of one failed case, and its entry in the index."""
    case = result.case
    folder = Path(safe_name(result.model)) / f"{safe_name(case.case_id)}-r{result.repeat}"
    observers = tuple(dict.fromkeys(name for verdict in result.evidence for name in verdict.observers))
    ids, panels, shots = result.images, list[Panel](), dict[str, Any]()
    for prompt in case.prompts:
        image_id = ids.get(prompt.role)
        shot: dict[str, Any] = {"prompt": prompt.text, "formula": prompt.formula, "file": "", "image_id": image_id}
        picture, seen = None, Seen()
        if image_id is not None:
            picture, seen = stored_picture(images, image_id), images.seen(image_id, observers)
            shot["file"] = (folder / f"{safe_name(prompt.role)}.png").as_posix()
            write_bytes(out / shot["file"], encode_picture(picture))
            shot["boxes"] = [_box_json(box) for box in seen.boxes]
            shot["texts"] = [{"text": t.text, "score": t.score, "box": t.box} for t in seen.texts]
        failures = [failure for failure in result.failures if failure.role == prompt.role]
        blamed = {failure.entity for failure in failures}
        messages = tuple(dict.fromkeys(failure.message for failure in failures))
        panels.append(Panel(picture=picture, prompt=prompt.text, marks=_marks(seen, blamed), failures=messages))
        shots[prompt.role] = shot
    slide_file = folder.with_name(f"{folder.name}.png").as_posix()
    write_bytes(out / slide_file, encode_picture(slide(panels, _caption(result))))
    return {
        "case_id": case.case_id,
        "suite": case.suite,
        "model": result.model,
        "repeat": result.repeat,
        "seed": case.seed(chosen.seed, result.repeat),
        "category": case.category,
        "check": result.check,
        "observers": observers_text(observers),
        "failure_types": result.failure_types,
        "failures": [asdict(failure) for failure in result.failures],
        "labels": dict(case.labels),
        "command": command_for(case, result.model, chosen),
        "slide": slide_file,
        "images": shots,
    }


def _box_json(box: Detection) -> dict[str, Any]:
    named = {"label": box.label, "score": box.score, "box": box.box}
    return {**named, "raw": box.raw} if box.raw else named


def _marks(seen: Seen, blamed: set[str]) -> tuple[Mark, ...]:
    texts = (Mark(box=text.box, name=f'"{text.text}"') for text in seen.texts)
    return (*(Mark(box=box.box, name=box.label, is_blamed=box.label in blamed) for box in seen.boxes), *texts)


def _caption(result: Result) -> str:
    """Whose images they are, and what only their comparison shows."""
    case = result.case
    shared = dict.fromkeys(failure.message for failure in result.failures if not failure.role)
    what = "; ".join(shared) or ", ".join(result.failure_types) or f"{result.check} failed"
    return f"{result.model}, {case.suite} {case.category}, {case.case_id}, repeat {result.repeat}: {what}"


def _index_rows(entries: Sequence[dict[str, Any]]) -> list[list[Cell]]:
    """One row a counterexample, with its labels, prompts and files."""
    labels = sorted({name for entry in entries for name in entry["labels"]})
    roles = list(dict.fromkeys(role for entry in entries for role in entry["images"]))
    more = (*(f"label.{name}" for name in labels), *(f"{what}.{role}" for what in ("prompt", "file") for role in roles))
    rows: list[list[Cell]] = [[*_COLUMNS, "failures", "slide", "command", *more]]
    for entry in entries:
        cells = entry | {"failure_types": ";".join(entry["failure_types"])}
        messages = "; ".join(failure["message"] for failure in entry["failures"])
        shots = entry["images"]
        shown = [shots.get(role, {}).get(what, "") for what in ("prompt", "file") for role in roles]
        marked = [entry["labels"].get(name, "") for name in labels]
        rows.append([*(cells[name] for name in _COLUMNS), messages, entry["slide"], entry["command"], *marked, *shown])
    return rows
