"""Metric: own prompts by the check that judged them, and the prompts that no check could judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import ClassVar

from salva.core.case import Case
from salva.core.chart import Chart, share_bars
from salva.core.judgements import CaseVerdict, Judgements
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.table import Cell, Table
from salva.english.prompt_files import PARAPHRASED_BY
from salva.results.headline import of_main_observers
from salva.results.metrics.rate_charts import BY_CATEGORY
from salva.results.tables import RATES, group_by, present, rows_table
from salva.results.uncheckable import cases_without_check, why_unchecked
from salva.suites.prompts.cases import NONE

_MOST_ROWS = 200
NO_CHECK = "no check"
_SHARES = ("dsg_A", "dsg_B")
"""Scores of a verdict: of each image the share of right answers."""


class PromptsTables:
    """Prompts by check, and prompts that no check could judge."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        self._options = options

    def measure(self, judgements: Judgements) -> Measured:
        """Tables for the report."""
        seen = of_main_observers(judgements.pairs)
        unchecked = cases_without_check(judgements)
        settled = {judged.case.case_id for judged in seen} | {case.case_id for case in unchecked}
        waiting = [case for case in judgements.cases if case.case_id not in settled]
        by_check = _by_check(seen, unchecked, waiting)
        files = (rule.options.get("questions") for rule in judgements.checks.values())
        file = next((str(path) for path in files if path), "")
        is_sorted = any("category" in case.labels for case in judgements.cases)
        return Measured(
            tables=present(by_check, _unchecked(unchecked, file)),
            numbers={"n_without_check": float(len(unchecked))},
            charts=tuple(_chart(by_check, is_sorted=is_sorted)),
        )


def _by_check(seen: Sequence[CaseVerdict], unchecked: Sequence[Case], waiting: Sequence[Case]) -> Table:
    def cells(group: Sequence[CaseVerdict]) -> tuple[Cell, ...]:
        right = [judged.verdict.scores[name] for judged in group for name in _SHARES if name in judged.verdict.scores]
        n_prompts = len({judged.case.painting for judged in group})
        return (n_prompts, *RATES.cells(group), fmean(right) if right else None)

    groups = group_by(seen, lambda judged: (judged.verdict.check, _kind(judged.case)))
    unjudged = {NO_CHECK: unchecked, "not judged yet": waiting}
    return Table(
        name="prompts by check",
        title="Prompts by check",
        columns=("check", "what", "prompts", *RATES.names, "right_answers"),
        rows=(
            *((*key, *cells(group)) for key, group in groups.items()),
            *(
                (name, "", len({case.painting for case in cases}), *(None for _ in RATES.names), None)
                for name, cases in unjudged.items()
                if cases
            ),
        ),
        note="right_answers: the mean share of right answers; a question behind a wrong one is wrong.",
    )


def _chart(table: Table, *, is_sorted: bool) -> Iterator[Chart]:
    """The checks side by side, where there are several; without categories of the user's that is all there is."""
    rows: list[tuple[Cell, ...]] = []
    for check, what, n_prompts, n, _, *rates, undecided, _ in table.rows:
        counts = [cell for cell in (n, undecided) if isinstance(cell, int)]
        n_asked = sum(counts) if counts else n_prompts
        rows.append((f"{check}: {what}" if what else check, *rates, f"{n or 0} of {n_asked}"))
    if len(rows) > 1:
        yield share_bars(
            name="prompts-by-check",
            title="Failure rate by check",
            table=Table(name=table.name, columns=("check", "rate", "low", "high", "decided"), rows=tuple(rows)),
            x="check",
            y="rate",
            n="decided",
            y_label="failure rate; decided: of all cases",
            replaces="" if is_sorted else BY_CATEGORY,
            is_printed=True,
        )


def _kind(case: Case) -> str:
    """What a case is made of, in words."""
    if case.mutation is not None:
        return f"a prompt and a mutant by {case.mutation.operator}"
    source = case.labels.get("formula", NONE)
    if PARAPHRASED_BY in case.labels:
        return "paraphrases, proved by formulas" if case.equivalent else "paraphrases, unproved"
    what = "a prompt and a rewording" if "reworded" in case.labels else "pairs" if len(case.prompts) == 2 else "prompts"
    return f"{what} without formulas" if source == NONE else f"{what} with formulas"


def _unchecked(cases: Sequence[Case], file: str) -> Table | None:
    """file: of the questions that judges were asked from, where they were not the suite's own."""
    return rows_table(
        "prompts without a check",
        ("case_id", "prompt", "why"),
        (
            (case.case_id, " / ".join(prompt.text for prompt in case.prompts), why_unchecked(case, file))
            for case in cases[:_MOST_ROWS]
        ),
        note=f"{len(cases)} of them. Name a --judge, or give formulas in a column.",
    )
