"""Metric: how often checks broke, for any suite.

Takes the verdicts on one model, gives the headline rate with interval and bounds,
its macro average, what rewording does, and the tables behind them. Knows no suite's
laws; tables by law and modifier are another metric's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import ClassVar

from salva.core.case import Case, unit_of
from salva.core.judged import Judged, Judgements, Rate
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.table import Cell, Table
from salva.core.verdict import Outcome, observers_text
from salva.results.control import compared_controls, excess_of
from salva.results.headline import by_observers, is_open, main_observers, of_main_observers
from salva.results.metrics.doubt_table import doubt_table
from salva.results.metrics.rate_charts import rate_charts
from salva.results.metrics.wording_table import wording_table
from salva.results.pair_kinds import PairKind, pair_kind
from salva.results.rates import headline_figure
from salva.results.tally import RATE_COLUMNS, RATE_NOTE, Tally, macro_rate, tally, tally_by
from salva.stats.intervals import Interval

MAX_ROWS = 40
"""Findings and reasons beyond this are summed up in a last row."""


class FailureRates:
    """Rates, errors, control and what could not be decided."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        self._options = options

    def measure(self, judgements: Judgements) -> Measured:
        """Tables and numbers for the report."""
        pairs, leading = judgements.pairs, judgements.headline
        total, macro, excess = tally(leading), macro_rate(leading), excess_of(compared_controls(judgements))
        numbers: dict[str, float | None] = {"failure_rate": total.rate}
        numbers |= _ends("failure", total.interval()) | _ends("bound", total.bounds())
        numbers |= {"macro_rate": macro.rate, "n_categories": macro.n_categories} | _ends("macro", macro.interval)
        numbers |= {"excess": excess.excess if excess else None}
        numbers |= _ends("excess", excess.interval if excess else None)
        numbers |= {"n_pairs": len(leading), "n_decided": total.n, "n_undecided": total.undecided}
        tables = (
            _outcomes(judgements),
            _by_category(judgements.speaking),
            _errors(leading),
            wording_table(judgements),
            doubt_table(judgements),
            control_table(of_main_observers(judgements.controls), pairs),
            _checks_compared(judgements),
            _deciders(judgements),
            _findings(judgements.cases),
            _reasons(judgements),
            _by_observers(judgements),
        )
        made = tuple(table for table in tables if table is not None)
        return Measured(tables=made, numbers=numbers, charts=tuple(rate_charts(made)))


def control_table(controls: Sequence[Judged], pairs: Sequence[Judged]) -> Table | None:
    """How far apart the wordings are by check, with their disagreement at the same seed beside it."""
    rows: list[tuple[Cell, ...]] = []
    main = main_observers(pairs)
    for check in dict.fromkeys(judged.verdict.check for judged in controls):
        group = [judged for judged in controls if judged.verdict.check == check]
        excess = excess_of(group)
        if excess is None:
            continue
        compared = {judged.case.case_id for judged in group}
        same_seed = tally(
            judged
            for judged in pairs
            if judged.verdict.check == check
            and judged.verdict.observers == main[check]
            and judged.case.case_id in compared
        )
        shares = (excess.between, excess.within_a, excess.within_b, excess.excess)
        rows.append((check, excess.n, *shares, *_pair(excess.interval), same_seed.rate, *_pair(same_seed.interval())))
    if not rows:
        return None
    return Table(
        name="control",
        columns=(
            "check",
            "n",
            "differs_between",
            "differs_within_a",
            "differs_within_b",
            "squared_distance",
            "low",
            "high",
            "same_seed_rate",
            "same_seed_low",
            "same_seed_high",
        ),
        rows=tuple(rows),
        note="How often two pictures differ: other wording and other seed, same wording and other seed. What the first "
        "has more than the mean of the others is half the squared distance of what the two wordings show; a difference "
        "of rates is in the table of wordings. The same-seed rate, of two wordings under one seed, has its "
        "interval for these prompts under other seeds.",
    )


