"""Correct images counted: verdicts by rule and observers, and shares of them with their intervals.

Judgements come in, numbers go out. Knows which check stands for which rule, and nothing of tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from salva.core.judgements import CaseVerdict, Judgements
from salva.core.result import DECIDED
from salva.core.table import Cell
from salva.core.verdict import Outcome
from salva.results.deciding import TRUTH
from salva.results.rates import entities_of
from salva.results.tables import ends, group_by
from salva.stats.intervals import Interval
from salva.stats.rates import Counted, macro, seeds_interval
from salva.suites.geneval.demands import TASKS
from salva.suites.geneval.rules import NO_COLOURS, OURS
from salva.suites.geneval.suite import CHECK, IN_TASKS, SET

OVERALL, IMAGES, PROMPTS = "overall", "all images", "any of a prompt"


class Standpoint(NamedTuple):
    """A rule and the observers that its verdicts come from."""

    rule: str
    seen_by: str


Groups = Mapping[Standpoint, Sequence[CaseVerdict]]
"""Verdicts by rule and observers, those that make the results first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectShare:
    """How many are right."""

    rate: float | None
    interval: Interval | None
    """95 %; without a rate what it can be at least and at most, where only wrong images could be decided."""
    n: int
    undecided: int = 0

    def cells(self) -> tuple[Cell, ...]:
        """Rate, low, high, n and undecided."""
        return (self.rate, *ends(self.interval), self.n, self.undecided)


def by_standpoint(judgements: Judgements) -> dict[Standpoint, Sequence[CaseVerdict]]:
    """Verdicts by rule and observers; those that make the results come first."""
    making = next((result.check for result in judgements.results if result.check), "")
    rules = {check: rule for check in judgements.checks if (rule := rule_of(judgements, check))}
    return {
        Standpoint(rules[check], seen_by): group
        for check in sorted(rules, key=lambda name: name != making)
        for seen_by, group in judgements.by_observer(check).items()
    }


def rule_of(judgements: Judgements, check: str) -> str:
    """The rule that a check judges by; empty for one that holds no image against its prompt."""
    if check == CHECK:
        return str(judgements.options_of(CHECK).get("rule", ""))
    if check == TRUTH:
        return OURS
    return "" if judgements.checks[check].compares else check


def in_tasks(group: Iterable[CaseVerdict]) -> list[CaseVerdict]:
    """Those that count towards the tasks."""
    return [judged for judged in group if judged.case.labels.get(SET) == IN_TASKS]


def is_right(one: CaseVerdict) -> bool | None:
    """Whether all its images are correct; None where that is undecided."""
    outcome = one.verdict.outcome
    return outcome is Outcome.PASS if outcome in DECIDED else None


def share_of(group: Sequence[CaseVerdict], *, by_task: bool = False, of_prompts: bool = False) -> CorrectShare:
    """The share of correct images.

    by_task: the mean of the tasks' shares. of_prompts: the share of prompts with a correct image.
    """

    def counted(undecided: bool | None = None) -> list[Counted]:
        cases = _counted(group, undecided)
        if of_prompts:
            cases = [replace(case, n_hits=int(case.n_hits > 0), n=1) for case in cases]
        return cases if by_task else [replace(case, category="") for case in cases]

    decided = counted()
    n = sum(case.n for case in decided)
    n_asked = len({judged.case.case_id for judged in group}) if of_prompts else len(group)
    rate, interval = macro(decided), seeds_interval(decided)
    if any(NO_COLOURS in judged.verdict.scores for judged in group):
        low, high = (macro(counted(undecided)) for undecided in (False, True))
        rate, interval = None, None if low is None or high is None else Interval(low=low, high=high)
    return CorrectShare(rate=rate, interval=interval, n=n, undecided=n_asked - n)


def _counted(group: Iterable[CaseVerdict], undecided: bool | None) -> list[Counted]:
    """One a case, its repeats together; undecided: what such images count as, None to leave them out."""
    known = [(one, undecided if (right := is_right(one)) is None else right) for one in group]
    by_case = group_by((pair for pair in known if pair[1] is not None), lambda pair: pair[0].case.case_id)
    return [
        Counted(
            category=repeats[0][0].case.category,
            entities=entities_of(repeats[0][0].case),
            n_hits=sum(bool(right) for _, right in repeats),
            n=len(repeats),
        )
        for repeats in by_case.values()
    ]


def task_shares(group: Sequence[CaseVerdict]) -> dict[str, CorrectShare]:
    """Every task's share of correct images, then the three that stand for all."""
    by_task = group_by(group, lambda judged: judged.case.category)
    ordered = [task for task in TASKS if task in by_task] + [task for task in by_task if task not in TASKS]
    return {
        **{task: share_of(by_task[task]) for task in ordered},
        OVERALL: share_of(group, by_task=True),
        IMAGES: share_of(group),
        PROMPTS: share_of(group, of_prompts=True),
    }
