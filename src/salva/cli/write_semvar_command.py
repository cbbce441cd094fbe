"""`salva write semvar`: triples of sentences, sheets for their reviewers, what these said, the hard ones among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from salva.authoring.author import Removed, write_samples
from salva.authoring.hard_cases import as_sample, collect_votes
from salva.authoring.samples import (
    DISPUTED,
    VALID,
    Sample,
    hardest,
    lines_of,
    read_reviews,
    read_samples,
    review_sheet,
    reviewed,
)
from salva.authoring.templates import load_grammar
from salva.cli import flags
from salva.cli import help as pages
from salva.cli.writing import FILE, keep_beside, shown
from salva.core.quantity import quantity
from salva.errors import UsageError
from salva.files.outfiles import write_text
from salva.messages import message
from salva.remote.text_model import TextModel
from salva.store.queries import read_records

_LOW_SCORE = 0.7
"""A model votes for a case whose mean matched score is lower."""
_HARD_PER_CATEGORY = 50


@click.command("semvar", cls=pages.Command)
@click.argument("triples", type=FILE, required=False)
@click.option("-o", "--output", type=FILE, help="The triples (JSON lines), for suite.path.")
@click.option("-n", "n_wanted", default=200, show_default=True, type=click.IntRange(1), help="How many new ones.")
@click.option("--templates", type=FILE, help="Your own templates (TOML).")
@flags.seed_flag
@click.option("--writer", default="", metavar="openai/MODEL", help="Paraphrases what no rule can.")
@click.option("--checker", default="", metavar="openai/MODEL", help="Judges the criteria that code cannot.")
@flags.base_url_flag
@click.option("--sheet", type=FILE, help="Of TRIPLES: the CSV that a reviewer fills in.")
@click.option("--disputed", is_flag=True, help="With --sheet: what two reviewers differ about.")
@click.option("--review", "reviews", type=FILE, multiple=True, help="Of TRIPLES: a filled-in sheet.")
@click.option("--only-valid", is_flag=True, help="With --review: only valid triples.")
@click.option("--hard", type=flags.RUN_DIRECTORY, multiple=True, help="Cases that most models fail.")
def command(
    triples: Path | None,
    output: Path | None,
    n_wanted: int,
    templates: Path | None,
    seed: int,
    writer: str,
    checker: str,
    base_url: str,
    sheet: Path | None,
    disputed: bool,
    reviews: tuple[Path, ...],
    only_valid: bool,
    hard: tuple[Path, ...],
) -> None:
    """Write new triples from templates, review TRIPLES, or collect hard cases of runs.

    \b
    salva write semvar -o new.jsonl -n 200
    salva write semvar new.jsonl --sheet ann.csv
    salva write semvar new.jsonl --review ann.csv --review bob.csv -o done.jsonl
    salva write semvar --hard RUN --hard RUN -o hard.jsonl

    A triple that fails a check goes to a second file with the reason. The same command continues after an interruption.
    """
    if triples is not None and sheet is not None and not reviews:
        _write_sheet(triples, sheet, disputed)
        return
    if output is None:
        raise UsageError(message("flag-needed", flag="-o", why="it names the file to write"))
    if hard:
        _collect_hard(hard, output)
    elif triples is not None:
        if not reviews:
            raise UsageError(message("flag-needed", flag="--sheet or --review", why=f"{str(triples)!r} is reviewed"))
        _review(triples, reviews, output, only_valid)
    else:
        models = [flags.text_model(name, base_url, output) if name else None for name in (writer, checker)]
        _write_new(output, templates, n_wanted, seed, models)


def _write_new(
    output: Path,
    templates: Path | None,
    n_wanted: int,
    seed: int,
    models: Sequence[TextModel | None],
) -> None:

    grammar = load_grammar(templates)
    author, judge = models
    kept: list[Sample] = []
    removed: list[Removed] = []
    try:
        for made in shown(write_samples(grammar, n_wanted, seed, author, judge), "writing", n_wanted):
            if isinstance(made, Removed):
                removed.append(made)
            else:
                kept.append(made)
    finally:
        _save(kept, removed, output)
    click.echo(f"next: salva write semvar {output} --sheet SHEET.csv")
    if len(kept) + len(removed) < n_wanted:
        click.echo(message("words-exhausted", n=len(kept) + len(removed), wanted=n_wanted), err=True)


def _save(kept: Sequence[Sample], removed: Sequence[Removed], output: Path) -> None:

    write_text(output, lines_of(kept))
    click.echo(f"{quantity(len(kept), 'samples')} in {output}")
    beside = output.with_name(f"{output.stem}-removed.jsonl")
    keep_beside(beside, lines_of(removed))
    if removed:
        click.echo(f"{len(removed)} removed: {beside}")


def _write_sheet(triples: Path, output: Path, disputed: bool) -> None:

    listed = [sample for sample in read_samples(triples) if not disputed or sample.review == DISPUTED]
    if not listed:
        raise UsageError(message("nothing-disputed", path=str(triples)))
    write_text(output, review_sheet(listed))
    click.echo(f"{output}: {quantity(len(listed), 'samples')}")
    click.echo(f"next: salva write semvar {triples} --review {output} -o REVIEWED.jsonl")


def _review(triples: Path, sheets: Sequence[Path], output: Path, only_valid: bool) -> None:

    done = reviewed(read_samples(triples), read_reviews(sheets))
    counts = Counter(sample.review for sample in done)
    write_text(output, lines_of(sample for sample in done if not only_valid or sample.review == VALID))
    click.echo(", ".join(f"{n} {name}" for name, n in counts.most_common()) + f" in {output}")


def _collect_hard(runs: Sequence[Path], output: Path) -> None:

    cases, votes = collect_votes(map(read_records, runs), _LOW_SCORE)
    if not votes:
        raise UsageError(message("no-semvar-scores"))
    chosen = hardest(votes, _HARD_PER_CATEGORY)
    write_text(output, lines_of(as_sample(cases[case_id]) for case_id in chosen))
    click.echo(f"{len(chosen)} of {quantity(len(votes), 'cases')} in {output}")
