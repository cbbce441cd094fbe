"""`salva selftest`: how far the oracle can be trusted, or a judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.cli.ending import end
from salva.core.exit_codes import GATE_FAILED, NOT_SURE
from salva.core.run_spec import split_settings
from salva.core.table import Table
from salva.engine.progress import make_progress
from salva.report.terminal import print_table
from salva.runs.selftest_report import COVERED, NOT_COVERED, Mistake, SelftestReport

if TYPE_CHECKING:
    from salva.runs.selftest_judge import JudgeReport

_N_EXPLAINED = 10
_N_PAIRS, _N_ASKED = 200, 25
_THRESHOLD = 0.97
"""The precision and recall below which a test fails."""


@click.command("selftest", cls=pages.Command)
@flags.flag("--detector", group=pages.OBSERVERS, default="pocket", help="The detector to test. Default: pocket.")
@flags.flag("--reader", group=pages.OBSERVERS, default="rapidocr", help="The reader, or none. Default: rapidocr.")
@flags.flag("--judge", group=pages.OBSERVERS, default="", help="The judge to test instead.")
@flags.flag(
    "--pairs",
    "n_pairs",
    group=pages.AMOUNT,
    type=click.IntRange(10),
    help=f"Pairs a fault. Default: {_N_PAIRS}, or {_N_ASKED} with --judge.",
)
@flags.seed_flag
@flags.set_flag
@flags.plugin_flag
def command(
    detector: str,
    reader: str,
    judge: str,
    n_pairs: int | None,
    seed: int,
    settings: tuple[str, ...],
) -> None:
    """Draw pairs with and without faults, and print the precision and recall of the observers.

    Exit code 1: below 0.97. 3: too few faults to decide.
    """

    progress = make_progress()
    given = split_settings(settings)
    report: SelftestReport | JudgeReport
    if judge:
        from salva.runs.selftest_judge import judge_selftest

        n_pictures = n_pairs or _N_ASKED
        report = judge_selftest(
            judge=judge, detector=detector, settings=given, n_pictures=n_pictures, seed=seed, progress=progress
        )
        print_judge_report(report)
    else:
        from salva.runs.selftest import selftest

        report = selftest(
            detector=detector,
            reader=reader,
            settings=given,
            n_pairs=n_pairs or _N_PAIRS,
            seed=seed,
            progress=progress,
        )
        print_report(report)
    if report.problems(_THRESHOLD):
        end(GATE_FAILED)
    if report.too_few():
        end(NOT_SURE)


def print_report(report: SelftestReport) -> None:
    """Print the tables, some of the mistakes, whether the oracle passes, and what that does not say."""

    _print_tables(report.tables())
    _print_mistakes(report.mistakes)
    _say(COVERED)
    _say(NOT_COVERED)
    if report.made_for:
        _say(f"The detector was made for: {report.made_for}")
    _verdict("in its own world the detector", report.problems(_THRESHOLD), report.too_few())


def print_judge_report(report: JudgeReport) -> None:
    """Print the tables, whether the judge passes, and how it does on yes and no."""
    _print_tables(report.tables())
    _say(report.balance())
    _verdict(f"the judge {report.judge}", report.problems(_THRESHOLD), report.too_few())


def _verdict(who: str, problems: Sequence[str], too_few: Sequence[str]) -> None:
    if problems:
        _say(f"{who} does not pass:")
    else:
        _say(f"{who}: too few faults to tell:" if too_few else f"{who} passes")
    for problem in (*problems, *too_few):
        _say(f"  {problem}")


def _print_tables(tables: Sequence[Table]) -> None:

    for table in tables:
        print_table(table)


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
