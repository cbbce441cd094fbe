"""The control arm: wordings and seeds crossed, to see how much two pictures differ by luck alone.

Takes the waves of every repeat of a case under one relation, gives one conclusion a repeat. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from salva.core.about import about_of
from salva.core.protocols import Conclusion, Sight
from salva.core.verdict import Outcome
from salva.judging.waves import Concluded, Missing, Waves, concluded

BETWEEN = "differs_between"
WITHIN_A = "differs_within_a"
WITHIN_B = "differs_within_b"
"""Scores of a control verdict: the share of pictures that differ."""

N_OTHERS = 8
"""With many repeats each one is crossed with this many others, the next ones in a circle: the cost
grows with repeats and not with their square, and every repeat still meets as many as any other."""


def can_cross(waves: Waves) -> bool:
    """Whether any two images can be put in a relation's two places."""
    return about_of(type(waves.relation)).has_control and len(waves.case.prompts) == 2


def crossed(repeats: Sequence[Waves], i: int) -> Concluded:
    """How often pictures of other seeds than the i-th differ from it, between the wordings and within each.

    The outcome is that of its next neighbour under the first wording, the pair that a person is shown.
    """
    waves, n = repeats[i], len(repeats)
    a, b = (prompt.role for prompt in waves.case.prompts)
    others = [(i + step) % n for step in range(1, min(n - 1, N_OTHERS) + 1)]
    seen = {(k, role): repeats[k].sight(role) for k in (i, *others) for role in (a, b)}

    def compared(own: str, k: int, other: str) -> Conclusion | Missing:
        first, second = seen[i, own], seen[k, other]
        if isinstance(first, Missing):
            return first
        return second if isinstance(second, Missing) else waves.judged({a: first, b: second})

    shown = {a: seen[i, a], b: seen[others[0], a]}
    images = {role: sight.image.image_id for role, sight in shown.items() if isinstance(sight, Sight)}
    neighbour = compared(a, others[0], a)
    if isinstance(neighbour, Missing):
        return concluded(neighbour, images)
    scores: dict[str, float] = {}
    n_compared = 0
    for name, (own, other) in {BETWEEN: (a, b), WITHIN_A: (a, a), WITHIN_B: (b, b)}.items():
        outcomes = [c.outcome for k in others if isinstance(c := compared(own, k, other), Conclusion)]
        decided = [outcome for outcome in outcomes if outcome in (Outcome.HOLDS, Outcome.VIOLATED)]
        n_compared += len(decided)
        if decided:
            scores[name] = decided.count(Outcome.VIOLATED) / len(decided)
    if scores.keys() == {BETWEEN, WITHIN_A, WITHIN_B}:
        scores["excess"] = scores[BETWEEN] - (scores[WITHIN_A] + scores[WITHIN_B]) / 2
    scores["n_compared"] = float(n_compared)
    return concluded(replace(neighbour, scores=scores), images)
