"""Metric: MetaLogic's tables of one model, by law, modifier and number of entities, with the published figures.

Published figures are shown only under the rule they were measured by; they are means over the logic categories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from salva.core.about import About
from salva.core.judgements import Judgements
from salva.core.metric import LOWER, MetricValue, not_measured
from salva.core.options import WithoutOptions
from salva.core.protocols import Measured
from salva.core.result import Result
from salva.core.table import Table
from salva.core.verdict import OPTICAL_CHARACTER
from salva.results.rates import MACRO, failure_rate
from salva.results.tables import RATES, TableColumns, build_table, ends, group_by, present
from salva.results.tally import mean_of_categories
from salva.suites.metalogic.charts import charts_of
from salva.suites.metalogic.templates import LAWS, MODIFIERS

NUMBERING = "numbering"
N_LOGIC_CATEGORIES = len(LAWS) * len(MODIFIERS)
MISALIGNED = "misaligned"


PUBLISHED = (
    ("misaligned, Flux.dev", "59 %", "section 4.2", "macro"),
    ("misaligned, DALLE-3", "71 %", "section 4.2", "macro"),
    ("misaligned, both models", "65 %", "section 4.2", "macro"),
    ("distributive, both models", "86 %", "section 7", "law:distributive"),
    ("associative, both models", "73 %", "section 7", "law:associative"),
    ("De Morgan, both models", "59 %", "section 7", "law:de-morgan"),
    ("complement, both models", "52 %", "section 7", "law:complement"),
    ("commutative, both models", "54 %", "section 7", "law:commutative"),
    ("AND, Flux.dev", "21 %", "section 4.2", "modifier:and"),
    ("vertical, Flux.dev, average", "63 %", "section 4.2", "modifier:y"),
    ("horizontal, Flux.dev, up to", "85 %", "section 4.2", "modifier:x"),
    ("AND, both models", "45.8 %", "section 4.2", "modifier:and"),
    ("OR, both models", "65.3 %", "section 4.2", "modifier:or"),
    ("AND, stated again", "46 %", "section 5", "modifier:and"),
    ("OR, stated again", "75 %", "section 5", "modifier:or"),
    ("AND, stated a third time", "45 %", "section 7", "modifier:and"),
    ("OR, stated a third time", "62 %", "section 7", "modifier:or"),
    ("numbering, one entity", "about 10 %", "section 4.4", "count:1"),
    ("numbering, seven or more", "over 70 % (under 30 % aligned)", "section 4.4", "count:7+"),
    ("text in the image", "8 %", "section 5", "text"),
)
"""Figures of the paper: what it is, its value and place, and which of our numbers it is compared with."""
_BOTH_MODELS = 0.65


class MetaLogicTables(WithoutOptions):
    """Law by modifier, AND against OR, the curve over numbers, and the published figures."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(metrics={MISALIGNED: LOWER})

    def measure(self, judgements: Judgements) -> Measured:
        """Metrics, tables and charts for the report."""
        results = judgements.results
        logic = [result for result in results if result.case.labels.get("law") != NUMBERING]
        numbering = [result for result in results if result.case.labels.get("law") == NUMBERING]
        tables = present(
            _rates("by law", ("law",), results),
            _rates("by modifier", ("modifier",), logic),
            _rates("law by modifier", ("law", "modifier"), logic),
            _and_against_or(logic),
            _rates("numbering by count", ("count",), numbering),
            _rates("numbering by count and entity", ("entity", "count"), numbering),
            _reference(judgements, logic, numbering),
        )
        metrics = {MISALIGNED: _misaligned(judgements, logic)}
        charts = charts_of(tables, mean_of_categories(logic), results[0].model if results else "")
        return Measured(metrics=metrics, tables=tables, charts=tuple(charts))


