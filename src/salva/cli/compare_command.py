"""`salva compare`: models held against each other on the same cases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.cli.ending import end
from salva.core.printable import printable_json
from salva.results.exit_code import GATE_FAILED, NOT_SURE

if TYPE_CHECKING:
    from salva.compare.comparing import Comparison

_PAGE = Path("comparison.html")


@click.command("compare", cls=pages.Command)
@click.argument("runs", nargs=-1, required=True, type=flags.RUN_DIRECTORY, metavar="BASELINE [CANDIDATE]...")
@flags.flag(
    "--fail-if-worse",
    group=pages.GATE,
    type=flags.Number(0, 1),
    metavar="MARGIN",
    help="Exit 1 if a model is worse than the first by more; 0.05: 5 points.",
)
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
@flags.images_flag
def command(runs: tuple[Path, ...], fail_if_worse: float | None, form: str | None, output: Path | None) -> None:
    """Compare the models of CANDIDATEs with BASELINE on the cases, repeats and seeds they share.

    The models of a single run are compared with its first model. Exit code 1: a model is worse. 2: the runs cannot be
    compared. 3: too few pairs are decided.
    """
    from salva.compare.comparing import compare_runs

    flags.require_folder(output)
    comparison = compare_runs(runs)
    _write(comparison, form, output)
    if form is not None:
        for note in dict.fromkeys(note for duel in comparison.against_first for note in duel.notes):
            click.echo(f"salva: {note}", err=True)
    if fail_if_worse is not None:
        _gate(comparison, fail_if_worse)


def _write(comparison: Comparison, form: str | None, output: Path | None) -> None:
    from salva.compare.forms import comparison_json, comparison_markdown, comparison_text
    from salva.files.outfiles import write_text

    if form == "html":
        from salva.compare.page import comparison_page

        path = output or _PAGE
        write_text(path, comparison_page(comparison))
        click.echo(path)
        return
    if form == "json":
        text = printable_json(comparison_json(comparison), indent=2) + "\n"
    else:
        text = comparison_markdown(comparison) if form == "md" else comparison_text(comparison)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_text(output, text)
        click.echo(output)


def _gate(comparison: Comparison, margin: float) -> None:
    from salva.compare.words import gate_of

    for duel in comparison.against_first:
        click.echo(gate_of(duel, margin), err=True)
    if comparison.worse_than(margin):
        end(GATE_FAILED)
    if any(duel.too_little for duel in comparison.against_first):
        end(NOT_SURE)
