"""`salva verify`: images and rows against their digests, verdicts against what is stored, the seal against a key."""

from __future__ import annotations

from pathlib import Path

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.cli.ending import end
from salva.core.exit_codes import NOT_SURE, USAGE
from salva.core.printable import printable
from salva.core.quantity import quantity
from salva.errors import UsageError
from salva.messages import message

_KEY = click.Path(dir_okay=False, path_type=Path)


@click.command("verify", cls=pages.Command)
@click.argument("run", type=flags.RUN_DIRECTORY)
@flags.flag("--sign", "private", type=_KEY, metavar="PRIVATE", help="Seal a finished run with this Ed25519 key.")
@flags.flag("--key", "public", type=_KEY, metavar="PUBLIC", help="Check the seal with its author's public key.")
@flags.images_flag
@flags.plugin_flag
def command(run: Path, private: Path | None, public: Path | None) -> None:
    """Check every stored image and row of RUN, and make its verdicts anew.

    Exit code 3 when anything could not be checked.
    """
    from salva.engine.progress import make_progress
    from salva.runs.verify import verify
    from salva.store.seal import has_seal, seal_problems, sign
    from salva.store.sqlite import open_run

    if private is not None and public is not None:
        raise UsageError(
            message(
                "options-conflict", first="--sign", second="--key", why="one seals a run, the other checks its seal"
            )
        )
    report = verify(run, make_progress())
    problems = [*report.problems]
    if public is not None:
        with open_run(run) as store:
            problems += seal_problems(store, public)
    click.echo(f"{quantity(report.n_images, 'images')}, {quantity(report.n_rows, 'rows')} checked")
    click.echo(f"{quantity(report.n_recomputed, 'verdicts')} made anew from what is stored")
    for reason in report.unchecked:
        click.echo(f"not checked: {printable(reason)}")
    for problem in problems:
        click.echo(f"  {printable(problem)}")
    if problems:
        click.echo(quantity(len(problems), "problems"), err=True)
        if report.remedy:
            click.echo(report.remedy, err=True)
        end(USAGE)
    if private is not None:
        if not report.is_whole:
            raise UsageError(message("seal-unfinished", path=str(run)))
        with open_run(run) as store:
            click.echo(f"sealed with the key {sign(store, private)}")
    elif public is not None:
        click.echo("the seal matches the key")
    elif has_seal(run):
        click.echo("sealed; --key PUBLIC checks by whom")
    if report.unchecked:
        click.echo(f"incomplete: {quantity(len(report.unchecked), 'reasons')} why something was not checked")
        end(NOT_SURE)
    click.echo("everything matches")
