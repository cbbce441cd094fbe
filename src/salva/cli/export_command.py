"""`salva export`: a run as files others can use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from salva.cli import flags
from salva.cli.format_flags import format_flags, format_list, given_options


@click.command(
    "export",
    short_help="Counterexamples, rows, training data or rating sheets as files.",
    epilog=format_list("exporter"),
)
@click.argument("run", type=flags.RUN_DIRECTORY)
@flags.images_flag
@click.option("--as", "form", metavar="FORMAT", required=True, help="What to write; see below.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The file or folder to write.")
@format_flags("exporter")
def command(run: Path, form: str, output: Path, **options: Any) -> None:
    """Write RUN as files."""
    from salva.exchange.exporting import export_run

    written = export_run(run, form, output, given_options("exporter", form, options))
    if written.tables:
        from salva.report.terminal import print_table

        for table in written.tables:
            print_table(table)
    click.echo(f"{written.n} {written.what} in {output}")
    if written.warning:
        click.echo(f"salva: {written.warning}", err=True)
