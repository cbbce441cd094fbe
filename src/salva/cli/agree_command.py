"""`salva agree`: how far judges agree with people."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.core.printable import printable_json
from salva.core.table import Table
from salva.errors import UsageError
from salva.messages import message
from salva.report.terminal import print_table
from salva.review.agreement import AgreementOptions, parse_scales, table_agreement
from salva.review.columns import Columns
from salva.review.rating_table import read_ratings
from salva.review.run_agreement import reviewed_agreement, run_agreement

_FILE = click.Path(path_type=Path, dir_okay=False)
_flag = partial(flags.flag, of="agree")


@click.command("agree", cls=pages.Command, short_help="Agreement of judges with people.")
@click.argument("sources", metavar="FILE...|RUN", nargs=-1, required=True, type=click.Path(path_type=Path))
@_flag("--ratings", group=pages.TEST, multiple=True, type=_FILE, help="People's ratings of a RUN, or one more FILE.")
@_flag("--item", group=pages.TEST, multiple=True, metavar="COL,...", help="Columns that name the rated item.")
@_flag("--rater", group=pages.TEST, default="", metavar="COL", help="The column with the rater, one row a rating.")
@_flag(
    "--people", group=pages.TEST, multiple=True, metavar="COL,...", help="Columns of people's ratings; A+B is a sum."
)
@_flag("--judge", "judges", group=pages.OBSERVERS, multiple=True, metavar="COL,...", help="Columns or raters: judges.")
@_flag(
    "--scale", "scales", group=pages.TEST, multiple=True, metavar="[WHO=]LOW-HIGH", help="Such as 0-100 or people=1-5."
)
@_flag("--by", "group", group=pages.OUTPUT, default="", metavar="COL", help="Also for each value of this column.")
@_flag("--cluster", default="", metavar="COL", help="What items share. Default: the prompt, or the case.")
@_flag("--bins", "n_bins", type=click.IntRange(2), default=5, metavar="N", help="Bins of Cohen's kappa. Default: 5.")
@_flag(
    "--level",
    type=click.Choice(["nominal", "ordinal", "interval"]),
    default="interval",
    help="What a difference means, for alpha. Default: interval.",
)
@flags.format_flag("agree", "table", "json")
@_flag(
    "--figures",
    group=pages.OUTPUT,
    type=click.Path(path_type=Path, file_okay=False),
    help="Also draw charts of a RUN into this folder.",
)
def command(
    sources: tuple[Path, ...],
    ratings: tuple[Path, ...],
    item: tuple[str, ...],
    rater: str,
    people: tuple[str, ...],
    judges: tuple[str, ...],
    scales: tuple[str, ...],
    group: str,
    cluster: str,
    n_bins: int,
    level: str,
    form: str,
    figures: Path | None,
) -> None:
    """Pearson, Spearman, Kendall, Cohen's kappa and Krippendorff's alpha, with intervals.

    FILES (CSV, TSV, JSON, JSON lines) are read as one table. Columns have their documented names, or flags name them.
    With --ratings the failure rate of a RUN is also corrected.
    """

    options = AgreementOptions(n_bins=n_bins, scales=parse_scales(scales), level=level, cluster=cluster)
    columns = Columns(item=_names(item), rater=rater, people=_names(people), judges=_names(judges))
    runs = [source for source in sources if source.is_dir()]
    if not runs:
        tables, notes = table_agreement(read_ratings([*sources, *ratings], columns), options, group)
    elif len(sources) > 1:
        raise UsageError(message("flag-unrelated", flags="further FILEs", why="a RUN takes files with --ratings"))
    elif not ratings:
        if columns != Columns():
            why = "a RUN made of ratings knows its columns"
            raise UsageError(message("flag-unrelated", flags="--item, --rater, --people and --judge", why=why))
        tables, notes = reviewed_agreement(runs[0], group, options)
    else:
        if group:
            raise UsageError(message("flag-unrelated", flags="--by", why="a RUN has no such column"))
        tables, notes = run_agreement(runs[0], ratings, columns, options)
    if figures is not None:
        _draw(tables, figures)
    for note in notes:
        click.echo(note, err=True)
    if form == "json":
        from salva.report.summary_json import table_to_json

        click.echo(printable_json([table_to_json(table) for table in tables], indent=2, allow_nan=True))
        return

    for table in tables:
        print_table(table)


def _names(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def _draw(tables: Sequence[Table], folder: Path) -> None:
    from salva.report.chart_files import write_chart
    from salva.review.calibration_charts import calibration_charts

    charts = list(calibration_charts(tables))
    if not charts:
        raise UsageError(message("figures-empty"))
    for chart in charts:
        for path in write_chart(chart, folder):
            click.echo(path, err=True)
