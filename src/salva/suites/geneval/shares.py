"""Correct images counted: verdicts by rule and observers, and shares of them with their intervals.

Judgements come in, numbers go out. Knows which check stands for which rule, and nothing of tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from salva.core.judgements import CaseVerdict, Judgements, Rate
from salva.core.table import Cell
from salva.core.verdict import Outcome, observers_text
from salva.results.headline import main_observers
from salva.results.rates import entities_of
from salva.results.tables import ends, group_by
from salva.stats.intervals import Interval
from salva.stats.rates import Counted, macro, seeds_interval
from salva.suites.geneval.demands import TASKS
from salva.suites.geneval.rules import OURS
from salva.suites.geneval.suite import CHECK, IN_TASKS, SET

OVERALL, IMAGES, PROMPTS = "overall", "all images", "any of a prompt"


class Standpoint(NamedTuple):
    """A rule and the observers that its verdicts come from."""

    rule: str
    seen_by: str


Groups = Mapping[Standpoint, Sequence[CaseVerdict]]
"""Verdicts by rule and observers, the leading ones first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectShare:
    """How many are right."""

    rate: float | None
    interval: Interval | None
    n: int
    undecided: int = 0

    def cells(self) -> tuple[Cell, ...]:
        """Rate, low, high, n and undecided."""
        return (self.rate, *ends(self.interval), self.n, self.undecided)


def by_standpoint(judgements: Judgements) -> dict[Standpoint, list[CaseVerdict]]:
    """Verdicts by rule and observers; those that lead come first."""
    leading = judgements.headline[0].verdict.check if judgements.headline else ""
    main = main_observers(judgements.pairs)
    groups: dict[tuple[bool, bool, str, Standpoint], list[CaseVerdict]] = {}
    for judged in judgements.pairs:
        check, observers = judged.verdict.check, judged.verdict.observers
        rule = rule_of(judgements, check)
        if rule:
            standpoint = Standpoint(rule, observers_text(observers))
            key = (check != leading, observers != main[check], check, standpoint)
            groups.setdefault(key, []).append(judged)
    return {key[-1]: group for key, group in sorted(groups.items(), key=lambda item: item[0])}


def rule_of(judgements: Judgements, check: str) -> str:
    """The rule that a check judges by; empty for one that is no rule of GenEval's."""
    if check == CHECK:
        return str(judgements.options_of(CHECK).get("rule", ""))
    return OURS if judgements.rate_of(check) is Rate.WRONG else ""


def in_tasks(group: Iterable[CaseVerdict]) -> list[CaseVerdict]:
    """Those that count towards the tasks."""
    return [judged for judged in group if judged.case.labels.get(SET) == IN_TASKS]


def is_right(one: CaseVerdict) -> bool | None:
    """Whether all its images are correct; None where that is undecided."""
    outcome = one.verdict.outcome
    return outcome is Outcome.PASS if outcome in (Outcome.PASS, Outcome.FAIL) else None


def share_of(group: Sequence[CaseVerdict], *, by_task: bool = False) -> CorrectShare:
    """The share of correct images; by_task: the mean of the tasks' shares."""
    counted = _counted(group)
    cases = counted if by_task else [replace(case, category="") for case in counted]
    n = sum(case.n for case in counted)
    return CorrectShare(rate=macro(cases), interval=seeds_interval(cases), n=n, undecided=len(group) - n)


def share_of_prompts(group: Sequence[CaseVerdict]) -> CorrectShare:
    """The share of prompts with any correct image, over those with a decided one."""
    counted = [replace(case, category="", n_hits=int(case.n_hits > 0), n=1) for case in _counted(group)]
    n_asked = len({judged.case.case_id for judged in group})
    return CorrectShare(
        rate=macro(counted), interval=seeds_interval(counted), n=len(counted), undecided=n_asked - len(counted)
    )


def _counted(group: Iterable[CaseVerdict]) -> list[Counted]:
    """One a case, its repeats together."""
    decided = group_by((one for one in group if is_right(one) is not None), lambda one: one.case.case_id)
    return [
        Counted(
            category=repeats[0].case.category,
            entities=entities_of(repeats[0].case),
            n_hits=sum(bool(is_right(one)) for one in repeats),
            n=len(repeats),
        )
        for repeats in decided.values()
    ]


def task_shares(group: Sequence[CaseVerdict]) -> dict[str, CorrectShare]:
    """Every task's share of correct images, then the three that stand for all."""
    by_task = group_by(group, lambda judged: judged.case.category)
    ordered = [task for task in TASKS if task in by_task] + [task for task in by_task if task not in TASKS]
    return {
        **{task: share_of(by_task[task]) for task in ordered},
        OVERALL: share_of(group, by_task=True),
        IMAGES: share_of(group),
        PROMPTS: share_of_prompts(group),
    }
