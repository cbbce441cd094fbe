"""Answers of people to GenEval's questions about images, as rows of ratings.

A file comes in; a row for each rater's verdict goes out. How a verdict follows from answers GenEval's importer knows.
"""

from __future__ import annotations

from pathlib import Path

from salva import registry
from salva.core.exchange import Flaw, ImportSettings
from salva.core.protocols import Importer
from salva.core.run_spec import ComponentSpec
from salva.core.verdict import Outcome
from salva.review.cells import FileRow
from salva.review.columns import FAILED, ITEM, PEOPLE

ANNOTATIONS = {"Input.caption", "Input.image_url", "Answer.task-count-0"}
"""The columns that such a file is known by."""
_SAID = {Outcome.FAIL: "yes", Outcome.PASS: "no"}


def annotated_rows(path: Path, name: str) -> tuple[list[FileRow], list[Flaw]]:
    """Each rater's verdict as the column `failed`, and what of the file cannot be used."""
    importer: Importer = registry.bind(ComponentSpec(role="importer", name="geneval")).build()
    read_in = importer.read([path], ImportSettings(names=(name,)))
    tasks = {case.case_id: case.category for case in read_in.cases}
    rows = [
        {
            ITEM[0]: one.case_id,
            "repeat": str(one.repeat),
            "model": one.model,
            "task": tasks[one.case_id],
            PEOPLE: one.observers[0],
            FAILED: _SAID.get(one.outcome, "cannot tell"),
        }
        for one in read_in.verdicts
        if one.observers != read_in.deciding
    ]
    return [FileRow(name, f"verdict {number}", cells) for number, cells in enumerate(rows, 1)], [*read_in.problems]
