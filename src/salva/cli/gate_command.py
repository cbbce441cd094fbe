"""`salva gate`: suites on a candidate against a baseline, by the rules of a file."""

from __future__ import annotations

from pathlib import Path

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.cli.ending import end
from salva.core.exit_codes import INTERRUPTED
from salva.messages import message


@click.command("gate", cls=pages.Command)
@click.argument("spec", type=click.Path(dir_okay=False, path_type=Path), metavar="SPEC.toml")
@flags.progress_flag
def command(spec: Path, no_progress: bool) -> None:
    """Run the suites of SPEC.toml on a candidate, compare with a baseline, exit by its rules.

    Exit code 0: every rule passed. 1: one failed. 2: the file or the baseline must be changed. 3: a rule is
    inconclusive, or trust is none. The same command resumes an interrupted gate.
    """
    from salva.compare.gate_file import read_gate
    from salva.compare.gate_forms import gate_lines, gate_table, write_gate
    from salva.compare.gate_run import run_gate
    from salva.core.printable import printable
    from salva.engine.progress import make_progress
    from salva.report.terminal import print_table

    asked = read_gate(spec)
    try:
        result = run_gate(asked, make_progress(quiet=no_progress), lambda text: click.echo(text, err=True))
    except KeyboardInterrupt:
        click.echo(f"\nsalva: {message('run-interrupted', path=str(asked.out))}", err=True)
        end(INTERRUPTED)
    folder = write_gate(result)
    print_table(gate_table(result))
    for line in gate_lines(result):
        click.echo(printable(line))
    click.echo(f"\ngate     {result.decision}: {asked.candidate.model}\nreports  {folder}")
    end(result.exit_code)
