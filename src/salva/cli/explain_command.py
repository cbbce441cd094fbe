"""`salva explain`: what a message means and what to do."""

from __future__ import annotations

import click

from salva.errors import UsageError, meant
from salva.messages import entries, message


@click.command("explain", short_help="What a message means and what to do.")
@click.argument("code")
def command(code: str) -> None:
    """Print the template of the message CODE, and what can be done about it.

    CODE stands in brackets at the end of every error, warning and note.
    """
    known = entries()
    name = code.strip("[]")
    if name not in known:
        raise UsageError(message("code-unknown", code=name, meant=meant(name, known)))
    click.echo(f"{name}\n\n{known[name].template}")
    if known[name].explanation:
        click.echo(f"\n{known[name].explanation}")
