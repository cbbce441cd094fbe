"""Metric: how often checks failed, for any suite: rates with intervals and bounds, failure types, control, findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from salva.core.case import Case, unit_of
from salva.core.judgements import CaseVerdict, Judgements, Rate
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.table import Cell, Table
from salva.core.verdict import Outcome, observers_text
from salva.results.control import compared_controls, excess_of
from salva.results.headline import by_observers, is_open, of_main_observers
from salva.results.metrics.control_table import control_table
from salva.results.metrics.rate_charts import rate_charts
from salva.results.metrics.wording_table import wording_table
from salva.results.pair_kinds import PairKind, pair_kind
from salva.results.rates import headline_figure
from salva.results.tables import (
    RATES,
    TableColumns,
    build_table,
    ends,
    group_by,
    group_by_each,
    named,
    present,
    rows_table,
)
from salva.results.tally import RATE_NOTE, Tally, macro_rate, tally
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
        leading = judgements.headline
        total, macro, excess = tally(leading), macro_rate(leading), excess_of(compared_controls(judgements))
        numbers: dict[str, float | None] = {"failure_rate": total.rate}
        numbers |= _ends("failure", total.interval()) | _ends("bound", total.bounds())
        numbers |= {"macro_rate": macro.rate, "n_categories": macro.n_categories} | _ends("macro", macro.interval)
        numbers |= {"excess": excess.excess if excess else None}
        numbers |= _ends("excess", excess.interval if excess else None)
        numbers |= {"n_pairs": len(leading), "n_decided": total.n, "n_undecided": total.undecided}
        tables = present(
            _outcomes(judgements),
            _by_category(judgements.speaking),
            _failure_types(leading),
            wording_table(judgements),
            control_table(of_main_observers(judgements.controls), judgements.pairs),
            _checks_compared(judgements),
            _deciders(judgements),
            _findings(judgements.cases),
            _reasons(judgements),
            _by_observers(judgements),
        )
        return Measured(tables=tables, numbers=numbers, charts=tuple(rate_charts(tables)))


def _outcomes(judgements: Judgements) -> Table | None:
    by_check = group_by(of_main_observers(judgements.pairs), lambda judged: judged.verdict.check)
    led, figure = tally(judgements.headline), headline_figure(judgements)
    rows = [("headline", led)]
    if judgements.beside and judgements.apart:
        rows.append((f"{judgements.apart[1]}, counted apart", tally(judgements.beside)))
    rows += [(name, tally(group)) for name, group in by_check.items()]

    def cells(counted: Tally) -> tuple[Cell, ...]:
        # A plain share that leads has the interval it leads with, whatever its categories.
        is_leading = counted is led and figure is not None and figure.rate == led.rate
        interval = figure.interval if is_leading and figure else None
        counts = (counted.outcomes[outcome] for outcome in Outcome)
        return (*counts, counted.rate, *ends(interval or counted.interval()), *ends(counted.bounds()))

    return build_table(
        "outcomes",
        ("check",),
        [((name,), counted) for name, counted in rows],
        TableColumns((*map(str, Outcome), "rate", "low", "high", "bound_low", "bound_high"), cells),
        note=f"{RATE_NOTE} Only PASS and FAIL count; the bounds are the rate if all the others had passed, and "
        "if all had failed. The headline is what the leading rate is over; a check's row is all that it judged.",
    )


def _by_category(leading: Sequence[CaseVerdict]) -> Table:
    groups = group_by(leading, lambda judged: judged.case.category)
    return build_table("by category", ("category",), named(groups), RATES, note=RATE_NOTE) or Table(
        name="by category", columns=("category", *RATES.names), rows=()
    )


def _failure_types(leading: Sequence[CaseVerdict]) -> Table | None:
    failed = [judged.verdict for judged in leading if judged.verdict.outcome is Outcome.FAIL]
    counts = Counter(failure_type for verdict in failed for failure_type in dict.fromkeys(verdict.failure_types))
    n_decided, unit = tally(leading).n, unit_of(judged.case for judged in leading)
    return rows_table(
        "error types",
        ("error", "n", "share_of_fail", f"share_of_{unit}"),
        ((failure_type, n, n / len(failed), n / n_decided) for failure_type, n in counts.most_common()),
        note="One verdict can show several errors.",
    )


def _checks_compared(judgements: Judgements) -> Table | None:
    """How correct the images of a pair are against whether they agree."""
    wrong, inconsistent = (judgements.of_rate(rate) for rate in (Rate.WRONG, Rate.INCONSISTENT))
    seen = of_main_observers(judgements.pairs)
    agreed = {_key(judged): judged.verdict.outcome for judged in seen if judged.verdict.check == inconsistent}
    held = [judged for judged in seen if judged.verdict.check == wrong and len(judged.case.prompts) == 2]
    if not held or not inconsistent:
        return None
    counts = Counter((pair_kind(judged.verdict), str(agreed.get(_key(judged), "none"))) for judged in held)
    outcomes = (*map(str, Outcome), "none")
    by_kind = {str(kind): [counts[kind, outcome] for outcome in outcomes] for kind in PairKind}
    return rows_table(
        f"{inconsistent} against {wrong}",
        (wrong, *(f"{inconsistent} {outcome}" for outcome in outcomes), "n"),
        [(kind, *numbers, sum(numbers)) for kind, numbers in by_kind.items() if any(numbers)],
        title="Two checks of one pair",
        note=f"Two images can agree and both be wrong: {inconsistent} cannot see that, {wrong} can. "
        f"'none' are pairs that {inconsistent} does not judge.",
    )


def _deciders(judgements: Judgements) -> Table | None:
    return build_table(
        "decided by",
        ("check", "why"),
        group_by(judgements.speaking, lambda judged: (judged.verdict.check, _why(judged, judgements))).items(),
        TableColumns(("cases",), lambda group: (len({judged.case.case_id for judged in group}),)),
        RATES,
        note=RATE_NOTE,
    )


def _why(judged: CaseVerdict, judgements: Judgements) -> str:
    case, verdict = judged
    rate = judgements.rate_of(verdict.check)
    if verdict.check == judgements.chosen:
        return "the run asked for this check"
    if is_open(judged, rate):
        return "several worlds fit the prompts, so two correct images may differ"
    if verdict.check == case.check:
        return "the case's own check"
    if rate is Rate.WRONG:
        return "each image is compared with its own prompt"
    return "the run asked for this check"


def _findings(cases: Iterable[Case]) -> Table | None:
    groups = group_by_each(cases, lambda case: dict.fromkeys(finding.shared for finding in case.findings))
    rows = [(text, len(group), group[0].case_id) for text, group in groups.items()]
    return rows_table(
        "findings",
        ("finding", "cases", "for example"),
        _commonest(rows, 1, lambda n_more, n: (f"({n_more} more findings)", n, "")),
        title="What logic says about the prompts",
        note="Found by the logic core before any image was generated; "
        "e1, e2 and e3 stand for the entities of a case, in order.",
    )


def _commonest(
    rows: Iterable[tuple[Cell, ...]], at: int, rest: Callable[[int, int], tuple[Cell, ...]]
) -> list[tuple[Cell, ...]]:
    """The rows with the highest counts, and one for all others; at: the column of the counts."""
    ordered = sorted(rows, key=lambda row: -int(row[at] or 0))
    more = ordered[MAX_ROWS:]
    return [*ordered[:MAX_ROWS], *([rest(len(more), sum(int(row[at] or 0) for row in more))] if more else [])]


def _reasons(judgements: Judgements) -> Table | None:
    """Why verdicts that speak are undecided, and what broke where others failed."""
    leading = {judged.verdict.check for judged in judgements.speaking}
    others = [v for _, v in judgements.pairs if v.outcome is Outcome.ERROR and v.check not in leading]
    undecided = [v for _, v in judgements.speaking if v.outcome in (Outcome.UNDECIDED, Outcome.ERROR)]
    counts = Counter((str(v.outcome), v.reason) for v in undecided if v.reason)
    counts.update((f"{v.outcome} ({v.check})", v.reason) for v in others)
    rows = [(outcome, reason, n) for (outcome, reason), n in counts.items()]
    return rows_table(
        "undecided",
        ("outcome", "reason", "n"),
        _commonest(rows, 2, lambda n_more, n: ("", f"({n_more} more reasons)", n)),
        title="What could not be decided",
    )


def _by_observers(judgements: Judgements) -> Table | None:
    groups = by_observers(judgements)
    if len(groups) == len({check for check, _ in groups}):
        return None
    return build_table(
        "by observers",
        ("check", "observers"),
        [((check, observers_text(observers)), group) for (check, observers), group in groups.items()],
        RATES,
        note="The same images, judged by other observers; what was decided without a judge counts for each. The "
        f"headline follows those with most verdicts. {RATE_NOTE}",
    )


def _key(judged: CaseVerdict) -> tuple[str, int]:
    return judged.case.case_id, judged.verdict.repeat


def _ends(name: str, interval: Interval | None) -> dict[str, float | None]:
    low, high = ends(interval)
    return {f"{name}_low": low, f"{name}_high": high}
