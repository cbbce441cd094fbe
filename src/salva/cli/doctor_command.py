"""`salva doctor`: what this machine has for a run."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from salva.cli import flags
from salva.cli.main import EXIT_USAGE


@click.command("doctor", short_help="What this machine has for a run.")
@click.argument("suite", required=False)
@flags.plugin_flag
@flags.flag("--model", "models", multiple=True, help="A generator of the planned run; repeatable.")
@flags.size_flag
@flags.flag("--repeats", type=int, default=1, show_default=True, help="Seeds of the planned run.")
@flags.set_flag
@flags.flag("--out", type=flags.RUN_DIRECTORY, help="Where the planned run would go.")
def command(
    suite: str | None, models: tuple[str, ...], size: str, repeats: int, settings: tuple[str, ...], out: Path | None
) -> None:
    """Versions, extras, devices, which keys are set (never their values), disk, and salva's own files.

    With a SUITE, whether the pictures of that run would fit on the disk. Exit 2 when something must be mended.
    """
    from salva.runs.ask import Ask, make_spec, split_settings
    from salva.runs.doctor import examine

    spec = None
    if suite:
        ask = Ask(suite=suite, models=models, size=size, repeats=repeats, settings=split_settings(settings))
        spec = make_spec(ask)
    section, is_bad = "", False
    for finding in examine(spec, out):
        if finding.section != section:
            section = finding.section
            click.echo(section)
        click.echo(f"  {finding.name:<22} {finding.state}")
        is_bad = is_bad or finding.is_bad
    if is_bad:
        sys.exit(EXIT_USAGE)
