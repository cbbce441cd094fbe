"""Verdicts on GenEval's own prompts, made by hand for tests of its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import judged as judged_records

from salva.core.case import Case
from salva.core.judgements import Judgements, RunCheck
from salva.core.result import Rule
from salva.core.verdict import PAIR, Outcome, Verdict
from salva.suites.geneval.suite import GenEval, GenEvalOptions

CHECKS = {"geneval": RunCheck(options={"rule": "published"}), "truth": RunCheck()}
Right = Callable[[Case, int], bool | None]


def cases_of(size: str = "quick", **options: object) -> list[Case]:
    return list(GenEval(GenEvalOptions(**options)).cases(size))  # type: ignore[arg-type]  # as a test spells them


def verdicts(
    cases: Iterable[Case], right: Right, check: str = "geneval", observers: str = "eye", repeats: int = 1
) -> list[Verdict]:
    """right: whether the pictures of a case and repeat are; None for undecided."""
    made = []
    for case in cases:
        for repeat in range(repeats):
            is_right = right(case, repeat)
            scores = {f"right_{prompt.role}": float(bool(is_right)) for prompt in case.prompts}
            outcome = {True: Outcome.PASS, False: Outcome.FAIL, None: Outcome.UNDECIDED}[is_right]
            made.append(
                Verdict(
                    case_id=case.case_id,
                    repeat=repeat,
                    arm=PAIR,
                    model="m",
                    check=check,
                    observers=(observers,),
                    outcome=outcome,
                    scores=scores,
                )
            )
    return made


def judged(
    cases: list[Case], made: list[Verdict], chosen: str = "geneval", deciding: tuple[str, ...] = ("eye",)
) -> Judgements:
    """chosen: the check that makes the results; deciding: the observers that come first."""
    rule = Rule(check=chosen, is_published=chosen == "geneval")
    return judged_records.judged(cases, made, CHECKS, rule=rule, deciding=deciding)
