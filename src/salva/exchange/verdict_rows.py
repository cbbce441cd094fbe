"""A run's verdicts and results as rows for other programs: CSV, Parquet and data frames. A column is added here.

No cell of the CSV can be taken for a formula by a spreadsheet.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from salva.core.case import Case
from salva.core.exchange import ExportCount
from salva.core.options import NoOptions
from salva.core.result import Result
from salva.core.source import RunRecords, RunSource
from salva.core.table import Cell
from salva.core.verdict import CONTROL, Outcome, Verdict, observers_text
from salva.errors import MissingExtraError
from salva.files.outfiles import write_text, writing
from salva.files.tables import csv_text
from salva.run_results import results_of_run

COLUMNS = (
    *("case_id", "suite", "model", "repeat", "arm", "check", "observers"),
    *("outcome", "is_primary", "is_fail", "result", "failure_types", "reason"),
)
"""The columns of verdicts; prompts, images, labels and scores follow."""
RESULT_COLUMNS = (
    *("case_id", "suite", "model", "repeat", "category", "result", "is_fail"),
    *("check", "observers", "failure_types", "reason"),
)
"""The columns of results; prompts, images and labels follow."""
_INTEGERS = ("repeat", "is_primary", "is_fail")
_DECIDED = (Outcome.PASS, Outcome.FAIL)
_GROUPS = ("prompt.", "image.", "label.", "score.")
"""How the names of the columns begin that depend on the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRows:
    """A run as a table."""

    columns: tuple[str, ...]
    rows: list[list[Cell]]


class CsvRows:
    """A file: one row a verdict."""

    version: ClassVar[str] = "3"

    def __init__(self, options: NoOptions) -> None:
        """Nothing can be chosen."""

    def write(self, source: RunSource, out: Path) -> ExportCount:
        """OUT, one row a verdict."""
        table = verdict_rows(source.records)
        write_text(out, csv_text([table.columns, *table.rows]))
        return ExportCount(n=len(table.rows), what="verdicts")


class ResultRows:
    """A file: one row a result."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        """Nothing can be chosen."""

    def write(self, source: RunSource, out: Path) -> ExportCount:
        """OUT, one row a result."""
        table = result_rows(source.records)
        write_text(out, csv_text([table.columns, *table.rows]))
        return ExportCount(n=len(table.rows), what="results")


class ParquetRows:
    """A file: the same rows as csv, for data frames and query engines."""

    version: ClassVar[str] = "3"

    def __init__(self, options: NoOptions) -> None:
        """Nothing can be chosen."""

    def write(self, source: RunSource, out: Path) -> ExportCount:
        """OUT, one row a verdict."""
        if importlib.util.find_spec("pyarrow") is None:
            raise MissingExtraError("export --as parquet", "parquet")
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = verdict_rows(source.records)
        kinds = {int: pa.int64(), float: pa.float64(), str: pa.string()}
        columns = {
            name: pa.array([row[place] for row in table.rows], kinds[_kind_of(name)])
            for place, name in enumerate(table.columns)
        }
        with writing(out) as file:
            pq.write_table(pa.table(columns), file)
        return ExportCount(n=len(table.rows), what="verdicts")


def _kind_of(column: str) -> type[int] | type[float] | type[str]:
    if column in _INTEGERS:
        return int
    return float if column.startswith("score.") else str


def verdicts_csv(records: RunRecords) -> str:
    """The rows of verdicts as CSV, with their header."""
    table = verdict_rows(records)
    return csv_text([table.columns, *table.rows])


def verdict_rows(records: RunRecords) -> RunRows:
    """COLUMNS, then the prompts, images, labels and scores of the run.

    One row a verdict, and one for every result without a verdict, with `check` empty.
    """
    results = results_of_run(records)
    by_unit = {_unit(result.case.case_id, result.repeat, result.model): result for result in results}
    cases = {case.case_id: case for case in records.cases}
    judged = {_unit(v.case_id, v.repeat, v.model) for v in records.verdicts if v.arm != CONTROL}
    cells = [
        _verdict_cells(v, cases[v.case_id], by_unit.get(_unit(v.case_id, v.repeat, v.model))) for v in records.verdicts
    ]
    cells += [_result_cells(result) for unit, result in by_unit.items() if unit not in judged]
    return _table(COLUMNS, cells)


def result_rows(records: RunRecords) -> RunRows:
    """RESULT_COLUMNS, then the prompts, images and labels of the run; one row a result."""
    return _table(RESULT_COLUMNS, [_result_cells(result) for result in results_of_run(records)])


def _table(columns: tuple[str, ...], cells: Sequence[Mapping[str, Cell]]) -> RunRows:
    found = {name for row in cells for name in row}
    groups = ((name for name in sorted(found) if name.startswith(group)) for group in _GROUPS)
    names = (*columns, *(name for group in groups for name in group))
    return RunRows(columns=names, rows=[[row.get(name) for name in names] for row in cells])


def _verdict_cells(verdict: Verdict, case: Case, result: Result | None) -> dict[str, Cell]:
    """A verdict as cells by column; is_fail is None where nothing was decided, so that its mean is a rate."""
    is_pair = verdict.arm != CONTROL
    return {
        "case_id": verdict.case_id,
        "suite": case.suite,
        "model": verdict.model,
        "repeat": verdict.repeat,
        "arm": verdict.arm,
        "check": verdict.check,
        "observers": observers_text(verdict.observers),
        "outcome": str(verdict.outcome),
        "is_primary": int(is_pair and result is not None and result.verdict is verdict),
        "is_fail": int(verdict.outcome is Outcome.FAIL) if verdict.outcome in _DECIDED else None,
        "result": str(result.outcome) if is_pair and result is not None else "",
        "failure_types": ";".join(verdict.failure_types),
        "reason": verdict.reason,
        **dict(_case_cells(case, verdict.images)),
        **{f"score.{name}": value for name, value in verdict.scores.items()},
    }


def _result_cells(result: Result) -> dict[str, Cell]:
    """A result as cells by column."""
    case = result.case
    return {
        "case_id": case.case_id,
        "suite": case.suite,
        "model": result.model,
        "repeat": result.repeat,
        "category": case.category,
        "result": str(result.outcome),
        "is_fail": int(result.is_fail) if result.is_decided else None,
        "check": result.check if result.verdict is not None else "",
        "observers": observers_text(result.verdict.observers) if result.verdict is not None else "",
        "failure_types": ";".join(result.failure_types),
        "reason": result.reason,
        **dict(_case_cells(case, result.images)),
    }


def _case_cells(case: Case, images: Mapping[str, str]) -> Iterable[tuple[str, Cell]]:
    yield from ((f"prompt.{prompt.role}", prompt.text) for prompt in case.prompts)
    yield from ((f"image.{role}", image_id) for role, image_id in images.items())
    yield from ((f"label.{name}", value) for name, value in case.labels.items())


def _unit(case_id: str, repeat: int, model: str) -> tuple[str, int, str]:
    return case_id, repeat, model
