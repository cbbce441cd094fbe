"""Cases that no check can judge, and why: a plan says it before anything is generated, a report after."""

from __future__ import annotations

from salva.core.case import Case
from salva.core.judgements import Judgements


def why_unchecked(case: Case, file: str = "") -> str:
    """Why no check can judge a case, as far as the suite found out; file: of questions."""
    finding = next((finding.shared for finding in case.findings), "")
    return no_question(case, file) or finding or f"made for {case.check}, which this run does not use"


def no_question(case: Case, file: str) -> str:
    """Why a judge is not asked about a case: a file of questions replaces the suite's own, and has none about it."""
    return f"{file!r} has no question about it" if file and any(prompt.questions for prompt in case.prompts) else ""


def cases_without_check(judgements: Judgements) -> list[Case]:
    """The cases that no check can judge; in an unfinished run, others have no verdict because they come later."""
    judged = {pair.case.case_id for pair in judgements.pairs}
    unjudged = [case for case in judgements.cases if case.check_groups and case.case_id not in judged]
    return unjudged if judgements.is_whole else [case for case in unjudged if not checks_to_come(case, judgements)]


def checks_to_come(case: Case, judgements: Judgements) -> tuple[str, ...]:
    """The checks that will judge a case without a verdict; empty where none can."""
    groups = (tuple(name for name in group if name in judgements.checks) for group in case.check_groups)
    return next((group for group in groups if group), ())
