"""`salva cases`: the prompts of a suite, nothing run."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence

import click

from salva.cli import flags
from salva.cli import help as pages
from salva.cli.ending import end
from salva.cli.format_flags import case_formats
from salva.core.case import Case, Finding
from salva.core.fingerprint import Json
from salva.core.printable import printable, printable_json
from salva.core.quantity import quantity
from salva.core.question import question_to_json
from salva.core.run_spec import RunSpec, split_settings
from salva.core.table import Cell
from salva.errors import UsageError, unknown_name
from salva.messages import message
from salva.runs.plans import make_plan


@click.command("cases", cls=pages.Command)
@click.argument("suite")
@flags.path_argument
@flags.only_flag
@flags.size_flag
@flags.seed_flag
@flags.flag(
    "--format",
    "form",
    group=pages.OUTPUT,
    of="cases",
    metavar="FORMAT",
    default="table",
    help="table, jsonl, or an export format of cases. Default: table.",
)
@flags.flag("--lint", group=pages.OUTPUT, is_flag=True, help="Check the suite's texts; exit 2 if there are findings.")
@flags.set_flag
@flags.plugin_flag
def command(
    suite: str,
    paths: tuple[str, ...],
    size: str,
    seed: int,
    only: tuple[str, ...],
    settings: tuple[str, ...],
    form: str,
    lint: bool,
) -> None:
    """Print the cases of SUITE as a run would use them, or the findings of its lint."""
    from salva.runs.cases import linted, planned_cases, remarks
    from salva.runs.suite_paths import with_paths

    given = with_paths(suite, paths, split_settings(settings))
    spec = make_plan(RunSpec.of(suite=suite, size=size, seed=seed, only=only, settings=given))
    if lint:
        _print_findings(linted(spec), form)
        return
    cases = planned_cases(spec)
    own = {"table": _print_table, "jsonl": _print_jsonl}
    if form in own:
        own[form](cases)
    else:
        if form not in (formats := case_formats()):
            raise unknown_name("format of cases", form, (*own, *formats))
        _print_rows(formats[form](cases))
    for line in remarks(spec):
        click.echo(printable(line), err=True)


def _print_findings(findings: Sequence[Finding], form: str) -> None:
    """One line a finding, for people or as objects; how many there are of each kind goes to the error stream."""
    from salva.core.exit_codes import USAGE

    if form not in ("table", "jsonl"):
        raise UsageError(message("option-invalid", name="--format with --lint", value=form, wanted="table or jsonl"))
    for finding in findings:
        said = {"kind": finding.kind, "sentence": finding.sentence, "subject": list(finding.subject)}
        click.echo(printable_json(said) if form == "jsonl" else printable(f"{finding.kind}: {finding.sentence}"))
    kinds = Counter(finding.kind for finding in findings)
    by_kind = f": {', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}" if kinds else ""
    click.echo(f"{quantity(len(findings), 'findings')}{by_kind}", err=bool(findings))
    if findings:
        end(USAGE)


def _as_object(case: Case) -> dict[str, Json]:
    return {
        "case_id": case.case_id,
        "suite": case.suite,
        "labels": dict(case.labels),
        "prompts": {prompt.role: prompt.text for prompt in case.prompts},
        "formulas": {prompt.role: prompt.formula for prompt in case.prompts},
        "check": case.check,
        "equivalent": case.equivalent,
        "determinate": case.determinate,
        "category": case.category,
        "cluster": case.cluster,
        "questions": {
            prompt.role: [question_to_json(question) for question in prompt.questions] for prompt in case.prompts
        },
        "findings": [finding.sentence for finding in case.findings],
    }


def _print_jsonl(cases: Iterable[Case]) -> None:
    for case in cases:
        click.echo(printable_json(_as_object(case)))


def _print_rows(rows: Iterable[list[Cell]]) -> None:
    from salva.files.tables import csv_text

    sys.stdout.write(csv_text(rows))


def _print_table(cases: Iterable[Case]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(show_lines=True)
    for column in ("case", "prompts", "check", "equivalent", "determinate"):
        table.add_column(column, overflow="fold")
    n_cases = 0
    for n_cases, case in enumerate(cases, start=1):  # noqa: B007 - the count is what is left after the loop
        prompts = "\n".join(printable(prompt.text) for prompt in case.prompts)
        table.add_row(case.case_id, prompts, case.check, _yes_no(case.equivalent), _yes_no(case.determinate))
    console = Console(markup=False)
    console.print(table)
    console.print(quantity(n_cases, "cases"))


def _yes_no(value: bool | None) -> str:
    return "unknown" if value is None else "yes" if value else "no"
