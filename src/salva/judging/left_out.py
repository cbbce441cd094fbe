"""Why nobody has anything to say about a case: a plan tells it before anything is painted, a report after."""

from __future__ import annotations

from salva.core.case import Case


def nobodys(case: Case, file: str = "") -> str:
    """Why nobody has anything to say about a case, as far as the suite found something out; file: of questions."""
    told = next((finding.shared for finding in case.findings), "")
    return not_asked_about(case, file) or told or f"made for {case.relation}, which nobody here goes by"


def not_asked_about(case: Case, file: str) -> str:
    """Why a judge is not asked what the suite would have it asked: a file of questions stands in its place."""
    return f"{file!r} has no question about it" if file and any(prompt.questions for prompt in case.prompts) else ""
