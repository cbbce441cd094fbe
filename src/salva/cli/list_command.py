"""`salva list`: what can be named."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.core.printable import printable
from salva.errors import PluginError, UsageError, unknown_name

_ROLES = {
    "suites": "suite",
    "models": "model",
    "detectors": "detector",
    "readers": "reader",
    "embedders": "embedder",
    "judges": "judge",
    "checks": "check",
    "metrics": "metric",
    "importers": "importer",
    "exporters": "exporter",
    "executors": "executor",
}


_SEEDS = {
    True: "the same prompt and seed give the same image",
    False: "none: the same prompt gives another image each time",
    None: "not stated",
}


@click.command("list", cls=pages.Command)
@click.argument("kind", type=click.Choice([*_ROLES, "laws"]))
@click.argument("name", required=False)
@flags.plugin_flag
def command(kind: str, name: str | None) -> None:
    """List the components of a KIND; with NAME, what that one needs and its options."""
    from rich.console import Console
    from rich.table import Table

    from salva.registry import entries, load

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
                is_stand_in = entry.role != _ROLES[kind]
                what = "" if is_stand_in else entry.summary
                what = what or _first_line(load(_ROLES[kind], entry.name))
            except UsageError:
                continue  # a judge that cannot read
            except PluginError as error:
                what = f"broken: {error}"
            table.add_row(entry.name, printable(what), entry.distribution or entry.source)
    Console(soft_wrap=True, markup=False).print(table)
    if not table.row_count:
        click.echo(f"no {kind} are installed")


def _tell_one(kind: str, name: str) -> None:
    """What one component or law says of itself."""
    if kind == "laws":
        from salva.logic.laws import LAWS

        meant = [law for law in LAWS if name in (law.name, law.family)]
        if not meant:
            raise unknown_name("law", name, {known for law in LAWS for known in (law.name, law.family)})
        for law in meant:
            click.echo(f"{law.name} ({law.family}): {law.left} = {law.right}\n{law.summary}")
        return
    from salva.core.about import about_of, options_of
    from salva.core.options import described, fields_of
    from salva.registry import load

    role, plain = _ROLES[kind], name.partition("/")[0]
    component = load(role, plain)
    about = about_of(component)
    click.echo(f"{name}: {_first_line(component)}")
    if about.made_for:
        click.echo(f"made for: {about.made_for}")
    if role == "detector":
        click.echo(f"names:    {about.names if isinstance(about.names, str) else ', '.join(about.names)}")
    if role == "model":
        click.echo(f"seeds:    {_SEEDS[about.seeds_hold]}")
    for line in _needs(role, plain):
        click.echo(f"needs:    {line}")
    if about.licence:
        click.echo(f"licence:  {about.licence}")
    for option, field in fields_of(options_of(component)).items():
        default, text = described(field, about.default_target)
        click.echo(f"{role}.{option}={default}\n    {text}")


def _needs(role: str, name: str) -> Iterator[str]:
    """What must be installed or set for one of salva's own components."""
    from salva.registry import built_in
    from salva.runs.doctor import state_of_extra

    ours = built_in(role, name)
    if ours.extra:
        yield f"the extra {ours.extra}: {state_of_extra(ours.extra)}"
    if keys := ours.keys:
        is_set = "set" if any(os.environ.get(key) for key in keys) else "not set"
        yield f"a key in {' or '.join(keys)} ({is_set}); an endpoint of your own may need none"


def _first_line(component: type[Any]) -> str:
    return (component.__doc__ or "").strip().partition("\n")[0]
