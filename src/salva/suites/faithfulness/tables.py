"""Metric: faithfulness and stability by category, law and dimension, in the shape of the TIFA-lite tables.

Takes the verdicts on one model. A mean stands beside the number of pairs behind it and of those left out,
and CLIP scores beside the scale they are on. Contrasts, which must differ, stand apart from the laws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, NamedTuple

from salva.core.about import About
from salva.core.chart import Chart, ChartKind
from salva.core.judged import Judged, Judgements
from salva.core.options import NoOptions
from salva.core.own_figure import OwnFigure
from salva.core.protocols import Measured
from salva.core.table import Cell, KeyFigure, Table
from salva.core.verdict import observers_text
from salva.results.headline import main_observers, of_main_observers
from salva.results.tally import RATE_COLUMNS, cluster_of, tally_by
from salva.stats.intervals import Interval
from salva.stats.mean_intervals import cautious_mean_interval
from salva.stats.pair_scores import mean

SAME_ANSWERS, MUST_DIFFER, SAME_SIMILARITY = "same-answers", "must-differ", "same-similarity"
CONTRAST = "contrast"
_LAWS = ("commutative", "associative", "distributive", "complement", "de-morgan", CONTRAST)
_DIMENSIONS = ("conjunctive", "horizontal", "vertical", "attributes")
_FAITH = ("faith_A", "faith_B", "faith_mean", "faith_stability")
_CLIP = ("clip_A", "clip_B", "clip_mean", "clip_diff", "clip_stability", "image_similarity")
_N_WORST = 5


class Group(NamedTuple):
    """Rows of a table: its labels and the pairs behind them."""

    values: tuple[str, ...]
    pairs: list[Judged]


def _term(one: Judged, name: str) -> tuple[float] | None:
    """A score of a pair under a law, for whoever compares models; None where it lacks one."""
    is_asked = one.verdict.check in (SAME_ANSWERS, MUST_DIFFER) and one.case.labels.get("law") != CONTRAST
    return (one.verdict.scores[name],) if is_asked and _scored([one], *_FAITH) else None


class FaithfulnessTables:
    """Faithfulness, stability and CLIP scores by category, law and dimension, with charts."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        figures=(
            OwnFigure(
                name="faith_mean", title="faithfulness", terms=lambda one: _term(one, "faith_mean"), is_share=True
            ),
            OwnFigure(
                name="faith_stability",
                title="stability",
                terms=lambda one: _term(one, "faith_stability"),
                is_share=True,
            ),
        )
    )

    def __init__(self, options: NoOptions) -> None:
        self._options = options

    def measure(self, judgements: Judgements) -> Measured:
        """Tables, numbers and charts for the report."""
        mine = of_main_observers(judgements.pairs)
        answered = [pair for pair in mine if pair.verdict.check == SAME_ANSWERS]
        contrasts = [pair for pair in mine if pair.verdict.check == MUST_DIFFER]
        everyone = answered + contrasts
        # A pair that a file calls an equivalence stays under its law here, whatever the logic core found.
        of_laws = [pair for pair in everyone if pair.case.labels.get("law") != CONTRAST]
        by_category = category_table(judgements.pairs)
        by_law = _table("faithfulness by law", ("law",), _by_label(everyone, "law", _LAWS))
        by_dimension = _table("faithfulness by dimension", ("dimension",), _by_label(of_laws, "dimension", _DIMENSIONS))
        by_both = _table("faithfulness by law and dimension", ("law", "dimension"), _by_both(of_laws))
        tables = [
            by_category,
            by_law,
            by_dimension,
            by_both,
            _worst(of_laws),
            _clip_table(_by_category(everyone), _clip_note(judgements)),
            _contrast_table(contrasts),
        ]
        numbers, figures = _totals(of_laws, contrasts, _unasked(judgements, everyone))
        return Measured(
            tables=tuple(table for table in tables if table is not None),
            numbers=numbers,
            charts=tuple(_charts(by_category, by_law, by_dimension, by_both)),
            key_figures=figures,
        )


