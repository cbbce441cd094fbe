"""How an image gets relations wrong: the five classes of SemVarBench's appendix F.3.2.

From boxes and formulas where there are any, which tells four of the five for sure; else from a judge's scores,
which tells three. One class an image, the most specific that fits. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from salva.core.case import Prompt
from salva.core.scene import Scene
from salva.core.verdict import Failure
from salva.english.describe import describe_discrepancy
from salva.logic.notation import parse
from salva.logic.satisfaction import (
    COLOUR,
    EXTRA,
    FORBIDDEN,
    MISSING,
    X_MISPLACED,
    Y_MISPLACED,
    Discrepancy,
    discrepancies,
    needs_colour,
    satisfies,
)

MISSING_OBJECTS = "missing-objects"
NO_INTERACTION = "no-interaction"
WRONG_INTERACTION = "wrong-interaction"
WRONG_DIRECTION = "wrong-direction"
REVERSED_ROLE = "reversed-role"

RELATION_ERRORS: Mapping[str, str] = {
    REVERSED_ROLE: "Shows the swapped prompt.",
    MISSING_OBJECTS: "Missing or too few entities.",
    WRONG_DIRECTION: "Wrong side or place.",
    NO_INTERACTION: "Entities are not joined.",
    WRONG_INTERACTION: "Another relation or property.",
}

# The published scale of relevance: 30 still matches in part, 20 and less does not; of objects: at 30 most exist.
_MISSING_BELOW = 30.0
_UNRELATED_BELOW = 20.0
_WRONG_BELOW = 40.0
_ROUNDING = 1e-9
_TOUCHING = ("next_to", "near", "on")
_SIDED = ("left_of", "right_of", "above", "below")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnScore:
    """The two halves of a judge's score, 0 to 50 each."""

    objects: float
    relations: float


def can_tell(prompt: Prompt, swapped: Prompt) -> bool:
    """Whether boxes are enough: they say nothing of colours."""
    return not any(needs_colour(parse(sentence.formula or "")) for sentence in (prompt, swapped))


def failure_from_scene(prompt: Prompt, swapped: Prompt, scene: Scene) -> Failure | None:
    """What is wrong with an image of this scene, or None when it is right; only for prompts that can_tell allows."""
    formula, other = parse(prompt.formula or ""), parse(swapped.formula or "")
    found = discrepancies(formula, scene)
    if not found:
        return None
    if satisfies(other, scene):
        message = f"shows what {swapped.text!r} says"
        return Failure(
            failure_type=REVERSED_ROLE, role=prompt.role, message=message, expected=prompt.text, seen=swapped.text
        )
    kinds = [_error_of(discrepancy) for discrepancy in found]
    error = next(error for error in RELATION_ERRORS if error in kinds)
    first = found[kinds.index(error)]
    return Failure(
        failure_type=error,
        role=prompt.role,
        message=describe_discrepancy(first),
        entity=first.entity,
        expected=first.expected,
        seen=first.seen,
    )


def _error_of(discrepancy: Discrepancy) -> str:
    if discrepancy.kind == MISSING:
        return MISSING_OBJECTS
    if discrepancy.kind in (X_MISPLACED, Y_MISPLACED):
        return WRONG_DIRECTION
    if discrepancy.relation is not None:
        name = discrepancy.relation.relation
        if name in _SIDED:
            return WRONG_DIRECTION
        return NO_INTERACTION if name in _TOUCHING and not discrepancy.is_unwanted else WRONG_INTERACTION
    assert discrepancy.kind in (COLOUR, EXTRA, FORBIDDEN), discrepancy.kind
    return WRONG_INTERACTION


def failure_from_scores(
    prompt: Prompt, own: OwnScore, total: float, swapped_total: float | None, margin: float
) -> Failure | None:
    """What a judge's scores say is wrong with an image; None when it is right by them.

    swapped_total: the image's score against the prompt with its words swapped, where it was asked for. margin: how
    much better it must fit that prompt for its roles to count as reversed; less says nothing of roles, and its own
    score decides.
    """
    # Judges speak in steps, so a lead of exactly the margin is common, and rounding must not let some of them pass.
    is_reversed = swapped_total is not None and swapped_total - total > margin + _ROUNDING
    if is_reversed and own.objects >= _MISSING_BELOW:
        error, message = REVERSED_ROLE, f"fits the swapped prompt better ({swapped_total:.2f})"
    elif own.objects < _MISSING_BELOW:
        error, message = MISSING_OBJECTS, f"objects: {own.objects:g} of 50"
    elif own.relations < _UNRELATED_BELOW:
        error, message = NO_INTERACTION, f"relations: {own.relations:g} of 50"
    elif own.relations < _WRONG_BELOW:
        error, message = WRONG_INTERACTION, f"relations: {own.relations:g} of 50"
    else:
        return None
    return Failure(failure_type=error, role=prompt.role, message=message, seen=f"{total:.2f}")
