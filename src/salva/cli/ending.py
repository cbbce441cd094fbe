"""How a command ends with an exit code of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import click

from salva.core.printable import printable
from salva.core.secrets import redact

if TYPE_CHECKING:
    from salva.report.summary import Summary


class Ended(SystemExit):
    """The end of a command that knows its exit code; any other SystemExit is a component's and not believed."""


def end_with(summary: Summary) -> None:
    """Say which results are errors, and end the command as the summary says."""
    from salva.run_results import error_notes

    for line in error_notes(result for model in summary.by_model.values() for result in model.all_results):
        click.echo(printable(redact(f"salva: {line}")), err=True)
    if code := summary.exit_code:
        end(code)


def end(code: int) -> NoReturn:
    """End the command with this exit code."""
    raise Ended(code)
