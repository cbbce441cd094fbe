"""`salva power`: how many pairs it takes, or what so many can show."""

from __future__ import annotations

import click

from salva.cli import flags
from salva.core.legible import legible


@click.command("power", short_help="How many pairs it takes, or what so many show.")
@click.argument("subject", default="", metavar="[RUN|SUITE]")
@flags.plugin_flag
@flags.flag(
    "--half-width", type=float, metavar="X", help="How far the interval of a figure may reach; 0.05: ±5 points."
)
@flags.flag("--difference", type=float, metavar="D", help="The difference of two models to show with 80 % power.")
def command(subject: str, half_width: float | None, difference: float | None) -> None:
    """How many cases a half-width or a difference takes, or what those of a run can show.

    Of a RUN by its own variances, of a SUITE, or of none, from assumptions that are printed. Nothing is painted.
    """
    from salva.compare.power import Target, power_lines

    for line in power_lines(subject, Target(half_width=half_width, difference=difference)):
        click.echo(legible(line))
