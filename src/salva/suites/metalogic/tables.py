"""Metric: MetaLogic's tables of one model, by law, modifier and number of entities, with the published figures.

Published figures are shown only under the rule they were measured by; they are means over the logic categories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.core.about import About
from salva.core.judgements import Judgements
from salva.core.metric import LOWER, MetricValue, not_measured
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.result import Result
from salva.core.table import Table
from salva.core.verdict import OPTICAL_CHARACTER
from salva.results.rates import MACRO, failure_rate
from salva.results.tables import RATES, TableColumns, build_table, ends, group_by, present
from salva.results.tally import mean_of_categories
from salva.suites.metalogic.charts import charts_of

LAWS = ("commutative", "associative", "distributive", "complement", "de-morgan")
MODIFIERS = ("and", "or", "x", "y")
NUMBERING = "numbering"
N_LOGIC_CATEGORIES = len(LAWS) * len(MODIFIERS)
MISALIGNED = "misaligned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One figure of the MetaLogic paper."""

    figure: str
    value: str
    where: str
    ours: str = ""
    """Which of our numbers it is compared with; empty where none is defined in the same way."""


PUBLISHED = (
    Published(figure="misaligned, Flux.dev", value="59 %", where="section 4.2", ours="macro"),
    Published(figure="misaligned, DALLE-3", value="71 %", where="section 4.2", ours="macro"),
    Published(figure="misaligned, both models", value="65 %", where="section 4.2", ours="macro"),
    Published(figure="distributive, both models", value="86 %", where="section 7", ours="law:distributive"),
    Published(figure="associative, both models", value="73 %", where="section 7", ours="law:associative"),
    Published(figure="De Morgan, both models", value="59 %", where="section 7", ours="law:de-morgan"),
    Published(figure="complement, both models", value="52 %", where="section 7", ours="law:complement"),
    Published(figure="commutative, both models", value="54 %", where="section 7", ours="law:commutative"),
    Published(figure="AND, Flux.dev", value="21 %", where="section 4.2", ours="modifier:and"),
    Published(figure="vertical, Flux.dev, average", value="63 %", where="section 4.2", ours="modifier:y"),
    Published(figure="horizontal, Flux.dev, up to", value="85 %", where="section 4.2", ours="modifier:x"),
    Published(figure="AND, both models", value="45.8 %", where="section 4.2", ours="modifier:and"),
    Published(figure="OR, both models", value="65.3 %", where="section 4.2", ours="modifier:or"),
    Published(figure="AND, stated again", value="46 %", where="section 5", ours="modifier:and"),
    Published(figure="OR, stated again", value="75 %", where="section 5", ours="modifier:or"),
    Published(figure="AND, stated a third time", value="45 %", where="section 7", ours="modifier:and"),
    Published(figure="OR, stated a third time", value="62 %", where="section 7", ours="modifier:or"),
    Published(figure="numbering, one entity", value="about 10 %", where="section 4.4", ours="count:1"),
    Published(
        figure="numbering, seven or more", value="over 70 % (under 30 % aligned)", where="section 4.4", ours="count:7+"
    ),
    Published(figure="text in the image", value="8 %", where="section 5", ours="text"),
)
_BOTH_MODELS = 0.65


class MetaLogicTables:
    """Law by modifier, AND against OR, the curve over numbers, and the published figures."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(metrics={MISALIGNED: LOWER})

    def __init__(self, options: NoOptions) -> None:
        self._options = options

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
        charts = charts_of(tables, mean_of_categories(logic))
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
        reason="as the paper: the mean over the logic categories",
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
        rows=tuple(
            (p.figure, p.value, p.where, _ours(p.ours, own, numbering, has_reader=has_reader)) for p in PUBLISHED
        ),
        note="As published, by the rule of this run; averages over categories.",
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
