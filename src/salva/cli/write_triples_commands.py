"""`salva write new`, `sheet`, `review` and `hard`: triples of sentences, their reviews, the hard ones among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salva.cli import flags
from salva.core.counted import counted
from salva.errors import UsageError

if TYPE_CHECKING:
    from salva.authoring.author import Removed
    from salva.authoring.samples import Sample

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("new")
@click.option("-o", "--output", type=_FILE, required=True, help="The file of samples (JSON lines).")
@click.option("--templates", type=_FILE, help="Your own templates (TOML); salva's otherwise.")
@click.option("-n", "n_wanted", default=200, show_default=True, type=click.IntRange(1), help="How many.")
@flags.seed_flag
@click.option("--writer", default="", metavar="openai/MODEL", help="Paraphrases what no rule can.")
@click.option("--checker", default="", metavar="openai/MODEL", help="Judges the criteria that code cannot.")
@flags.text_model_flags
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
    """Fill templates, exchange, paraphrase and check; what fails goes to a second file with the reason.

    What text models reply is kept in a third, so that the same command goes on after whatever ended it.
    """
    from rich.progress import Progress

    from salva.authoring.author import Removed, write_samples
    from salva.authoring.templates import load_grammar

    grammar = load_grammar(templates)
    author, judge = (flags.text_model(name, base_url, output) if name else None for name in (writer, checker))
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
        click.echo(f"stopped early; replies are kept beside {output}, and the same command goes on", err=True)
        raise
    _save(kept, removed, output)
    click.echo(f"unreviewed; make a sheet with: salva write sheet {output} -o SHEET.csv")
    if len(kept) + len(removed) < n_wanted:
        click.echo(f"the words of the lexicon ran out after {len(kept) + len(removed)} of {n_wanted}", err=True)


def _save(kept: Sequence[Sample], removed: Sequence[Removed], output: Path) -> None:
    from salva.authoring.samples import lines_of
    from salva.files.outfiles import write_text

    write_text(output, lines_of(kept))
    click.echo(f"{counted(len(kept), 'samples')} in {output}")
    if removed:
        beside = output.with_name(f"{output.stem}-removed.jsonl")
        write_text(beside, lines_of(removed))
        click.echo(f"{len(removed)} removed, with reasons, in {beside}")


@click.command("sheet")
@click.argument("samples", type=_FILE)
@click.option("-o", "--output", type=_FILE, required=True, help="The CSV for a reviewer to fill in.")
@click.option("--disputed", is_flag=True, help="Only what two reviewers differ about, for a third.")
def sheet(samples: Path, output: Path, disputed: bool) -> None:
    """A sheet for one reviewer: reviewer, valid (yes or no), note."""
    from salva.authoring.samples import DISPUTED, read_samples, review_sheet
    from salva.files.outfiles import write_text

    listed = [sample for sample in read_samples(samples) if not disputed or sample.review == DISPUTED]
    if not listed:
        raise UsageError(f"{str(samples)!r} holds nothing that two reviewers differ about; leave out --disputed")
    write_text(output, review_sheet(listed))
    click.echo(
        f"{output}, {counted(len(listed), 'samples')}: fill in reviewer and valid, "
        f"then: salva write review {samples} {output} -o REVIEWED.jsonl"
    )


@click.command("review")
@click.argument("samples", type=_FILE)
@click.argument("sheets", type=_FILE, nargs=-1, required=True)
@click.option("-o", "--output", type=_FILE, required=True, help="The samples with what people made of them.")
@click.option("--only-valid", is_flag=True, help="Leave out what is not valid by two people, or by a third.")
def review(samples: Path, sheets: tuple[Path, ...], output: Path, only_valid: bool) -> None:
    """Put reviewers' sheets together: two who agree decide, a third where they differ.

    What the file of samples already says about its reviewers is kept, so a later sheet can be added to it.
    """
    from salva.authoring.samples import VALID, lines_of, read_reviews, read_samples, reviewed
    from salva.files.outfiles import write_text

    done = reviewed(read_samples(samples), read_reviews(sheets))
    counts = Counter(sample.review for sample in done)
    write_text(output, lines_of(sample for sample in done if not only_valid or sample.review == VALID))
    click.echo(", ".join(f"{n} {name}" for name, n in counts.most_common()) + f"; written to {output}")


@click.command("hard")
@click.argument("runs", type=flags.RUN_DIRECTORY, nargs=-1, required=True)
@click.option("-o", "--output", type=_FILE, required=True, help="The hard samples (JSON lines).")
@click.option(
    "--below", default=0.7, show_default=True, help="A model votes for a case whose mean matched score is lower."
)
@click.option("--per-category", default=50, show_default=True, type=click.IntRange(1), help="At most so many of each.")
def hard(runs: tuple[Path, ...], output: Path, below: float, per_category: int) -> None:
    """The cases that most models of these semvar runs paint badly."""
    from salva.authoring.hard_cases import as_sample, collect_votes
    from salva.authoring.samples import hardest, lines_of
    from salva.files.outfiles import write_text
    from salva.store.queries import read_records

    cases, votes = collect_votes(map(read_records, runs), below)
    if not votes:
        raise UsageError("these runs hold no scores of the semvar suite; run it first: salva run semvar")
    chosen = hardest(votes, per_category)
    write_text(output, lines_of(as_sample(cases[case_id]) for case_id in chosen))
    click.echo(f"{len(chosen)} of {counted(len(votes), 'cases')} in {output}; run them with --set suite.path={output}")
