"""The runs in a folder, a line for each of their models: what was asked, its failure rate, how far it got.

Whatever else lies there is named and never opened as more than data; a run that is damaged says so in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from salva.core.foreign_errors import describe_error, translate_errors
from salva.errors import SalvaError, StoreError, UsageError
from salva.messages import message
from salva.report.summary import ModelSummary, Summary, summarise_records
from salva.store.queries import last_written, read_records
from salva.store.reading import DATABASE

COMPLETE, UNFINISHED, IMPORTED, DAMAGED, NO_RUN = "complete", "unfinished", "imported", "damaged", "no run"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """One model of one run; of what is no run, or cannot be read, only its place and why."""

    directory: Path
    state: str
    """complete, unfinished, imported, damaged or no run."""
    date: datetime | None = None
    """When something was last written to it."""
    problem: str = ""
    suite: str = ""
    model: str = ""
    size: str = ""
    repeats: int | None = None
    seed: int | None = None
    n_cases: int | None = None
    failure_rate: float | None = None
    """None where nothing is decided."""
    low: float | None = None
    high: float | None = None
    n: int | None = None
    """Decided results that the rate rests on."""
    trust: str = ""
    """How far the rate can be trusted: ok, limited or none."""
    results: Mapping[str, int] = field(default_factory=dict)
    """Counts: total, pass, fail, undecided, error and refused."""


def list_runs(folder: Path) -> Iterator[RunLine]:
    """Every run in a folder, or the one that it is, newest first; then whatever else lies there."""
    if not folder.is_dir():
        raise UsageError(message("file-missing", path=str(folder)))
    if (folder / DATABASE).is_file():
        yield from lines_of(folder)
        return
    places = [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
    ages = {path: date.timestamp() if (date := last_written(path)) else 0.0 for path in places}
    for path in sorted(places, key=lambda path: (-ages[path], path.name)):
        yield from lines_of(path)


def lines_of(directory: Path) -> Iterator[RunLine]:
    """A line for each model of a run; one line for anything else."""
    date = last_written(directory)
    if date is None:
        yield RunLine(directory=directory, state=NO_RUN, problem=f"it has no {DATABASE}")
        return
    try:
        # A stranger's folder may hold anything; whatever reading it raises is a line here and ends nothing.
        with translate_errors(lambda error: StoreError(describe_error(error))):
            records = read_records(directory)
            summary = summarise_records(records)
    except SalvaError as error:
        yield RunLine(directory=directory, state=DAMAGED, date=date, problem=str(error))
        return
    state = IMPORTED if summary.asked.imported else COMPLETE if records.is_whole else UNFINISHED
    if not summary.by_model:
        yield RunLine(directory=directory, state=state, date=date, suite=summary.suite, problem="it names no model")
    for model in summary.by_model.values():
        yield _line(directory, state, date, summary, model)


def _line(directory: Path, state: str, date: datetime, summary: Summary, model: ModelSummary) -> RunLine:
    asked = summary.asked
    low, high = model.interval or (None, None)
    return RunLine(
        directory=directory,
        state=state,
        date=date,
        suite=summary.suite,
        model=model.model,
        size=asked.size,
        repeats=asked.repeats if asked.size else None,
        seed=asked.seed if asked.size else None,
        n_cases=len({result.case.case_id for result in model.all_results}),
        failure_rate=model.failure_rate,
        low=low,
        high=high,
        n=model.n,
        trust=model.trust.status,
        results=model.results,
    )
