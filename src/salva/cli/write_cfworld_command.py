"""`salva write cfworld`: groups of prompts from principles, checked as they come, with a sheet for two reviewers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from salva.authoring.authored_files import is_valid, lines_of_entries, review_of, review_sheet_of, with_reviews
from salva.authoring.samples import read_reviews
from salva.cli import flags
from salva.cli import help as pages
from salva.cli.writing import FILE, end_incomplete, keep_beside, shown
from salva.core.about import author_of
from salva.core.authored import Author, Authored
from salva.core.quantity import quantity
from salva.errors import UnusableError, UsageError
from salva.files.outfiles import write_text
from salva.messages import message
from salva.registry import load

SUITE = "cfworld"
_N_NAMED = 5
_PATIENCE = 5
"""So many replies of which none could be read, before any that could, and the writer is given up."""


@click.command(SUITE, cls=pages.Command)
@click.argument("principles", type=FILE)
@click.option("-o", "--output", type=FILE, required=True, help="The groups (JSON lines), for suite.path.")
@click.option("--writer", default="", metavar="openai/MODEL", help="Writes levels, points and questions.")
@flags.base_url_flag
@click.option("--sheet", type=FILE, help="A CSV of which each of two reviewers fills in a copy.")
@click.option("--review", "reviews", type=FILE, multiple=True, help="A sheet that a reviewer filled in.")
@click.option("--only-valid", is_flag=True, help="With --review: only what two reviewers call valid.")
def command(
    principles: Path,
    output: Path,
    writer: str,
    base_url: str,
    sheet: Path | None,
    reviews: tuple[Path, ...],
    only_valid: bool,
) -> None:
    """Write a group of three levels about every principle of PRINCIPLES.

    PRINCIPLES: lines such as "optics: Mirrors reflect light.", CSV with discipline and principle, or groups as JSON
    lines that lack questions; these need no --writer. The same command goes on where it stopped.
    """

    author = author_of(load("suite", SUITE))
    assert author is not None
    if only_valid and not reviews:
        raise UsageError(message("flag-needed", flag="--review SHEET.csv", why="--only-valid goes by it"))
    kept, removed = _write(author, principles, output, writer, base_url)
    if reviews:
        kept = _reviewed(kept, reviews, output, only_valid)
    if sheet is not None:
        write_text(sheet, review_sheet_of(kept))
        click.echo(f"{sheet}: two people fill in a copy each; then add --review for each")
    click.echo(f"next: salva cases {SUITE} {output} --lint")
    if removed:
        reasons = (f"{entry.entry_id}: {entry.why}" for entry in removed[:_N_NAMED])
        end_incomplete(reasons, f"{len(removed)} removed: {_beside(output)}. The same command tries again")


def _write(
    author: Author, principles: Path, output: Path, writer: str, base_url: str
) -> tuple[list[Authored], list[Authored]]:
    """What stays and what does not; each is on disk before the next is asked for."""
    wanted = {author.name_of(row): row for row in author.rows(principles)}
    there = author.rows(output) if output.exists() else []
    kept = {author.name_of(row): author.write(row, None) for row in there}
    missing = {name: row for name, row in wanted.items() if name not in kept}
    if missing and not writer and all(author.write(row, None).needs_writer for row in missing.values()):
        raise UsageError(message("writer-needed", path=str(principles), n=len(missing)))
    model = flags.text_model(writer, base_url, output) if writer and missing else None
    removed: list[Authored] = []
    for name, row in shown(missing.items(), "writing", len(missing)):
        made = author.write(row, model)
        if made.why:
            removed.append(made)
        else:
            kept[name] = made
        _save(list(kept.values()), removed, output)
        if len(removed) == _PATIENCE and len(kept) == len(there) and all(entry.is_unread for entry in removed):
            raise UnusableError(message("writer-unreadable", n=_PATIENCE, writer=writer))
    click.echo(f"{quantity(len(kept), 'groups')} in {output}")
    return list(kept.values()), removed


def _save(kept: Sequence[Authored], removed: Sequence[Authored], output: Path) -> None:

    if kept:
        write_text(output, lines_of_entries(kept))
    keep_beside(_beside(output), lines_of_entries(removed, with_reasons=True))


def _reviewed(kept: list[Authored], sheets: Sequence[Path], output: Path, only_valid: bool) -> list[Authored]:

    done = with_reviews(kept, read_reviews(sheets))
    counts = Counter(map(review_of, done))
    left = [entry for entry in done if not only_valid or is_valid(entry)]
    write_text(output, lines_of_entries(left))
    click.echo(", ".join(f"{n} {name}" for name, n in counts.most_common()))
    return left


def _beside(output: Path) -> Path:
    return output.with_name(f"{output.stem}-removed.jsonl")
