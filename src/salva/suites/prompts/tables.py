"""Metric: own prompts by the check that made their results, and the prompts that no check could judge."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import ClassVar

from salva.core.case import Case
from salva.core.judgements import Judgements
from salva.core.options import WithoutOptions
from salva.core.protocols import Measured
from salva.core.result import Result
from salva.core.table import Table
from salva.english.prompt_files import PARAPHRASED_BY
from salva.results.deciding import NO_CHECK, NOT_JUDGED
from salva.results.tables import RATES, TableColumns, build_table, group_by, present, rows_table
from salva.suites.prompts.cases import NONE

_MOST_ROWS = 200
_SHARES = ("dsg_A", "dsg_B")
"""Scores of a verdict: of each image the share of right answers."""
_PROMPT, _REWORDING = "prompt", "rewording"


class PromptsTables(WithoutOptions):
    """Prompts by check, and prompts that no check could judge."""

    version: ClassVar[str] = "1"

    def measure(self, judgements: Judgements) -> Measured:
        """Tables for the report."""
        by_check = _by_check(judgements.results)
        files = (check.options.get("questions") for check in judgements.checks.values())
        file = next((str(path) for path in files if path), "")
        return Measured(
            tables=present(by_check, _failed_wordings(judgements.results), _unchecked(judgements.results, file))
        )


def _by_check(results: Sequence[Result]) -> Table | None:
    groups = group_by(results, lambda result: (_method(result), _kind(result.case)))
    return build_table(
        "prompts by check",
        ("check", "what"),
        groups.items(),
        TableColumns(("prompts",), lambda group: (len({result.case.painting for result in group}),)),
        RATES,
        TableColumns(("right_answers",), lambda group: (_right_answers(group),)),
        title="Prompts by check",
        note="right_answers: their mean share.",
    )


def _method(result: Result) -> str:
    """The check that makes a result, or why there is none."""
    if not result.check:
        return NO_CHECK
    return result.check if result.evidence else NOT_JUDGED


def _right_answers(group: Sequence[Result]) -> float | None:
    scores = [result.verdict.scores for result in group if result.verdict is not None]
    shares = [given[name] for given in scores for name in _SHARES if name in given]
    return fmean(shares) if shares else None


def _kind(case: Case) -> str:
    """What a case is made of, in words."""
    if case.mutation is not None:
        return f"a prompt and a mutant by {case.mutation.operator}"
    source = case.labels.get("formula", NONE)
    if PARAPHRASED_BY in case.labels:
        return "paraphrases, proved by formulas" if case.equivalent else "paraphrases, unproved"
    what = "a prompt and a rewording" if "reworded" in case.labels else "pairs" if len(case.prompts) == 2 else "prompts"
    return f"{what} without formulas" if source == NONE else f"{what} with formulas"


def _failed_wordings(results: Sequence[Result]) -> Table | None:
    """Which of a prompt and its rewording failed, where they were asked for."""
    failed = [(result, which) for result in results if result.is_fail and (which := _failed_wording(result))]
    return rows_table(
        "failed wordings",
        ("case_id", "prompt", "rewording", "failed"),
        (
            (result.case.case_id, *(prompt.text for prompt in result.case.prompts), which)
            for result, which in failed[:_MOST_ROWS]
        ),
        note=f"{sum(which == _REWORDING for _, which in failed)} of {len(failed)} failed only in salva's rewording.",
    )


def _failed_wording(result: Result) -> str:
    """Empty where nothing was reworded, or no check says which image is right."""
    if "reworded" not in result.case.labels or result.verdict is None:
        return ""
    names = [
        name for name, role in ((_PROMPT, "a"), (_REWORDING, "b")) if not result.verdict.scores.get(f"right_{role}", 1)
    ]
    return " and ".join(names)


def _unchecked(results: Sequence[Result], file: str) -> Table | None:
    """The prompts that no check could judge, each once; file: of questions, which replaces the suite's own."""
    left = {result.case.case_id: result for result in results if not result.check}

    def why(result: Result) -> str:
        has_questions = any(prompt.questions for prompt in result.case.prompts)
        return f"{file!r} has no question about it" if file and has_questions else result.reason

    return rows_table(
        "prompts without a check",
        ("case_id", "prompt", "why"),
        (
            (name, " / ".join(prompt.text for prompt in result.case.prompts), why(result))
            for name, result in list(left.items())[:_MOST_ROWS]
        ),
        note=f"{len(left)} of them. Name a --judge, or give formulas in a column.",
    )
