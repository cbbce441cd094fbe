"""`salva doctor`: what this machine has for a run."""

from __future__ import annotations

import click

from salva.cli.ending import end
from salva.core.exit_codes import USAGE


@click.command("doctor")
def command() -> None:
    """Print versions, extras, devices, which keys are set, disk space and damaged files of salva.

    Exit code 2: salva cannot work as it is. Values of keys are never printed.
    """
    from salva.runs.doctor import examine

    section, is_bad = "", False
    for finding in examine():
        if finding.section != section:
            section = finding.section
            click.echo(section)
        click.echo(f"  {finding.name:<22} {finding.state}")
        is_bad = is_bad or finding.is_bad
    if is_bad:
        end(USAGE)
