"""What the commands of `salva write` share: a bar, a file of what was left out, and the ending that names it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn, TypeVar

import click

from salva.cli.ending import end
from salva.core.exit_codes import NOT_SURE
from salva.files.outfiles import write_text

T = TypeVar("T")
FILE = click.Path(path_type=Path, dir_okay=False)


def shown(made: Iterable[T], title: str, total: int) -> Iterable[T]:
    """The same with a bar, where there is a terminal."""
    from rich.progress import track

    return track(made, title, total=total, transient=True, disable=not sys.stdout.isatty())


def keep_beside(path: Path, text: str) -> None:
    """Write a file of what was left out; none where nothing was."""

    if text:
        write_text(path, text)
    else:
        path.unlink(missing_ok=True)


def end_incomplete(reasons: Iterable[str], summary: str) -> NoReturn:
    """Say what was left out and why, and end the command."""
    for reason in reasons:
        click.echo(reason, err=True)
    click.echo(summary, err=True)
    end(NOT_SURE)
