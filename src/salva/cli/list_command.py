"""`salva list`: what can be named."""

from __future__ import annotations

import click

from salva.errors import PluginError, UsageError

_ROLES = {
    "suites": "suite",
    "models": "model",
    "detectors": "detector",
    "readers": "reader",
    "embedders": "embedder",
    "judges": "judge",
    "relations": "relation",
    "metrics": "metric",
    "importers": "importer",
    "exporters": "exporter",
    "executors": "executor",
}


@click.command("list", short_help="What can be named.")
@click.argument("kind", type=click.Choice([*_ROLES, "laws"]))
@click.option("--plugin", multiple=True, metavar="FILE:CLASS", help="Also a component from a loose file.")
def command(kind: str, plugin: tuple[str, ...]) -> None:
    """The registered components of a kind, one a line: name, what it is, where it comes from."""
    from rich.console import Console
    from rich.table import Table

    from salva.registry import add_loose_plugin, entries, load

    for source in plugin:
        add_loose_plugin(source)
    table = Table(box=None, pad_edge=False)
    if kind == "laws":
        from salva.logic.laws import LAWS

        for column in ("law", "family", "equivalence", "in words"):
            table.add_column(column)
        for law in LAWS:
            table.add_row(law.name, law.family, f"{law.left} = {law.right}", law.summary)
    else:
        for column in ("name", "what", "from"):
            table.add_column(column)
        for entry in entries(_ROLES[kind]):
            try:
                what = (load(_ROLES[kind], entry.name).__doc__ or "").strip().partition("\n")[0]
            except UsageError:
                continue  # a judge that cannot read
            except PluginError as error:
                what = f"broken: {error}"
            table.add_row(entry.name, what, entry.distribution or entry.source)
    Console(soft_wrap=True, markup=False).print(table)
    if not table.row_count:
        click.echo(f"no {kind} are installed")
