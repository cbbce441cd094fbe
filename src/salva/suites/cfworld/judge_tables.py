"""CF-World's judges: whether their scores differ between images, and what they cost.

Scores of verdicts come in, tables go out. PRR and RRR cannot show a constant judge: one that always says 1 gives both
the value 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from salva.checks.asking import CALLS, COUNTED, FLIPPED, REPEATED
from salva.core.judgements import CaseVerdict, Effort
from salva.core.scoring import role_score
from salva.core.table import Cell, Table
from salva.messages import message
from salva.results.tables import group_by, rows_table
from salva.suites.cfworld.figures import ByJudge

_FEWEST = 5
"""Fewer images say nothing about a judge."""
_DIGITS = 6
_SPENT = (CALLS, *COUNTED.values())


def says_nothing(judged: Sequence[CaseVerdict]) -> str:
    """The warning about a judge whose scores are constant, or change when it is asked again; else empty."""
    n, n_flipped = (int(sum(v.scores.get(name, 0.0) for _, v in judged)) for name in (REPEATED, FLIPPED))
    if n >= _FEWEST and 2 * n_flipped > n:
        return message("judge-unsteady", n=n, flipped=n_flipped)
    by_role = {role: scores for role, scores in _scores(judged).items() if len(scores) >= _FEWEST}
    if not by_role or any(len(set(scores)) > 1 for scores in by_role.values()):
        return ""
    given = ", ".join(f"{role} {scores[0]:.2f}" for role, scores in by_role.items())
    return message("judge-constant", scores=given)


def _scores(judged: Sequence[CaseVerdict]) -> dict[str, list[float]]:
    scores: dict[str, list[float]] = {}
    for case, verdict in judged:
        for prompt in case.prompts:
            value = verdict.scores.get(role_score(prompt.role))
            if value is not None and f"missing_{prompt.role}" not in verdict.scores:
                scores.setdefault(prompt.role, []).append(round(value, _DIGITS))
    return scores


def compute_table(by_judge: ByJudge, effort: Effort | None) -> Table | None:
    """What generating and judging took, in the shape of the paper's Table 5."""
    if not by_judge:
        return None
    model = next(iter(by_judge.values()))[0].verdict.model
    images = {image for judged in by_judge.values() for _, v in judged for image in v.images.values()}
    judging = (
        ("judging", judge, "", None, *(sum(v.scores.get(name, 0.0) for _, v in judged) for name in _SPENT), None)
        for judge, judged in by_judge.items()
    )
    whole: list[tuple[Cell, ...]] = []
    if effort is not None:
        hours = effort.seconds / 3600
        whole.append(
            ("the whole run", "all models and judges", effort.where, effort.n_images, None, None, None, None, hours)
        )
    return rows_table(
        "compute (as Table 5)",
        (
            *("module", "component", "machine", "images"),
            *("calls", "input_tokens", "output_tokens", "cost_usd", "hours"),
        ),
        [("generating", model, "", len(images), None, None, None, None, None), *judging, *whole],
    )


def by_label(judged: Sequence[CaseVerdict], label: str) -> dict[str, list[CaseVerdict]]:
    """The verdicts by a label of their cases, sorted."""
    return dict(sorted(group_by(judged, lambda scored: scored.case.labels.get(label, "")).items()))
