"""Several entrants in order: the leading figure over the pairs that all of them decided, and who is shown to be ahead.

A Comparison in, standings and tables out. Two entrants of which neither is ahead by Holm's p share their place in all
but the order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from salva.compare.comparing import Comparison, Duel
from salva.compare.pairing import FigureDifference, GroupDifference, figure_over
from salva.compare.words import ends_of, p_text, step_of, value_of
from salva.core.table import Cell, Table

_SHOWN = 0.05
"""Holm's p below which one entrant is ahead of another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One entrant among all."""

    place: int
    title: str
    run: str
    value: float | None
    """The leading figure over the pairs that all decided."""
    n_pairs: int
    ahead_of: tuple[str, ...]
    """Those it is shown to be better than, Holm's p over all duels."""


def standings(comparison: Comparison) -> tuple[Standing, ...]:
    """Everyone, the best first."""
    name = comparison.duels[0].leading.name
    series = [next(own for own in entrant.series if own.name == name) for entrant in comparison.entrants]
    shared = [key for key in series[0].terms if all(own.terms.get(key) is not None for own in series)]
    apart = frozenset[str]().union(*(own.apart for own in series))
    keys = [key for key in shared if key[0] not in apart]
    values = [figure_over(own, keys) for own in series]
    sign = -1 if series[0].is_high_good else 1
    order = sorted(range(len(series)), key=lambda place: (values[place] is None, sign * (values[place] or 0.0)))
    return tuple(
        Standing(
            place=rank,
            title=comparison.entrants[place].title,
            run=comparison.entrants[place].run,
            value=values[place],
            n_pairs=len(keys),
            ahead_of=tuple(_behind(comparison, comparison.entrants[place].title)),
        )
        for rank, place in enumerate(order, 1)
    )


def _behind(comparison: Comparison, title: str) -> Iterator[str]:
    for duel in comparison.duels:
        if duel.p_holm is None or duel.p_holm >= _SHOWN or duel.leading.difference is None:
            continue
        is_second_better = (duel.leading.difference > 0) == duel.leading.is_high_good
        ahead, behind = (duel.second, duel.first) if is_second_better else (duel.first, duel.second)
        if ahead.title == title:
            yield behind.title


def standings_table(comparison: Comparison) -> Table:
    """Everyone in order."""
    figure = comparison.duels[0].leading
    rows = tuple(
        (
            standing.place,
            standing.title,
            value_of(figure, standing.value),
            standing.n_pairs,
            ", ".join(standing.ahead_of) or "none",
        )
        for standing in standings(comparison)
    )
    note = "Over the pairs decided for every model. Ahead of: significant by Holm's p over all comparisons."
    return Table(
        name="leaderboard", columns=("place", "model", figure.title, "pairs", "ahead of"), rows=rows, note=note
    )


def duels_table(comparison: Comparison) -> Table:
    """Every two of them."""
    rows = tuple(_duel_row(duel) for duel in comparison.duels)
    columns = ("second", "first", "difference", "95 %, other seeds", "pairs", "p by Holm", "verdict")
    note = "The second less the first; the verdict uses the interval, p is adjusted over all comparisons."
    return Table(name="every two", columns=columns, rows=rows, note=note)


def _duel_row(duel: Duel) -> tuple[Cell, ...]:
    figure = duel.leading
    return (
        *(duel.second.title, duel.first.title, step_of(figure, figure.difference), ends_of(figure, figure.interval)),
        *(figure.n_pairs, p_text(duel.p_holm), str(duel.verdict)),
    )


def groups_table(name: str, duel: Duel, groups: tuple[GroupDifference, ...]) -> Table:
    """The differences by law or category."""
    rows = tuple((group.name, *_figure_cells(group.figure), p_text(group.p_holm)) for group in groups)
    columns = (name, duel.first.title, duel.second.title, "difference", "95 %, other seeds", "pairs", "p by Holm")
    note = f"p is adjusted by Holm's method over the {len(groups)} rows."
    return Table(name=f"by {name}", columns=columns, rows=rows, note=note)


def _figure_cells(figure: FigureDifference) -> tuple[Cell, ...]:
    return (
        *(value_of(figure, figure.first), value_of(figure, figure.second), step_of(figure, figure.difference)),
        *(ends_of(figure, figure.interval), figure.n_pairs),
    )
