"""What logic finds about a pair: equivalent or not, one right image or several, in sentences.

Two formulas in notation come in; facts and findings go out. Knows nothing of where the prompts came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from salva.core.case import SEVERAL_WORLDS, Finding
from salva.english.describe import describe_world
from salva.logic.entailment import excludes
from salva.logic.equivalence import are_equivalent, is_determinate, witness
from salva.logic.notation import parse
from salva.logic.worlds import count_worlds


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the logic core says about two formulas."""

    equivalent: bool
    determinate: bool
    n_worlds: tuple[int, int]


@lru_cache(maxsize=4096)
def facts_of(a: str, b: str) -> Facts:
    """The facts about two formulas in notation."""
    f, g = parse(a), parse(b)
    return Facts(
        equivalent=witness(f, g) is None,
        determinate=is_determinate(f) and is_determinate(g),
        n_worlds=(count_worlds(f), count_worlds(g)),
    )


@lru_cache(maxsize=4096)
def settled(*formulas: str | None) -> tuple[bool | None, bool | None]:
    """Whether formulas in notation all mean the same, and whether each has one world; None where one is missing.

    The first is None for a single formula.
    """
    read = [parse(formula) for formula in formulas if formula]
    if len(read) < len(formulas):
        return None, None
    same = all(are_equivalent(read[0], other) for other in read[1:]) if len(read) > 1 else None
    return same, all(map(is_determinate, read))


@lru_cache(maxsize=4096)
def findings_of(a: str, b: str) -> tuple[Finding, ...]:
    """The facts in sentences."""
    f, g = parse(a), parse(b)
    facts = facts_of(a, b)
    said = []
    counterexample = witness(f, g)
    if counterexample is not None:
        which = "a" if counterexample.holds_for == 1 else "b"
        shown = describe_world(counterexample.world) if counterexample.world.things else "an empty image"
        said.append(("not-equivalent", f"not equivalent: {shown} fits only prompt {which}"))
        if excludes(f, g):
            said.append(("exclusive", "the prompts exclude each other"))
        else:
            sentence = "some images are right for both prompts"
            said.append(("overlapping", sentence))
    if not facts.determinate:
        n_a, n_b = facts.n_worlds
        worlds = str(n_a) if n_a == n_b else f"{n_a} of prompt a, {n_b} of prompt b"
        said.append((SEVERAL_WORLDS, f"not determinate (worlds: {worlds}): two right images may differ"))
    return tuple(Finding(kind=kind, sentence=sentence, subject=("a", "b")) for kind, sentence in said)
