"""`salva merge`: shards into one run."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from salva.cli import flags
from salva.cli.main import EXIT_INCOMPLETE
from salva.core.counted import counted


@click.command("merge", short_help="Shards into one run.")
@click.argument("runs", nargs=-1, required=True, type=flags.RUN_DIRECTORY)
@flags.flag("--out", type=flags.RUN_DIRECTORY, required=True, help="The directory of the merged run.")
@flags.progress_flag
def command(runs: tuple[Path, ...], out: Path, no_progress: bool) -> None:
    """Put the shards RUNS of one command together, as if it had run in one piece.

    All shards must be there; of one that was killed, all pieces count. Nothing is painted, and nothing that the shards
    name is contacted. The command without --shard goes on with the merged run where a shard was not finished.
    """
    from salva.engine.progress import make_progress
    from salva.runs.merge import merge

    merged = merge(runs, out, make_progress(quiet=no_progress))
    click.echo(
        f"{counted(merged.n_shards, 'shards')}: {counted(merged.n_cases, 'cases')} and "
        f"{counted(merged.n_images, 'images')} in {out}"
    )
    for line in merged.left_out:
        click.echo(f"salva: {line}", err=True)
    click.echo(f"report: salva report {shlex.quote(str(out))}")
    if merged.unfinished:
        named = ", ".join(merged.unfinished[:5]) + (" ..." if len(merged.unfinished) > 5 else "")
        click.echo(
            f"salva: not finished: {named}; their command without --shard, with --out {shlex.quote(str(out))}, does "
            "what is left",
            err=True,
        )
        sys.exit(EXIT_INCOMPLETE)
