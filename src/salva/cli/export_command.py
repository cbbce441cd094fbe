"""`salva export`: a run as files others can use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.cli.format_flags import format_flags, format_list, given_options


@click.command("export", cls=pages.Command, formats=format_list("exporter"))
@click.argument("run", type=flags.RUN_DIRECTORY)
@flags.flag(
    "--as", "form", group=pages.OUTPUT, of="export", metavar="FORMAT", required=True, help="One of the formats below."
)
@flags.flag(
    "-o",
    "--output",
    group=pages.OUTPUT,
    of="export",
    type=click.Path(path_type=Path),
    required=True,
    help="The file or folder to write.",
)
@flags.images_flag
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
