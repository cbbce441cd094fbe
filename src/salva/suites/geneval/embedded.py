"""GenEval in pocket's world: the six tasks about entities, colours and places that its models know; and harder prompts.

Nothing comes in; prompts in the published words go out with what they ask for. The same ones first, so that a small
set is part of every larger one. Harder prompts grow: each holds the one before it and one atom more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, permutations, product
from random import Random

from salva.assets.pocket_priors import COLOURED, ENTITIES
from salva.core.fingerprint import Json, fingerprint
from salva.suites.geneval.demands import (
    COLOR,
    COLOR_ATTR,
    COUNT,
    POSITION,
    SINGLE,
    TASKS,
    TWO,
    formula_of,
    phrase_of,
    text_of,
)
from salva.suites.geneval.files import GenEvalPrompt
from salva.suites.geneval.published import COLOURS, POSITIONS, Clause, Demand

HARD = "hard"
FEWEST_ATOMS, MOST_ATOMS = 2, 6
_COUNTS = (2, 3, 4)
_MOST_COUNTED = 2


@cache
def embedded(n_each: int) -> tuple[GenEvalPrompt, ...]:
    """So many prompts of each task, or all where there are fewer, task by task."""
    return tuple(
        GenEvalPrompt(text=text_of(demand) or "", demand=demand, formula=formula_of(demand))
        for task in TASKS
        for demand in sorted(_demands(task), key=lambda one: fingerprint(_key(one)))[:n_each]
    )


def _demands(task: str) -> Iterator[Demand]:
    """All that a task can ask for; of two orders one, chosen as if by chance."""
    two, two_coloured = (combinations(sorted(names, key=fingerprint), 2) for names in (ENTITIES, COLOURED))
    clauses: dict[str, Iterator[tuple[Clause, ...]]] = {
        SINGLE: ((Clause(name=name, count=1),) for name in ENTITIES),
        TWO: ((Clause(name=a, count=1), Clause(name=b, count=1)) for a, b in two),
        COUNT: ((Clause(name=name, count=n),) for name in ENTITIES for n in _COUNTS),
        COLOR: ((Clause(name=name, count=1, colour=colour),) for name, colour in product(COLOURED, COLOURS)),
        POSITION: (
            (Clause(name=a, count=1), Clause(name=b, count=1, position=position))
            for (a, b), position in product(permutations(ENTITIES, 2), POSITIONS)
        ),
        COLOR_ATTR: (
            (Clause(name=a, count=1, colour=one), Clause(name=b, count=1, colour=other))
            for (a, b), (one, other) in product(two_coloured, permutations(COLOURS, 2))
        ),
    }
    for include in clauses[task]:
        more = (Clause(name=include[0].name, count=include[0].count + 1),) if task == COUNT else ()
        yield Demand(tag=task, include=include, exclude=more)


def _key(demand: Demand) -> Json:
    return [[clause.name, clause.count, clause.colour, clause.position] for clause in demand.include]


def hard(n_each: int) -> Iterator[tuple[int, int, GenEvalPrompt]]:
    """So many chains of growing prompts: the chain, the number of atoms, the prompt."""
    for chain in range(n_each):
        rng = Random(f"{HARD} {chain}")
        clauses = [_entity(rng, ())]
        for n_atoms in range(FEWEST_ATOMS, MOST_ATOMS + 1):
            # Every second atom is a place where one can be had: of one entity, to one entity named before it.
            last = len(clauses) - 1
            single = [i for i in range(last) if clauses[i].count == 1]
            is_placed = n_atoms > FEWEST_ATOMS and n_atoms % 2 == 0
            if is_placed and single and clauses[last].count == 1:
                target, position = rng.choice(single), rng.choice(POSITIONS)
                clauses[last] = replace(clauses[last], position=position, target=target)
            else:
                clauses.append(_entity(rng, clauses))
            demand = Demand(tag=HARD, include=tuple(clauses))
            yield (
                chain,
                n_atoms,
                GenEvalPrompt(text=_text(clauses), demand=demand, formula=formula_of(demand, in_full=True)),
            )


def _entity(rng: Random, before: Sequence[Clause]) -> Clause:
    """One more entity; few come in numbers, since an image has room for about ten."""
    is_full = sum(clause.count > 1 for clause in before) >= _MOST_COUNTED
    kind = rng.choice(("plain", "coloured") if is_full else ("plain", "coloured", "counted"))
    taken = {clause.name for clause in before}
    name = rng.choice([entity for entity in (COLOURED if kind == "coloured" else ENTITIES) if entity not in taken])
    if kind == "coloured":
        return Clause(name=name, count=1, colour=rng.choice(COLOURS))
    return Clause(name=name, count=rng.choice(_COUNTS[:2]) if kind == "counted" else 1)


def _text(clauses: Sequence[Clause]) -> str:
    """The entities in a list, then where each stands."""
    phrases = [phrase_of(clause) for clause in clauses]
    listed = f"{', '.join(phrases[:-1])} and {phrases[-1]}" if len(phrases) > 1 else phrases[0]
    placed = [f"the {c.name} is {c.position} the {clauses[c.target].name}" for c in clauses if c.position]
    return ", ".join([f"a photo of {listed}", *placed])
