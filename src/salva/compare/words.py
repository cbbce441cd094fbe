"""A comparison in words: the same sentences on the page, in Markdown and in a terminal."""

from __future__ import annotations

from typing import NamedTuple

from salva.charts.formats import NOTHING, percent
from salva.compare.comparing import Comparison, DifferenceFinding, Duel
from salva.compare.pairing import FigureDifference
from salva.core.quantity import quantity
from salva.stats.intervals import Interval


class Aside(NamedTuple):
    """A figure in the small print."""

    title: str
    value: str
    note: str


def value_of(figure: FigureDifference, value: float | None) -> str:
    """A value of the figure itself."""
    if value is None:
        return NOTHING
    return percent(value) if figure.is_share else f"{value:.3f}"


def step_of(figure: FigureDifference, value: float | None) -> str:
    """A difference of two values, with its sign."""
    if value is None:
        return NOTHING
    return f"{value * 100 + 0.0:+.1f} points" if figure.is_share else f"{value + 0.0:+.3f}"


def size_of(figure: FigureDifference, value: float | None) -> str:
    """How large a difference is, without a sign."""
    return step_of(figure, value).lstrip("+")


def ends_of(figure: FigureDifference, interval: Interval | None) -> str:
    """Both ends of an interval of differences."""
    if interval is None:
        return NOTHING
    low, high = (step_of(figure, end).removesuffix(" points") for end in (interval.low, interval.high))
    return f"{low} to {high}{' points' if figure.is_share else ''}"


def p_text(p: float | None) -> str:
    """A p-value as people read it."""
    return NOTHING if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def verdict_of(duel: Duel) -> str:
    """Who is better, in a few words."""
    first, second = duel.first.title, duel.second.title
    if duel.verdict is DifferenceFinding.NOT_SHOWN:
        return f"no difference shown between {first} and {second}"
    return f"{second} is {duel.verdict} than {first}"


def sentence_of(duel: Duel) -> str:
    """What the verdict rests on: both figures, their difference, how sure it is."""
    figure = duel.leading
    if figure.difference is None:
        return f"{quantity(figure.n_pairs, 'pairs')} decided on both sides, and {figure.title} is not defined for them"
    both = f"{figure.title} {value_of(figure, figure.second)} against {value_of(figure, figure.first)}"
    sure = f" (95 %: {ends_of(figure, figure.interval)} under other seeds)" if figure.interval else ""
    return f"{both}: {step_of(figure, figure.difference)}{sure}, over {pairs_of(figure)}"


def pairs_of(figure: FigureDifference) -> str:
    """What a difference rests on."""
    cases = f" of {quantity(figure.n_cases, 'cases')}" if figure.n_cases != figure.n_pairs else ""
    return f"{quantity(figure.n_pairs, 'pairs')}{cases}"


def flips_of(duel: Duel) -> str:
    """How many pairs flipped, and which way."""
    flips = [flip for flip in duel.flipped if not flip.is_apart]
    n_worse = sum(flip.got_worse for flip in flips)
    said = f"{quantity(len(flips), 'pairs')} flipped: {n_worse} got worse, {len(flips) - n_worse} better"
    n_apart = len(duel.flipped) - len(flips)
    return said + (f"; {n_apart} more among the cases reported separately" if n_apart else "")


def gate_of(duel: Duel, margin: float) -> str:
    """What a gate says of a duel, whether it passes or not."""
    figure, ends = duel.leading, duel.worsening
    word = "failed" if duel.is_worse_than(margin) else "not decided" if duel.too_little else "passed"
    between = "unknown" if ends is None else ends_of(figure, Interval(low=ends[0], high=ends[1]))
    said = (
        f"{duel.second.title} against {duel.first.title}: worse by {between}, the margin is {size_of(figure, margin)}"
    )
    if word == "failed":
        return f"gate failed: {said}"
    open_end = ends is not None and ends[1] > margin and not duel.too_little
    more = f"; {duel.too_little}" if duel.too_little else ""
    more += f"; {pairs_of(figure)} cannot rule out more than the margin" if open_end else ""
    return f"gate {word}: {said}{more}"


def title_of(comparison: Comparison) -> str:
    """What is compared."""
    titles = [entrant.title for entrant in comparison.entrants]
    return f"{titles[1]} against {titles[0]}" if len(titles) == 2 else f"{len(titles)} models against each other"


def _could_show(figure: FigureDifference) -> str:
    """Two shares lie 100 points apart at most."""
    if figure.is_share and figure.detectable is not None and figure.detectable > 1:
        return "no difference"
    return size_of(figure, figure.detectable)


def asides_of(duel: Duel) -> list[Aside]:
    """The figures that stand beside the difference."""
    figure = duel.leading
    figures = [
        Aside("for similar prompts about other entities", step_of(figure, figure.difference), _entities(figure)),
        Aside("detectable difference", _could_show(figure), "with 80 % power"),
        *_effects(figure),
    ]
    for other in duel.beside:
        note = f"{value_of(other, other.second)} against {value_of(other, other.first)}, over {pairs_of(other)}"
        ends = f"; 95 %: {ends_of(other, other.interval)}" if other.interval else ""
        figures.append(Aside(other.title, step_of(other, other.difference), note + ends))
    figures.append(Aside("undecided pairs", f"{figure.n_undecided:,}", _undecided(duel)))
    return figures


def _entities(figure: FigureDifference) -> str:
    if figure.interval_entities is None:
        return f"not measured: {figure.why_no_entities}"
    return f"95 %: {ends_of(figure, figure.interval_entities)}"


def _effects(figure: FigureDifference) -> list[Aside]:
    made = []
    if figure.relative is not None:
        made.append(Aside("relative change", f"{figure.relative * 100:+.0f} %", "of the first side's figure"))
    if figure.standardised is not None:
        made.append(
            Aside("effect size", f"{figure.standardised:+.2f}", "in standard deviations of a case's difference")
        )
    if (signs := figure.signs) is not None:
        odds = "" if figure.odds is None else f", {figure.odds:.2f} for each"
        note = f"{signs.n_lower} broke only on the second side, {signs.n_higher} only on the first{odds}; for reference"
        made.append(Aside("McNemar's exact p", p_text(signs.p), note))
    return made


def _undecided(duel: Duel) -> str:
    figure = duel.leading
    if not figure.n_undecided:
        return "all were decided on both sides"
    first, second, neither = figure.undecided
    parts = ((first, f"on {duel.first.title}'s side"), (second, f"on {duel.second.title}'s"), (neither, "on both"))
    said = ", ".join(f"{n} {where}" for n, where in parts if n)
    bounds = (
        f"; with these decided either way, the difference lies within {ends_of(figure, figure.bounds)}"
        if figure.bounds
        else ""
    )
    return said + bounds
