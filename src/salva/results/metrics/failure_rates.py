"""Metric: what stands beside the failure rate in every suite: agreement, chance, wording, and the general tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from salva.core.about import About
from salva.core.case import Case, unit_of
from salva.core.judgements import CaseVerdict, Judgements
from salva.core.metric import HIGHER, LOWER, MetricValue, not_measured
from salva.core.options import WithoutOptions
from salva.core.protocols import Measured
from salva.core.result import Result, counted
from salva.core.table import Cell, Table
from salva.core.verdict import Outcome
from salva.results.agreement import (
    BOTH_WRONG,
    INCONSISTENT,
    both_wrong_results,
    inconsistent_results,
)
from salva.results.chance import CHANCE, chance_of, chance_to_differ
from salva.results.control import compared_controls, excess_of
from salva.results.metrics.control_table import control_table
from salva.results.metrics.rate_charts import rate_charts
from salva.results.metrics.wording_table import wording_table
from salva.results.nouns_only import NOUNS_ONLY, SKILL, nouns_only_metrics
from salva.results.rates import MACRO, FailureRate, failure_rate
from salva.results.tables import RATES, TableColumns, build_table, ends, group_by, group_by_each, present, rows_table
from salva.results.tally import RATE_NOTE, rate_cells, results_of_check
from salva.results.wordings import wording_difference

MAX_ROWS = 40
"""Findings and reasons beyond this are summed up in a last row."""
WORDING_EFFECT, WORDING_DISTANCE = "wording_effect", "wording_distance"
_Rest = Callable[[int, int], tuple[Cell, ...]]
"""The last row of a table that is cut: how many rows are left out, and their sum."""


class FailureRates(WithoutOptions):
    """Agreement of images, chance, the effect of the wording, and tables by category, type and check."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        metrics={
            INCONSISTENT: LOWER,
            BOTH_WRONG: LOWER,
            CHANCE: "",
            NOUNS_ONLY: "",
            SKILL: HIGHER,
            WORDING_EFFECT: "",
            WORDING_DISTANCE: LOWER,
        }
    )

    def measure(self, judgements: Judgements) -> Measured:
        """Metrics, tables and charts for the report."""
        results = judgements.results
        tables = present(
            _by_category(results),
            _failure_types(results),
            _by_method(results),
            _checks(judgements),
            wording_table(judgements),
            control_table(judgements),
            _findings(judgements.cases),
            _undecided(results),
            _by_observers(judgements),
        )
        metrics = {
            **agreement(judgements),
            CHANCE: _chance(judgements),
            **nouns_only_metrics(judgements),
            WORDING_EFFECT: _wording_effect(judgements),
            **_wording_distance(judgements),
        }
        return Measured(metrics=metrics, tables=tables, charts=tuple(rate_charts(tables)))


def agreement(judgements: Judgements) -> dict[str, MetricValue]:
    """How often the images of a pair disagree, and how often they agree and neither shows its prompt."""
    disagree = inconsistent_results(judgements)
    if not disagree:
        none = "no pair of images was compared"
        return {name: not_measured(none, better=LOWER) for name in (INCONSISTENT, BOTH_WRONG)}
    average = judgements.average
    wrong = [result for result in both_wrong_results(judgements) if result.is_decided]
    metrics = {INCONSISTENT: _share(failure_rate(disagree, average), "the two images of a pair disagree")}
    if wrong:
        metrics[BOTH_WRONG] = _share(failure_rate(wrong, average), "the images agree and neither shows its prompt")
    else:
        metrics[BOTH_WRONG] = not_measured("no check says which images are right", better=LOWER)
    return metrics


def _share(rate: FailureRate, reason: str) -> MetricValue:
    low, high = ends(rate.interval)
    return MetricValue(value=rate.rate, low=low, high=high, n=rate.n, better=LOWER, is_share=True, reason=reason)


def _chance(judgements: Judgements) -> MetricValue:
    held = [case for case in judgements.cases if all(prompt.formula for prompt in case.prompts)]
    check = judgements.checks.get(judgements.rule.check)
    if check is not None and check.compares:
        compared = {result.case.case_id for result in judgements.results if result.is_decided}
        shown = [case for case in held if case.case_id in compared]
        counts, is_all = str(check.options.get("counts") or ""), check.options.get("scope") == "all"
        value = chance_to_differ(shown, held, counts=counts, is_all=is_all)
        reason = "how often images of other pairs disagree"
    else:
        value = chance_of(held, judgements.counts, is_pooled=judgements.average != MACRO)
        reason = "right images, shuffled within the suite"
    if value is None:
        return not_measured("these prompts have no formulas", title="shuffled images")
    return MetricValue(value=value, n=len(held), is_share=True, reason=reason, title="shuffled images")


