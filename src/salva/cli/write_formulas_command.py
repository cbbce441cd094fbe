"""`salva write formulas`: formulas for prompts that the grammar cannot read, proposed by a text model and checked."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import click

from salva.cli import flags

_FILE = click.Path(path_type=Path, dir_okay=False)
_N_NAMED = 5


@click.command("formulas")
@click.argument("source", metavar="FILE")
@click.option("-o", "--output", type=_FILE, required=True, help="The same prompts with formulas (JSON lines).")
@click.option("--writer", required=True, metavar="openai/MODEL", help="The text model that proposes formulas.")
@click.option("--base-url", default="", help="The text model's endpoint; OPENAI_BASE_URL otherwise.")
@flags.progress_flag
def command(source: str, output: Path, writer: str, base_url: str, no_progress: bool) -> None:
    """Have a text model propose a formula for every prompt of FILE that has none and that the grammar cannot read.

    One is accepted if its English reads back to the same worlds, it names only words of the prompt, and it uses every
    noun and number of it. OUTPUT holds all prompts, for suite.path; replies are kept beside it, so the same command
    pays for none twice.
    """
    from rich.progress import Progress

    from salva.files.outfiles import write_text
    from salva.writing.formula_files import lines_with, unread
    from salva.writing.formulas import Proposed, propose
    from salva.writing.prompt_files import read_prompt_rows
    from salva.writing.samples import lines_of

    rows = read_prompt_rows(source)
    missing = unread(rows)
    beside = output.with_name(f"{output.stem}-unproposed.jsonl")
    model = flags.text_model(writer, base_url, output) if missing else None
    accepted: dict[str, str] = {}
    refused: list[Proposed] = []

    def save() -> None:
        write_text(output, lines_with(rows, accepted, writer))
        if refused:
            write_text(beside, lines_of(refused))
        else:
            beside.unlink(missing_ok=True)

    try:
        with Progress(disable=no_progress, transient=True) as bar:
            task = bar.add_task("asking", total=len(missing))
            for made in propose(missing, model) if model else ():
                if made.formula is None:
                    refused.append(made)
                else:
                    accepted[made.prompt] = made.formula
                bar.advance(task)
    finally:
        save()
        told = f"{len(accepted)} of {len(missing)} formulas accepted; {output} holds {len(rows)} entries"
        click.echo(f"{told}, for --set suite.path={output}")
        if model:
            click.echo(
                f"{writer} was asked {model.n_calls} times: {model.n_tokens_in} tokens in, {model.n_tokens_out} out"
            )
    if refused:
        from salva.cli.main import EXIT_INCOMPLETE

        for why, n in Counter(entry.why for entry in refused).most_common(_N_NAMED):
            click.echo(f"{n}: {why}", err=True)
        click.echo(f"{len(refused)} prompts have no formula; {beside} lists them with reasons", err=True)
        sys.exit(EXIT_INCOMPLETE)