def _misaligned(judgements: Judgements, logic: Sequence[Result]) -> MetricValue:
    """The paper's main figure, by its rule: the mean over the logic categories."""
    if not judgements.rule.is_published:
        return not_measured("the paper's rule is --published", better=LOWER, published=_BOTH_MODELS)
    rate = failure_rate(logic, MACRO)
    low, high = ends(rate.interval)
    return MetricValue(
        value=rate.rate,
        low=low,
        high=high,
        n=rate.n,
        better=LOWER,
        published=_BOTH_MODELS,
        is_share=True,
        published_of="Flux.dev and DALL-E 3",
        reason="mean over the logic categories",
        title="misaligned, without numbering",
    )


def _reference(judgements: Judgements, logic: Sequence[Result], numbering: Sequence[Result]) -> Table | None:
    """The paper's figures and ours; None for a run that was not judged by its rule, or not on all its categories."""
    if not judgements.rule.is_published:
        return None
    own = [result for result in logic if result.case.labels.get("law") in LAWS]
    if len({result.case.category for result in own if result.is_decided}) < N_LOGIC_CATEGORIES:
        return None
    has_reader = bool(judgements.observers.get("reader"))
    return Table(
        name="reference",
        title="Compared with the published figures",
        columns=("figure", "published", "where", "ours"),
        rows=tuple((*published, _ours(ours, own, numbering, has_reader=has_reader)) for *published, ours in PUBLISHED),
        note="Averages over categories.",
    )


def _ours(which: str, logic: Sequence[Result], numbering: Sequence[Result], *, has_reader: bool) -> float | str | None:
    kind, _, value = which.partition(":")
    match kind:
        case "macro":
            return mean_of_categories(logic)
        case "law" | "modifier":
            return mean_of_categories(result for result in logic if result.case.labels.get(kind) == value)
        case "count":
            wanted = {value} if not value.endswith("+") else {str(n) for n in range(int(value[:-1]), 100)}
            return _mean_by_entity_and_count(r for r in numbering if r.case.labels.get("count") in wanted)
        case "text":
            if not has_reader:
                return "not measured"
            decided = [result for result in logic if result.is_decided]
            shown = sum(OPTICAL_CHARACTER in result.failure_types for result in decided)
            return shown / len(decided) if decided else None
    return None


def _mean_by_entity_and_count(numbering: Iterable[Result]) -> float | None:
    """The mean over entities and numbers of their shares of FAIL: the paper counts each as a category."""
    groups = group_by(numbering, lambda result: (result.case.labels.get("entity"), result.case.labels.get("count")))
    rates = [rate for group in groups.values() if (rate := mean_of_categories(group)) is not None]
    return sum(rates) / len(rates) if rates else None


def _rates(name: str, labels: tuple[str, ...], results: Sequence[Result]) -> Table | None:
    def key(result: Result) -> tuple[str, ...] | None:
        values = tuple(result.case.labels.get(label, "") for label in labels)
        return values if all(values) else None

    return build_table(name, labels, _ordered(group_by(results, key)), RATES)


def _ordered(groups: Mapping[tuple[str, ...], list[Result]]) -> list[tuple[tuple[str, ...], list[Result]]]:
    """The paper's order for laws and modifiers, numbers as numbers, the rest by name."""
    order = (*LAWS, NUMBERING, *MODIFIERS)

    def rank(value: str) -> tuple[int, str]:
        return (order.index(value) if value in order else int(value) if value.isdecimal() else 99, value)

    return sorted(groups.items(), key=lambda group: tuple(map(rank, group[0])))


def _and_against_or(logic: Sequence[Result]) -> Table | None:
    groups = group_by(logic, lambda result: result.case.labels.get("modifier"))
    if not {"and", "or"} <= groups.keys():
        return None
    return build_table(
        "and against or",
        ("modifier",),
        [((modifier,), groups[modifier]) for modifier in ("and", "or")],
        RATES,
        TableColumns(("macro_rate",), lambda group: (mean_of_categories(group),)),
        note="Variants without places.",
    )
