"""`salva list`: what can be named."""

from __future__ import annotations

from typing import Any

import click

from salva.core.legible import legible
from salva.errors import PluginError, UsageError, unknown_name

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
@click.argument("name", required=False)
@click.option("--plugin", multiple=True, metavar="FILE:CLASS", help="Also a component from a loose file.")
def command(kind: str, name: str | None, plugin: tuple[str, ...]) -> None:
    """The registered components of a kind, one a line; with a NAME what that one is made for, and its options."""
    from rich.console import Console
    from rich.table import Table

    from salva.registry import add_loose_plugin, entries, load

    for source in plugin:
        add_loose_plugin(source)
    if name is not None:
        _tell_one(kind, name)
        return
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
                what = _first_line(load(_ROLES[kind], entry.name))
            except UsageError:
                continue  # a judge that cannot read
            except PluginError as error:
                what = f"broken: {error}"
            table.add_row(entry.name, legible(what), entry.distribution or entry.source)
    Console(soft_wrap=True, markup=False).print(table)
    if not table.row_count:
        click.echo(f"no {kind} are installed")


def _tell_one(kind: str, name: str) -> None:
    """What one component or law says of itself."""
    if kind == "laws":
        from salva.logic.laws import LAWS

        by_name = {law.name: law for law in LAWS}
        if name not in by_name:
            raise unknown_name("law", name, by_name)
        law = by_name[name]
        click.echo(f"{law.name} ({law.family}): {law.left} = {law.right}\n{law.summary}")
        return
    from salva.core.about import about_of, options_of
    from salva.core.options import described, fields_of
    from salva.registry import load

    role = _ROLES[kind]
    component = load(role, name.partition("/")[0])
    about = about_of(component)
    click.echo(f"{name}: {_first_line(component)}")
    if about.made_for:
        click.echo(f"made for: {about.made_for}")
    if role == "detector":
        click.echo(f"names:    {about.names if isinstance(about.names, str) else ', '.join(about.names)}")
    if about.licence:
        click.echo(f"licence:  {about.licence}")
    for option, field in fields_of(options_of(component)).items():
        default, text = described(field)
        click.echo(f"{role}.{option}={default}\n    {text}")


def _first_line(component: type[Any]) -> str:
    return (component.__doc__ or "").strip().partition("\n")[0]
