"""`salva write cfworld`: groups of prompts from principles, checked as they come, with a sheet for two reviewers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.cli.ending import end
from salva.core.quantity import quantity
from salva.errors import UnusableError, UsageError
from salva.messages import message

if TYPE_CHECKING:
    from salva.core.authored import Author, Authored

SUITE = "cfworld"
_FILE = click.Path(path_type=Path, dir_okay=False)
_N_NAMED = 5
_PATIENCE = 5
"""So many replies of which none could be read, before any that could, and the writer is given up."""


@click.command(SUITE, cls=pages.Command)
@click.argument("principles", type=_FILE)
@click.option("-o", "--output", type=_FILE, required=True, help="The groups (JSON lines), for suite.path.")
@click.option("--writer", default="", metavar="openai/MODEL", help="Writes levels, points and questions.")
@flags.base_url_flag
@click.option("--sheet", type=_FILE, help="A CSV of which each of two reviewers fills in a copy.")
@click.option("--review", "reviews", type=_FILE, multiple=True, help="A sheet that a reviewer filled in.")
@click.option("--only-valid", is_flag=True, help="With --review: only what two reviewers call valid.")
@flags.progress_flag
def command(
    principles: Path,
    output: Path,
    writer: str,
    base_url: str,
    sheet: Path | None,
    reviews: tuple[Path, ...],
    only_valid: bool,
    no_progress: bool,
) -> None:
    """Write a group of three levels about every principle of PRINCIPLES.

    PRINCIPLES: lines such as "optics: Mirrors reflect light.", CSV with discipline and principle, or groups as JSON
    lines that lack questions; these need no --writer, since templates make questions from points. What OUTPUT has
    already is not written again, so the same command goes on.
    """
    from salva.core.about import author_of
    from salva.registry import load

    author = author_of(load("suite", SUITE))
    assert author is not None
    if only_valid and not reviews:
        raise UsageError(message("flag-needed", flag="--review SHEET.csv", why="--only-valid goes by it"))
    kept, removed = _write(author, principles, output, writer, base_url, no_progress)
    if reviews:
        kept = _reviewed(kept, reviews, output, only_valid)
    if sheet is not None:
        from salva.authoring.authored_files import review_sheet_of
        from salva.files.outfiles import write_text

        write_text(sheet, review_sheet_of(kept))
        click.echo(f"{sheet}: two people fill in reviewer and valid, each in a copy; then add --review for each copy")
    click.echo(f"check them together with: salva cases {SUITE} --lint --set suite.path={output}")
    if removed:
        from salva.core.exit_codes import NOT_SURE

        for entry in removed[:_N_NAMED]:
            click.echo(f"{entry.entry_id}: {entry.why}", err=True)
        click.echo(
            f"{len(removed)} removed, with reasons, in {_beside(output)}; the same command tries again", err=True
        )
        end(NOT_SURE)


def _write(
    author: Author, principles: Path, output: Path, writer: str, base_url: str, no_progress: bool
) -> tuple[list[Authored], list[Authored]]:
    """What stays and what does not; each is on disk before the next is asked for."""
    from rich.progress import Progress

    wanted = {author.name_of(row): row for row in author.rows(principles)}
    there = author.rows(output) if output.exists() else []
    kept = {author.name_of(row): author.write(row, None) for row in there}
    missing = {name: row for name, row in wanted.items() if name not in kept}
    if missing and not writer and all(author.write(row, None).needs_writer for row in missing.values()):
        raise UsageError(message("writer-needed", path=str(principles), n=len(missing)))
    model = flags.text_model(writer, base_url, output) if writer and missing else None
    removed: list[Authored] = []
    with Progress(disable=no_progress, transient=True) as bar:
        task = bar.add_task("writing", total=len(missing))
        for name, row in missing.items():
            made = author.write(row, model)
            if made.why:
                removed.append(made)
            else:
                kept[name] = made
            _save(list(kept.values()), removed, output)
            bar.advance(task)
            if len(removed) == _PATIENCE and len(kept) == len(there) and all(entry.is_unread for entry in removed):
                raise UnusableError(message("writer-unreadable", n=_PATIENCE, writer=writer))
    n_there = len(there)
    before = f"; {n_there} of them were there already" if n_there else ""
    click.echo(f"{quantity(len(kept), 'groups')} in {output}{before}")
    return list(kept.values()), removed


def _save(kept: Sequence[Authored], removed: Sequence[Authored], output: Path) -> None:
    from salva.authoring.authored_files import lines_of_entries
    from salva.files.outfiles import write_text

    if kept:
        write_text(output, lines_of_entries(kept))
    if removed:
        write_text(_beside(output), lines_of_entries(removed, with_reasons=True))
    else:
        _beside(output).unlink(missing_ok=True)


def _reviewed(kept: list[Authored], sheets: Sequence[Path], output: Path, only_valid: bool) -> list[Authored]:
    from salva.authoring.authored_files import is_valid, lines_of_entries, review_of, with_reviews
    from salva.authoring.samples import read_reviews
    from salva.files.outfiles import write_text

    done = with_reviews(kept, read_reviews(sheets))
    counts = Counter(map(review_of, done))
    left = [entry for entry in done if not only_valid or is_valid(entry)]
    write_text(output, lines_of_entries(left))
    click.echo(", ".join(f"{n} {name}" for name, n in counts.most_common()))
    return left


def _beside(output: Path) -> Path:
    return output.with_name(f"{output.stem}-removed.jsonl")
