"""A run's verdicts as rows for other programs: CSV and Parquet.

No cell of the CSV can be taken for a formula by a spreadsheet.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from salva.core.exchange import Written
from salva.core.judged import JudgedBy
from salva.core.options import NoOptions
from salva.core.source import RunRecords, RunSource
from salva.core.table import Cell
from salva.core.verdict import PAIR, Verdict, observers_text
from salva.errors import MissingExtraError
from salva.files.outfiles import write_bytes, write_text
from salva.files.tables import csv_text
from salva.judging.headline import leading_verdicts, parted
from salva.registry import rates_of, suite_about

_FIXED = ("case_id", "suite", "model", "repeat", "arm", "relation", "outcome", "errors")


class CsvRows:
    """A file: one row a verdict."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        """Nothing can be chosen."""

    def write(self, source: RunSource, out: Path) -> Written:
        """OUT, one row a verdict."""
        write_text(out, verdicts_csv(source.records))
        return Written(n=len(source.records.verdicts), what="verdicts")


class ParquetRows:
    """A file: the same rows as csv, for data frames."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        """Nothing can be chosen."""

    def write(self, source: RunSource, out: Path) -> Written:
        """OUT, one row a verdict."""
        if importlib.util.find_spec("pyarrow") is None:
            raise MissingExtraError("export --as parquet", "parquet")
        import pandas as pd

        columns, rows = verdict_rows(source.records)
        write_bytes(out, pd.DataFrame(rows, columns=columns).to_parquet(index=False))
        return Written(n=len(rows), what="verdicts")


def verdicts_csv(records: RunRecords) -> str:
    """The contract's columns, then every label and every score that occurs."""
    columns, rows = verdict_rows(records)
    return csv_text([columns, *rows])


def speaking(records: RunRecords) -> Callable[[Verdict], bool]:
    """Whether a verdict is one of those that the headline counts."""
    rates, chosen = rates_of(verdict.relation for verdict in records.verdicts), records.asked.headline
    about = suite_about(records.suite)
    by_model = leading_verdicts(records.cases, records.verdicts, rates, chosen, about.leads)
    judged_by = {relation.name: JudgedBy(options=relation.options) for relation in records.asked.relations}
    observers = {
        _unit(judged.verdict): judged.verdict.observers
        for group in by_model.values()
        for judged in parted(group, judged_by, chosen, about.apart)[0]
    }

    def speaks(verdict: Verdict) -> bool:
        leading = observers.get(_unit(verdict))
        # Observers at work on different cases go by their fullest name, of which a verdict's own are then a part.
        return verdict.arm == PAIR and leading is not None and set(verdict.observers) <= set(leading)

    return speaks


def _unit(verdict: Verdict) -> tuple[str, int, str, str]:
    return verdict.case_id, verdict.repeat, verdict.model, verdict.relation


def verdict_rows(records: RunRecords) -> tuple[list[str], list[list[Cell]]]:
    """Columns and rows, one a verdict; observers stand where they tell two rows apart, whether it leads comes last."""
    is_headline = speaking(records)
    cases = {case.case_id: case for case in records.cases}
    labels = sorted({name for case in records.cases for name in case.labels})
    scores = sorted({name for verdict in records.verdicts for name in verdict.scores})
    units = {
        (verdict.case_id, verdict.model, verdict.repeat, verdict.arm, verdict.relation) for verdict in records.verdicts
    }
    has_observers = len(units) < len(records.verdicts)
    rows = []
    for verdict in records.verdicts:
        case = cases.get(verdict.case_id)
        given = case.labels if case else {}
        row: list[Cell] = [verdict.case_id, case.suite if case else "", verdict.model, verdict.repeat, verdict.arm]
        row += [verdict.relation, str(verdict.outcome), ";".join(verdict.errors)]
        row += [given.get(name) for name in labels] + [verdict.scores.get(name) for name in scores]
        row += [observers_text(verdict.observers)] if has_observers else []
        rows.append([*row, int(is_headline(verdict))])
    columns = [*_FIXED, *(f"label.{name}" for name in labels), *(f"score.{name}" for name in scores)]
    return [*columns, *(["observers"] if has_observers else []), "is_headline"], rows
