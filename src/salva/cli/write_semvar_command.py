"""`salva write semvar`: triples of sentences, sheets for their reviewers, what these said, the hard ones among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.core.quantity import quantity
from salva.errors import UsageError
from salva.messages import message

if TYPE_CHECKING:
    from salva.authoring.author import Removed
    from salva.authoring.samples import Sample
    from salva.remote.text_model import TextModel

_FILE = click.Path(path_type=Path, dir_okay=False)
_LOW_SCORE = 0.7
"""A model votes for a case whose mean matched score is lower."""
_HARD_PER_CATEGORY = 50


@click.command("semvar", cls=pages.Command)
@click.argument("triples", type=_FILE, required=False)
@click.option("-o", "--output", type=_FILE, help="The triples (JSON lines), for suite.path.")
@click.option("-n", "n_wanted", default=200, show_default=True, type=click.IntRange(1), help="How many new ones.")
@click.option("--templates", type=_FILE, help="Your own templates (TOML); salva's otherwise.")
@flags.seed_flag
@click.option("--writer", default="", metavar="openai/MODEL", help="Paraphrases what no rule can.")
@click.option("--checker", default="", metavar="openai/MODEL", help="Judges the criteria that code cannot.")
@flags.base_url_flag
@click.option("--sheet", "sheet", type=_FILE, help="Of TRIPLES: the CSV that a reviewer fills in.")
@click.option("--disputed", is_flag=True, help="With --sheet: only what two reviewers differ about, for a third.")
@click.option("--review", "reviews", type=_FILE, multiple=True, help="Of TRIPLES: a sheet that was filled in.")
@click.option("--only-valid", is_flag=True, help="With --review: only what two reviewers, or a third, call valid.")
@click.option("--hard", type=flags.RUN_DIRECTORY, multiple=True, help="The cases that most models of these runs fail.")
@flags.progress_flag
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
    no_progress: bool,
) -> None:
    """Write new triples from templates, review TRIPLES, or collect hard cases of runs.

    \b
    salva write semvar -o new.jsonl -n 200
    salva write semvar new.jsonl --sheet ann.csv
    salva write semvar new.jsonl --review ann.csv --review bob.csv -o done.jsonl
    salva write semvar --hard RUN --hard RUN -o hard.jsonl

    A triple that fails a check goes to a second file with the reason. Replies of text models are kept in a third, so
    the same command continues after an interruption.
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
        _write_new(output, templates, n_wanted, seed, models, no_progress)


def _write_new(
    output: Path,
    templates: Path | None,
    n_wanted: int,
    seed: int,
    models: Sequence[TextModel | None],
    no_progress: bool,
) -> None:
    from rich.progress import Progress

    from salva.authoring.author import Removed, write_samples
    from salva.authoring.templates import load_grammar

    grammar = load_grammar(templates)
    author, judge = models
    kept: list[Sample] = []
    removed: list[Removed] = []
    try:
        with Progress(disable=no_progress, transient=True) as bar:
            task = bar.add_task("writing", total=n_wanted)
            for made in write_samples(grammar, n_wanted, seed, author, judge):
                if isinstance(made, Removed):
                    removed.append(made)
                else:
                    kept.append(made)
                bar.advance(task)
    except BaseException:
        _save(kept, removed, output)
        click.echo(message("stopped-early", path=str(output)), err=True)
        raise
    _save(kept, removed, output)
    click.echo(f"next: salva write semvar {output} --sheet SHEET.csv")
    if len(kept) + len(removed) < n_wanted:
        click.echo(message("words-exhausted", n=len(kept) + len(removed), wanted=n_wanted), err=True)


def _save(kept: Sequence[Sample], removed: Sequence[Removed], output: Path) -> None:
    from salva.authoring.samples import lines_of
    from salva.files.outfiles import write_text

    write_text(output, lines_of(kept))
    click.echo(f"{quantity(len(kept), 'samples')} in {output}")
    if removed:
        path = output.with_name(f"{output.stem}-removed.jsonl")
        write_text(path, lines_of(removed))
        click.echo(f"{len(removed)} removed, with reasons, in {path}")


def _write_sheet(triples: Path, output: Path, disputed: bool) -> None:
    from salva.authoring.samples import DISPUTED, read_samples, review_sheet
    from salva.files.outfiles import write_text

    listed = [sample for sample in read_samples(triples) if not disputed or sample.review == DISPUTED]
    if not listed:
        raise UsageError(message("nothing-disputed", path=str(triples)))
    write_text(output, review_sheet(listed))
    click.echo(f"{output}, {quantity(len(listed), 'samples')}: fill in reviewer and valid (yes or no)")
    click.echo(f"next: salva write semvar {triples} --review {output} -o REVIEWED.jsonl")


def _review(triples: Path, sheets: Sequence[Path], output: Path, only_valid: bool) -> None:
    from salva.authoring.samples import VALID, lines_of, read_reviews, read_samples, reviewed
    from salva.files.outfiles import write_text

    done = reviewed(read_samples(triples), read_reviews(sheets))
    counts = Counter(sample.review for sample in done)
    write_text(output, lines_of(sample for sample in done if not only_valid or sample.review == VALID))
    click.echo(", ".join(f"{n} {name}" for name, n in counts.most_common()) + f"; written to {output}")


def _collect_hard(runs: Sequence[Path], output: Path) -> None:
    from salva.authoring.hard_cases import as_sample, collect_votes
    from salva.authoring.samples import hardest, lines_of
    from salva.files.outfiles import write_text
    from salva.store.queries import read_records

    cases, votes = collect_votes(map(read_records, runs), _LOW_SCORE)
    if not votes:
        raise UsageError(message("no-semvar-scores"))
    chosen = hardest(votes, _HARD_PER_CATEGORY)
    write_text(output, lines_of(as_sample(cases[case_id]) for case_id in chosen))
    click.echo(f"{len(chosen)} of {quantity(len(votes), 'cases')} in {output}; run them with --set suite.path={output}")