def _outcomes(judgements: Judgements) -> Table:
    def row(name: str, counted: Tally, interval: Interval | None = None) -> tuple[Cell, ...]:
        counts = [counted.outcomes[outcome] for outcome in Outcome]
        ends = (*_pair(interval or counted.interval()), *_pair(counted.bounds()))
        return (name, *counts, counted.rate, *ends)

    by_check = tally_by(of_main_observers(judgements.pairs), lambda judged: judged.verdict.check)
    led, figure = tally(judgements.headline), headline_figure(judgements)
    # A plain share that leads has the interval it leads with, whatever its categories.
    rows = [row("headline", led, figure.interval if figure and figure.rate == led.rate else None)]
    if judgements.beside and judgements.apart:
        rows.append(row(f"{judgements.apart[1]}, counted apart", tally(judgements.beside)))
    rows += [row(name, counted) for name, counted in by_check.items()]
    return Table(
        name="outcomes",
        columns=("check", *map(str, Outcome), "rate", "low", "high", "bound_low", "bound_high"),
        rows=tuple(rows),
        note=f"{RATE_NOTE} Only PASS and FAIL enter one; the bounds are the rate if all the others had held, and "
        "if all had broken. The headline is what the leading rate is over; a check's row is all that it judged.",
    )


def _by_category(leading: Sequence[Judged]) -> Table:
    groups = tally_by(leading, lambda judged: judged.case.category)
    return Table(
        name="by category",
        columns=("category", *RATE_COLUMNS),
        rows=tuple((name, *counted.cells()) for name, counted in groups.items()),
        note=RATE_NOTE,
    )


def _errors(leading: Sequence[Judged]) -> Table | None:
    failed = [judged.verdict for judged in leading if judged.verdict.outcome is Outcome.FAIL]
    counts = Counter(error for verdict in failed for error in dict.fromkeys(verdict.failure_types))
    if not counts:
        return None
    n_decided, unit = tally(leading).n, unit_of(judged.case for judged in leading)
    return Table(
        name="error types",
        columns=("error", "n", "share_of_fail", f"share_of_{unit}"),
        rows=tuple((error, n, n / len(failed), n / n_decided) for error, n in counts.most_common()),
        note="One verdict can show several errors.",
    )


def _checks_compared(judgements: Judgements) -> Table | None:
    """How right the pictures of a pair are against whether they agree; both are about pairs."""
    wrong, inconsistent = (judgements.of_rate(rate) for rate in (Rate.WRONG, Rate.INCONSISTENT))
    seen = of_main_observers(judgements.pairs)
    agreed = {_key(judged): judged.verdict.outcome for judged in seen if judged.verdict.check == inconsistent}
    held = [judged for judged in seen if judged.verdict.check == wrong and len(judged.case.prompts) == 2]
    if not held or not inconsistent:
        return None
    counts = Counter((pair_kind(judged.verdict), str(agreed.get(_key(judged), "none"))) for judged in held)
    columns = (*map(str, Outcome), "none")
    kinds = [kind for kind in PairKind if any(counts[kind, column] for column in columns)]
    return Table(
        name=f"{inconsistent} against {wrong}",
        title="Two ways to judge one pair",
        columns=(wrong, *(f"{inconsistent} {column}" for column in columns), "n"),
        rows=tuple(
            (str(kind), *(counts[kind, column] for column in columns), sum(counts[kind, column] for column in columns))
            for kind in kinds
        ),
        note=f"Two pictures can agree and both be wrong: {inconsistent} cannot see that, {wrong} can. "
        f"'none' are pairs that {inconsistent} does not judge.",
    )


