"""`salva write questions`: questions about prompts, written by a text model and saved as they come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from salva.authoring.asking import AuthoredAnswer
from salva.authoring.questions import Row, captions, different, file_text, read_rows, write_questions
from salva.authoring.samples import lines_of
from salva.cli import flags
from salva.cli import help as pages
from salva.cli.writing import FILE, end_incomplete, keep_beside, shown
from salva.core.quantity import quantity
from salva.core.run_spec import RunSpec, split_settings
from salva.english.prompt_files import read_prompts
from salva.errors import UsageError
from salva.files.outfiles import write_text
from salva.messages import message
from salva.registry import entries
from salva.runs.cases import planned_cases
from salva.runs.plans import make_plan

_N_NAMED = 5


@click.command("questions", cls=pages.Command)
@click.argument("source", metavar="SUITE|FILE")
@click.option("-o", "--output", type=FILE, required=True, help="The question file: JSON for tifa, CSV for dsg.")
@click.option("--writer", required=True, metavar="openai/MODEL", help="The text model.")
@click.option(
    "--style",
    type=click.Choice(["tifa", "dsg"]),
    default="tifa",
    show_default=True,
    help="tifa: choices. dsg: yes or no, with dependencies.",
)
@flags.size_flag
@flags.set_flag
@flags.base_url_flag
def questions(source: str, output: Path, writer: str, style: str, base_url: str, **chosen: Any) -> None:
    """Have a text model write questions about every prompt of SUITE, or of FILE (a line each, CSV, JSON lines).

    The same command goes on where it stopped.
    """

    rows = read_rows(output, style)
    prompts = different(_prompts(source, **chosen))
    missing = different(prompts, captions(rows, style))
    beside = output.with_name(f"{output.stem}-unwritten.jsonl")
    asking = write_questions(missing, style, flags.text_model(writer, base_url)) if missing else ()
    n_written, unwritten = 0, list[AuthoredAnswer[list[Row]]]()

    try:
        for made in shown(asking, "asking", len(missing)):
            if made.value is None:
                unwritten.append(made)
            else:
                rows += made.value
                n_written += 1
                write_text(output, file_text(rows, style))
    finally:
        keep_beside(beside, lines_of(unwritten))
        there_already = f"; {len(prompts) - len(missing)} were there already" if len(missing) < len(prompts) else ""
        click.echo(f"questions about {n_written} of {quantity(len(prompts), 'prompts')} written{there_already}")
    if unwritten:
        reasons = (f"{entry.prompt!r}: {entry.why}" for entry in unwritten[:_N_NAMED])
        left = quantity(len(unwritten), "prompts without questions", "prompt without questions")
        end_incomplete(reasons, f"{left}: {beside}. The same command asks again")
    click.echo(f"next: --judge JUDGE --set check.questions={output}")


def _prompts(source: str, size: str, settings: tuple[str, ...]) -> list[str]:
    """The prompts of a suite's cases, or of a file."""

    suites = [entry.name for entry in entries("suite")]
    if source.partition("/")[0] not in suites:
        if not Path(source).is_file():
            raise UsageError(message("source-unknown", name=source, known=", ".join(sorted(suites))))
        context = click.get_current_context()
        for name, flag in {"size": "--size", "settings": "--set"}.items():
            if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                raise UsageError(message("flag-unrelated", flags=flag, why=f"{source!r} is a file, not a suite"))
        return read_prompts(Path(source))
    options = split_settings(settings)
    for key in options:
        if not key.startswith("suite."):
            raise UsageError(message("option-invalid", name="--set", value=key, wanted="suite.OPTION"))
    spec = make_plan(RunSpec.of(suite=source, size=size, settings=options))
    return [prompt.text for case in planned_cases(spec) for prompt in case.prompts]
