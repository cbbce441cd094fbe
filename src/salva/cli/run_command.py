"""`salva run`: the whole flow, then the table, then the gate."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.cli.dry_run import print_forecast
from salva.cli.main import EXIT_GATE, EXIT_INCOMPLETE, EXIT_INTERRUPTED
from salva.cli.undecided import warn_too_few_decided
from salva.core.quantity import quantity
from salva.core.run_spec import RunSpec, split_settings
from salva.messages import message
from salva.runs import plans

if TYPE_CHECKING:
    from salva.report.summary import Summary
    from salva.runs.gate import Decision, Gate
    from salva.runs.summary import RunSummary


_MOST_FAILURES = 3


@click.command("run", cls=pages.Command)
@click.argument("suite")
@flags.path_argument
@flags.flag("--model", "models", group=pages.TEST, multiple=True, help="A generator; repeatable. Default: pocket.")
@flags.only_flag
@flags.flag(
    "--check", group=pages.TEST, default="", help="The check that makes the result. Default: the best for each case."
)
@flags.counts_flag
@flags.flag("--control", group=pages.TEST, is_flag=True, help="Also compare seeds of one prompt (needs --repeats 2).")
@flags.flag("--published", group=pages.TEST, is_flag=True, help="Judge by the rule of the suite's paper.")
@flags.flag(
    "--detector", group=pages.OBSERVERS, default="", help="Finds entities. Default: pocket for painter and pocket."
)
@flags.flag("--reader", group=pages.OBSERVERS, default="", help="Reads text in images, or none. Default: rapidocr.")
@flags.flag("--embedder", group=pages.OBSERVERS, default="", help="Embeds images and texts. Default: none.")
@flags.flag(
    "--judge", "judges", group=pages.OBSERVERS, multiple=True, help="Answers questions; repeatable. Default: none."
)
@flags.size_flag
@flags.flag("--repeats", group=pages.AMOUNT, type=int, default=1, help="Seeds for every prompt. Default: 1.")
@flags.seed_flag
@flags.flag("--max-images", group=pages.AMOUNT, type=click.IntRange(min=1), help="Stop after so many new images.")
@flags.flag("--max-cost", group=pages.AMOUNT, type=flags.Number(min=0), help="Stop before endpoints cost more USD.")
@flags.flag(
    "--max-failure-rate", group=pages.GATE, type=flags.Number(0, 1), help="Exit 1 if the failure rate is above this."
)
@flags.flag(
    "--gate-on",
    group=pages.GATE,
    type=click.Choice(["lower", "point", "upper"]),
    default="lower",
    help="The end of the interval that counts. Default: lower.",
)
@flags.flag(
    "--gate-rate",
    group=pages.GATE,
    type=click.Choice(["wrong", "inconsistent", "both_wrong"]),
    help="The rate that counts. Default: the headline.",
)
@flags.flag(
    "--min-decided",
    group=pages.GATE,
    type=click.IntRange(min=1),
    default=16,
    help="Exit 3 if fewer pairs are decided. Default: 16.",
)
@flags.flag("--out", group=pages.OUTPUT, type=flags.RUN_DIRECTORY, help="The run directory. Default: runs/<name>.")
@flags.new_images_flag
@flags.flag("--dry-run", group=pages.OUTPUT, is_flag=True, help="Print the plan and its price; contact nothing.")
@flags.progress_flag
@flags.set_flag
@flags.config_flag
@flags.plugin_flag
@flags.executor_flag
@flags.flag("--shard", default="", metavar="I/N", help="Only the I-th of N parts; see salva merge.")
@flags.flag(
    "--retry",
    multiple=True,
    type=click.Choice(["refused", "unreadable"]),
    help="Ask again for refused images or unreadable replies.",
)
def command(
    suite: str,
    paths: tuple[str, ...],
    out: Path | None,
    images_at: str,
    executor: str,
    max_failure_rate: float | None,
    gate_on: str,
    gate_rate: str | None,
    min_decided: int,
    published: bool,
    dry_run: bool,
    max_images: int | None,
    max_cost: float | None,
    retry: tuple[str, ...],
    no_progress: bool,
    settings: tuple[str, ...],
    counts: str | None,
    **asked: Any,
) -> None:
    """Generate an image for every prompt of SUITE, observe, judge and summarise.

    PATH is the suite's own file or folder, or the sentence of scene. The same command resumes an interrupted run.
    """
    from salva.engine.budget import Limits
    from salva.engine.progress import make_progress
    from salva.report.summary import summarise_run
    from salva.report.terminal import print_summary
    from salva.runs.directory import RUNS
    from salva.runs.gate import Gate
    from salva.runs.pipeline import execute
    from salva.runs.planning import refuse_null_rate
    from salva.runs.plans import AllButSuite
    from salva.runs.suite_paths import with_paths
    from salva.runs.workplaces import bind_executor

    given = with_paths(suite, paths, split_settings(settings))
    ask = RunSpec.of(suite=suite, settings=given, counts=counts or "", **asked)
    if published:
        ask, rule = plans.published_rule(ask)
        click.echo(f"--published: {rule}", err=True)
    spec = plans.make_plan(ask, foreign=AllButSuite() if dry_run else ())
    workplace = bind_executor(executor, ask.settings)
    if gate_rate:
        refuse_null_rate(spec, gate_rate)
    progress = make_progress(quiet=no_progress)
    directory = out or RUNS / spec.directory_name()
    limits = Limits(max_images=max_images, max_cost_usd=max_cost)
    if dry_run:
        print_forecast(spec, directory, limits)
        return
    click.echo(f"{suite} on {', '.join(b.label for b in spec.models)}: {directory}", err=True)
    try:
        summary = execute(
            spec,
            directory,
            progress,
            executor=workplace,
            retry_refused="refused" in retry,
            retry_unreadable="unreadable" in retry,
            limits=limits,
            images_at=images_at,
        )
    except KeyboardInterrupt:
        click.echo(f"\nsalva: {message('run-interrupted', path=str(directory))}", err=True)
        sys.exit(EXIT_INTERRUPTED)
    figures = summarise_run(directory)
    print_summary(figures)
    _print_place(summary, directory)
    _warn_of_errors(summary, figures)
    gate = None
    if max_failure_rate is not None:
        gate = Gate(limit=max_failure_rate, end=gate_on, rate=gate_rate or "", min_decided=min_decided)
    decisions = _at_the_gate(figures, gate, summary, directory)
    _exit(summary, figures, decisions)


def _exit(summary: RunSummary, figures: Summary, decisions: list[Decision]) -> None:
    """End with the code that says how it went; return where all is well."""
    # A rate above its limit is the worst news, even where something failed besides.
    if any(decision.decides and not decision.passed for decision in decisions):
        sys.exit(EXIT_GATE)
    too_little = warn_too_few_decided(figures)
    if not summary.is_complete or too_little or not all(decision.decides for decision in decisions):
        sys.exit(EXIT_INCOMPLETE)


def _print_place(summary: RunSummary, directory: Path) -> None:
    """Where the run is, what it cost, and where it stopped."""
    click.echo(f"\nrun directory: {directory}\nreport:        salva report {shlex.quote(str(directory))}")
    if summary.cost_usd:
        click.echo(f"cost:          {summary.cost_usd:.4f} USD by this command, as the components count it")
    if summary.limit_reached:
        cases = quantity(summary.n_unpainted, "cases")
        _warn("run-stopped", limit=summary.limit_reached, cases=cases)


def _warn_of_errors(summary: RunSummary, figures: Summary) -> None:
    """What ended in ERROR, by any check, and what the same command does about it."""
    for model in figures.by_model:
        failed = list(model.failed.items())
        for (check, reason), n in failed[:_MOST_FAILURES]:
            _warn("verdicts-failed", model=model.model, verdicts=quantity(n, "verdicts"), check=check, why=reason)
        if n_more := sum(n for _, n in failed[_MOST_FAILURES:]):
            _warn("more-errors", model=model.model, n=n_more)
    if n_again := max(summary.outcomes.get("ERROR", 0) - summary.n_refused, 0) or summary.n_retryable:
        _warn("errors-retried", verdicts=quantity(n_again, "verdicts"))
    if summary.n_refused:
        _warn("refusals-kept", verdicts=quantity(summary.n_refused, "verdicts"))
    if summary.n_unreadable:
        _warn("replies-unreadable", replies=quantity(summary.n_unreadable, "replies"))


def _warn(code: str, **values: object) -> None:
    click.echo(f"salva: {message(code, **values)}", err=True)


def _at_the_gate(figures: Summary, gate: Gate | None, summary: RunSummary, directory: Path) -> list[Decision]:
    """Hold every model against the gate, say what was decided and keep it with the run."""
    from salva.runs.gate import decide, forget, keep

    if gate is None:
        if any(model.gate is not None for model in figures.by_model):
            forget(directory)
        return []
    decisions = []
    for model in figures.by_model:
        n_missing = 0 if summary.is_complete else model.outcomes["ERROR"] + model.n_unjudged
        if len(figures.by_model) == 1:
            # Whatever else is missing is this model's too: a run that is not complete passes no gate.
            n_missing = n_missing or summary.outcomes.get("ERROR", 0) + summary.n_unpainted
        decisions.append(decide(model.model, model.leading, gate, n_missing=n_missing, only=figures.asked.only))
    keep(directory, decisions)
    for decision in decisions:
        word = "passed" if decision.passed else "not passed" if decision.decides else "not decided"
        click.echo(f"gate {word}: {decision.model}: {decision.reason}", err=True)
    if len(decisions) > 1:
        n_passed = sum(decision.passed for decision in decisions)
        click.echo(
            f"gate: held against each model by itself; {n_passed} of {len(decisions)} passed"
            + ("" if n_passed == len(decisions) else ", and one that does not pass fails the command"),
            err=True,
        )
    return decisions
