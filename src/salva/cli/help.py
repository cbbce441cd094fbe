"""Help pages: flags in groups, formats of a role in a list, no variables, at most 80 columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

GROUPS = ("What to test", "Observers", "How much", "Gate", "Output", "Advanced")
"""The groups of flags, in the order of a help page."""
TEST, OBSERVERS, AMOUNT, GATE, OUTPUT, ADVANCED = GROUPS


class Flag(click.Option):
    """An option that stands in a group of the help page."""

    def __init__(self, *arguments: Any, group: str = ADVANCED, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.group = group


class Command(click.Command):
    """A command whose help page has its flags in groups."""

    def __init__(self, *arguments: Any, formats: Callable[[], list[tuple[str, str]]] | None = None, **settings: Any):
        super().__init__(*arguments, **settings)
        self._formats = formats

    def invoke(self, ctx: click.Context) -> object:
        """Run the command, which gives no exit code in click's way: a component that does so has counted nothing."""
        try:
            return super().invoke(ctx)
        except click.exceptions.Exit as error:
            raise SystemExit(error.exit_code) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the flags, a section for each group."""
        by_group: dict[str, list[tuple[str, str]]] = {group: [] for group in GROUPS}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx)) is not None:
                by_group[getattr(parameter, "group", ADVANCED)].append(record)
        for group, records in by_group.items():
            if records:
                with formatter.section(group):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the formats that the command knows."""
        if self._formats is not None:
            with formatter.section("Formats"):
                formatter.write_dl(self._formats())
