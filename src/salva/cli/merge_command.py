"""`salva merge`: shards into one run."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.cli.ending import end
from salva.core.exit_codes import NOT_SURE
from salva.core.quantity import quantity
from salva.messages import message


@click.command("merge", cls=pages.Command)
@click.argument("runs", nargs=-1, required=True, type=flags.RUN_DIRECTORY)
@flags.flag("--out", group=pages.OUTPUT, type=flags.RUN_DIRECTORY, required=True, help="The merged run.")
def command(runs: tuple[Path, ...], out: Path) -> None:
    """Merge the shards RUNS of one command into one run.

    All shards must be given, and nothing is contacted. The command without --shard continues the merged run.
    """
    from salva.engine.progress import make_progress
    from salva.runs.merge import merge

    merged = merge(runs, out, make_progress())
    click.echo(
        f"{quantity(merged.n_shards, 'shards')}: {quantity(merged.n_cases, 'cases')} and "
        f"{quantity(merged.n_images, 'images')} in {out}"
    )
    for line in merged.left_out:
        click.echo(f"salva: {line}", err=True)
    click.echo(f"report: salva report {shlex.quote(str(out))}")
    if merged.unfinished:
        named = ", ".join(merged.unfinished[:5]) + (" ..." if len(merged.unfinished) > 5 else "")
        click.echo(f"salva: {message('not-finished', runs=named, path=shlex.quote(str(out)))}", err=True)
        end(NOT_SURE)
