"""`salva runs`: the runs in a folder."""

from __future__ import annotations

import sys
from pathlib import Path

import click

_WIDE = 240


@click.command("runs", short_help="The runs in a folder: model, suite, rate, date.")
@click.argument("folder", type=click.Path(path_type=Path), default="runs")
def command(folder: Path) -> None:
    """The runs in FOLDER (default: runs), newest first: model, suite, leading rate, date.

    Runs that are unfinished or damaged, and folders that are no runs, are named with why. Nothing that a run names is
    contacted.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from salva.core.legible import legible
    from salva.core.secrets import redact
    from salva.figures.formats import interval_text, percent
    from salva.judging.leading import OK
    from salva.report.run_list import DAMAGED, NO_RUN, list_runs

    table = Table(box=None, pad_edge=False)
    for column in ("run", "suite", "size", "model", "leads", "n", "date (UTC)", "state"):
        table.add_column(column, justify="right" if column == "n" else "left", overflow="fold")
    others = []
    for line in list_runs(folder):
        if line.state in (DAMAGED, NO_RUN):
            others.append(f"{line.directory.name}: {line.state}: {line.problem}")
            continue
        rate = line.figure or f"{percent(line.rate)} ({interval_text(line.low, line.high)})"
        leads = f"{line.title} {rate}" if line.title else line.problem
        date = f"{line.date:%Y-%m-%d %H:%M}" if line.date else ""
        state = line.state + (f", {n} FAILED" if (n := line.outcomes.get("FAILED", 0)) else "")
        # A rate that a blind detector gave must not stand there like the others.
        state += f", {line.oracle} oracle" if line.oracle not in ("", OK) else ""
        cells = (line.directory.name, line.suite, line.size, line.model, leads, str(line.n or 0), date)
        table.add_row(*(Text(legible(cell)) for cell in cells), Text(state))
    if table.row_count:
        # In a file or a pipe a line is a line.
        width = None if sys.stdout.isatty() else _WIDE
        Console(width=width, soft_wrap=True, markup=False, highlight=False).print(table)
    else:
        click.echo(f"no runs in {folder}")
    for other in others:
        click.echo(legible(redact(other)))
