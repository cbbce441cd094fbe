"""`salva selftest`: how far the oracle can be trusted."""

from __future__ import annotations

import sys

import click

from salva.cli import flags
from salva.cli.main import EXIT_GATE


@click.command("selftest", short_help="Precision and recall of the oracle on planted faults.")
@flags.plugin_flag
@flags.flag("--detector", default="pocket", show_default=True, help="The detector to test.")
@flags.flag("--reader", default="rapidocr", show_default=True, help="The reader to test, or none.")
@click.option("--pairs", "n_pairs", type=click.IntRange(10), default=200, show_default=True, help="Pairs per fault.")
@flags.seed_flag
@click.option("--threshold", type=click.FloatRange(0, 1), default=0.97, show_default=True, help="Exit 1 below this.")
@flags.set_flag
@flags.progress_flag
def command(
    detector: str,
    reader: str,
    n_pairs: int,
    seed: int,
    threshold: float,
    settings: tuple[str, ...],
    no_progress: bool,
) -> None:
    """Paint faultless and faulty pairs, look at them, and compare what was found with what was planted."""
    from salva.engine.progress import make_progress
    from salva.run.ask import split_settings
    from salva.run.selftest import print_report, selftest

    report = selftest(
        detector=detector,
        reader=reader,
        settings=split_settings(settings),
        n_pairs=n_pairs,
        seed=seed,
        progress=make_progress(quiet=no_progress),
    )
    print_report(report, threshold)
    if not report.passes(threshold):
        sys.exit(EXIT_GATE)
