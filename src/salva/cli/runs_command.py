"""`salva runs`: the runs in a folder."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

_GAP = 2
_LEAST = {"run": 20, "model": 12}
"""The names that may be cut, and how much of them stays before a column goes."""
_DROPPED = ("size", "suite", "n", "date (UTC)")
"""What goes first where there is no room."""


class RunRow(NamedTuple):
    """A run as it stands where there is room, and in fewer words."""

    whole: dict[str, str]
    short: dict[str, str]


def fitted(rows: Sequence[RunRow], width: int) -> list[dict[str, str]]:
    """Rows that fit a terminal's width, each in one line: in fewer words, with fewer columns, with names cut short."""
    shown = [row.whole for row in rows]
    if sum(_widths(shown).values()) <= width:
        return shown
    shown = [row.short for row in rows]
    for dropped in (*_DROPPED, ""):
        wide = _widths(shown)
        room = width - sum(n for name, n in wide.items() if name not in _LEAST)
        least = sum(min(wide[name], n + _GAP) for name, n in _LEAST.items())
        if room >= least or not dropped:
            break
        shown = [{name: cell for name, cell in row.items() if name != dropped} for row in shown]
    model = min(wide["model"], max(room - wide["run"], room * 2 // 5))
    places = {"run": room - model - _GAP, "model": model - _GAP}
    return [{name: _cut(cell, places.get(name, width)) for name, cell in row.items()} for row in shown]


def _widths(rows: Sequence[dict[str, str]]) -> dict[str, int]:
    return {name: max(len(name), *(len(row[name]) for row in rows)) + _GAP for name in rows[0]}


def _cut(text: str, n: int) -> str:
    """A name in so many characters: its beginning and its end, which tells runs apart."""
    n = max(n, 3)
    return text if len(text) <= n else f"{text[: n - n // 2 - 1]}…{text[len(text) - n // 2 :]}"


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
    from salva.report.run_list import COMPLETE, DAMAGED, NO_RUN, list_runs
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
        row = {
            "run": line.directory.name,
            "suite": line.suite,
            "size": line.size,
            "model": line.model,
            "leads": f"{line.title} {rate}" if line.title else line.problem,
            "n": str(line.n or 0),
            "date (UTC)": f"{line.date:%Y-%m-%d}" if line.date else "",
            "state": ", ".join(odd if odd and line.state == COMPLETE else [line.state, *odd]),
        }
        whole = {**row, "state": ", ".join([line.state, *odd])}
        whole["leads"] += f" ({interval})" if line.title and not line.figure else ""
        whole["date (UTC)"] = f"{line.date:%Y-%m-%d %H:%M}" if line.date else ""
        rows.append(RunRow(*({name: printable(cell) for name, cell in cells.items()} for cells in (whole, row))))
    if rows:
        # In a file or a pipe a line is a line, and a name is whole.
        width = Console().width if sys.stdout.isatty() else sum(_widths([row.whole for row in rows]).values())
        table = Table(box=None, pad_edge=False)
        shown = fitted(rows, width)
        for name in shown[0]:
            table.add_column(name, justify="right" if name == "n" else "left", no_wrap=True, overflow="ellipsis")
        for cells in shown:
            table.add_row(*map(Text, cells.values()))
        Console(width=width, markup=False, highlight=False).print(table)
    else:
        click.echo(f"no runs in {folder}")
    for other in others:
        click.echo(printable(redact(other)))
