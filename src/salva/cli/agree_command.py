"""`salva agree`: how far judges agree with people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salva.cli import flags
from salva.core.legible import legible_json
from salva.errors import UsageError

if TYPE_CHECKING:
    from salva.core.table import Table


@click.command("agree", short_help="Agreement of judges with people.")
@click.argument("source", metavar="FILE|RUN", type=click.Path(path_type=Path))
@click.option(
    "--ratings",
    type=click.Path(path_type=Path, dir_okay=False),
    help="People's ratings: of a RUN, or of the things whose scores are in FILE.",
)
@click.option(
    "--questions",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With raw answers in FILE: DSG's question file, where FILE has no column dependency.",
)
@click.option("--people", default="", metavar="COL,...", help="Columns of people's ratings; found by name otherwise.")
@click.option("--judge", "judges", default="", metavar="COL,...", help="Columns of judges' scores; likewise.")
@click.option("--item", default="", metavar="COL,...", help="Columns that name the rated thing; likewise.")
@click.option("--rater", default="", metavar="COL", help="The column that names the rater, one row a rating; likewise.")
@click.option("--by", "group", default="", metavar="COL", help="Also for each value of this column.")
@click.option(
    "--cluster",
    default="",
    metavar="COL",
    help="Intervals draw whole prompts anew: the column that says which things share one (of a RUN: a label of its "
    "cases). Found by name otherwise, where values repeat.",
)
@click.option(
    "--bins", default="5", show_default=True, metavar="N|EDGES", help="Bins of Cohen's kappa: how many, or 0,20,40,..."
)
@click.option(
    "--level",
    type=click.Choice(["nominal", "ordinal", "interval"]),
    default="interval",
    show_default=True,
    help="What a difference of two ratings means, for Krippendorff's alpha.",
)
@flags.flag("--format", "form", of="agree", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option(
    "--figures",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also draw thresholds and differences, for suites that score each picture from 0 to 1, into this folder.",
)
def command(
    source: Path,
    ratings: Path | None,
    questions: Path | None,
    people: str,
    judges: str,
    item: str,
    rater: str,
    group: str,
    cluster: str,
    bins: str,
    level: str,
    form: str,
    figures: Path | None,
) -> None:
    """Pearson, Spearman, Kendall, Cohen's kappa and Krippendorff's alpha, with intervals.

    FILE is a table (CSV, TSV, JSON, JSON lines) that holds people's ratings and judges' scores, wide or long; or
    judges' scores alone, with people's ratings in another file under --ratings; such scores may also be raw answers
    to yes-or-no questions, a row each, which are scored as DSG does. For a RUN give people's ratings of
    its pictures or cases with --ratings; its failure rate is then corrected by them. A RUN made of ratings
    (`salva import --as ratings`) holds them already.
    """
    from salva.review.agreement import Reckoning, file_agreement, parse_bins
    from salva.review.ratings import Columns
    from salva.review.run_agreement import imported_agreement, run_agreement

    n_bins, edges = parse_bins(bins)
    reckoning = Reckoning(n_bins=n_bins, edges=edges, level=level, cluster=cluster)
    if source.is_dir():
        if people or judges or item or rater or questions:
            raise UsageError(
                "--people, --judge, --item, --rater and --questions are for a FILE; a run knows its own columns"
            )
        if ratings is not None and group:
            raise UsageError("--by is for a FILE, and for a run that was made of ratings")
        tables, notes = (
            imported_agreement(source, group, reckoning)
            if ratings is None
            else run_agreement(source, ratings, reckoning)
        )
    else:
        things, raters, scorers = map(_names, (item, people, judges))
        columns = Columns(things=things, rater=rater, people=raters, judges=scorers, group=group)
        people_file, scores_file = (source, None) if ratings is None else (ratings, source)
        if questions is not None and ratings is None:
            raise UsageError("--questions goes with raw answers in FILE; give people's ratings with --ratings FILE")
        tables, notes = file_agreement(people_file, columns, reckoning, scores_file, questions)
    if figures is not None:
        _draw(tables, figures)
    for line in notes:
        click.echo(line, err=True)
    if form == "json":
        from salva.report.summary_json import table_to_json

        click.echo(legible_json([table_to_json(table) for table in tables], indent=2, allow_nan=True))
        return
    from salva.report.terminal import print_table

    for table in tables:
        print_table(table)


def _draw(tables: Sequence[Table], folder: Path) -> None:
    from salva.report.chart_files import write_chart
    from salva.review.calibration_charts import calibration_charts

    charts = list(calibration_charts(tables))
    if not charts:
        raise UsageError(
            "--figures draws thresholds and differences, and there are none: the run scores no picture by itself from "
            "0 to 1, or people rated none; leave it out"
        )
    for chart in charts:
        for path in write_chart(chart, folder):
            click.echo(path, err=True)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
