"""`salva rejudge`: new verdicts from what a run has stored."""

from __future__ import annotations

from pathlib import Path

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.cli.ending import end_with


@click.command("rejudge", cls=pages.Command)
@click.argument("run", type=flags.RUN_DIRECTORY)
@flags.flag("--check", group=pages.TEST, help="The check that makes the result from now on.")
@flags.counts_flag
@flags.flag("--published", group=pages.TEST, is_flag=True, help="Judge by the rule of the suite's paper.")
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
    published: bool,
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
    from salva.report.html import write_report_page
    from salva.report.summary import summarise_run
    from salva.report.terminal import print_summary
    from salva.runs.rejudge import rejudge
    from salva.runs.workplaces import bind_executor

    changes = RunSpec.of(
        "",
        check=check or "",
        published=published,
        detector=detector or "",
        reader=reader or "",
        judges=judges,
        counts=counts or "",
        settings=split_settings(settings),
    )
    workplace = bind_executor(executor, changes.settings)
    rejudge(run, changes, make_progress(quiet=no_progress), executor=workplace)
    summary = summarise_run(run)
    page = write_report_page(run)
    print_summary(summary, page=str(page), directory=str(run))
    end_with(summary)
