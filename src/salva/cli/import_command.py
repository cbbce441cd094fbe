"""`salva import`: others' raw answers and ratings into a run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.cli.format_flags import format_flags, format_list, given_options
from salva.core.quantity import quantity

_ONE = {"people": "person"}
"""What one of these is called, where that is not the word less its s."""


@click.command("import", cls=pages.Command, formats=format_list("importer"))
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@flags.flag(
    "--as", "form", group=pages.OUTPUT, of="import", required=True, metavar="FORMAT", help="One of the formats below."
)
@flags.flag("--out", group=pages.OUTPUT, type=flags.RUN_DIRECTORY, required=True, help="The run directory to make.")
@flags.flag("--model", group=pages.TEST, of="import", default="", help="The model's name, where the files have none.")
@format_flags("importer")
def command(files: tuple[Path, ...], form: str, out: Path, model: str, **options: Any) -> None:
    """Make a run of FILES that others wrote: prompts, answers and scores, or ratings by people and judges.

    What is wrong with a row is named, counted and kept in the run directory. Ratings are read in any shape that
    `salva agree` reads; several FILES are put together.
    """
    from salva.exchange.importing import PROBLEMS_FILE, import_files
    from salva.files.tables import shown_problems

    read_in = import_files(files, form, out, model=model, options=given_options("importer", form, options))
    counts = ", ".join(quantity(n, what, _ONE.get(what, "")) for what, n in read_in.counts.items() if n)
    click.echo(f"{counts} of {', '.join(read_in.models)} in {out}")
    if read_in.problems:
        click.echo(f"{quantity(len(read_in.problems), 'problems')}, all of them in {out / PROBLEMS_FILE}:")
        for line in shown_problems(read_in.problems):
            click.echo(f"  {line}")
    click.echo(f"report: salva report {shlex.quote(str(out))}")