def _clip_note(judgements: Judgements) -> str:
    """By whom the CLIP scores are, on which scale and by which rule the checks made them."""
    observers = main_observers(judgements.pairs)
    seen_by = observers.get(SAME_SIMILARITY) or observers.get(SAME_ANSWERS) or ("an unnamed embedder",)
    given = judgements.options_of(SAME_ANSWERS)
    chosen = str(given.get("clip_scale", "percent"))
    scale = {
        "percent": "100 x the cosine of picture and prompt, not below 0",
        "cosine": "the cosine of picture and prompt",
        "clipscore": "2.5 x the cosine of picture and prompt, not below 0",
    }.get(chosen, chosen)
    is_scaled = given.get("clip_stability", "scaled") == "scaled"
    rule = "1 - difference / scale" if is_scaled else "1 - difference, as printed"
    return f"CLIP scores by {observers_text(seen_by)}: {scale}; stability is {rule}."


def category_table(pairs: Sequence[Judged]) -> Table | None:
    """Faithfulness by category, of the verdicts on one model; None where nothing was answered."""
    mine = of_main_observers(pairs)
    # One check after the other: a sum depends on its order in the last digit.
    answered = [judged for name in (SAME_ANSWERS, MUST_DIFFER) for judged in mine if judged.verdict.check == name]
    return _table("faithfulness by category", ("category_id", "law", "dimension"), _by_category(answered))


def _scored(pairs: Iterable[Judged], *names: str) -> list[Judged]:
    """Pairs that have these scores; those without (unreadable replies, failures) are left out of means, and counted."""
    return [pair for pair in pairs if all(name in pair.verdict.scores for name in names)]


def _mean(pairs: Sequence[Judged], name: str) -> float | None:
    return mean(pair.verdict.scores[name] for pair in pairs) if pairs else None


def _interval(pairs: Sequence[Judged], name: str) -> Interval | None:
    """95 % of a mean of scores from 0 to 1, by Student's t over clusters; None for a single cluster.

    The lower end is widened as if one more pair had 0: at its ceiling a score has no spread to show.
    """
    values = [pair.verdict.scores[name] for pair in pairs]
    clusters, cases = [cluster_of(pair.case) for pair in pairs], [pair.case.case_id for pair in pairs]
    interval = cautious_mean_interval(values, clusters, cases, pseudo=0.0)
    return interval and Interval(low=max(0.0, interval.low), high=min(1.0, interval.high))


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (interval.low, interval.high) if interval else (None, None)


def _by_category(pairs: Sequence[Judged]) -> list[Group]:
    def key(pair: Judged) -> tuple[str, ...]:
        labels = pair.case.labels
        return labels.get("category_id", ""), labels.get("law", ""), labels.get("dimension", "")

    return _grouped(pairs, key, lambda values: (int(values[0]) if values[0].isdecimal() else 10**9, *values))


def _by_label(pairs: Sequence[Judged], label: str, order: Sequence[str]) -> list[Group]:
    return _grouped(pairs, lambda pair: (pair.case.labels.get(label, ""),), lambda values: _rank(values[0], order))


def _by_both(pairs: Sequence[Judged]) -> list[Group]:
    return _grouped(
        pairs,
        lambda pair: (pair.case.labels.get("law", ""), pair.case.labels.get("dimension", "")),
        lambda values: (_rank(values[0], _LAWS), _rank(values[1], _DIMENSIONS)),
    )


def _rank(value: str, order: Sequence[str]) -> tuple[int, str]:
    return (order.index(value) if value in order else len(order), value)


def _grouped(
    pairs: Sequence[Judged], key: Callable[[Judged], tuple[str, ...]], order: Callable[[tuple[str, ...]], object]
) -> list[Group]:
    groups: dict[tuple[str, ...], list[Judged]] = {}
    for pair in pairs:
        groups.setdefault(key(pair), []).append(pair)
    return [Group(values, groups[values]) for values in sorted(groups, key=order)]  # type: ignore[arg-type]  # sort keys of one table are alike


