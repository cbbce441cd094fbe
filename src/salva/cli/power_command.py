"""`salva power`: how many pairs it takes, or what so many can detect."""

from __future__ import annotations

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.core.printable import printable


@click.command("power", cls=pages.Command)
@click.argument("subject", default="", metavar="[RUN | SUITE")
@click.argument("paths", nargs=-1, metavar="[PATH]...]")
@flags.flag(
    "--half-width",
    group=pages.AMOUNT,
    type=float,
    metavar="X",
    help="The half-width of an interval; 0.05: 5 points.",
)
@flags.flag("--difference", group=pages.AMOUNT, type=float, metavar="D", help="A difference to detect with 80 % power.")
def command(subject: str, paths: tuple[str, ...], half_width: float | None, difference: float | None) -> None:
    """How many pairs a precision or a difference takes, or what a RUN can detect.

    A RUN gives its own variances; a SUITE, or nothing, takes assumptions that are printed.
    """
    from salva.compare.power import Target, power_lines
    from salva.runs.suite_paths import with_paths

    settings = with_paths(subject, paths, {}) if paths else {}
    for line in power_lines(subject, Target(half_width=half_width, difference=difference), settings):
        click.echo(printable(line))
