"""A run's verdicts as rows for other programs: CSV, Parquet and data frames. A column is added here.

No cell of the CSV can be taken for a formula by a spreadsheet.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from salva.component_facts import rates_of, suite_about
from salva.core.case import Case
from salva.core.exchange import ExportCount
from salva.core.judgements import RunCheck
from salva.core.options import NoOptions
from salva.core.source import RunRecords, RunSource
from salva.core.table import Cell
from salva.core.verdict import PAIR, Outcome, Verdict, observers_text
from salva.errors import MissingExtraError
from salva.files.outfiles import write_text, writing
from salva.files.tables import csv_text
from salva.results.headline import by_model, leading_verdicts, parted, whole_names

COLUMNS = (
    *("case_id", "suite", "model", "repeat", "arm", "check", "observers"),
    *("outcome", "is_primary", "is_fail", "failure_types", "reason"),
)
"""The columns of every run; prompts, images, labels and scores follow."""
_INTEGERS = ("repeat", "is_primary", "is_fail")
_DECIDED = (Outcome.PASS, Outcome.FAIL)
_GROUPS = ("prompt.", "image.", "label.", "score.")
"""How the names of the columns begin that depend on the run."""


def verdict_cells(verdict: Verdict, case: Case | None, is_primary: bool) -> dict[str, Cell]:
    """A verdict as cells by column; is_fail is None where nothing was decided, so that its mean is the rate."""
    return {
        "case_id": verdict.case_id,
        "suite": case.suite if case else "",
        "model": verdict.model,
        "repeat": verdict.repeat,
        "arm": verdict.arm,
        "check": verdict.check,
        "observers": observers_text(verdict.observers),
        "outcome": str(verdict.outcome),
        "is_primary": int(is_primary),
        "is_fail": int(verdict.outcome is Outcome.FAIL) if verdict.outcome in _DECIDED else None,
        "failure_types": ";".join(verdict.failure_types),
        "reason": verdict.reason,
        **{f"prompt.{prompt.role}": prompt.text for prompt in (case.prompts if case else ())},
        **{f"image.{role}": image_id for role, image_id in verdict.images.items()},
        **{f"label.{name}": value for name, value in (case.labels if case else {}).items()},
        **{f"score.{name}": value for name, value in verdict.scores.items()},
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRows:
    """The verdicts of a run as a table."""

    columns: tuple[str, ...]
    rows: list[list[Cell]]


class CsvRows:
    """A file: one row a verdict."""

    version: ClassVar[str] = "2"

    def __init__(self, options: NoOptions) -> None:
        """Nothing can be chosen."""

    def write(self, source: RunSource, out: Path) -> ExportCount:
        """OUT, one row a verdict."""
        write_text(out, verdicts_csv(source.records))
        return ExportCount(n=len(source.records.verdicts), what="verdicts")


class ParquetRows:
    """A file: the same rows as csv, for data frames and query engines."""

    version: ClassVar[str] = "2"

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
    """The rows as CSV, with their header."""
    table = verdict_rows(records)
    return csv_text([table.columns, *table.rows])


def verdict_rows(records: RunRecords) -> VerdictRows:
    """COLUMNS, then the prompts, images, labels and scores that occur in the run; one row a verdict."""
    cases = {case.case_id: case for case in records.cases}
    is_primary = speaking(records)
    cells = [verdict_cells(verdict, cases.get(verdict.case_id), is_primary(verdict)) for verdict in records.verdicts]
    found = {name for row in cells for name in row}
    groups = ((name for name in sorted(found) if name.startswith(group)) for group in _GROUPS)
    columns = (*COLUMNS, *(name for group in groups for name in group))
    return VerdictRows(columns=columns, rows=[[row.get(name) for name in columns] for row in cells])


def speaking(records: RunRecords) -> Callable[[Verdict], bool]:
    """Whether a verdict is one of those that the headline counts."""
    rates, chosen = rates_of(verdict.check for verdict in records.verdicts), records.asked.check
    about = suite_about(records.suite)
    led = leading_verdicts(records.cases, records.verdicts, rates, chosen, about.leads)
    judged_by = {check.name: RunCheck(options=check.options) for check in records.asked.checks}
    observers = {
        _unit(judged.verdict): judged.verdict.observers
        for group in led.values()
        for judged in parted(group, judged_by, chosen, about.apart)[0]
    }
    # Observers at work on different cases go by their fullest name, each model's by themselves.
    names = {model: whole_names(records.cases, group) for model, group in by_model(records.verdicts).items()}

    def speaks(verdict: Verdict) -> bool:
        leading = observers.get(_unit(verdict)) if verdict.arm == PAIR else None
        return leading is not None and names[verdict.model][verdict.check, verdict.observers] == leading

    return speaks


def _unit(verdict: Verdict) -> tuple[str, int, str, str]:
    return verdict.case_id, verdict.repeat, verdict.model, verdict.check
