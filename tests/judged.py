"""Judgements for tests: cases and verdicts as a stored run would hand them to metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from salva.core.case import Case
from salva.core.judgements import Judgements, RunCheck
from salva.core.result import Rule
from salva.core.verdict import CONTROL, Verdict
from salva.results.deciding import join, results_of


def primaries_of(cases: Iterable[Case], verdicts: Iterable[Verdict]) -> dict[str, str]:
    """Each case to the best of its checks that judged it."""
    judged = {(verdict.case_id, verdict.check) for verdict in verdicts}
    return {
        case.case_id: next((check for check in case.checks if (case.case_id, check) in judged), case.check)
        for case in cases
    }


def judged(
    cases: Sequence[Case],
    verdicts: Sequence[Verdict],
    checks: Mapping[str, RunCheck] | None = None,
    *,
    rule: Rule | None = None,
    average: str = "macro",
    deciding: Sequence[str] = (),
    vetoes: Sequence[str] = (),
    repeats: int = 0,
    is_whole: bool = True,
    **others: Any,
) -> Judgements:
    """The judgements on the one model of some verdicts; repeats: 0 for as many as there are."""
    known = checks if checks is not None else {verdict.check: RunCheck() for verdict in verdicts}
    pairs = join(cases, verdicts, deciding)
    rule = rule or Rule()
    results = results_of(
        cases,
        pairs,
        model=verdicts[0].model if verdicts else "m",
        repeats=repeats or 1 + max((verdict.repeat for verdict in verdicts), default=0),
        rule=rule,
        primaries=primaries_of(cases, verdicts),
        checks=known,
        vetoes=vetoes,
        is_whole=is_whole,
    )
    return Judgements(
        cases=tuple(cases),
        results=tuple(results),
        verdicts=tuple(verdicts),
        pairs=tuple(pairs),
        controls=tuple(join(cases, verdicts, deciding, CONTROL)),
        rule=rule,
        average=average,
        checks=known,
        is_whole=is_whole,
        **others,
    )
