"""Runs as data frames: results, verdicts, cases and images of one, and a line for each model of many."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from salva.core.case import Case
from salva.core.source import RunRecords
from salva.engine.actors import requests_of
from salva.exchange.verdict_rows import RunRows, result_rows, verdict_rows
from salva.report.run_list import RunLine
from salva.store.queries import open_source
from salva.store.records import StoredRender
from salva.store.sqlite import RunStore, open_run

if TYPE_CHECKING:
    import pandas as pd

_CASE = ("case_id", "suite", "category", "check", "equivalent", "determinate")
_IMAGE = (
    "case_id",
    "role",
    "prompt",
    "repeat",
    "seed",
    "model",
    "status",
    "error",
    "image_id",
    "width",
    "height",
    "path",
)
_RUN = ("run", "model", "suite", "size", "repeats", "seed", "cases", "failure_rate", "low", "high", "n", "trust")
_RESULTS = ("total", "pass", "fail", "undecided", "error", "refused")
_RUN_END = (*_RESULTS, "date", "state", "problem", "path")


def verdict_frame(records: RunRecords) -> pd.DataFrame:
    """One row a verdict, with the columns of `salva export --as csv`."""
    return _frame_of(verdict_rows(records)).astype({"is_fail": "boolean", "is_primary": "bool"})


def result_frame(records: RunRecords) -> pd.DataFrame:
    """One row a result, with the columns of `salva export --as results`."""
    return _frame_of(result_rows(records)).astype({"is_fail": "boolean"})


def _frame_of(table: RunRows) -> pd.DataFrame:
    return _frame([dict(zip(table.columns, row, strict=True)) for row in table.rows], table.columns)


def case_frame(cases: Iterable[Case]) -> pd.DataFrame:
    """One row a case: its prompts, formulas and labels, and what logic decided about them."""
    rows = [
        {
            **{name: getattr(case, name) for name in _CASE},
            **{f"prompt.{prompt.role}": prompt.text for prompt in case.prompts},
            **{f"formula.{prompt.role}": prompt.formula for prompt in case.prompts},
            **{f"label.{name}": value for name, value in case.labels.items()},
        }
        for case in cases
    ]
    return _frame(rows, _CASE).astype({"equivalent": "boolean", "determinate": "boolean"})


def image_frame(directory: Path) -> pd.DataFrame:
    """One row an image of a case, by each model that was asked for it; those that are missing say why."""
    with open_source(directory) as (records, _), open_run(directory) as store:
        rows = [] if records.asked.imported else list(_image_rows(records, store))
    return _frame(rows, _IMAGE).astype({"width": "Int64", "height": "Int64"})


def run_frame(lines: Iterable[RunLine]) -> pd.DataFrame:
    """One row a model of a run."""
    import pandas as pd

    rows = [
        {
            "run": line.directory.name,
            "cases": line.n_cases,
            **{name: getattr(line, name) for name in _RUN if name not in ("run", "cases")},
            **{name: line.results.get(name) for name in _RESULTS},
            **{name: getattr(line, name) for name in ("date", "state", "problem")},
            "path": str(line.directory),
        }
        for line in lines
    ]
    frame = _frame(rows, _RUN, _RUN_END)
    kinds = dict.fromkeys(("repeats", "seed", "cases", "n", *_RESULTS), "Int64")
    kinds |= dict.fromkeys(("failure_rate", "low", "high"), "float64")
    frame["date"] = pd.to_datetime(frame["date"], utc=True)
    return frame.astype(kinds)


def _image_rows(records: RunRecords, store: RunStore) -> Iterable[dict[str, Any]]:
    labels = {part.component_id: part for part in store.components() if part.role == "model"}
    renders: dict[tuple[str, str, str | None, int, int], StoredRender] = {
        (labels[render.component_id].label, render.text, render.formula, render.seed, render.repeat): render
        for _, render in store.renders()
        if render.component_id in labels
    }
    sizes = {image.image_id: image for image in store.images()}
    sees = {part.label: part.is_formula_seen for part in labels.values()}
    for case in records.cases:
        for request in requests_of(case, records.asked.repeats, records.asked.seed):
            for model in records.models:
                formula = request.prompt.formula if sees.get(model) else None
                render = renders.get((model, request.prompt.text, formula, request.seed, request.repeat))
                image = sizes.get(render.image_id or "") if render else None
                yield {
                    "case_id": case.case_id,
                    "role": request.prompt.role,
                    "prompt": request.prompt.text,
                    "repeat": request.repeat,
                    "seed": request.seed,
                    "model": model,
                    "status": render.status.value if render else "not generated",
                    "error": render.error if render else "",
                    "image_id": render.image_id if render else None,
                    "width": image.width if image else None,
                    "height": image.height if image else None,
                    "path": store.image_place(image.image_id) if image else None,
                }


def _frame(rows: list[dict[str, Any]], first: tuple[str, ...], last: tuple[str, ...] = ()) -> pd.DataFrame:
    """Rows as a frame whose known columns are always there, first and last; the others between them in order."""
    import pandas as pd

    between = dict.fromkeys(name for row in rows for name in row if name not in first and name not in last)
    return pd.DataFrame(rows, columns=[*first, *between, *last])
