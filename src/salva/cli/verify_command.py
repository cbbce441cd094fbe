"""`salva verify`: images and rows against their digests, verdicts against what is stored."""

from __future__ import annotations

from pathlib import Path

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.cli.ending import end
from salva.core.exit_codes import USAGE
from salva.core.printable import printable
from salva.core.quantity import quantity


@click.command("verify", cls=pages.Command)
@click.argument("run", type=flags.RUN_DIRECTORY)
@flags.images_flag
@flags.progress_flag
def command(run: Path, no_progress: bool) -> None:
    """Check every stored image and row of RUN, and make its verdicts anew."""
    from salva.engine.progress import make_progress
    from salva.runs.verify import verify

    report = verify(run, make_progress(quiet=no_progress))
    click.echo(f"{quantity(report.n_images, 'images')}, {quantity(report.n_rows, 'rows')} checked")
    click.echo(f"{quantity(report.n_recomputed, 'verdicts')} made anew from what is stored")
    for reason in report.unchecked:
        click.echo(f"not checked: {printable(reason)}")
    for problem in report.problems:
        click.echo(f"  {printable(problem)}")
    if report.problems:
        click.echo(quantity(len(report.problems), "problems"), err=True)
        if report.remedy:
            click.echo(report.remedy, err=True)
        end(USAGE)
    is_all = not report.unchecked
    click.echo("everything matches" if is_all else "all that could be checked matches")
