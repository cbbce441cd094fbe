"""`salva compare`: candidates against a baseline on the same cases."""

from __future__ import annotations

from pathlib import Path

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.cli.ending import end
from salva.cli.gate_flags import gate_on_flag, min_decided_flag
from salva.compare.comparing import ComparedRuns, compare_runs
from salva.compare.forms import comparison_json, comparison_markdown, comparison_text
from salva.compare.margin import Demands
from salva.compare.tables import candidates_table, tables_of
from salva.compare.words import margin_text
from salva.core.printable import printable_json
from salva.files.outfiles import write_text
from salva.report.terminal import print_table

_PAGE = Path("comparison.html")


@click.command("compare", cls=pages.Command)
@click.argument("runs", nargs=-1, required=True, type=flags.RUN_DIRECTORY, metavar="BASELINE [CANDIDATE]...")
@flags.flag(
    "--margin",
    group=pages.GATE,
    type=flags.Number(0, 1),
    default=0.05,
    metavar="X",
    help="Within it, either way, is no difference. Default: 0.05.",
)
@flags.flag(
    "--fail-if-worse",
    group=pages.GATE,
    type=flags.Number(0, 1),
    metavar="MARGIN",
    help="The gate: by how much the failure rate may be higher.",
)
@gate_on_flag
@min_decided_flag
@flags.flag(
    "--format",
    "form",
    group=pages.OUTPUT,
    of="compare",
    type=click.Choice(["html", "md", "json"]),
    help="Default: text.",
)
@flags.flag(
    "-o",
    "--output",
    group=pages.OUTPUT,
    of="compare",
    type=flags.OUTPUT_FILE,
    help=f"Default of html: {_PAGE}.",
)
@flags.verbose_flag
@flags.images_flag
def command(
    runs: tuple[Path, ...],
    margin: float,
    fail_if_worse: float | None,
    gate_on: str,
    min_decided: int,
    form: str | None,
    output: Path | None,
    verbose: bool,
) -> None:
    """Compare the models of CANDIDATEs with BASELINE on the cases, repeats and seeds they share.

    The models of a single run are compared with its first model. With --fail-if-worse the exit code is 0 if the gate
    passed, 1 if it failed, 3 if it is inconclusive. 2: the runs cannot be compared.
    """

    flags.require_folder(output)
    demands = Demands(margin=margin, fail_if_worse=fail_if_worse, gate_on=gate_on, min_decided=min_decided)
    compared = compare_runs(runs, demands)
    _write(compared, form, output, verbose=verbose)
    if form is not None:
        _print_notes(compared)
    if code := compared.exit_code:
        end(code)


def _write(compared: ComparedRuns, form: str | None, output: Path | None, *, verbose: bool) -> None:

    if form == "html":
        from salva.compare.page import comparison_page

        path = output or _PAGE
        write_text(path, comparison_page(compared))
        click.echo(path)
        return
    if form == "json":
        text = printable_json(comparison_json(compared), indent=2) + "\n"
    else:
        text = comparison_markdown(compared) if form == "md" else comparison_text(compared, verbose=verbose)
    if output is not None:
        write_text(output, text)
        click.echo(output)
        return
    click.echo(text, nl=False)
    if verbose and form is None:
        _print_tables(compared)


def _print_tables(compared: ComparedRuns) -> None:

    if compared.only is None:
        print_table(candidates_table(compared))
    for one in compared.comparisons:
        for table in tables_of(one):
            print_table(table)


def _print_notes(compared: ComparedRuns) -> None:
    """What a form says for itself, on stderr: what to know, and the gate."""

    for note in dict.fromkeys(note for one in compared.comparisons for note in one.notes):
        click.echo(f"salva: {note}", err=True)
    for one in compared.comparisons:
        if one.gate:
            click.echo(f"gate {margin_text(one, one.gate)}", err=True)
