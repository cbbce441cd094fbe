"""`salva write`: new test sentences, their reviews by people, the hard ones among them, and questions about prompts."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from salva.cli import flags
from salva.errors import UsageError

if TYPE_CHECKING:
    from salva.writing.text_model import TextModel

_FILE = click.Path(path_type=Path, dir_okay=False)
_SAVED_EVERY = 10
"""Prompts asked about between two savings; a killed command loses fewer."""
_N_NAMED = 5


def _text_model(name: str, base_url: str) -> TextModel:
    """A text model whose connections end with the command."""
    from salva.writing.text_model import TextModel

    model = TextModel(name, base_url)
    click.get_current_context().call_on_close(model.close)
    return model


@click.group("write", short_help="New test sentences from templates, reviewed by people.")
def command() -> None:
    """Make triples of sentences for the semvar suite: new ones, reviewed ones, hard ones. Have questions written."""


@command.command("new")
@click.option("-o", "--output", type=_FILE, required=True, help="The file of samples (JSON lines).")
@click.option("--templates", type=_FILE, help="Your own templates (TOML); salva's otherwise.")
@click.option("-n", "n_wanted", default=200, show_default=True, type=click.IntRange(1), help="How many.")
@flags.seed_flag
@click.option("--writer", default="", metavar="openai/MODEL", help="Paraphrases what no rule can.")
@click.option("--checker", default="", metavar="openai/MODEL", help="Judges the criteria that code cannot.")
@click.option("--base-url", default="", help="The text models' endpoint; OPENAI_BASE_URL otherwise.")
@flags.progress_flag
def new(
    output: Path,
    templates: Path | None,
    n_wanted: int,
    seed: int,
    writer: str,
    checker: str,
    base_url: str,
    no_progress: bool,
) -> None:
    """Fill templates, exchange, paraphrase and check; what fails goes to a second file with the reason."""
    from rich.progress import Progress

    from salva.files.outfiles import write_text
    from salva.writing.author import Removed, write_samples
    from salva.writing.samples import Sample, lines_of
    from salva.writing.templates import load_grammar

    grammar = load_grammar(templates)
    author, judge = (_text_model(name, base_url) if name else None for name in (writer, checker))
    kept: list[Sample] = []
    removed: list[Removed] = []
    with Progress(disable=no_progress, transient=True) as bar:
        task = bar.add_task("writing", total=n_wanted)
        for made in write_samples(grammar, n_wanted, seed, author, judge):
            if isinstance(made, Removed):
                removed.append(made)
            else:
                kept.append(made)
            bar.advance(task)
    write_text(output, lines_of(kept))
    click.echo(
        f"{len(kept)} samples in {output}, unreviewed; make a sheet with: salva write sheet {output} -o SHEET.csv"
    )
    if removed:
        beside = output.with_name(f"{output.stem}-removed.jsonl")
        write_text(beside, lines_of(removed))
        click.echo(f"{len(removed)} removed, with reasons, in {beside}")
    if len(kept) + len(removed) < n_wanted:
        click.echo(f"the words of the lexicon ran out after {len(kept) + len(removed)} of {n_wanted}", err=True)


@command.command("sheet")
@click.argument("samples", type=_FILE)
@click.option("-o", "--output", type=_FILE, required=True, help="The CSV for a reviewer to fill in.")
@click.option("--disputed", is_flag=True, help="Only what two reviewers differ about, for a third.")
def sheet(samples: Path, output: Path, disputed: bool) -> None:
    """A sheet for one reviewer: reviewer, valid (yes or no), note."""
    from salva.files.outfiles import write_text
    from salva.writing.samples import DISPUTED, read_samples, review_sheet

    listed = [one for one in read_samples(samples) if not disputed or one.review == DISPUTED]
    if not listed:
        raise UsageError(f"{str(samples)!r} holds nothing that two reviewers differ about; leave out --disputed")
    write_text(output, review_sheet(listed))
    click.echo(
        f"{output}, {len(listed)} samples: fill in reviewer and valid, "
        f"then: salva write review {samples} {output} -o REVIEWED.jsonl"
    )


@command.command("review")
@click.argument("samples", type=_FILE)
@click.argument("sheets", type=_FILE, nargs=-1, required=True)
@click.option("-o", "--output", type=_FILE, required=True, help="The samples with what people made of them.")
@click.option("--only-valid", is_flag=True, help="Leave out what is not valid by two people, or by a third.")
def review(samples: Path, sheets: tuple[Path, ...], output: Path, only_valid: bool) -> None:
    """Put reviewers' sheets together: two who agree decide, a third where they differ.

    What the file of samples already says about its reviewers is kept, so a later sheet can be added to it.
    """
    from salva.files.outfiles import write_text
    from salva.writing.samples import VALID, lines_of, read_reviews, read_samples, reviewed

    done = reviewed(read_samples(samples), read_reviews(sheets))
    counts = Counter(one.review for one in done)
    write_text(output, lines_of(one for one in done if not only_valid or one.review == VALID))
    click.echo(", ".join(f"{n} {name}" for name, n in counts.most_common()) + f"; written to {output}")


@command.command("hard")
@click.argument("runs", type=flags.RUN_DIRECTORY, nargs=-1, required=True)
@click.option("-o", "--output", type=_FILE, required=True, help="The hard samples (JSON lines).")
@click.option(
    "--below", default=0.7, show_default=True, help="A model votes for a case whose mean matched score is lower."
)
@click.option("--per-category", default=50, show_default=True, type=click.IntRange(1), help="At most so many of each.")
def hard(runs: tuple[Path, ...], output: Path, below: float, per_category: int) -> None:
    """The cases that most models of these semvar runs paint badly."""
    from salva.files.outfiles import write_text
    from salva.store.queries import read_records
    from salva.writing.hard_cases import as_sample, collect_votes
    from salva.writing.samples import hardest, lines_of

    cases, votes = collect_votes(map(read_records, runs), below)
    if not votes:
        raise UsageError("these runs hold no scores of the semvar suite; run it first: salva run semvar")
    chosen = hardest(votes, per_category)
    write_text(output, lines_of(as_sample(cases[case_id]) for case_id in chosen))
    click.echo(f"{len(chosen)} of {len(votes)} cases in {output}; run them with --set suite.path={output}")


@command.command("questions")
@click.argument("source", metavar="SUITE|FILE")
@click.option("-o", "--output", type=_FILE, required=True, help="The question file: JSON for tifa, CSV for dsg.")
@click.option("--writer", required=True, metavar="openai/MODEL", help="The text model that writes the questions.")
@click.option(
    "--style",
    type=click.Choice(["tifa", "dsg"]),
    default="tifa",
    show_default=True,
    help="tifa: choices and an expected answer. dsg: yes or no, with dependencies.",
)
@flags.plugin_flag
@flags.size_flag
@flags.seed_flag
@flags.flag("--only", multiple=True, metavar="LABEL=VALUE", help="Only cases with this label.")
@flags.set_flag
@click.option("--base-url", default="", help="The text model's endpoint; OPENAI_BASE_URL otherwise.")
@flags.progress_flag
def questions(
    source: str, output: Path, writer: str, style: str, base_url: str, no_progress: bool, **chosen: Any
) -> None:
    """Have a text model write questions about every prompt of SUITE, or of FILE (a line each, CSV, JSON lines).

    Prompts that OUTPUT already has questions about are not asked about again, so the same command goes on.
    """
    from rich.progress import Progress

    from salva.cli.main import EXIT_INCOMPLETE
    from salva.files.outfiles import write_text
    from salva.writing.questions import Unwritten, captions, different, file_text, read_rows, write_questions
    from salva.writing.samples import lines_of

    rows = read_rows(output, style)
    prompts = different(_prompts(source, **chosen))
    missing = different(prompts, captions(rows, style))
    beside = output.with_name(f"{output.stem}-unwritten.jsonl")
    asking = write_questions(missing, style, _text_model(writer, base_url)) if missing else iter(())
    n_written, unwritten = 0, list[Unwritten]()

    def save() -> None:
        if n_written:
            write_text(output, file_text(rows, style))
        if unwritten:
            write_text(beside, lines_of(unwritten))

    try:
        with Progress(disable=no_progress, transient=True) as bar:
            task = bar.add_task("asking", total=len(missing))
            for i, made in enumerate(asking, 1):
                if isinstance(made, Unwritten):
                    unwritten.append(made)
                else:
                    rows += made.rows
                    n_written += 1
                if i % _SAVED_EVERY == 0:
                    save()
                bar.advance(task)
    finally:
        save()
        known = f"; {len(prompts) - len(missing)} were there already" if len(missing) < len(prompts) else ""
        click.echo(f"questions about {n_written} of {len(prompts)} prompts written to {output}{known}")
    if unwritten:
        for one in unwritten[:_N_NAMED]:
            click.echo(f"{one.prompt!r}: {one.why}", err=True)
        told = f"{len(unwritten)} of {len(prompts)} prompts have no questions; {beside} lists them"
        click.echo(f"{told}. The same command asks again", err=True)
        sys.exit(EXIT_INCOMPLETE)
    beside.unlink(missing_ok=True)
    click.echo(f"ask them with: --judge JUDGE --set relation.questions={output}")


def _prompts(source: str, size: str, seed: int, only: tuple[str, ...], settings: tuple[str, ...]) -> list[str]:
    """The prompts of a suite's cases, or of a file."""
    from salva.registry import entries
    from salva.run.ask import Ask, make_spec, split_settings
    from salva.run.plan import planned_cases
    from salva.writing.prompt_files import read_prompts

    suites = [entry.name for entry in entries("suite")]
    if source.partition("/")[0] not in suites:
        if not Path(source).is_file():
            raise UsageError(f"no suite or file named {source!r}; the suites are {', '.join(sorted(suites))}")
        context = click.get_current_context()
        for name, flag in {"size": "--size", "seed": "--seed", "only": "--only", "settings": "--set"}.items():
            if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                raise UsageError(f"{flag} is for suites, and {source!r} is a file; all of its prompts are asked about")
        return read_prompts(Path(source))
    options = split_settings(settings)
    for key in options:
        if not key.startswith("suite."):
            raise UsageError(f"--set {key} has no use here; only options of the suite have, such as suite.path")
    spec = make_spec(Ask(suite=source, size=size, seed=seed, only=only, settings=options))
    return [prompt.text for case in planned_cases(spec) for prompt in case.prompts]
