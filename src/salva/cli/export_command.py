"""`salva export`: a run's verdicts and counterexamples as files."""

from __future__ import annotations

from pathlib import Path

import click

from salva.cli import flags


@click.command("export", short_help="Counterexamples or verdict rows as files.")
@click.argument("run", type=flags.RUN_DIRECTORY)
@click.option("--as", "form", type=click.Choice(["counterexamples", "csv"]), required=True, help="What to write.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="File (csv) or folder.")
def command(run: Path, form: str, output: Path) -> None:
    """Write the verdicts of RUN as CSV, or every violated pair as pictures with an index."""
    from salva.report.export import write_counterexamples, write_csv

    if form == "csv":
        n_rows = write_csv(run, output)
        click.echo(f"{n_rows} verdicts in {output}")
    else:
        n_pairs = write_counterexamples(run, output)
        click.echo(f"{n_pairs} counterexamples in {output}")
