"""`salva write formulas` and `salva write paraphrases`: what a text model makes of prompts, checked and kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.cli.ending import end
from salva.core.quantity import quantity
from salva.errors import UsageError
from salva.messages import message

if TYPE_CHECKING:
    from salva.authoring.asking import AuthoredAnswer
    from salva.english.prompt_files import PromptRow
    from salva.remote.text_model import TextModel

_FILE = click.Path(path_type=Path, dir_okay=False)
_N_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _FormulaRequest:
    """What is asked of a text model, about which prompts, and how the answers stand in a file."""

    what: str
    missing: Callable[[Sequence[PromptRow]], list[str]]
    ask: Callable[[Sequence[str], TextModel], Iterator[AuthoredAnswer[str]]]
    lines: Callable[[Sequence[PromptRow], Mapping[str, str], str, Sequence[PromptRow]], str]
    there: Callable[[Sequence[PromptRow]], dict[str, str]]
    """What an earlier command has written."""


@click.command("formulas", cls=pages.Command)
@click.argument("source", metavar="FILE")
@click.option("-o", "--output", type=_FILE, required=True, help="The same prompts with formulas (JSON lines).")
@click.option("--writer", required=True, metavar="openai/MODEL", help="The text model that proposes formulas.")
@flags.base_url_flag
@flags.progress_flag
def formulas(source: str, output: Path, writer: str, base_url: str, no_progress: bool) -> None:
    """Have a text model propose a formula for every prompt of FILE that has none and that the grammar cannot read.

    OUTPUT holds all prompts, for suite.path. A proposal is used only where you write yes under `accepted`. What OUTPUT
    holds already is not paid for again.
    """
    from salva.authoring.formulas import lines_with_proposals, proposals_in, propose, without_formula

    job = _FormulaRequest(
        what="formula", missing=without_formula, ask=propose, lines=lines_with_proposals, there=proposals_in
    )
    _write(job, source, output, writer, base_url, no_progress)


@click.command("paraphrases", cls=pages.Command)
@click.argument("source", metavar="FILE")
@click.option("-o", "--output", type=_FILE, required=True, help="The same prompts, and pairs with theirs (JSON lines).")
@click.option("--writer", required=True, metavar="openai/MODEL", help="The text model that says them otherwise.")
@flags.base_url_flag
@flags.progress_flag
def paraphrases(source: str, output: Path, writer: str, base_url: str, no_progress: bool) -> None:
    """Have a text model say every prompt of FILE in other words; nobody proves that they mean the same.

    OUTPUT holds all prompts and a pair for each, for suite.path; such pairs have a rate of their own. What it holds
    already is not paid for again.
    """
    from salva.authoring.paraphrases import alone, lines_with_pairs, paraphrase
    from salva.english.prompt_files import paraphrased_in

    job = _FormulaRequest(
        what="paraphrase", missing=alone, ask=paraphrase, lines=lines_with_pairs, there=paraphrased_in
    )
    _write(job, source, output, writer, base_url, no_progress)


def _write(job: _FormulaRequest, source: str, output: Path, writer: str, base_url: str, no_progress: bool) -> None:
    """Ask about every prompt that wants for something, and save what came of it, whatever ends the command."""
    from rich.progress import Progress

    from salva.authoring.samples import lines_of
    from salva.english.prompt_files import read_prompt_rows
    from salva.files.outfiles import write_text

    if output.exists() and output.resolve() == Path(source).expanduser().resolve():
        raise UsageError(message("output-is-input", path=source))
    rows = read_prompt_rows(source)
    wanted = job.missing(rows)
    before = read_prompt_rows(str(output)) if output.exists() else []
    accepted = job.there(before)
    accepted = {prompt: text for prompt, text in accepted.items() if prompt in wanted}
    missing = [prompt for prompt in wanted if prompt not in accepted]
    beside = output.with_name(f"{output.stem}-without.jsonl")
    model = flags.text_model(writer, base_url, output) if missing else None
    refused: list[AuthoredAnswer[str]] = []
    try:
        with Progress(disable=no_progress, transient=True) as bar:
            task = bar.add_task("asking", total=len(missing))
            for made in job.ask(missing, model) if model else ():
                if made.value:
                    accepted[made.prompt] = made.value
                else:
                    refused.append(made)
                bar.advance(task)
    finally:
        write_text(output, job.lines(rows, accepted, writer, before))
        if refused:
            write_text(beside, lines_of(refused))
        else:
            beside.unlink(missing_ok=True)
        entries = quantity(len(rows), "entries")
        click.echo(f"{len(accepted)} of {len(wanted)} {job.what}s written; {output} holds all {entries}")
        if job.what == "formula" and accepted:
            click.echo(message("proposals-written", path=output))
        if model:
            tokens = f"{model.n_tokens_in} tokens in, {model.n_tokens_out} out"
            click.echo(f"{writer} was asked {model.n_calls} times: {tokens}")
    if refused:
        from salva.core.exit_codes import NOT_SURE

        for why, n in Counter(entry.why for entry in refused).most_common(_N_NAMED):
            click.echo(f"{n}: {why}", err=True)
        click.echo(
            f"{quantity(len(refused), 'prompts have', 'prompt has')} no {job.what}; {beside} lists them with reasons",
            err=True,
        )
        end(NOT_SURE)
