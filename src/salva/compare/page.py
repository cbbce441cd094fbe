"""A comparison as one HTML file: verdict, differences by law, and the pairs that flipped with the pictures of both.

Looks like the report and is as safe as it (report/pages.py). Pictures are read from the runs while the page is made.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from salva.compare.board import duels_table, groups_table, standings_table
from salva.compare.comparing import Comparison, DifferenceFinding, Duel
from salva.compare.pairing import FigureDifference, Flip, GroupDifference
from salva.compare.words import asides_of, flips_of, sentence_of, step_of, title_of, verdict_of
from salva.core.chart import Chart, ChartKind
from salva.core.judgements import CaseVerdict
from salva.core.table import Cell, Table
from salva.core.verdict import Outcome, Verdict
from salva.report.gallery import Exhibit, ExhibitMaker
from salva.report.pages import anchors_of, drawings_of, filters_of, label_tags, render_page
from salva.store.queries import open_source

MAX_FLIPS = 80
"""Pairs shown with pictures, of each duel; the rest are in the json form."""
_FILTERS = {"got": "got", "error": "error type", "duel": "models"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A pair that flipped, with the pictures of both sides."""

    flip: Flip
    duel: str
    first: Exhibit
    second: Exhibit

    @property
    def got(self) -> str:
        """Which way."""
        return "worse" if self.flip.got_worse else "better"

    @property
    def errors(self) -> tuple[str, ...]:
        """Of the side that broke."""
        return (self.flip.second if self.flip.got_worse else self.flip.first).failure_types


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One duel as the page shows it."""

    duel: Duel
    drawings: Markup | None
    """The differences by law."""
    tables: tuple[Table, ...]


def comparison_page(comparison: Comparison) -> str:
    """The page as text."""
    shown = _shown(comparison)
    return render_page(
        "compare",
        "comparison.html.j2",
        title=title_of(comparison),
        comparison=comparison,
        boards=(standings_table(comparison), duels_table(comparison)) if len(comparison.duels) > 1 else (),
        sections=[_section(duel) for duel in comparison.against_first],
        facts=_facts(comparison),
        shown=shown,
        anchors=anchors_of((flipped.flip.case.case_id, flipped.flip.repeat) for flipped in shown),
        filters=filters_of(map(_tags, shown), _FILTERS),
        n_flipped=sum(len(duel.flipped) for duel in comparison.against_first),
        is_imported=any(entrant.asked.imported for entrant in comparison.entrants),
        asides_of=asides_of,
        flips_of=flips_of,
        sentence_of=sentence_of,
        step_of=step_of,
        verdict_of=verdict_of,
        tags_of=_tags,
        WORSE=DifferenceFinding.WORSE,
        BETTER=DifferenceFinding.BETTER,
    )


def _facts(comparison: Comparison) -> list[tuple[str, str]]:
    first = comparison.entrants[0]
    observers = sorted(first.observers)
    facts = [("suite", comparison.suite), ("figure", comparison.duels[0].leading.title)]
    facts += [("seen by", ", ".join(observers))] if observers else []
    if first.asked.size:
        facts += [("size", first.asked.size), ("repeats", str(first.asked.repeats)), ("seed", str(first.asked.seed))]
    return [*facts, ("runs", ", ".join(dict.fromkeys(entrant.run for entrant in comparison.entrants)))]


def _section(duel: Duel) -> Section:
    laws = [group.name for group in duel.by_law]
    categories = groups_table("category", duel, duel.by_category)
    if laws == [group.name for group in duel.by_category]:
        return Section(duel=duel, drawings=_drawn(duel, duel.by_category), tables=(categories,))
    tables = (groups_table("law", duel, duel.by_law), categories)
    return Section(duel=duel, drawings=_drawn(duel, duel.by_law), tables=tables)


def _drawn(duel: Duel, groups: tuple[GroupDifference, ...]) -> Markup | None:
    """The differences as bars from 0, with their intervals; None without any."""
    scale = 100.0 if duel.leading.is_share else 1.0
    named = [("all", duel.leading), *((group.name, group.figure) for group in groups)]
    rows = tuple(_row(name, figure, scale) for name, figure in named if figure.difference is not None)
    if not rows:
        return None
    unit = "points" if duel.leading.is_share else duel.leading.title
    good = "up" if duel.leading.is_high_good else "down"
    chart = Chart(
        name="differences",
        title="Differences",
        kind=ChartKind.BARS,
        table=Table(name="differences", columns=("group", "difference", "low", "high", "pairs"), rows=rows),
        x="group",
        y="difference",
        low="low",
        high="high",
        n="pairs",
        y_label=f"{unit}, second less first; {good} is better",
        marks=(0.0,),
        is_high_good=duel.leading.is_high_good,
    )
    return drawings_of(chart, is_wide=True)


def _row(name: str, figure: FigureDifference, scale: float) -> tuple[Cell, ...]:
    assert figure.difference is not None
    ends = (None, None) if figure.interval is None else (figure.interval.low * scale, figure.interval.high * scale)
    return (name, figure.difference * scale, *ends, figure.n_pairs)


def _shown(comparison: Comparison) -> list[Shown]:
    """The flips of every duel with the first, as many as a page can hold."""
    shown = []
    with ExitStack() as opened:
        makers: dict[Path, ExhibitMaker] = {}
        for entrant in comparison.entrants:
            if entrant.directory not in makers:
                source = opened.enter_context(open_source(entrant.directory))
                makers[entrant.directory] = ExhibitMaker(entrant.asked, source.images)
        for duel in comparison.against_first:
            for flip in _spread(duel.flipped):
                sides = (duel.first, flip.first), (duel.second, flip.second)
                first, second = (
                    makers[entrant.directory].exhibit(CaseVerdict(flip.case, verdict), _word(verdict), verdict)
                    for entrant, verdict in sides
                )
                shown.append(Shown(flip=flip, duel=duel.second.title, first=first, second=second))
    return shown


def _word(verdict: Verdict) -> str:
    return "broke" if verdict.outcome is Outcome.FAIL else "held"


def _spread(flips: tuple[Flip, ...]) -> list[Flip]:
    """At most so many, half of them of each direction where there are as many."""
    worse, better = ([flip for flip in flips if flip.got_worse is way] for way in (True, False))
    n_worse = min(len(worse), max(MAX_FLIPS // 2, MAX_FLIPS - len(better)))
    return [*worse[:n_worse], *better[: MAX_FLIPS - n_worse]]


def _tags(shown: Shown) -> list[tuple[str, str]]:
    errors = [("error", error) for error in shown.errors]
    return [*label_tags(shown.flip.case), *errors, ("got", shown.got), ("duel", shown.duel)]
