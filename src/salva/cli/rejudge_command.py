"""`salva rejudge`: verdicts again from what is stored."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from salva.cli import flags
from salva.cli.decided import tell_too_little
from salva.cli.main import EXIT_INCOMPLETE


@click.command("rejudge", short_help="Verdicts again from stored pictures.")
@click.argument("run", type=flags.RUN_DIRECTORY)
@flags.images_flag
@flags.plugin_flag
@flags.flag("--check", default=None, help="The check that leads from now on.")
@flags.flag("--detector", default=None, help="Need again with another detector; its verdicts stand beside the others.")
@flags.flag("--reader", default=None, help="Need again with another reader, or none.")
@flags.flag("--judge", "judges", multiple=True, help="Ask another judge; repeatable.")
@flags.flag("--counts", type=click.Choice(["exact", "at-least"]), default=None)
@flags.set_flag
@flags.flag("--executor", default="local", show_default=True, help="Where components run: local or ray.")
@flags.progress_flag
def command(
    run: Path,
    check: str | None,
    detector: str | None,
    reader: str | None,
    judges: tuple[str, ...],
    counts: str | None,
    settings: tuple[str, ...],
    executor: str,
    no_progress: bool,
) -> None:
    """Judge the pictures of RUN again; nothing is painted, and only a newly named role looks."""
    from salva.engine.progress import make_progress
    from salva.report.summary import summarise_run
    from salva.report.terminal import print_summary
    from salva.runs.ask import split_settings
    from salva.runs.rejudge import Changes, rejudge
    from salva.runs.workplaces import bind_executor

    changes = Changes(
        check=check,
        detector=detector,
        reader=reader,
        judges=judges,
        counts=counts,
        settings=split_settings(settings),
    )
    workplace = bind_executor(executor, changes.settings)
    summary = rejudge(run, changes, make_progress(quiet=no_progress), executor=workplace)
    figures = summarise_run(run)
    print_summary(figures)
    too_little = tell_too_little(figures)
    if not summary.is_complete or too_little:
        sys.exit(EXIT_INCOMPLETE)
