"""A comparison in words: the same sentences on the page, in Markdown and in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, log10

from salva.charts.formats import NOTHING, percent, percent_text
from salva.compare.comparing import ComparedRuns, Comparison, Decision
from salva.compare.pairing import FigureDifference, GroupDifference
from salva.core.quantity import quantity
from salva.results.gate import INCONCLUSIVE, WITH_UNDECIDED, GateDecision, pairs_text
from salva.results.trust import OK
from salva.stats.intervals import Interval
from salva.stats.pairs_needed import MOST_PAIRS, pairs_for_margin

_DECISIONS = {Decision.NONE_SHOWN: "no difference shown"}
_N_CHANGED = 3
ARROW = " -> "
"""From the baseline to the candidate."""


def value_text(figure: FigureDifference, value: float | None) -> str:
    """A value of the figure itself."""
    if value is None:
        return NOTHING
    return percent_text(value) if figure.is_share else f"{value:.3f}"


def step_text(figure: FigureDifference, value: float | None, digits: int = 0) -> str:
    """A difference with its sign: +5 points, or +0.120 of a score."""
    if value is None:
        return NOTHING
    return f"{_points(value, digits)} points" if figure.is_share else f"{value + 0.0:+.3f}"


def _points(value: float, digits: int = 0) -> str:
    """A difference of shares in points; one digit more where it would read as none and is not."""
    points = value * 100
    digits = max(digits, 1 if points and abs(points) < 1 else 0)
    return f"{points:+.{digits}f}" if round(points, digits) else "0"


def figure_texts(figure: FigureDifference) -> tuple[str, str, str]:
    """The baseline's value, the candidate's, and their difference; with a digit if they did not add up without it."""
    before, after, step = figure.baseline, figure.candidate, figure.difference
    whole = [round(100 * value) for value in (before, after, step) if value is not None]
    if not figure.is_share or len(whole) < 3 or whole[1] - whole[0] == whole[2]:
        return value_text(figure, before), value_text(figure, after), step_text(figure, step)
    return percent(before), percent(after), step_text(figure, step, digits=1)


def ends_text(figure: FigureDifference, interval: Interval | tuple[float, float] | None) -> str:
    """Both ends of an interval of differences: -13 to +23."""
    return NOTHING if interval is None else " to ".join(both_ends(figure, interval))


def both_ends(figure: FigureDifference, interval: Interval | tuple[float, float] | None) -> tuple[str, str]:
    """The low end of an interval of differences, and the high one."""
    if interval is None:
        return NOTHING, NOTHING
    low, high = (interval.low, interval.high) if isinstance(interval, Interval) else interval
    if figure.is_share:
        return _points(low), _points(high)
    return f"{low + 0.0:+.3f}", f"{high + 0.0:+.3f}"


def p_text(p: float | None) -> str:
    """A p-value as people read it."""
    return NOTHING if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def decision_text(comparison: Comparison) -> str:
    """The decision as people read it."""
    return _DECISIONS.get(comparison.decision, str(comparison.decision))


def sentence_of(comparison: Comparison) -> str:
    """Both failure rates, their difference, how sure it is, and the decision."""
    figure = comparison.figure
    if not figure.n_pairs:
        return f"no pair was decided in both {comparison.baseline.title} and {comparison.candidate.title}"
    before, after, step = figure_texts(figure)
    rates = f"{comparison.baseline.title} fails {before}, {comparison.candidate.title} {after}"
    if figure.difference is None:
        return f"{rates}, over {quantity(figure.n_cases, 'cases')}: {decision_text(comparison)}"
    needed = detecting_text(comparison)
    sure = f"{step}, 95 % CI {ends_text(figure, figure.interval)}: {decision_text(comparison)}"
    return f"{rates}: {sure}{'; ' if needed else ''}{needed}"


def detecting_text(comparison: Comparison) -> str:
    """How many pairs would detect a difference of the margin, where these decide nothing and no gate is set."""
    figure, margin = comparison.figure, comparison.demands.margin
    if comparison.gate or comparison.decision is not Decision.INCONCLUSIVE or not figure.half_width or not margin:
        return ""
    needed = pairs_for_margin(0.0, figure.half_width, figure.n_pairs, margin, figure.t)
    if needed is not None and needed <= figure.n_pairs:
        return ""
    # Two digits of it are known.
    pairs = f"more than {MOST_PAIRS:,}" if needed is None else f"about {round(needed, 1 - floor(log10(needed))):,}"
    return f"{pairs} pairs would detect {step_text(figure, margin).removeprefix('+')}"


def pairs_of(comparison: Comparison) -> str:
    """How many pairs were compared."""
    shared = quantity(comparison.n_shared, comparison.baseline.run.unit)
    n = comparison.pairs
    return f"{shared}, all decided in both" if n == comparison.n_shared else f"{shared}, {n:,} decided in both"


def flips_text(comparison: Comparison) -> str:
    """How many pairs flipped, and which way."""
    n_worse = sum(flip.got_worse for flip in comparison.flipped)
    flips = quantity(len(comparison.flipped), comparison.baseline.run.unit)
    return f"{flips} flipped: {n_worse} got worse, {len(comparison.flipped) - n_worse} better"


def changed_text(comparison: Comparison) -> str:
    """The categories with the largest changes in failures, more and fewer, as counts; empty where none changed."""
    groups = comparison.by_law or comparison.by_category
    parts = [f"{word} in {names}" for word, sign in (("more", 1), ("fewer", -1)) if (names := _changed(groups, sign))]
    return "; ".join(parts)


def _changed(groups: Mapping[str, GroupDifference], sign: int) -> str:
    changed = {name: sign * (one.n_failed[1] - one.n_failed[0]) for name, one in groups.items()}
    names = sorted((name for name in changed if changed[name] > 0), key=lambda name: -changed[name])
    shown = ((name, groups[name], ARROW.join(map(str, groups[name].n_failed))) for name in names[:_N_CHANGED])
    return ", ".join(f"{name} ({failed} of {group.figure.n_pairs})" for name, group, failed in shown)


def metric_text(metric: FigureDifference) -> str:
    """A metric of both models, with its difference and over how many pairs."""
    before, after, step = figure_texts(metric)
    ends = f" ({ends_text(metric, metric.interval)})" if metric.interval else ""
    pairs = f", {quantity(metric.n_pairs, 'pairs')}" if metric.n_pairs else ""
    return f"{before}{ARROW}{after}" + ("" if metric.difference is None else f": {step}{ends}") + pairs


def margin_text(comparison: Comparison, gate: GateDecision) -> str:
    """What the gate decided, with the numbers it went by."""
    figure, numbers = comparison.figure, ""
    if gate.value is not None:
        limit = step_text(figure, gate.limit).removeprefix("+")
        counted = WITH_UNDECIDED if gate.interval and comparison.pairs < comparison.n_shared else ""
        ends = f"{ends_text(figure, gate.interval)}{counted}"
        numbers = f"difference {figure_texts(figure)[2]} ({ends}), limit {limit}"
    needed = pairs_text(gate) if gate.decision == INCONCLUSIVE else ""
    return f"{gate.decision}: {'; '.join(filter(None, (numbers, str(gate.reason), needed)))}"


def trusts_text(comparison: Comparison) -> str:
    """The trust in both failure rates, with the codes of its reasons; empty where both are ok."""
    parts = []
    for role, entrant in (("baseline", comparison.baseline), ("candidate", comparison.candidate)):
        trust = entrant.figures.trust
        if trust.status != OK:
            codes = ", ".join(reason.code for reason in trust.reasons)
            parts.append(f"{trust.status} in the {role} [{codes}]")
    return "; ".join(parts)


def title_of(compared: ComparedRuns) -> str:
    """What is compared."""
    if compared.only is None:
        return f"{compared.baseline.title}{ARROW}{len(compared.comparisons)} candidates"
    return pair_title(compared.only)


def pair_title(comparison: Comparison) -> str:
    """Who is compared: the baseline, then the candidate."""
    return f"{comparison.baseline.title}{ARROW}{comparison.candidate.title}"
