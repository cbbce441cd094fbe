"""Flags of gates, which `salva run` and `salva compare` share; the others load no results."""

from __future__ import annotations

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.results.gate import GATE_ON, MIN_DECIDED

gate_on_flag = flags.flag(
    "--gate-on",
    group=pages.GATE,
    type=click.Choice(GATE_ON),
    default="interval",
    help="What decides: the whole interval, one end, or the point. Default: interval.",
)
min_decided_flag = flags.flag(
    "--min-decided",
    group=pages.GATE,
    type=click.IntRange(min=1),
    metavar="N",
    default=MIN_DECIDED,
    help=f"No gate passes with fewer decided results. Default: {MIN_DECIDED}.",
)