def _deciders(judgements: Judgements) -> Table:
    groups: dict[tuple[str, str], list[Judged]] = {}
    for judged in judgements.speaking:
        groups.setdefault((judged.verdict.check, _why(judged, judgements)), []).append(judged)
    return Table(
        name="decided by",
        columns=("check", "why", "cases", *RATE_COLUMNS),
        rows=tuple(
            (check, why, len({judged.case.case_id for judged in group}), *tally(group).cells())
            for (check, why), group in groups.items()
        ),
        note=RATE_NOTE,
    )


def _why(judged: Judged, judgements: Judgements) -> str:
    case, verdict = judged
    rate = judgements.rate_of(verdict.check)
    if verdict.check == judgements.chosen:
        return "the run asked for this check"
    if is_open(judged, rate):
        return "several worlds fit the prompts, so two right pictures may differ"
    if verdict.check == case.check:
        return "the case's own check"
    if rate is Rate.WRONG:
        return "each picture is held against its own prompt"
    return "the run asked for this check"


def _findings(cases: Iterable[Case]) -> Table | None:
    examples: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for case in cases:
        for sentence in dict.fromkeys(finding.shared for finding in case.findings):
            counts[sentence] += 1
            examples.setdefault(sentence, case.case_id)
    if not counts:
        return None
    rows: list[tuple[Cell, ...]] = [(text, n, examples[text]) for text, n in counts.most_common(MAX_ROWS)]
    if len(counts) > MAX_ROWS:
        rest = sum(counts.values()) - sum(n for _, n in counts.most_common(MAX_ROWS))
        rows.append((f"({len(counts) - MAX_ROWS} more findings)", rest, ""))
    return Table(
        name="findings",
        title="What logic says about the prompts",
        columns=("finding", "cases", "for example"),
        rows=tuple(rows),
        note="What the logic core has to say about the prompts, before any picture was painted; "
        "e1, e2 and e3 stand for the things a case is about, in order.",
    )


def _reasons(judgements: Judgements) -> Table | None:
    """Why verdicts that speak are undecided, and what broke where others failed."""
    leading = {judged.verdict.check for judged in judgements.speaking}
    others = [v for _, v in judgements.pairs if v.outcome is Outcome.ERROR and v.check not in leading]
    undecided = [v for _, v in judgements.speaking if v.outcome in (Outcome.UNDECIDED, Outcome.ERROR)]
    counts = Counter((str(v.outcome), v.reason) for v in undecided if v.reason)
    counts.update((f"{v.outcome} ({v.check})", v.reason) for v in others)
    if not counts:
        return None
    rows: list[tuple[Cell, ...]] = [(outcome, reason, n) for (outcome, reason), n in counts.most_common(MAX_ROWS)]
    if len(counts) > MAX_ROWS:
        rest = sum(counts.values()) - sum(n for _, n in counts.most_common(MAX_ROWS))
        rows.append(("", f"({len(counts) - MAX_ROWS} more reasons)", rest))
    title = "What could not be decided"
    return Table(name="undecided", title=title, columns=("outcome", "reason", "n"), rows=tuple(rows))


def _by_observers(judgements: Judgements) -> Table | None:
    groups = by_observers(judgements)
    if len(groups) == len({check for check, _ in groups}):
        return None
    return Table(
        name="by observers",
        columns=("check", "observers", *RATE_COLUMNS),
        rows=tuple(
            (check, observers_text(observers), *tally(group).cells()) for (check, observers), group in groups.items()
        ),
        note="The same images, judged through other eyes; what was told without a judge counts for each. The headline "
        f"follows those with most verdicts. {RATE_NOTE}",
    )


def _key(judged: Judged) -> tuple[str, int]:
    return judged.case.case_id, judged.verdict.repeat


def _pair(interval: Interval | None) -> tuple[float | None, float | None]:
    return (interval.low, interval.high) if interval else (None, None)


def _ends(name: str, interval: Interval | None) -> dict[str, float | None]:
    low, high = _pair(interval)
    return {f"{name}_low": low, f"{name}_high": high}
