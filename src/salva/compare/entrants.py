"""Who is compared: the models of runs, each with its results, its figures and what these rest on.

Run directories come in; each model of each run goes out, called by its own name, or by the run's too where two share
one. What is read is data: nothing named in a run is contacted or built.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from salva.compare.fingerprints import Fingerprints, read_fingerprints
from salva.core.case import Case
from salva.core.judgements import Judgements
from salva.core.run_spec import RunSpec
from salva.report.summary import ModelSummary, Summary, summarise_records
from salva.run_results import judgements_by_model
from salva.store.queries import read_records
from salva.store.runfile import read_run_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """One model of one run."""

    title: str
    """What it is called among the others."""
    directory: Path
    run: Summary
    figures: ModelSummary
    """Its failure rate, trust and metrics."""
    judged: Judgements
    at_first: RunSpec
    """As the run was asked for, which is what judging it again starts from."""
    fingerprints: Fingerprints

    @property
    def model(self) -> str:
        """Its own name."""
        return self.figures.model

    @property
    def asked(self) -> RunSpec:
        """What the run was asked for, as it is judged now."""
        return self.run.asked

    @property
    def cases(self) -> dict[str, Case]:
        """By id."""
        return {case.case_id: case for case in self.judged.cases}


def read_entrants(directories: Sequence[Path], parts: Sequence[str] = ()) -> tuple[Entrant, ...]:
    """Every model of these runs, in order; those of one name are labelled by the parts of their runs, if given."""
    entrants = [entrant for directory in directories for entrant in _of_run(directory)]
    models, runs = (Counter(names) for names in ((e.model for e in entrants), (e.run.run for e in entrants)))
    if max(models.values(), default=0) <= 1:
        return tuple(entrants)
    if parts:
        by_directory = dict(zip(directories, parts, strict=True))
        titles = [f"{entrant.model} ({by_directory[entrant.directory]})" for entrant in entrants]
    else:
        one_each = max(runs.values()) == 1
        titles = [entrant.run.run if one_each else f"{entrant.model} ({entrant.run.run})" for entrant in entrants]
    seen: Counter[str] = Counter()
    named = []
    for entrant, title in zip(entrants, titles, strict=True):
        seen[title] += 1
        named.append(replace(entrant, title=title if seen[title] == 1 else f"{title} ({seen[title]})"))
    return tuple(named)


def _of_run(directory: Path) -> list[Entrant]:
    records, run_file = read_records(directory), read_run_file(directory)
    run, fingerprints = summarise_records(records), read_fingerprints(directory)
    return [
        Entrant(
            title=model,
            directory=directory,
            run=run,
            figures=run.by_model[model],
            judged=judged,
            at_first=run_file.spec if run_file else run.asked,
            fingerprints=fingerprints,
        )
        for model, judged in judgements_by_model(records).items()
    ]