_COLUMNS = (
    "n_pairs",
    "n_left_out",
    "mean_faith_A",
    "mean_faith_B",
    "mean_faith",
    "faith_from",
    "faith_to",
    "mean_faith_stability",
    "stability_from",
    "stability_to",
    "mean_dsg",
)


def _cells(pairs: Sequence[Judged]) -> tuple[Cell, ...]:
    counted = _scored(pairs, *_FAITH)
    faith = _ends(_interval(counted, "faith_mean"))
    stability = _ends(_interval(counted, "faith_stability"))
    with_dsg = [pair for pair in counted if "dsg_mean" in pair.verdict.scores]
    return (
        len(counted),
        len(pairs) - len(counted),
        _mean(counted, "faith_A"),
        _mean(counted, "faith_B"),
        _mean(counted, "faith_mean"),
        *faith,
        _mean(counted, "faith_stability"),
        *stability,
        _mean(with_dsg, "dsg_mean") if len(with_dsg) == len(counted) else None,
    )


def _table(name: str, labels: tuple[str, ...], groups: Sequence[Group]) -> Table | None:
    if not groups:
        return None
    return Table(
        name=name,
        columns=(*labels, *_COLUMNS),
        rows=tuple((*group.values, *_cells(group.pairs)) for group in groups),
        note="Means over n_pairs pairs; n_left_out lack the score: a reply or side is missing, or nothing is settled. "
        "Intervals (from, to) are 95 %, by Student's t over clusters.",
    )


def _worst(pairs: Sequence[Judged]) -> Table | None:
    """The least stable categories, the least faithful first among equals, each with its least stable pair."""
    rows: list[tuple[Cell, ...]] = []
    for group in _by_category(pairs):
        counted = _scored(group.pairs, *_FAITH)
        if counted:
            worst = min(
                counted, key=lambda pair: (pair.verdict.scores["faith_stability"], pair.verdict.scores["faith_mean"])
            )
            texts = [prompt.text for prompt in worst.case.prompts]
            wrong = "; ".join(failure.message for failure in worst.verdict.failures)
            stability, faith = _mean(counted, "faith_stability"), _mean(counted, "faith_mean")
            rows.append((worst.case.category, len(counted), stability, faith, worst.case.case_id, *texts, wrong))
    if not rows:
        return None
    rows.sort(key=lambda row: (row[2], row[3]))
    return Table(
        name="worst categories",
        columns=(
            "category",
            "n_pairs",
            "mean_faith_stability",
            "mean_faith",
            "least stable pair",
            "prompt a",
            "prompt b",
            "answers",
        ),
        rows=tuple(rows[:_N_WORST]),
        note="The least stable categories, each with its least stable pair and the answers that were wrong or differ.",
    )


def _clip_table(groups: Sequence[Group], note: str) -> Table | None:
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        seen = _scored(group.pairs, *_CLIP)
        if seen:
            means = [_mean(seen, name) for name in _CLIP]
            ends = _ends(_interval(seen, "clip_stability"))
            rows.append((*group.values, len(seen), len(group.pairs) - len(seen), *means, *ends))
    if not rows:
        return None
    columns = ("category_id", "law", "dimension", "n_pairs", "n_left_out", *(f"mean_{name}" for name in _CLIP))
    return Table(
        name="CLIP by category", columns=(*columns, "stability_from", "stability_to"), rows=tuple(rows), note=note
    )


def _contrast_table(pairs: Sequence[Judged]) -> Table | None:
    groups = tally_by(pairs, lambda pair: pair.case.category)
    if not groups:
        return None
    return Table(
        name="contrasts",
        columns=("category", *RATE_COLUMNS),
        rows=tuple((category, *group.cells()) for category, group in groups.items()),
        note="Pairs that say two different things: failed means that both pictures got the same answers.",
    )


