"""`salva rejudge`: new verdicts from what a run has stored."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.cli.main import EXIT_INCOMPLETE
from salva.cli.undecided import warn_too_few_decided


@click.command("rejudge", cls=pages.Command)
@click.argument("run", type=flags.RUN_DIRECTORY)
@flags.flag("--check", group=pages.TEST, help="The check that makes the result from now on.")
@flags.counts_flag
@flags.flag("--detector", group=pages.OBSERVERS, help="Another detector; both stand in the report.")
@flags.flag("--reader", group=pages.OBSERVERS, help="Another reader, or none.")
@flags.flag("--judge", "judges", group=pages.OBSERVERS, multiple=True, help="Another judge; repeatable.")
@flags.set_flag
@flags.images_flag
@flags.plugin_flag
@flags.executor_flag
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
    """Judge the images of RUN again. Nothing is generated; only newly named observers observe."""
    from salva.core.run_spec import RunSpec, split_settings
    from salva.engine.progress import make_progress
    from salva.report.summary import summarise_run
    from salva.report.terminal import print_summary
    from salva.runs.rejudge import rejudge
    from salva.runs.workplaces import bind_executor

    changes = RunSpec.of(
        "",
        check=check or "",
        detector=detector or "",
        reader=reader or "",
        judges=judges,
        counts=counts or "",
        settings=split_settings(settings),
    )
    workplace = bind_executor(executor, changes.settings)
    summary = rejudge(run, changes, make_progress(quiet=no_progress), executor=workplace)
    figures = summarise_run(run)
    print_summary(figures)
    too_little = warn_too_few_decided(figures)
    if not summary.is_complete or too_little:
        sys.exit(EXIT_INCOMPLETE)
