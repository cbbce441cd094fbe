"""`salva selftest`: how far the oracle can be trusted, or a judge."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from salva.cli import flags
from salva.cli.main import EXIT_GATE, EXIT_INCOMPLETE

if TYPE_CHECKING:
    from salva.core.table import Table
    from salva.runs.selftest_judge import JudgeReport
    from salva.runs.selftest_report import Mistake, SelftestReport

_N_EXPLAINED = 10
_N_PAIRS, _N_ASKED = 200, 25


@click.command("selftest", short_help="Precision and recall of the oracle, or of a judge, on planted faults.")
@flags.plugin_flag
@flags.flag("--detector", default="pocket", show_default=True, help="The detector to test.")
@flags.flag("--reader", default="rapidocr", show_default=True, help="The reader to test, or none.")
@flags.flag("--judge", default="", help="The judge to test in their place: closed questions about painted pictures.")
@flags.flag(
    "--pairs",
    "n_pairs",
    type=click.IntRange(10),
    help=f"Pairs per fault, {_N_PAIRS} unless given; with --judge pictures per fault, {_N_ASKED} unless given.",
)
@flags.flag(
    "--hard",
    "n_hard",
    type=click.IntRange(0),
    default=25,
    show_default=True,
    help="Pictures of each hard kind; 0 for none.",
)
@flags.seed_flag
@flags.flag("--threshold", type=flags.Span(0, 1), default=0.97, show_default=True, help="Exit 1 below this.")
@flags.set_flag
@flags.progress_flag
def command(
    detector: str,
    reader: str,
    judge: str,
    n_pairs: int | None,
    n_hard: int,
    seed: int,
    threshold: float,
    settings: tuple[str, ...],
    no_progress: bool,
) -> None:
    """Paint faultless and faulty pairs, look at them, and compare what was found with what was planted.

    Then pictures that are hard to look at, of every kind; these change no exit code. Exit 1: below the threshold.
    Exit 3: too few faults to tell.
    """
    from salva.engine.progress import make_progress
    from salva.runs.ask import split_settings

    progress = make_progress(quiet=no_progress)
    given = split_settings(settings)
    report: SelftestReport | JudgeReport
    if judge:
        from salva.runs.selftest_judge import judge_selftest

        n_pictures = n_pairs or _N_ASKED
        report = judge_selftest(
            judge=judge, detector=detector, settings=given, n_pictures=n_pictures, seed=seed, progress=progress
        )
        print_judge_report(report, threshold)
    else:
        from salva.runs.selftest import selftest

        report = selftest(
            detector=detector,
            reader=reader,
            settings=given,
            n_pairs=n_pairs or _N_PAIRS,
            n_hard=n_hard,
            seed=seed,
            progress=progress,
        )
        print_report(report, threshold)
    if report.problems(threshold):
        sys.exit(EXIT_GATE)
    if report.too_few():
        sys.exit(EXIT_INCOMPLETE)


def print_report(report: SelftestReport, threshold: float) -> None:
    """Print the tables, some of the mistakes, whether the oracle passes, and what that does not say."""
    from salva.runs.selftest_report import COVERED, NOT_COVERED

    _print_tables(report.tables())
    _print_mistakes(report.mistakes)
    _say(COVERED)
    _say(NOT_COVERED)
    if report.made_for:
        _say(f"The detector was made for: {report.made_for}")
    _verdict("in its own world the oracle", report.problems(threshold), report.too_few())
    if report.hard:
        _say(f"beyond it: {report.beyond()}")


def print_judge_report(report: JudgeReport, threshold: float) -> None:
    """Print the tables, whether the judge passes, and how it does on yes and no."""
    _print_tables(report.tables())
    _say(report.balance())
    _verdict(f"the judge {report.judge}", report.problems(threshold), report.too_few())


def _verdict(who: str, problems: Sequence[str], too_few: Sequence[str]) -> None:
    if problems:
        _say(f"{who} does not pass:")
    else:
        _say(f"{who}: too few faults to tell:" if too_few else f"{who} passes")
    for problem in (*problems, *too_few):
        _say(f"  {problem}")


def _print_tables(tables: Sequence[Table]) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table as Grid

    console = Console()
    for table in tables:
        grid = Grid(title=table.name, caption=table.note, title_justify="left", caption_justify="left", box=SIMPLE)
        # Without its outer margins the widest table fits in 80 columns.
        grid.pad_edge, grid.show_edge = False, False
        for column in table.columns:
            grid.add_column(column, justify="left" if column == table.columns[0] else "right", overflow="fold")
        for row in table.rows:
            grid.add_row(*map(str, row))
        console.print(grid)


def _print_mistakes(mistakes: Sequence[Mistake]) -> None:
    for mistake in mistakes[:_N_EXPLAINED]:
        true, found = (", ".join(names) or "nothing wrong" for names in (mistake.true, mistake.found))
        why = f": {mistake.why}" if mistake.why else ""
        _say(f"{mistake.case_id} {mistake.role}: true {true}; found {found}{why}")
    if len(mistakes) > _N_EXPLAINED:
        _say(f"... and {len(mistakes) - _N_EXPLAINED} more mistakes")


def _say(sentence: str) -> None:
    from rich.console import Console

    Console().print(sentence, markup=False, highlight=False)
