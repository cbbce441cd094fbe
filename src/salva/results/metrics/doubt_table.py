"""What doubt costs: a table of the rate by how sure a box must be, and its curve."""

from __future__ import annotations

from salva.core.chart import Chart, ChartKind
from salva.core.judged import Judgements
from salva.core.table import Table
from salva.results.doubt_curve import doubt_curve

DOUBT = "rate by doubt"
_NOTE = (
    "The leading rate over the verdicts that hang on no box with a score up to this doubt. low and high: the rate if "
    "everything that is not decided held, and if all of it were failed. What is right always hangs on its "
    "weakest box, a thing that was not seen at all on none: so the rate tends to rise as verdicts are given up. A "
    "steep rise near your doubt says that right verdicts rest on weak boxes; a steep fall, that failures do"
)


def doubt_table(judgements: Judgements) -> Table | None:
    """A row a doubt; None where verdicts do not say how sure they are."""
    points = doubt_curve(judgements)
    if not points:
        return None
    return Table(
        name=DOUBT,
        title="What doubt costs",
        columns=("doubt", "n", "share_decided", "rate", "low", "high"),
        rows=tuple((p.doubt, p.n, p.n / p.n_asked, p.rate, p.low, p.high) for p in points),
        note=f"{_NOTE}.",
    )


def doubt_chart(table: Table) -> Chart:
    """The rate over how much is decided, between what the undecided could make of it."""
    return Chart(
        name="rate-by-doubt",
        title="What doubt costs: the rate over the verdicts that stay decided",
        kind=ChartKind.LINES,
        table=table,
        x="share_decided",
        y="rate",
        low="low",
        high="high",
        n="n",
        x_label="share that stays decided; to the left, boxes must be surer",
        y_label="leading rate over these verdicts",
        is_share=True,
        ends=(0.0, 1.0),
        note="The band is what the rate could be if those that are given up all held, or were all failed.",
    )
