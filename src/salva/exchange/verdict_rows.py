"""A run's verdicts as rows for other programs: CSV, Parquet and data frames. A column is added here.

Rows are written some at a time, and which of them lead follows from one case of each kind, so memory does not grow
with the run. No cell of the CSV can be taken for a formula by a spreadsheet.
"""

from __future__ import annotations

import importlib.util
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import ClassVar

from salva.component_facts import rates_of, suite_about
from salva.core.case import Case
from salva.core.exchange import ExportCount
from salva.core.judgements import RunCheck
from salva.core.options import NoOptions
from salva.core.run_file import Judging as AskedJudged
from salva.core.source import RunRecords
from salva.core.table import Cell
from salva.core.verdict import PAIR, Observers, Outcome, Verdict, observers_text
from salva.errors import MissingExtraError
from salva.files.outfiles import writing
from salva.files.tables import csv_text
from salva.results.headline import by_model, kind_of, leading_verdicts, parted, whole_names
from salva.store.queries import current_judging, is_leading, leading_first
from salva.store.reading import VERDICT_ORDER, RunReader
from salva.store.rows import observers_from_text
from salva.store.sqlite import open_run

_N_AT_ONCE = 4096

COLUMNS = (
    *("case_id", "suite", "model", "repeat", "arm", "check", "observers"),
    *("outcome", "is_primary", "is_fail", "failure_types", "reason"),
)
"""The columns of every run; prompts, images, labels and scores follow."""
_INTEGERS = ("repeat", "is_primary", "is_fail")
_DECIDED = (Outcome.PASS, Outcome.FAIL)


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
    """The rows of a run, to be read once."""

    columns: tuple[str, ...]
    rows: Iterator[list[Cell]]

    def pieces(self) -> Iterator[list[list[Cell]]]:
        """Some rows at a time."""
        while piece := list(islice(self.rows, _N_AT_ONCE)):
            yield piece


class CsvRows:
    """A file: one row a verdict."""

    version: ClassVar[str] = "2"

    def __init__(self, options: NoOptions) -> None:
        """Nothing can be chosen."""

    def write_run(self, directory: Path, out: Path) -> ExportCount:
        """OUT, one row a verdict."""
        with writing(out) as file:
            for text in csv_pieces(directory):
                file.write(text.encode())
        with open_run(directory) as store:
            return ExportCount(n=store.n_verdicts(), what="verdicts")


class ParquetRows:
    """A file: the same rows as csv, for data frames and query engines."""

    version: ClassVar[str] = "2"

    def __init__(self, options: NoOptions) -> None:
        """Nothing can be chosen."""

    def write_run(self, directory: Path, out: Path) -> ExportCount:
        """OUT, one row a verdict, in groups of rows."""
        if importlib.util.find_spec("pyarrow") is None:
            raise MissingExtraError("export --as parquet", "parquet")
        import pyarrow as pa
        import pyarrow.parquet as pq

        n = 0
        with verdict_rows(directory) as table, writing(out) as file:
            kinds = {int: pa.int64(), float: pa.float64(), str: pa.string()}
            schema = pa.schema([(name, kinds[_kind_of(name)]) for name in table.columns])
            with pq.ParquetWriter(file, schema) as writer:
                for piece in table.pieces():
                    columns = [
                        pa.array(cells, kind)
                        for cells, kind in zip(zip(*piece, strict=True), schema.types, strict=True)
                    ]
                    writer.write_table(pa.Table.from_arrays(columns, schema=schema))
                    n += len(piece)
        return ExportCount(n=n, what="verdicts")


def _kind_of(column: str) -> type[int] | type[float] | type[str]:
    if column in _INTEGERS:
        return int
    return float if column.startswith("score.") else str


def csv_pieces(directory: Path) -> Iterator[str]:
    """The rows as CSV, the header first; some rows at a time."""
    with verdict_rows(directory) as table:
        yield csv_text([table.columns])
        for piece in table.pieces():
            yield csv_text(piece)


def speaking(records: RunRecords, n_alike: Mapping[str, int] | None = None) -> Callable[[Verdict], bool]:
    """Whether a verdict is one of those that the headline counts; n_alike: how many cases each stands for."""
    rates, chosen = rates_of(verdict.check for verdict in records.verdicts), records.asked.check
    about = suite_about(records.suite)
    led = leading_verdicts(records.cases, records.verdicts, rates, chosen, about.leads, n_alike or {})
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


