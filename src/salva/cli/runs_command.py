"""`salva runs`: the runs in a folder."""

from __future__ import annotations

import sys
from pathlib import Path

import click

_PIPE_WIDTH = 10_000


@click.command("runs")
@click.argument("folder", type=click.Path(path_type=Path), default="runs")
def command(folder: Path) -> None:
    """List the runs in FOLDER (default: runs), newest first: model, suite, rate, date.

    Unfinished and damaged runs are listed with the reason. Nothing is contacted.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from salva.charts.formats import interval_text, percent
    from salva.core.printable import printable
    from salva.core.secrets import redact
    from salva.report.run_list import DAMAGED, NO_RUN, list_runs
    from salva.results.leading import OK

    rows, others = [], []
    for line in list_runs(folder):
        if line.state in (DAMAGED, NO_RUN):
            others.append(f"{line.directory.name}: {line.state}: {line.problem}")
            continue
        rate, interval = line.figure or percent(line.rate), interval_text(line.low, line.high)
        odd = [f"{n} ERROR"] if (n := line.outcomes.get("ERROR", 0)) else []
        # A rate that a blind detector gave must not stand there like the others.
        odd += [f"{line.oracle} oracle"] if line.oracle not in ("", OK) else []
        shown_interval = f" ({interval})" if line.title and not line.figure else ""
        row = {
            "run": line.directory.name,
            "suite": line.suite,
            "size": line.size,
            "model": line.model,
            "leads": f"{line.title} {rate}{shown_interval}" if line.title else line.problem,
            "n": str(line.n or 0),
            "date (UTC)": f"{line.date:%Y-%m-%d %H:%M}" if line.date else "",
            "state": ", ".join([line.state, *odd]),
        }
        rows.append({name: printable(cell) for name, cell in row.items()})
    if rows:
        table = Table(box=None, pad_edge=False)
        for name in rows[0]:
            table.add_column(name, justify="right" if name == "n" else "left", overflow="fold")
        for cells in rows:
            table.add_row(*map(Text, cells.values()))
        # In a file or a pipe every run is one line.
        width = None if sys.stdout.isatty() else _PIPE_WIDTH
        Console(width=width, markup=False, highlight=False).print(table)
    else:
        click.echo(f"no runs in {folder}")
    for other in others:
        click.echo(printable(redact(other)))
