"""Who is compared: the models of runs, each with its figures and with what its verdicts rest on.

Run directories come in; each model of each run goes out, called by its own name, or by the run's too where two share
one. What is read is data: nothing named in a run is contacted or built.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from salva import component_facts
from salva.compare.fingerprints import Fingerprints, read_fingerprints
from salva.compare.series import Series, series_of
from salva.core.case import Case
from salva.core.run_spec import RunSpec
from salva.core.source import RunRecords
from salva.report.summary import judgements_on
from salva.results.leading import Leading, leading_of
from salva.store.queries import read_records
from salva.store.runfile import read_run_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """One model of one run."""

    title: str
    """What it is called among the others."""
    model: str
    run: str
    """The run directory's own name."""
    directory: Path
    suite: str
    asked: RunSpec
    """As it is judged now."""
    at_first: RunSpec
    """As it was asked for, which is what judging it again starts from."""
    cases: tuple[Case, ...]
    observers: frozenset[str]
    """The labels of those whose looks the figures rest on."""
    checks: frozenset[str]
    """The checks whose verdicts the figures are made of."""
    fingerprints: Fingerprints
    leading: Leading
    series: tuple[Series, ...]
    """Its figures, the one that leads first."""


def read_entrants(directories: Sequence[Path], parts: Sequence[str] = ()) -> tuple[Entrant, ...]:
    """Every model of these runs, in order; those of one name are told apart by the parts of their runs, if given."""
    entrants = [entrant for directory in directories for entrant in _of_run(directory)]
    models, runs = Counter(entrant.model for entrant in entrants), Counter(entrant.run for entrant in entrants)
    if max(models.values(), default=0) <= 1:
        return tuple(entrants)
    if parts:
        by_directory = dict(zip(directories, parts, strict=True))
        return tuple(
            replace(entrant, title=f"{entrant.model} ({by_directory[entrant.directory]})") for entrant in entrants
        )
    one_each = max(runs.values()) == 1
    titles = [entrant.run if one_each else f"{entrant.model} ({entrant.run})" for entrant in entrants]
    seen: Counter[str] = Counter()
    named = []
    for entrant, title in zip(entrants, titles, strict=True):
        seen[title] += 1
        named.append(replace(entrant, title=title if seen[title] == 1 else f"{title} ({seen[title]})"))
    return tuple(named)


def _of_run(directory: Path) -> list[Entrant]:
    records, fingerprints = read_records(directory), read_fingerprints(directory)
    return [_entrant(directory, model, records, fingerprints) for model in records.models]


def _entrant(directory: Path, model: str, records: RunRecords, fingerprints: Fingerprints) -> Entrant:
    asked, suite = records.asked, records.suite
    verdicts = [verdict for verdict in records.verdicts if verdict.model == model]
    judged = replace(judgements_on(suite, records.cases, verdicts, asked), is_whole=records.is_whole)
    leading = leading_of(judged, asked.repeats, component_facts.usual_score(asked))
    series = series_of(judged, component_facts.own_figures(suite), leading.rate)
    resting = [verdict for figure in series for verdict in figure.verdicts.values()]
    return Entrant(
        title=model,
        model=model,
        run=records.name,
        directory=directory,
        suite=suite,
        asked=asked,
        at_first=run_file.spec if (run_file := read_run_file(directory)) else asked,
        cases=records.cases,
        observers=frozenset(label for verdict in resting for label in verdict.observers),
        checks=frozenset(verdict.check for verdict in resting),
        fingerprints=fingerprints,
        leading=leading,
        series=tuple(series),
    )
