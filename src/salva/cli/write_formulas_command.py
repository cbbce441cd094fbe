"""`salva write formulas` and `salva write paraphrases`: what a text model makes of prompts, checked and kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from salva.authoring.asking import AuthoredAnswer
from salva.authoring.formulas import lines_with_proposals, proposals_in, propose, without_formula
from salva.authoring.paraphrases import alone, lines_with_pairs, paraphrase
from salva.authoring.samples import lines_of
from salva.cli import flags
from salva.cli import help as pages
from salva.cli.writing import FILE, end_incomplete, keep_beside, shown
from salva.core.quantity import quantity
from salva.english.prompt_files import PromptRow, paraphrased_in, read_prompt_rows
from salva.errors import UsageError
from salva.files.outfiles import write_text
from salva.messages import message
from salva.remote.text_model import TextModel

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
@click.option("-o", "--output", type=FILE, required=True, help="The prompts with formulas (JSON lines).")
@click.option("--writer", required=True, metavar="openai/MODEL", help="The text model.")
@flags.base_url_flag
def formulas(source: str, output: Path, writer: str, base_url: str) -> None:
    """Have a text model propose a formula for every prompt of FILE that has none and that the grammar cannot read.

    A proposal is used only where you write yes under `accepted`. What OUTPUT holds already is not paid for again.
    """

    job = _FormulaRequest(
        what="formula", missing=without_formula, ask=propose, lines=lines_with_proposals, there=proposals_in
    )
    _write(job, source, output, writer, base_url)


@click.command("paraphrases", cls=pages.Command)
@click.argument("source", metavar="FILE")
@click.option("-o", "--output", type=FILE, required=True, help="The prompts and their pairs (JSON lines).")
@click.option("--writer", required=True, metavar="openai/MODEL", help="The text model.")
@flags.base_url_flag
def paraphrases(source: str, output: Path, writer: str, base_url: str) -> None:
    """Have a text model say every prompt of FILE in other words; nobody proves that they mean the same.

    Such pairs have a rate of their own. What OUTPUT holds already is not paid for again.
    """

    job = _FormulaRequest(
        what="paraphrase", missing=alone, ask=paraphrase, lines=lines_with_pairs, there=paraphrased_in
    )
    _write(job, source, output, writer, base_url)


def _write(job: _FormulaRequest, source: str, output: Path, writer: str, base_url: str) -> None:
    """Ask about every prompt that wants for something, and save what came of it, whatever ends the command."""

    if output.exists() and output.resolve() == Path(source).expanduser().resolve():
        raise UsageError(message("output-is-input", path=source))
    rows = read_prompt_rows(source)
    wanted = job.missing(rows)
    before = read_prompt_rows(str(output)) if output.exists() else []
    accepted = {prompt: text for prompt, text in job.there(before).items() if prompt in wanted}
    missing = [prompt for prompt in wanted if prompt not in accepted]
    beside = output.with_name(f"{output.stem}-without.jsonl")
    model = flags.text_model(writer, base_url, output) if missing else None
    refused: list[AuthoredAnswer[str]] = []
    try:
        for made in shown(job.ask(missing, model) if model else (), "asking", len(missing)):
            if made.value:
                accepted[made.prompt] = made.value
            else:
                refused.append(made)
    finally:
        write_text(output, job.lines(rows, accepted, writer, before))
        keep_beside(beside, lines_of(refused))
        click.echo(f"{len(accepted)} of {len(wanted)} {job.what}s written to {output}")
        if job.what == "formula" and accepted:
            click.echo(message("proposals-written", path=output))
        if model:
            click.echo(f"{model.n_calls} calls, {model.n_tokens_in} tokens in, {model.n_tokens_out} out")
    if refused:
        reasons = Counter(entry.why for entry in refused).most_common(_N_NAMED)
        left = quantity(len(refused), "prompts have", "prompt has")
        end_incomplete((f"{n}: {why}" for why, n in reasons), f"{left} no {job.what}: {beside}")
