"""`salva rewrite`: equivalent formulas and their English."""

from __future__ import annotations

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.core.printable import printable_json


@click.command("rewrite", cls=pages.Command)
@click.argument("formula")
@flags.flag("--law", group=pages.TEST, help="Only this law or family; see salva list laws.")
@flags.format_flag("rewrite", "table", "jsonl")
def command(formula: str, law: str | None, form: str) -> None:
    """Print every formula that one law makes of FORMULA, which can be an English sentence."""
    from salva.english.sentences import parse_text, to_english
    from salva.logic.notation import to_notation
    from salva.logic.rewrite import Rewrite, rewrites

    start = parse_text(formula)
    found: dict[tuple[str, str], Rewrite] = {}
    for rewrite in rewrites(start, law):
        found.setdefault((rewrite.law.name, to_notation(rewrite.formula)), rewrite)
    if form == "jsonl":
        for (law_name, notation), rewrite in found.items():
            row = {
                "law": law_name,
                "family": rewrite.law.family,
                "formula": notation,
                "position": list(rewrite.position),
            }
            click.echo(printable_json({**row, "english": to_english(rewrite.formula)}))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for column in ("law", "formula", "english"):
        table.add_column(column, overflow="fold")
    table.add_row("(as given)", to_notation(start), to_english(start))
    for (law_name, notation), rewrite in found.items():
        table.add_row(law_name, notation, to_english(rewrite.formula))
    Console(markup=False).print(table)
    if not found:
        click.echo("no law applies" if law is None else f"{law} does not apply anywhere in this formula")
