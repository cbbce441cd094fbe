"""Flags that say which column of a rating table is what, for every command that reads one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from salva.people.ratings import Columns

F = TypeVar("F", bound=Callable[..., Any])

_FLAGS = (
    click.option(
        "--people", default="", metavar="COL,...", help="Columns of people's ratings; found by name otherwise."
    ),
    click.option("--judge", "judges", default="", metavar="COL,...", help="Columns of judges' scores; likewise."),
    click.option("--item", default="", metavar="COL,...", help="Columns that name the rated thing; likewise."),
    click.option(
        "--rater", default="", metavar="COL", help="The column that names the rater, one row a rating; likewise."
    ),
)


def rating_columns(command: F) -> F:
    """Add --people, --judge, --item and --rater to a command."""
    for add in reversed(_FLAGS):
        command = add(command)
    return command


def columns_of(people: str, judges: str, item: str, rater: str, group: str = "") -> Columns:
    """What the flags say."""
    return Columns(things=_names(item), rater=rater, people=_names(people), judges=_names(judges), group=group)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
