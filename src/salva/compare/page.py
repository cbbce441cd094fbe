"""A comparison as one HTML file: the decision, differences by law, and the pairs that flipped with the images of both.

Looks like the report and is as safe as it (report/pages.py). Images are read from the runs while the page is made.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from salva.compare.comparing import ComparedRuns, Comparison, Decision
from salva.compare.pairing import FigureDifference, Flip
from salva.compare.tables import candidates_table, tables_of
from salva.compare.words import (
    ends_text,
    flips_text,
    margin_text,
    metric_text,
    pair_title,
    pairs_of,
    sentence_of,
    step_text,
    title_of,
)
from salva.core.chart import Chart, ChartKind
from salva.core.table import Cell, Table
from salva.report.gallery import Exhibit, ExhibitMaker
from salva.report.headline_text import trust_text
from salva.report.pages import anchors_of, drawings_of, filters_of, label_tags, render_page
from salva.store.queries import open_source

MAX_FLIPS = 80
"""Pairs shown with images, of each candidate; the rest are in the json form."""
_FILTERS = {"got": "got", "type": "failure type", "candidate": "candidate"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A pair that flipped, with the images of both models."""

    flip: Flip
    comparison: Comparison
    baseline: Exhibit
    candidate: Exhibit

    @property
    def got(self) -> str:
        """Which way."""
        return "worse" if self.flip.got_worse else "better"


def comparison_page(compared: ComparedRuns) -> str:
    """The page as text."""
    shown = _shown(compared)
    return render_page(
        "compare",
        "comparison.html.j2",
        title=title_of(compared),
        compared=compared,
        board=None if compared.only else candidates_table(compared),
        sections=[_section(one) for one in compared.comparisons],
        facts=_facts(compared),
        shown=shown,
        anchors=anchors_of((one.flip.failed.case.case_id, one.flip.failed.repeat) for one in shown),
        filters=filters_of(map(_tags, shown), _FILTERS),
        n_flipped=sum(len(one.flipped) for one in compared.comparisons),
        is_imported=any(entrant.asked.imported for entrant in compared.entrants),
        flips_text=flips_text,
        pair_title=pair_title,
        sentence_of=sentence_of,
        step_text=step_text,
        tags_of=_tags,
        WORSE=Decision.WORSE,
        BETTER=Decision.BETTER,
    )


def _facts(compared: ComparedRuns) -> list[tuple[str, str]]:
    baseline = compared.baseline
    asked, observers = baseline.asked, [name for names in baseline.run.observers.values() for name in names]
    facts = [("suite", compared.suite), ("rule", str(asked.rule))]
    facts += [("observers", ", ".join(observers))] if observers else []
    if asked.size:
        facts += [("size", asked.size), ("repeats", str(asked.repeats)), ("seed", str(asked.seed))]
    return [*facts, ("runs", ", ".join(dict.fromkeys(entrant.run.run for entrant in compared.entrants)))]


def _section(one: Comparison) -> dict[str, object]:
    """One comparison as the page shows it; not_drawn: groups of too few cases for a difference."""
    groups = one.by_law or one.by_category
    not_drawn = [name for name, group in groups.items() if group.figure.difference is None]
    shown = {"drawings": _drawn(one), "not_drawn": not_drawn, "stats": _stats(one), "tables": tables_of(one)}
    return {"comparison": one, **shown}


def _stats(one: Comparison) -> list[tuple[str, str]]:
    figure = one.figure
    stats = [("pairs", pairs_of(one)), ("detectable difference", step_text(figure, figure.detectable).lstrip("+"))]
    others = ends_text(figure, figure.interval_entities) if figure.interval_entities else figure.why_no_entities
    stats.append(("95 % CI for other entities", others or "not measured"))
    stats += [(metric.title, metric_text(metric)) for metric in one.metrics.values()]
    stats += [("trust", f"{entrant.title}: {trust_text(entrant.figures)}") for entrant in (one.baseline, one.candidate)]
    return [*stats, ("gate", margin_text(one, one.gate))] if one.gate else stats


def _drawn(one: Comparison) -> Markup | None:
    """The differences as bars from 0, with their intervals; None without any."""
    groups = one.by_law or one.by_category
    named = [("all", one.figure), *((name, group.figure) for name, group in groups.items())]
    rows = tuple(_row(name, figure) for name, figure in named if figure.difference is not None)
    if not rows:
        return None
    chart = Chart(
        name="differences",
        title="Differences",
        kind=ChartKind.BARS,
        table=Table(name="differences", columns=("group", "points", "low", "high", "pairs"), rows=rows),
        x="group",
        y="points",
        low="low",
        high="high",
        n="pairs",
        y_label="points, candidate less baseline; left is better",
        marks=(0.0,),
    )
    return drawings_of(chart, is_wide=True)


def _row(name: str, figure: FigureDifference) -> tuple[Cell, ...]:
    assert figure.difference is not None
    low, high = (100 * figure.interval.low, 100 * figure.interval.high) if figure.interval else (None, None)
    return (name, 100 * figure.difference, low, high, figure.n_pairs)


def _shown(compared: ComparedRuns) -> list[Shown]:
    """The flips of every candidate, as many as a page can hold."""
    shown = []
    with ExitStack() as opened:
        makers: dict[Path, ExhibitMaker] = {}
        for entrant in compared.entrants:
            if entrant.directory not in makers:
                source = opened.enter_context(open_source(entrant.directory))
                makers[entrant.directory] = ExhibitMaker(entrant.asked, source.images)
        for one in compared.comparisons:
            before, after = makers[one.baseline.directory], makers[one.candidate.directory]
            shown += [
                Shown(
                    flip=flip,
                    comparison=one,
                    baseline=before.exhibit(flip.baseline),
                    candidate=after.exhibit(flip.candidate),
                )
                for flip in _spread(one.flipped)
            ]
    return shown


def _spread(flips: tuple[Flip, ...]) -> list[Flip]:
    """At most so many, half of them of each direction where there are as many."""
    worse, better = ([flip for flip in flips if flip.got_worse is way] for way in (True, False))
    n_worse = min(len(worse), max(MAX_FLIPS // 2, MAX_FLIPS - len(better)))
    return [*worse[:n_worse], *better[: MAX_FLIPS - n_worse]]


def _tags(shown: Shown) -> list[tuple[str, str]]:
    failed = shown.flip.failed
    types = [("type", name) for name in failed.failure_types]
    return [*label_tags(failed.case), *types, ("got", shown.got), ("candidate", shown.comparison.candidate.title)]
