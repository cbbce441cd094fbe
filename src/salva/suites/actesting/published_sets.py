"""Writes the published sets.

A JSON list a set (image_id, caption, classes, triples, and what its operator changed), images as
<model>/<set>/<image_id>_<repeat>.png. What is written here `suite.path` and `folder/` read again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar

from salva.core.about import About
from salva.core.case import Case
from salva.core.exchange import ExportCount
from salva.core.fingerprint import Json
from salva.core.mutation import Mutation, Pool
from salva.core.options import WithoutOptions
from salva.core.source import ImageSource, RunSource
from salva.core.table import Cell
from salva.core.verdict import PAIR, Verdict
from salva.files.outfiles import unique_name, write_bytes, write_text
from salva.imaging.files import png_of
from salva.suites.actesting.files import SEEDS, SETS
from salva.suites.actesting.observing import mutation_of


def mutant_rows(cases: Iterable[Case]) -> Iterator[list[Cell]]:
    """The changed captions as a file of prompts, for `salva write paraphrases`; prompts with them are none."""
    cases = list(cases)
    mutants = [case for case in cases if case.mutation is not None] or cases
    yield ["prompt", "image_id", "operator"]
    for case in mutants:
        yield [case.prompts[1].text, case.labels.get("image", case.cluster), mutation_of(case).operator]


class PublishedSets(WithoutOptions):
    """A folder: the sets of captions and the images of each, as the published program keeps them."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(case_rows=mutant_rows)

    def write(self, source: RunSource, out: Path) -> ExportCount:
        """OUT/<set>.json and OUT/<model>/<set>/<image_id>_<repeat>.png."""
        records = source.records
        for name, entries in sets_of(records.cases).items():
            write_text(out / f"{name}.json", json.dumps(entries, ensure_ascii=False, indent=1) + "\n")
        by_id = {case.case_id: case for case in records.cases}
        written: set[Path] = set()
        for verdict in records.verdicts:
            if verdict.arm == PAIR:
                _write_pictures(source.images, by_id[verdict.case_id], verdict, out, written)
        return ExportCount(n=len(records.cases), what="pairs")


def sets_of(cases: Iterable[Case]) -> dict[str, list[Json]]:
    """The entries of each set, by its name; one seed serves every set."""
    sets: dict[str, list[Json]] = {SEEDS: []}
    seen: set[str] = set()
    for case in cases:
        mutation = mutation_of(case)
        image, (a, b) = _image(case), case.prompts
        if case.cluster not in seen:
            seen.add(case.cluster)
            sets[SEEDS].append(_entry(image, a.text, mutation.seed))
        entry = {**_entry(image, b.text, mutation.mutant), **_changes(mutation)}
        sets.setdefault(SETS[mutation.operator], []).append(entry)
    return sets


def _entry(image: Json, caption: str, pool: Pool) -> dict[str, Json]:
    triples: list[Json] = [[t.subject, t.predicate, t.object] for t in pool.triples]
    return {"image_id": image, "caption": caption, "classes": list(pool.entities), "triples": triples}


def _changes(mutation: Mutation) -> dict[str, Json]:
    """What the published program asks of an entry: what was exchanged, taken out and put in."""
    changes: dict[str, Json] = {}
    operators = mutation.operator.split("+")
    gone, new = mutation.removed_entities, mutation.added_entities
    if "ec" in operators and gone and new:
        changes["EC"] = [gone[0], new[0]]
    if "er-r" in operators:
        changes["re_class"] = gone[-1] if gone else ""
        changes["re_triple"] = [[t.subject, t.predicate, t.object] for t in mutation.removed_triples]
    if "er-a" in operators:
        changes["new_class"] = new[-1] if new else ""
        changes["new_re"] = mutation.added_triples[-1].predicate if mutation.added_triples else ""
    return changes


def _image(case: Case) -> Json:
    image = case.labels.get("image", case.cluster)
    return int(image) if image.isascii() and image.isdigit() else image


def _write_pictures(images: ImageSource, case: Case, verdict: Verdict, out: Path, written: set[Path]) -> None:
    for role, name in (("a", SEEDS), ("b", SETS[mutation_of(case).operator])):
        image_id = verdict.images.get(role)
        path = Path(_safe(verdict.model)) / name / f"{_safe(str(_image(case)))}_{verdict.repeat}.png"
        if image_id is not None and path not in written:
            write_bytes(out / path, png_of(images, image_id))
            written.add(path)


def _safe(name: str) -> str:
    """A file name for any name; numbers stay as they are."""
    return unique_name(re.sub(r"[^A-Za-z0-9_.+-]+", "_", name).strip("."), name)
