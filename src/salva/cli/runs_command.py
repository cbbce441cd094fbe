"""`salva runs`: the runs in a folder."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from salva.charts.formats import percent_text
from salva.core.printable import printable
from salva.core.secrets import redact
from salva.report.headline_text import range_text
from salva.report.run_list import DAMAGED, NO_RUN, RunLine, list_runs

_PIPE_WIDTH = 10_000


@click.command("runs")
@click.argument("folder", type=click.Path(path_type=Path), default="runs")
def command(folder: Path) -> None:
    """List the runs in FOLDER (default: runs), newest first: failure rate, trust, date, state.

    Unfinished and damaged runs are listed with the reason. Nothing is contacted.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    lines = list(list_runs(folder))
    rows = [_cells(line) for line in lines if line.state not in (DAMAGED, NO_RUN)]
    if rows:
        table = Table(box=None, pad_edge=False)
        for name in rows[0]:
            # Names may be broken over lines; figures, dates and states may not.
            table.add_column(name, overflow="fold", no_wrap=name not in ("run", "model", "suite", "state"))
        for cells in rows:
            table.add_row(*(Text(printable(cell)) for cell in cells.values()))
        # In a file or a pipe every run is one line.
        width = None if sys.stdout.isatty() else _PIPE_WIDTH
        Console(width=width, markup=False, highlight=False).print(table)
    else:
        click.echo(f"no runs in {folder}")
    for line in lines:
        if line.state in (DAMAGED, NO_RUN):
            click.echo(printable(redact(f"{line.directory.name}: {line.state}: {line.problem}")))


def _cells(line: RunLine) -> dict[str, str]:

    rate = line.problem
    if line.model:
        ends = "" if line.low is None or line.high is None else f" ({range_text(line.low, line.high)})"
        rate = percent_text(line.failure_rate) + ends if line.n else "nothing decided"
    errors = f", {n} ERROR" if (n := line.results.get("error", 0)) else ""
    return {
        "run": line.directory.name,
        "suite": line.suite,
        "model": line.model,
        "failure rate": rate,
        "n": str(line.n or 0),
        "trust": line.trust,
        "date (UTC)": f"{line.date:%Y-%m-%d %H:%M}" if line.date else "",
        "state": line.state + errors,
    }
