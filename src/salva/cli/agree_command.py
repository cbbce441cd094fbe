"""`salva agree`: how far judges agree with people."""

from __future__ import annotations

import json
from pathlib import Path

import click

from salva.errors import UsageError


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


@click.command("agree", short_help="Agreement of judges with people.")
@click.argument("source", metavar="FILE|RUN", type=click.Path(path_type=Path))
@click.option("--ratings", type=click.Path(path_type=Path, dir_okay=False), help="For a RUN: people's ratings of it.")
@click.option("--people", default="", metavar="COL,...", help="Columns of people's ratings; found by name otherwise.")
@click.option("--judge", "judges", default="", metavar="COL,...", help="Columns of judges' scores; likewise.")
@click.option("--item", default="", metavar="COL,...", help="Columns that name the rated thing; likewise.")
@click.option("--rater", default="", metavar="COL", help="The column that names the rater, one row a rating; likewise.")
@click.option("--by", "group", default="", metavar="COL", help="Also for each value of this column.")
@click.option("--bins", "n_bins", default=5, show_default=True, type=click.IntRange(2), help="Bins of Cohen's kappa.")
@click.option(
    "--level",
    type=click.Choice(["nominal", "ordinal", "interval"]),
    default="interval",
    show_default=True,
    help="What a difference of two ratings means, for Krippendorff's alpha.",
)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def command(
    source: Path,
    ratings: Path | None,
    people: str,
    judges: str,
    item: str,
    rater: str,
    group: str,
    n_bins: int,
    level: str,
    form: str,
) -> None:
    """Pearson, Spearman, Kendall, Cohen's kappa and Krippendorff's alpha, with intervals.

    FILE is a table (CSV, TSV, JSON, JSON lines) that holds people's ratings and judges' scores, wide or long. For a
    RUN give people's ratings of its cases with --ratings; its violation rate is then corrected by them.
    """
    from salva.report.agreement import file_agreement, run_agreement
    from salva.report.ratings import Columns

    if source.is_dir():
        if ratings is None:
            raise UsageError(f"{str(source)!r} is a run; give people's ratings of it with --ratings FILE")
        tables, told = run_agreement(source, ratings, n_bins)
    else:
        columns = Columns(things=_names(item), rater=rater, people=_names(people), judges=_names(judges), group=group)
        tables, told = file_agreement(source, columns, n_bins, level)
    for line in told:
        click.echo(line, err=True)
    if form == "json":
        from salva.report.summary import table_to_json

        click.echo(json.dumps([table_to_json(table) for table in tables], ensure_ascii=False, indent=2))
        return
    from salva.report.terminal import print_table

    for table in tables:
        print_table(table)
