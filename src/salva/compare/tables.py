"""The tables of a comparison: all candidates in order, categories, metrics. The baseline always comes first."""

from __future__ import annotations

from collections.abc import Mapping

from salva.charts.formats import percent_text
from salva.compare.comparing import ComparedRuns, Comparison
from salva.compare.pairing import FigureDifference, GroupDifference
from salva.compare.words import both_ends, decision_text, figure_texts, p_text, step_text
from salva.core.table import Cell, Table

_ENDS = ("low", "high")
_OF_ENDS = "low, high: 95 % CI of the difference."


def candidates_table(compared: ComparedRuns) -> Table:
    """The baseline, then the candidates, the best first."""
    ordered = sorted(compared.comparisons, key=lambda one: (one.difference is None, one.difference or 0.0))
    rate = compared.baseline.figures.failure_rate
    rows: list[tuple[Cell, ...]] = [(compared.baseline.title, percent_text(rate), "", "", "", "", "", "baseline")]
    rows += [
        (
            *(one.candidate.title, percent_text(one.figure.candidate), *_steps(one.figure)),
            *(str(one.pairs), p_text(one.p_holm), decision_text(one)),
        )
        for one in ordered
    ]
    columns = ("model", "failure rate", "difference", *_ENDS, "pairs", "p by Holm", "decision")
    note = f"Candidate less baseline, over pairs decided in both; {_OF_ENDS}"
    return Table(name="candidates", columns=columns, rows=tuple(rows), note=note)


def _groups_table(name: str, comparison: Comparison, groups: Mapping[str, GroupDifference]) -> Table:
    rows = tuple(
        (
            *(group, str(one.figure.n_pairs), *map(str, one.n_failed)),
            *(*_steps(one.figure), p_text(one.p_holm)),
        )
        for group, one in groups.items()
    )
    failed = (f"{entrant.title} fails" for entrant in (comparison.baseline, comparison.candidate))
    columns = (name, "pairs", *failed, "difference", *_ENDS, "p by Holm")
    note = f"A difference takes five cases; {_OF_ENDS}"
    return Table(name=f"by {name}", columns=columns, rows=rows, note=note)


def tables_of(comparison: Comparison) -> list[Table]:
    """The metrics, and the groups: by law, where cases have one, and by category."""
    laws, categories = comparison.by_law, comparison.by_category
    metrics = [_metrics_table(comparison)] if comparison.metrics else []
    by_law = [_groups_table("law", comparison, laws)] if laws and laws.keys() != categories.keys() else []
    return [*metrics, *by_law, _groups_table("category", comparison, categories)]


def _metrics_table(comparison: Comparison) -> Table:
    rows = tuple(
        (one.title, *figure_texts(one), *both_ends(one, one.interval), str(one.n_pairs or ""), one.better)
        for one in comparison.metrics.values()
    )
    titles = (comparison.baseline.title, comparison.candidate.title)
    columns = ("metric", *titles, "difference", *_ENDS, "pairs", "better")
    note = f"{_OF_ENDS} Without pairs a metric is of the whole runs."
    return Table(name="metrics", columns=columns, rows=rows, note=note)


def _steps(figure: FigureDifference) -> tuple[str, str, str]:
    return step_text(figure, figure.difference), *both_ends(figure, figure.interval)
