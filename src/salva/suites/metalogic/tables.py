"""Metric: MetaLogic's tables of one model, by law, modifier and number of entities, with the published figures.

The macro rate is the mean over the logic categories without numbering, as the published averages are. Published
figures are shown only under the rule they were measured by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.core.judgements import CaseVerdict, Judgements
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.table import KeyFigure, Table
from salva.core.verdict import OPTICAL_CHARACTER, Outcome
from salva.results.tables import RATES, TableColumns, build_table, ends, group_by, present
from salva.results.tally import Tally, category_mean, macro_rate, tally
from salva.suites.metalogic.charts import charts_of

LAWS = ("commutative", "associative", "distributive", "complement", "de-morgan")
MODIFIERS = ("and", "or", "x", "y")
NUMBERING = "numbering"
N_LOGIC_CATEGORIES = len(LAWS) * len(MODIFIERS)
PAPERS_CHECK = "same-scene"


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


class MetaLogicTables:
    """Law by modifier, AND against OR, the curve over numbers, and the published figures."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        self._options = options

    def measure(self, judgements: Judgements) -> Measured:
        """Tables and numbers for the report; macro_rate here is over the logic categories alone."""
        leading = judgements.speaking
        compares_all = judgements.options_of(PAPERS_CHECK).get("scope") == "all"
        logic = [pair for pair in leading if pair.case.labels.get("law") != NUMBERING]
        numbering = [pair for pair in leading if pair.case.labels.get("law") == NUMBERING]
        numbers: dict[str, float | None] = {}
        if logic:
            numbers |= _macro("", logic) | {"logic_rate": tally(logic).rate}
        if numbering:
            numbers |= _macro("numbering_", numbering) | {"numbering_rate": tally(numbering).rate}
        tables = present(
            _rates("by law", ("law",), leading),
            _rates("by modifier", ("modifier",), logic),
            _rates("law by modifier", ("law", "modifier"), logic),
            _and_against_or(logic),
            _rates("numbering by count", ("count",), numbering),
            _rates("numbering by count and entity", ("entity", "count"), numbering),
            _published(logic, numbering, compares_all),
        )
        figures = _numbering_figure(numbers, tally(numbering))
        return Measured(tables=tables, numbers=numbers, charts=tuple(charts_of(tables, numbers)), key_figures=figures)


def _published(logic: Sequence[CaseVerdict], numbering: Sequence[CaseVerdict], compares_all: bool) -> Table | None:
    """The paper's figures and ours; None for a run that was not judged by its rule."""
    if {pair.case.labels.get("law") for pair in logic}.isdisjoint(LAWS) and not numbering:
        return None
    of_the_paper = [pair for pair in logic if pair.case.labels.get("law") in LAWS]
    by_papers_rule = compares_all and all(pair.verdict.check == PAPERS_CHECK for pair in [*of_the_paper, *numbering])
    if by_papers_rule and category_mean(of_the_paper).n_categories == N_LOGIC_CATEGORIES:
        return Table(
            name="reference",
            title="Compared with the published figures",
            columns=("figure", "published", "where", "ours"),
            rows=tuple((p.figure, p.value, p.where, _ours(p.ours, of_the_paper, numbering)) for p in PUBLISHED),
            note="As published, by the rule of this run; averages over categories.",
        )
    return None


def _numbering_figure(numbers: Mapping[str, float | None], counted: Tally) -> tuple[KeyFigure, ...]:
    rate = numbers.get("numbering_macro_rate")
    if rate is None:
        return ()
    title = f"numbering, macro average over {numbers['numbering_n_categories']:g} categories"
    low, high = numbers["numbering_macro_low"], numbers["numbering_macro_high"]
    undecided = f", {counted.undecided} undecided" if counted.undecided else ""
    note = f"{counted.n} decided pairs{undecided}; not in the headline rate"
    return (KeyFigure(title=title, value=rate, low=low, high=high, is_share=True, is_aside=True, note=note),)


def _ours(which: str, logic: Sequence[CaseVerdict], numbering: Sequence[CaseVerdict]) -> float | None:
    kind, _, value = which.partition(":")
    match kind:
        case "macro":
            return category_mean(logic).rate
        case "law" | "modifier":
            return category_mean([pair for pair in logic if pair.case.labels.get(kind) == value]).rate
        case "count":
            wanted = {value} if not value.endswith("+") else {str(n) for n in range(int(value[:-1]), 100)}
            return category_mean([pair for pair in numbering if pair.case.labels.get("count") in wanted]).rate
        case "text":
            decided = [pair.verdict for pair in logic if pair.verdict.outcome in (Outcome.PASS, Outcome.FAIL)]
            return (
                sum(OPTICAL_CHARACTER in verdict.failure_types for verdict in decided) / len(decided)
                if decided
                else None
            )
    return None


def _rates(name: str, labels: tuple[str, ...], judged: Sequence[CaseVerdict]) -> Table | None:
    def key(pair: CaseVerdict) -> tuple[str, ...] | None:
        values = tuple(pair.case.labels.get(label, "") for label in labels)
        return values if all(values) else None

    return build_table(name, labels, _ordered(group_by(judged, key)), RATES)


def _ordered(groups: Mapping[tuple[str, ...], list[CaseVerdict]]) -> list[tuple[tuple[str, ...], list[CaseVerdict]]]:
    """The paper's order for laws and modifiers, numbers as numbers, the rest by name."""
    order = (*LAWS, NUMBERING, *MODIFIERS)

    def rank(value: str) -> tuple[int, str]:
        return (order.index(value) if value in order else int(value) if value.isdecimal() else 99, value)

    return sorted(groups.items(), key=lambda group: tuple(map(rank, group[0])))


def _and_against_or(logic: Sequence[CaseVerdict]) -> Table | None:
    groups = group_by(logic, lambda pair: pair.case.labels.get("modifier"))
    if not {"and", "or"} <= groups.keys():
        return None
    return build_table(
        "and against or",
        ("modifier",),
        [((modifier,), groups[modifier]) for modifier in ("and", "or")],
        RATES,
        TableColumns(("macro_rate",), lambda group: (category_mean(group).rate,)),
        note="Variants without places.",
    )


def _macro(prefix: str, judged: Sequence[CaseVerdict]) -> dict[str, float | None]:
    macro = macro_rate(judged)
    low, high = ends(macro.interval)
    return {
        f"{prefix}macro_rate": macro.rate,
        f"{prefix}macro_low": low,
        f"{prefix}macro_high": high,
        f"{prefix}n_categories": macro.n_categories,
    }
