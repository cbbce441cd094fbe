"""`salva run`: the whole flow, then the table, then the gate."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from salva.cli import flags
from salva.cli.decided import tell_too_little
from salva.cli.dry_run import print_forecast
from salva.cli.main import EXIT_GATE, EXIT_INCOMPLETE, EXIT_INTERRUPTED
from salva.core.counted import counted
from salva.runs import ask as asking

if TYPE_CHECKING:
    from salva.report.summary import Summary
    from salva.runs.gate import Decision, Gate
    from salva.runs.summary import RunSummary


_MOST_FAILURES = 3


def _default(role: str) -> str:
    return f"Default: the suite's choice, else {asking.DEFAULTS[role]}."


@click.command("run", short_help="Run a suite against a model.")
@click.argument("suite")
@flags.config_flag
@flags.plugin_flag
@flags.flag("--model", "models", multiple=True, help=f"A generator; repeatable. {_default('model')}")
@flags.flag("--detector", default="", help="Finds the things in a picture. Default: pocket for painter and pocket.")
@flags.flag("--reader", default="", help=f"Reads text in a picture. {_default('reader')}")
@flags.flag("--embedder", default="", help=f"Makes vectors of pictures and texts. {_default('embedder')}")
@flags.flag("--judge", "judges", multiple=True, help=f"Answers about a picture; repeatable. {_default('judge')}")
@flags.size_flag
@flags.flag("--repeats", type=int, default=1, show_default=True, help="How many seeds every prompt is painted with.")
@flags.seed_flag
@flags.flag("--control", is_flag=True, help="Cross wordings and seeds to measure seed noise (at least 2 repeats).")
@flags.flag("--only", multiple=True, metavar="LABEL=VALUE", help="Only cases with this label, e.g. law=de-morgan")
@flags.flag("--shard", default="", metavar="I/N", help="Only the I-th of N shares of the cases; see `salva merge`.")
@flags.set_flag
@flags.flag(
    "--check",
    default="",
    help="The check that leads; default: truth where prompts have formulas, else each case's own.",
)
@flags.counts_flag
@flags.flag("--published", is_flag=True, help="Judge by the rule of the suite's paper; prints the flags it stands for.")
@flags.flag("--out", type=flags.RUN_DIRECTORY, help="The run's directory; default runs/<name of what was asked>.")
@flags.new_images_flag
@flags.flag("--executor", default="local", show_default=True, help="Where components run: local or ray.")
@flags.flag("--max-failure-rate", type=flags.Span(0, 1), help="Exit 1 when the rate is above this.")
@flags.flag(
    "--gate-on",
    type=click.Choice(["lower", "point", "upper"]),
    default="lower",
    show_default=True,
    help="Which end of the interval the gate looks at.",
)
@flags.flag(
    "--gate-rate",
    type=click.Choice(["wrong", "inconsistent", "both_wrong"]),
    help="The rate the gate looks at; default: the one that leads.",
)
@flags.flag(
    "--min-decided",
    type=click.IntRange(min=1),
    default=16,
    show_default=True,
    help="With a gate: exit 3 when fewer pairs are decided.",
)
@flags.flag("--dry-run", is_flag=True, help="Say what would be done and what it takes; do, write and contact nothing.")
@flags.flag("--max-images", type=click.IntRange(min=1), help="Stop after so many new images; exit 3, resumable.")
@flags.flag("--max-cost", type=flags.Span(min=0), help="Stop before endpoints cost more than this, in USD.")
@flags.flag("--retry-refused", is_flag=True, help="Ask again for pictures the model refused.")
@flags.flag("--retry-unreadable", is_flag=True, help="Ask judges again, alone, where no reply could be read.")
@flags.progress_flag
def command(
    suite: str,
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
    retry_refused: bool,
    retry_unreadable: bool,
    no_progress: bool,
    settings: tuple[str, ...],
    **asked: Any,
) -> None:
    """Paint every prompt of SUITE, look at the pictures, judge and summarise.

    The same command resumes an interrupted run and does nothing twice.
    """
    from salva.engine.budget import Limits
    from salva.engine.progress import make_progress
    from salva.report.summary import summarise_run
    from salva.report.terminal import print_summary
    from salva.runs.directory import RUNS
    from salva.runs.gate import Gate
    from salva.runs.pipeline import execute
    from salva.runs.planning import refuse_null_rate
    from salva.runs.untouched import Untouched
    from salva.runs.workplaces import bind_executor

    given = asking.split_settings(settings)
    ask = asking.Ask(suite=suite, settings=given, **asked)
    if published:
        ask, rule = asking.by_published_rule(ask)
        click.echo(f"--published: {rule}", err=True)
    spec = asking.make_spec(ask, foreign=Untouched() if dry_run else ())
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
            retry_refused=retry_refused,
            retry_unreadable=retry_unreadable,
            limits=limits,
            images_at=images_at,
        )
    except KeyboardInterrupt:
        click.echo(f"\ninterrupted; everything finished so far is in {directory}. The same command goes on.", err=True)
        sys.exit(EXIT_INTERRUPTED)
    figures = summarise_run(directory)
    print_summary(figures)
    _tell_place(summary, directory)
    _tell_failures(summary, figures)
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
    too_little = tell_too_little(figures)
    if not summary.is_complete or too_little or not all(decision.decides for decision in decisions):
        sys.exit(EXIT_INCOMPLETE)


def _tell_place(summary: RunSummary, directory: Path) -> None:
    """Where the run is, what it cost, and where it stopped."""
    click.echo(f"\nrun directory: {directory}\nreport:        salva report {shlex.quote(str(directory))}")
    if summary.cost_usd:
        click.echo(f"cost:          {summary.cost_usd:.4f} USD by this command, as the components count it")
    if summary.limit_reached:
        click.echo(
            f"salva: stopped at {summary.limit_reached}; {counted(summary.n_unpainted, 'cases')} without a verdict. "
            "The same command goes on from there",
            err=True,
        )


def _tell_failures(summary: RunSummary, figures: Summary) -> None:
    """What failed, of whatever check, and what the same command does about it."""
    n_again = summary.outcomes.get("ERROR", 0) - summary.n_refused
    for model in figures.by_model:
        for (check, reason), n in list(model.failed.items())[:_MOST_FAILURES]:
            click.echo(f"salva: {model.model}: {counted(n, 'verdicts')} of {check} ERROR: {reason}", err=True)
        if n_more := sum(list(model.failed.values())[_MOST_FAILURES:]):
            click.echo(f"salva: {model.model}: {n_more} more ERROR for other reasons; the report has them", err=True)
    if n_again > 0:
        click.echo(f"salva: {counted(n_again, 'verdicts')} ERROR; the same command tries again", err=True)
    elif summary.n_retryable:
        told = counted(summary.n_retryable, "verdicts")
        click.echo(f"salva: {told} of the control ERROR; the same command tries again", err=True)
    if summary.n_refused:
        leaves = f"salva: {counted(summary.n_refused, 'verdicts')} ERROR by a refusal"
        click.echo(f"{leaves}; the same command does not ask again, --retry-refused does", err=True)
    if summary.n_unreadable:
        told = f"{counted(summary.n_unreadable, 'replies')} could not be read, which decides nothing"
        click.echo(f"salva: {told}; --retry-unreadable asks again, and for nothing else", err=True)


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