def _unasked(judgements: Judgements, everyone: Sequence[Judged]) -> str:
    """How many pairs are in no mean because no formula says what to ask about them; empty without any."""
    asked = {pair.case.case_id for pair in everyone}
    n = sum(
        case.case_id not in asked and any(prompt.formula is None for prompt in case.prompts)
        for case in judgements.cases
    )
    return f"; {n} of {len(judgements.cases)} pairs of prompts have no formula and were not asked about" if n else ""


def _totals(
    answered: Sequence[Judged], contrasts: Sequence[Judged], unasked: str
) -> tuple[dict[str, float | None], tuple[KeyFigure, ...]]:
    counted = _scored(answered, *_FAITH)
    numbers: dict[str, float | None] = {"n_faith_pairs": len(counted), "n_faith_left_out": len(answered) - len(counted)}
    figures = []
    note = f"{len(counted)} pairs, {len(answered) - len(counted)} left out{unasked}"
    for name, title in (("faith_mean", "faithfulness"), ("faith_stability", "stability")):
        value, interval = _mean(counted, name), _interval(counted, name)
        low, high = _ends(interval)
        numbers |= {name: value, f"{name}_low": low, f"{name}_high": high}
        if value is not None:
            figures.append(KeyFigure(title=title, value=value, low=low, high=high, is_share=True, note=note))
    with_clip = [pair for pair in answered if "clip_stability" in pair.verdict.scores]
    if with_clip:
        numbers |= {"clip_mean": _mean(with_clip, "clip_mean"), "clip_stability": _mean(with_clip, "clip_stability")}
        numbers["n_clip_pairs"] = len(with_clip)
    if contrasts:
        total = tally_by(contrasts, lambda _: "").get("")
        numbers |= {"contrast_rate": total.rate if total else None, "n_contrasts": len(contrasts)}
    return numbers, tuple(figures)


def _charts(
    by_category: Table | None, by_law: Table | None, by_dimension: Table | None, by_both: Table | None
) -> Iterable[Chart]:
    measures = (
        ("stability", "mean_faith_stability", "stability_from", "stability_to"),
        ("faithfulness", "mean_faith", "faith_from", "faith_to"),
    )
    for measure, column, low, high in measures:
        for name, table, x in (
            ("category", by_category, "category"),
            ("law", by_law, "law"),
            ("dimension", by_dimension, "dimension"),
        ):
            if table is not None:
                yield Chart(
                    name=f"{measure}-by-{name}",
                    title=f"{measure.capitalize()} by {name}",
                    kind=ChartKind.BARS,
                    table=_named(table) if name == "category" else table,
                    x=x,
                    y=column,
                    low=low,
                    high=high,
                    n="n_pairs",
                    y_label=f"mean {measure}",
                    is_share=True,
                    is_high_good=True,
                    ends=(0.0, 1.0),
                    filters={label: f"label:{label}" for label in ("law", "dimension") if label in table.columns},
                    note="100 % is perfect; n is the number of pairs.",
                )
        if by_both is not None:
            yield Chart(
                name=f"{measure}-law-by-dimension",
                title=f"{measure.capitalize()}, law by dimension",
                kind=ChartKind.HEAT_MAP,
                table=by_both,
                x="dimension",
                y="law",
                value=column,
                n="n_pairs",
                is_share=True,
                is_high_good=True,
                ends=(0.0, 1.0),
                filters={"dimension": "label:dimension", "law": "label:law"},
                note="One cell a category of pairs.",
            )


def _named(table: Table) -> Table:
    """The table with law and dimension as one name, for an axis."""
    rows = tuple((f"{row[1]} {row[2]}".strip() or str(row[0]), *row[1:]) for row in table.rows)
    return Table(name=table.name, columns=("category", *table.columns[1:]), rows=rows, note=table.note)
