"""What the second wording of a case does to its image: a table by law, or by category, and its chart."""

from __future__ import annotations

from salva.core.chart import Chart, ChartKind
from salva.core.judgements import Judgements
from salva.core.table import Cell, Table
from salva.results.tables import ends
from salva.results.wordings import WordingDifference, differences_by_law, wording_difference

WORDINGS = "wording difference by law"
_ALL = "all"
_NOTE = (
    "Second wording less first, paired by case and repeat; 95 % for other seeds. Seed noise: how often one wording "
    "passes under one seed and fails under another"
)


def wording_table(judgements: Judgements) -> Table | None:
    """The paired difference of the two wordings, over all and by law; None where nothing says what is right."""
    overall = wording_difference(judgements)
    if overall is None:
        return None
    by_law = differences_by_law(judgements)
    has_laws = any("law" in case.labels for case in judgements.cases)
    return Table(
        name=WORDINGS,
        columns=(
            "law" if has_laws else "category",
            "n",
            "cases",
            "first_rate",
            "second_rate",
            "difference",
            "low",
            "high",
            "seed_noise",
        ),
        rows=(_row(_ALL, overall), *(_row(law, difference) for law, difference in by_law.items())),
        note=f"{_NOTE}; {overall.why_no_seed_noise}." if overall.why_no_seed_noise else f"{_NOTE}.",
    )


def wording_chart(table: Table) -> Chart:
    """A bar a law: right of 0 the second wording does worse, left of it better."""
    by = table.columns[0]
    return Chart(
        name="wording-by-law",
        title="Second wording less first",
        kind=ChartKind.BARS,
        table=table,
        x=by,
        y="difference",
        low="low",
        high="high",
        n="n",
        y_label="difference of the failure rates of images",
        is_share=True,
        marks=(0.0,),
        edge=_ALL,
        filters={by: "label:law" if by == "law" else by},
        note="Right of 0 the second wording fails more often.",
    )


def _row(name: str, wording: WordingDifference) -> tuple[Cell, ...]:
    rates = (wording.first, wording.second, wording.difference)
    return (name, wording.n, wording.n_cases, *rates, *ends(wording.interval), wording.seed_noise)
