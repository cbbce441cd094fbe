"""Metric: own prompts by the way each was tested: a row a way with its own n, and the prompts that none was open to.

Verdicts of different ways never enter one rate; here they stand below each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import ClassVar

from salva.core.case import Case
from salva.core.chart import Chart, ChartKind
from salva.core.judged import Judged, Judgements
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.table import Cell, Table
from salva.core.verdict import Outcome
from salva.english.prompt_files import PARAPHRASED_BY
from salva.results.headline import of_main_observers
from salva.results.left_out import not_asked_about, without_a_way
from salva.results.metrics.rate_charts import BY_CATEGORY
from salva.results.tally import RATE_COLUMNS, tally
from salva.suites.prompts.cases import NONE

_MOST_ROWS = 200
_SHARES = ("dsg_A", "dsg_B")
"""Scores of a verdict: of each picture the share of right answers."""


class PromptsTables:
    """Ways, and what no way was open to."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        self._options = options

    def measure(self, judgements: Judgements) -> Measured:
        """Tables for the report."""
        seen = of_main_observers(judgements.pairs)
        left = without_a_way(judgements)
        settled = {judged.case.case_id for judged in seen} | {case.case_id for case in left}
        waiting = [case for case in judgements.cases if case.case_id not in settled]
        ways = _ways(seen, left, waiting)
        files = (rule.options.get("questions") for rule in judgements.checks.values())
        file = next((str(path) for path in files if path), "")
        tables = [ways, *_undecided(seen, len(ways.rows)), *_by_reason(left, file), *_without(left, file)]
        is_sorted = any("category" in case.labels for case in judgements.cases)
        return Measured(
            tables=tuple(tables),
            numbers={"n_without_a_way": float(len(left))},
            charts=tuple(_chart(ways, is_sorted=is_sorted)),
        )


def _ways(seen: Sequence[Judged], left: Sequence[Case], waiting: Sequence[Case]) -> Table:
    groups: dict[tuple[str, str], list[Judged]] = {}
    for judged in seen:
        groups.setdefault((judged.verdict.check, _kind(judged.case)), []).append(judged)
    rows: list[tuple[Cell, ...]] = []
    for (check, kind), group in groups.items():
        scores = [judged.verdict.scores for judged in group]
        faith = [given[name] for given in scores for name in _SHARES if name in given]
        n_prompts = len({judged.case.painting for judged in group})
        rows.append((check, kind, n_prompts, *tally(group).cells(), fmean(faith) if faith else None))
    for name, unjudged in (("no way open", left), ("not judged yet", waiting)):
        if unjudged:
            n_prompts = len({case.painting for case in unjudged})
            rows.append((name, "", n_prompts, *(None for _ in RATE_COLUMNS), None))
    return Table(
        name="ways",
        title="Which prompts went which way",
        columns=("way", "what", "prompts", *RATE_COLUMNS, "right_answers"),
        rows=tuple(rows),
        note="Each way has its own rate and its own n; none of them is added to another. right_answers is the mean "
        "share of right answers, a question behind a wrong one counted as wrong.",
    )


def _chart(ways: Table, *, is_sorted: bool) -> Iterator[Chart]:
    """The ways beside each other, where there are several; without categories of the user's that is all there is."""
    rows: list[tuple[Cell, ...]] = []
    for way, what, n_prompts, n, _, *rates, undecided, _ in ways.rows:
        counts = [cell for cell in (n, undecided) if isinstance(cell, int)]
        n_asked = sum(counts) if counts else n_prompts
        rows.append((f"{way}: {what}" if what else way, *rates, f"{n or 0} of {n_asked}"))
    if len(rows) > 1:
        yield Chart(
            name="ways",
            title="Which prompts went which way, and how often each broke",
            kind=ChartKind.BARS,
            table=Table(name="ways drawn", columns=("way", "rate", "low", "high", "decided"), rows=tuple(rows)),
            x="way",
            y="rate",
            low="low",
            high="high",
            n="decided",
            y_label="failure rate, each way by itself; decided: of all cases",
            is_share=True,
            ends=(0.0, 1.0),
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


def _undecided(seen: Sequence[Judged], n_ways: int) -> Iterator[Table]:
    """Why verdicts of each way are undecided; of a single way the report says it elsewhere."""
    why = Counter(
        (judged.verdict.check, _kind(judged.case), judged.verdict.outcome.value, judged.verdict.reason)
        for judged in seen
        if judged.verdict.outcome in (Outcome.UNDECIDED, Outcome.ERROR)
    )
    if why and n_ways > 1:
        yield Table(
            name="undecided, by way",
            columns=("way", "what", "outcome", "reason", "n"),
            rows=tuple((*key, n) for key, n in why.most_common(_MOST_ROWS)),
        )


def _by_reason(left: Sequence[Case], file: str) -> Iterator[Table]:
    """file: of the questions that judges were asked from, where they were not the suite's own."""
    why: Counter[str] = Counter()
    for case in left:
        missing = not_asked_about(case, file)
        why.update([missing] if missing else [finding.shared for finding in case.findings])
    if left:
        yield Table(
            name="prompts without a way, by reason",
            columns=("reason", "n"),
            rows=tuple(why.most_common(_MOST_ROWS)) or (("nobody who looks here has anything to say", len(left)),),
            note="Name a --judge for prompts without a formula, or give formulas in a column of the file."
            + (" Questions about more prompts are written by salva write questions." if file else ""),
        )


def _without(left: Sequence[Case], file: str) -> Iterator[Table]:
    if left:
        yield Table(
            name="prompts without a way",
            columns=("case_id", "prompt", "why"),
            rows=tuple(
                (case.case_id, " / ".join(prompt.text for prompt in case.prompts), _why(case, file))
                for case in left[:_MOST_ROWS]
            ),
            note=f"{len(left)} of them." if len(left) > _MOST_ROWS else "",
        )


def _why(case: Case, file: str) -> str:
    told = not_asked_about(case, file) or "; ".join(finding.sentence for finding in case.findings)
    return told or "nobody who looks here has anything to say"
