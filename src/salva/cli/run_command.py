"""`salva run`: the whole flow, the gates, the summary and the report page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.cli.ending import end, end_with
from salva.cli.gate_flags import gate_on_flag, min_decided_flag
from salva.core.exit_codes import INTERRUPTED
from salva.core.quantity import quantity
from salva.core.run_spec import RunSpec, split_settings
from salva.messages import message
from salva.runs import plans

if TYPE_CHECKING:
    from salva.runs.summary import RunSummary


@click.command("run", cls=pages.Command)
@click.argument("suite")
@flags.path_argument
@flags.flag(
    "--model", "models", group=pages.TEST, multiple=True, help="A generator, or NAME=SPEC; repeatable. Default: pocket."
)
@flags.only_flag
@flags.flag("--check", group=pages.TEST, default="", help="The check that makes the result.")
@flags.counts_flag
@flags.flag("--control", group=pages.TEST, is_flag=True, help="Also compare seeds (needs --repeats 2).")
@flags.flag("--published", group=pages.TEST, is_flag=True, help="Judge by the rule of the suite's paper.")
@flags.flag("--detector", group=pages.OBSERVERS, default="", help="Finds entities. Default: the model's.")
@flags.flag("--reader", group=pages.OBSERVERS, default="", help="Reads text in images, or none. Default: rapidocr.")
@flags.flag("--embedder", group=pages.OBSERVERS, default="", help="Embeds images and texts. Default: none.")
@flags.flag(
    "--judge",
    "judges",
    group=pages.OBSERVERS,
    multiple=True,
    help="Answers questions, or NAME=SPEC; repeatable. Default: none.",
)
@flags.size_flag
@flags.flag("--repeats", group=pages.AMOUNT, type=int, default=1, help="Seeds for every prompt. Default: 1.")
@flags.seed_flag
@flags.flag(
    "--max-images", group=pages.AMOUNT, type=click.IntRange(min=1), metavar="N", help="Stop after so many new images."
)
@flags.flag(
    "--max-cost",
    group=pages.AMOUNT,
    type=flags.Number(min=0),
    metavar="USD",
    help="Stop before endpoints cost more USD.",
)
@flags.flag(
    "--max-failure-rate",
    group=pages.GATE,
    type=flags.Number(0, 1),
    metavar="X",
    help="The gate: the largest failure rate.",
)
@flags.flag("--gate", "gates", group=pages.GATE, multiple=True, metavar="METRIC=X", help="A gate on a metric besides.")
@gate_on_flag
@min_decided_flag
@flags.flag(
    "--max-errors",
    group=pages.GATE,
    type=click.IntRange(min=0),
    metavar="N",
    default=0,
    help="Exit 3 with more results that are ERROR. Default: 0.",
)
@flags.flag("--out", group=pages.OUTPUT, type=flags.RUN_DIRECTORY, help="The run directory. Default: runs/<name>.")
@flags.new_images_flag
@flags.flag("--dry-run", group=pages.OUTPUT, is_flag=True, help="Print the plan and its price; contact nothing.")
@flags.progress_flag
@flags.verbose_flag
@flags.quiet_flag
@flags.set_flag
@flags.config_flag
@flags.plugin_flag
@flags.executor_flag
@flags.flag("--shard", default="", metavar="I/N", help="Only the I-th of N parts; see salva merge.")
@flags.flag(
    "--retry",
    multiple=True,
    type=click.Choice(["refused", "unreadable", "unknown"]),
    help="What is asked again.",
)
def command(
    suite: str,
    paths: tuple[str, ...],
    out: Path | None,
    images_at: str,
    executor: str,
    max_failure_rate: float | None,
    gates: tuple[str, ...],
    gate_on: str,
    min_decided: int,
    max_errors: int,
    dry_run: bool,
    max_images: int | None,
    max_cost: float | None,
    retry: tuple[str, ...],
    no_progress: bool,
    verbose: bool,
    quiet: bool,
    settings: tuple[str, ...],
    counts: str | None,
    **asked: Any,
) -> None:
    """Generate an image for every prompt of SUITE, observe, judge and summarise.

    PATH is the suite's own file or folder, or the sentence of scene. The same command resumes an interrupted run.
    """
    from salva.engine.budget import Limits
    from salva.engine.progress import make_progress
    from salva.report.html import write_report_page
    from salva.report.summary import decided, summarise_run
    from salva.report.terminal import print_summary
    from salva.runs.directory import RUNS
    from salva.runs.gates import keep_decisions, read_gate
    from salva.runs.pipeline import execute
    from salva.runs.plans import AllButSuite
    from salva.runs.suite_paths import with_paths
    from salva.runs.workplaces import bind_executor

    given = with_paths(suite, paths, split_settings(settings))
    ask = RunSpec.of(suite=suite, settings=given, counts=counts or "", **asked)
    gate = read_gate(suite, max_failure_rate, gates, on=gate_on, min_decided=min_decided)
    plan = plans.make_plan(ask, foreign=AllButSuite() if dry_run else ())
    workplace = bind_executor(executor, ask.settings)
    progress = make_progress(quiet=no_progress or quiet)
    directory = out or RUNS / plan.directory_name()
    limits = Limits(max_images=max_images, max_cost_usd=max_cost)
    if dry_run:
        from salva.cli.dry_run import print_forecast

        print_forecast(plan, directory, limits)
        return
    if not quiet:
        click.echo(f"{suite} on {', '.join(b.label for b in plan.models)}: {directory}", err=True)
    try:
        done = execute(
            plan,
            directory,
            progress,
            executor=workplace,
            retry=retry,
            limits=limits,
            images_at=images_at,
        )
    except KeyboardInterrupt:
        click.echo(f"\nsalva: {message('run-interrupted', path=str(directory))}", err=True)
        end(INTERRUPTED)
    summary = decided(replace(summarise_run(directory), max_errors=max_errors), gate)
    keep_decisions(directory, summary.decisions(), max_errors)
    page = write_report_page(directory, summary)
    print_summary(summary, verbose=verbose, quiet=quiet, page=str(page), directory=str(directory))
    _warn_of_costs(done)
    end_with(summary)


def _warn_of_costs(done: RunSummary) -> None:
    """What this command cost, and where it stopped."""
    if done.cost_usd:
        click.echo(f"cost: {done.cost_usd:.4f} USD by this command, as the components count it", err=True)
    if done.limit_reached:
        cases = quantity(done.n_unpainted, "cases")
        click.echo(f"salva: {message('run-stopped', limit=done.limit_reached, cases=cases)}", err=True)
    if done.n_unreadable:
        replies = quantity(done.n_unreadable, "replies")
        click.echo(f"salva: {message('replies-unreadable', replies=replies)}", err=True)