@contextmanager
def verdict_rows(directory: Path) -> Iterator[VerdictRows]:
    """COLUMNS, then the prompts, images, labels and scores that occur in the run; one row a verdict."""
    with open_run(directory) as store, store.read_transaction():
        columns = (*COLUMNS, *(f"{group}.{name}" for group, query in _GROUPS.items() for name in _names(store, query)))
        judged = current_judging(directory)
        lead = _Lead(store, judged)

        def rows() -> Iterator[list[Cell]]:
            case: Case | None = None
            alike = ""
            for verdict in leading_first(store, judged.leading):
                if case is None or case.case_id != verdict.case_id:
                    case = store.case(verdict.case_id) if store.has_case(verdict.case_id) else None
                    alike = lead.first_like(case) if case else ""
                cells = verdict_cells(verdict, case, lead.speaks(replace(verdict, case_id=alike)))
                yield [cells.get(name) for name in columns]

        yield VerdictRows(columns=columns, rows=rows())


_GROUPS = {
    "prompt": "SELECT DISTINCT json_extract(prompt.value, '$.role') FROM cases, json_each(record, '$.prompts') prompt",
    "image": "SELECT DISTINCT key FROM verdicts, json_each(images)",
    "label": "SELECT DISTINCT key FROM cases, json_each(record, '$.labels')",
    "score": "SELECT DISTINCT key FROM verdicts, json_each(scores)",
}
"""The columns that depend on the run, and where their names are found."""


def _names(store: RunReader, query: str) -> list[str]:
    return sorted(str(row[0]) for row in store.rows(query))


_Kind = tuple[object, ...]


class _Lead:
    """Which verdicts of a run lead, from one case of each kind and how many there are of it.

    In memory are as many cases as differ in what decides that, which are few in a run of any length.
    """

    def __init__(self, store: RunReader, judged: AskedJudged) -> None:
        self._store = store
        self._apart: tuple[str, str] | None = None
        self._first: dict[_Kind, Case] = {}
        n_alike: Counter[str] = Counter()
        verdicts: list[Verdict] = []
        for case in store.cases():
            if not self._first:
                self._apart = suite_about(case.suite).apart
            keys = self._keys(case.case_id)
            first = self._first.setdefault(self._kind(case, keys), case)
            n_alike[first.case_id] += 1
            if first is case:
                verdicts += [_slim(case.case_id, key) for key in keys]
        # In the order that decides which of two equally busy observers leads.
        verdicts.sort(key=lambda verdict: not is_leading(verdict, judged.leading))
        records = RunRecords(cases=tuple(self._first.values()), verdicts=tuple(verdicts), asked=judged.spec)
        self.speaks = speaking(records, n_alike)
        """Whether a verdict leads; it must be on the first case that is like its own."""

    def first_like(self, case: Case) -> str:
        """The id of the case that stands for it."""
        return self._first[self._kind(case, self._keys(case.case_id))].case_id

    def _kind(self, case: Case, keys: list[_Key]) -> _Kind:
        return (*kind_of(case, self._apart), *keys)

    def _keys(self, case_id: str) -> list[_Key]:
        rows = self._store.rows(_PAIR_KEYS, (case_id, PAIR))
        return [self._store.parsed("verdicts", row, _Key.of) for row in rows]


@dataclass(frozen=True, slots=True)
class _Key:
    """Whose verdict it is on a case, less what it says."""

    repeat: int
    model: str
    check: str
    observers: Observers

    @classmethod
    def of(cls, row: sqlite3.Row) -> _Key:
        repeat, model, check, observers = row
        return cls(repeat, model, check, observers_from_text(observers))


# Those of the control never lead.
_PAIR_KEYS = f'SELECT repeat, model, "check", observers FROM verdicts WHERE case_id = ? AND arm = ? {VERDICT_ORDER}'


def _slim(case_id: str, key: _Key) -> Verdict:
    return Verdict(case_id=case_id, arm=PAIR, outcome=Outcome.PASS, **asdict(key))
