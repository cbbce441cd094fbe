"""A run's verdicts and counterexamples as files for other programs.

Reads the store, writes CSV, JSON lines and PNG. File names are made from ids, never from
prompts, and no cell can be taken for a formula by a spreadsheet.
"""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO

from salva.core.case import Case
from salva.core.cells import safe_cell
from salva.core.fingerprint import Json, derive_seed
from salva.core.judged import Judged
from salva.core.observation import Detection
from salva.core.source import ImageSource, RunRecords
from salva.core.table import Cell
from salva.core.verdict import Outcome, Verdict
from salva.engine.command import command_for
from salva.errors import MissingExtraError, StoreError
from salva.files.outfiles import cannot_write, write_bytes, write_text
from salva.judging.headline import leading_verdicts
from salva.registry import rates_of
from salva.store.queries import open_source, read_records

_FIXED = ("case_id", "suite", "model", "repeat", "arm", "relation", "outcome", "errors")


def csv_text(directory: Path) -> str:
    """The CSV of a run as text."""
    buffer = io.StringIO(newline="")
    write_rows(buffer, read_records(directory))
    return buffer.getvalue()


def write_csv(directory: Path, out: Path) -> int:
    """Write one row a verdict; says how many."""
    records = read_records(directory)
    buffer = io.StringIO(newline="")
    n_rows = write_rows(buffer, records)
    write_text(out, buffer.getvalue())
    return n_rows


def write_rows(file: IO[str], records: RunRecords) -> int:
    """The contract's columns, then every label and every score that occurs."""
    columns, rows = verdict_rows(records)
    writer = csv.writer(file)
    writer.writerow([safe_cell(column) for column in columns])
    writer.writerows([safe_cell(cell) for cell in row] for row in rows)
    return len(rows)


def write_parquet(directory: Path, out: Path) -> int:
    """The same rows as Parquet; says how many."""
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("export --as parquet", "parquet")
    import pandas as pd

    columns, rows = verdict_rows(read_records(directory))
    write_bytes(out, pd.DataFrame(rows, columns=columns).to_parquet(index=False))
    return len(rows)


def verdict_rows(records: RunRecords) -> tuple[list[str], list[list[Cell]]]:
    """Columns and rows, one a verdict; with a last column of observers where these tell two rows apart."""
    cases = {case.case_id: case for case in records.cases}
    labels = sorted({name for case in records.cases for name in case.labels})
    scores = sorted({name for verdict in records.verdicts for name in verdict.scores})
    units = {(one.case_id, one.model, one.repeat, one.arm, one.relation) for one in records.verdicts}
    has_observers = len(units) < len(records.verdicts)
    rows = []
    for verdict in records.verdicts:
        case = cases.get(verdict.case_id)
        given = case.labels if case else {}
        row: list[Cell] = [verdict.case_id, case.suite if case else "", verdict.model, verdict.repeat, verdict.arm]
        row += [verdict.relation, str(verdict.outcome), ";".join(verdict.errors)]
        row += [given.get(name) for name in labels] + [verdict.scores.get(name) for name in scores]
        rows.append([*row, verdict.observers] if has_observers else row)
    columns = [*_FIXED, *(f"label.{name}" for name in labels), *(f"score.{name}" for name in scores)]
    return [*columns, "observers"] if has_observers else columns, rows


def write_counterexamples(directory: Path, out: Path) -> int:
    """Every violated pair as a folder of pictures, with an index; says how many.

    OUT/<model>/<case id>-r<repeat>/<role>.png, OUT/index.jsonl and OUT/index.csv.
    """
    with open_source(directory) as (records, images):
        return export_counterexamples(records, images, out)


def export_counterexamples(records: RunRecords, images: ImageSource, out: Path) -> int:
    """The same from records and pictures."""
    rates = rates_of(verdict.relation for verdict in records.verdicts)
    leading = leading_verdicts(records.cases, records.verdicts, rates, str(records.asked.get("headline") or ""))
    violated = [one for group in leading.values() for one in group if one.verdict.outcome is Outcome.VIOLATED]
    try:
        out.mkdir(parents=True, exist_ok=True)
        entries = [_write_pair(one, records, images, out) for one in violated]
    except OSError as error:
        raise cannot_write(out, error) from error
    write_text(out / "index.jsonl", "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries))
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    rows = list(_index_rows(entries))
    writer.writerows([[safe_cell(cell) for cell in row] for row in rows])
    write_text(out / "index.csv", buffer.getvalue())
    return len(entries)


def safe_name(text: str) -> str:
    """A file name for any text: plain letters stay, anything else is replaced and told apart by a hash."""
    plain = re.sub(r"[^a-z0-9-]+", "-", text.lower()).strip("-")[:80]
    if plain and plain == text:
        return plain
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain}-{digest}" if plain else digest


def _box_json(box: Detection) -> Json:
    named: dict[str, Json] = {"label": box.label, "score": box.score, "box": list(box.box)}
    return {**named, "raw": box.raw} if box.raw else named


def _write_pair(one: Judged, records: RunRecords, images: ImageSource, out: Path) -> dict[str, Json]:
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
            found = images.seen(image_id, verdict.observers)
            boxes = [_box_json(box) for box in found.boxes]
            texts: list[Json] = [{"text": t.text, "score": t.score, "box": list(t.box)} for t in found.texts]
            seen = {"boxes": boxes, "texts": texts}
        shots[prompt.role] = {
            "prompt": prompt.text,
            "formula": prompt.formula,
            "file": file,
            "image_id": image_id,
            **seen,
        }
    return _entry(case, verdict, records.asked) | {"images": shots}


def _entry(case: Case, verdict: Verdict, asked: Mapping[str, Json]) -> dict[str, Json]:
    seed = asked.get("seed")
    failures: list[Json] = [asdict(failure) for failure in verdict.failures]
    return {
        "case_id": case.case_id,
        "suite": case.suite,
        "model": verdict.model,
        "repeat": verdict.repeat,
        "seed": derive_seed(seed if isinstance(seed, int) else 0, case.case_id, verdict.repeat),
        "relation": verdict.relation,
        "observers": verdict.observers,
        "errors": list(verdict.errors),
        "failures": failures,
        "labels": dict(case.labels),
        "command": command_for(case, verdict.model, asked),
    }


def _index_rows(entries: Sequence[dict[str, Json]]) -> Iterator[list[Cell]]:
    """One row a picture, so that a prompt stands beside its file."""
    fixed = ("case_id", "suite", "model", "repeat", "seed", "relation")
    yield [*fixed, "errors", "role", "prompt", "formula", "file", "failures"]
    for entry in entries:
        shots = entry["images"]
        assert isinstance(shots, dict)
        for role, shot in shots.items():
            assert isinstance(shot, dict)
            messages = _messages(entry["failures"], role)
            values = [entry[name] for name in fixed] + [_joined(entry["errors"]), role]
            values += [shot["prompt"], shot["formula"], shot["file"], messages]
            yield [value if isinstance(value, str | int | float) else "" for value in values]


def _messages(failures: Json, role: str) -> str:
    listed = failures if isinstance(failures, list) else []
    own = [one for one in listed if isinstance(one, dict) and one["role"] in (role, "")]
    return "; ".join(str(one["message"]) for one in own)


def _joined(values: Json) -> str:
    return ";".join(str(value) for value in values) if isinstance(values, list) else ""


def _save_png(data: bytes, path: Path, image_id: str) -> None:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            image.convert("RGB").save(path, "PNG")
    except UnidentifiedImageError as error:
        raise StoreError(f"the file of image {image_id!r} is damaged; `salva verify` lists what is") from error
