"""Why nobody has anything to say about a case: a plan tells it before anything is painted, a report after."""

from __future__ import annotations

from salva.core.case import Case
from salva.core.judged import Judgements


def nobodys(case: Case, file: str = "") -> str:
    """Why nobody has anything to say about a case, as far as the suite found something out; file: of questions."""
    told = next((finding.shared for finding in case.findings), "")
    return not_asked_about(case, file) or told or f"made for {case.check}, which nobody here goes by"


def not_asked_about(case: Case, file: str) -> str:
    """Why a judge is not asked what the suite would have it asked: a file of questions stands in its place."""
    return f"{file!r} has no question about it" if file and any(prompt.questions for prompt in case.prompts) else ""


def without_a_way(judgements: Judgements) -> list[Case]:
    """The cases to which no way is open; others without a verdict have none because nobody has come to them yet."""
    judged = {pair.case.case_id for pair in judgements.pairs}
    unjudged = [case for case in judgements.cases if case.ways and case.case_id not in judged]
    return unjudged if judgements.is_whole else [case for case in unjudged if not open_way(case, judgements)]


def open_way(case: Case, judgements: Judgements) -> tuple[str, ...]:
    """The checks by which a case that has no verdict is going to be judged; empty where nobody may tell."""
    ways = (tuple(name for name in way if name in judgements.checks) for way in case.ways)
    return next((way for way in ways if way), ())