def _wording_effect(judgements: Judgements) -> MetricValue:
    wording = wording_difference(judgements)
    if wording is None:
        return not_measured("no check says which images are right", title="second wording worse by")
    low, high = ends(wording.interval)
    return MetricValue(
        value=wording.difference,
        low=low,
        high=high,
        n=wording.n,
        is_difference=True,
        reason=f"seed noise is not known: {why}" if (why := wording.why_no_seed_noise) else "",
        title="second wording worse by",
    )


def _wording_distance(judgements: Judgements) -> dict[str, MetricValue]:
    """Half the squared distance of what two wordings show, without seed noise; only with --control."""
    excess = excess_of(compared_controls(judgements))
    if excess is None:
        return {}
    low, high = ends(excess.interval)
    reason = "half the squared distance, without seed noise"
    distance = MetricValue(value=excess.excess, low=low, high=high, n=excess.n, better=LOWER, reason=reason)
    return {WORDING_DISTANCE: distance}


def _by_category(results: Sequence[Result]) -> Table:
    groups = group_by(results, lambda result: result.case.category)
    table = build_table("by category", ("category",), [((name,), group) for name, group in groups.items()], RATES)
    return table or Table(name="by category", columns=("category", *RATES.names), rows=())


def _failure_types(results: Sequence[Result]) -> Table | None:
    failed = [result for result in results if result.is_fail]
    counts = Counter(failure_type for result in failed for failure_type in result.failure_types)
    n_decided, unit = sum(result.is_decided for result in results), unit_of(result.case for result in results)
    return rows_table(
        "failure types",
        ("failure_type", "n", "share_of_fail", f"share_of_{unit}"),
        ((failure_type, n, n / len(failed), n / n_decided) for failure_type, n in counts.most_common()),
        note="One result can show several failure types.",
    )


def _by_method(results: Sequence[Result]) -> Table | None:
    groups = group_by(results, lambda result: result.check or "none")
    if len(groups) < 2:
        return None
    return build_table(
        "by method",
        ("check",),
        [((name,), group) for name, group in groups.items()],
        TableColumns(("cases",), lambda group: (len({result.case.case_id for result in group}),)),
        RATES,
        title="Results by the check that made them",
        note=RATE_NOTE,
    )


def _checks(judgements: Judgements) -> Table | None:
    def cells(group: Sequence[CaseVerdict]) -> tuple[Cell, ...]:
        results = results_of_check(group)
        return (*counted(results).values(), *rate_cells(results)[2:5])

    return rows_table(
        "checks",
        ("check", *map(str, Outcome), "rate", "low", "high"),
        ((name, *cells(group)) for name in judgements.checks if (group := judgements.of_check(name))),
        title="All checks that judged",
        note=f"Only one of them makes the result of a case. {RATE_NOTE}",
    )


def _findings(cases: Iterable[Case]) -> Table | None:
    groups = group_by_each(cases, lambda case: dict.fromkeys(finding.shared for finding in case.findings))
    rows = [(text, len(group), group[0].case_id) for text, group in groups.items()]
    return rows_table(
        "findings",
        ("finding", "cases", "for example"),
        _commonest(rows, 1, lambda n_more, n: (f"({n_more} more findings)", n, "")),
        title="What logic says about the prompts",
        note="e1, e2 and e3 stand for the entities of a case.",
    )


def _undecided(results: Sequence[Result]) -> Table | None:
    """Why results are undecided or errors."""
    counts = Counter((str(result.outcome), result.reason) for result in results if result.reason)
    rows = [(outcome, reason, n) for (outcome, reason), n in counts.items()]
    return rows_table(
        "undecided",
        ("result", "reason", "n"),
        _commonest(rows, 2, lambda n_more, n: ("", f"({n_more} more reasons)", n)),
        title="What could not be decided",
    )


def _commonest(rows: Iterable[tuple[Cell, ...]], at: int, rest: _Rest) -> list[tuple[Cell, ...]]:
    """The rows with the highest counts, and one for all others; at: the column of the counts."""
    ordered = sorted(rows, key=lambda row: -int(row[at] or 0))
    more = ordered[MAX_ROWS:]
    return [*ordered[:MAX_ROWS], *([rest(len(more), sum(int(row[at] or 0) for row in more))] if more else [])]


def _by_observers(judgements: Judgements) -> Table | None:
    """Each check by each judge or detector, where there are several."""
    groups = group_by(judgements.pairs, lambda pair: (pair.verdict.check, judgements.observer_of(pair.verdict)))
    if len(groups) == len({check for check, _ in groups}):
        return None
    return build_table(
        "by observers",
        ("check", "observer"),
        [(key, results_of_check(group)) for key, group in groups.items()],
        RATES,
        note=f"The first observer named makes the results. {RATE_NOTE}",
    )
