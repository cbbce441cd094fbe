"""The control arm: wordings and seeds crossed, to see how much two images differ by luck alone.

Takes the waves of every repeat of a case under one check, gives one conclusion a repeat. Two images differ when
the check says so of them; under a check that holds each image against its own prompt, when one is right and
the other is not. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from salva.core.about import about_of
from salva.core.protocols import Conclusion, ImageObservations
from salva.core.verdict import Outcome
from salva.judging.waves import Concluded, Missing, Waves, concluded

BETWEEN = "differs_between"
WITHIN_A = "differs_within_a"
WITHIN_B = "differs_within_b"
"""Scores of a control verdict: the share of images that differ."""


def within_name(score: str, role: str) -> str:
    """The score of a control verdict that is the mean of another over images of one wording under other seeds."""
    return f"{score}.within_{role}"


_Seen = Mapping[tuple[int, str], ImageObservations | Missing]
"""Repeat and prompt role to what was seen of that image."""
_Compared = Callable[[str, int, str], Conclusion | Missing]
"""The image of a role in the repeat at hand beside that of another repeat and role."""

N_OTHERS = 8
"""With many repeats each one is crossed with this many others, the next ones in a circle: the cost
grows with repeats and not with their square, and every repeat still meets as many as any other."""


def can_cross(waves: Waves) -> bool:
    """Whether a check can say of any two images of a case if they differ."""
    return about_of(type(waves.check)).has_control and len(waves.case.prompts) == 2


def crossed(repeats: Sequence[Waves], i: int) -> Concluded:
    """How often images of other seeds than the i-th differ from it, between the wordings and within each.

    The outcome is that of its next neighbour under the first wording, the pair that a person is shown.
    """
    waves, n = repeats[i], len(repeats)
    a, b = (prompt.role for prompt in waves.case.prompts)
    others = [(i + step) % n for step in range(1, min(n - 1, N_OTHERS) + 1)]
    seen = {(k, role): repeats[k].sight(role) for k in (i, *others) for role in (a, b)}
    compares = about_of(type(waves.check)).compares
    compared = (_side_by_side if compares else _by_what_is_right)(waves, i, seen)
    shown = {a: seen[i, a], b: seen[others[0], a]}
    images = {role: sight.image.image_id for role, sight in shown.items() if isinstance(sight, ImageObservations)}
    neighbour = compared(a, others[0], a)
    if isinstance(neighbour, Missing):
        return concluded(neighbour, images)
    scores: dict[str, float] = {}
    n_compared = 0
    pairs = {BETWEEN: (a, b), WITHIN_A: (a, a), WITHIN_B: (b, b)}
    if waves.case.within(a) is not waves.case:
        # Captions with two meanings are held to another rule than one against itself: no distance of both.
        del pairs[BETWEEN]
    for name, (own, other) in pairs.items():
        conclusions = [c for k in others if isinstance(c := compared(own, k, other), Conclusion)]
        outcomes = [conclusion.outcome for conclusion in conclusions]
        for kept in about_of(type(waves.check)).crossed if own == other else ():
            if values := [conclusion.scores[kept] for conclusion in conclusions if kept in conclusion.scores]:
                scores[within_name(kept, own)] = sum(values) / len(values)
        decided = [outcome for outcome in outcomes if outcome in (Outcome.PASS, Outcome.FAIL)]
        n_compared += len(decided)
        if decided:
            scores[name] = decided.count(Outcome.FAIL) / len(decided)
    if scores.keys() == {BETWEEN, WITHIN_A, WITHIN_B}:
        scores["excess"] = scores[BETWEEN] - (scores[WITHIN_A] + scores[WITHIN_B]) / 2
    scores["n_compared"] = float(n_compared)
    return concluded(replace(neighbour, scores=scores), images)


def _side_by_side(waves: Waves, i: int, seen: _Seen) -> _Compared:
    """Two images in the check's two places."""
    a, b = (prompt.role for prompt in waves.case.prompts)

    def compared(own: str, k: int, other: str) -> Conclusion | Missing:
        first, second = seen[i, own], seen[k, other]
        if isinstance(first, Missing):
            return first
        if isinstance(second, Missing):
            return second
        return waves.judged({a: first, b: second}, waves.case.within(own) if own == other else None)

    return compared


def _by_what_is_right(waves: Waves, i: int, seen: _Seen) -> _Compared:
    """Each image in its own place, where it is right or wrong."""
    a, b = (prompt.role for prompt in waves.case.prompts)
    pairs = {k: _side_by_side(waves, k, seen)(a, k, b) for k in dict.fromkeys(k for k, _ in seen)}

    def compared(own: str, k: int, other: str) -> Conclusion | Missing:
        rights = []
        for pair, role in ((pairs[i], own), (pairs[k], other)):
            if isinstance(pair, Missing):
                return pair
            if f"right_{role}" not in pair.scores:
                return Conclusion(outcome=Outcome.UNDECIDED, reason=pair.reason)
            rights.append(pair.scores[f"right_{role}"])
        return Conclusion(outcome=Outcome.PASS if rights[0] == rights[1] else Outcome.FAIL)

    return compared
