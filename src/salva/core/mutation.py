"""What a caption says, taken apart, and what an operator changed in it.

A pool holds a caption's things and how they stand to each other. A mutation is two pools: what must change, and what
must stay, is their difference, so it is never written down twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple


class Triple(NamedTuple):
    """Two things of a pool and how the first stands to the second: dog, on, bed."""

    subject: str
    predicate: str
    object: str

    def __str__(self) -> str:
        return f"{self.subject} {self.predicate} {self.object}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The things a caption names, by class, and the triples over them; both without repeats, in reading order."""

    entities: tuple[str, ...]
    triples: tuple[Triple, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.entities)) != len(self.entities) or len(set(self.triples)) != len(self.triples):
            raise ValueError(f"a pool names each thing and each triple once, got {self}")
        strange = {name for t in self.triples for name in (t.subject, t.object)} - {*self.entities}
        if strange:
            raise ValueError(f"triples over things that the pool does not name: {', '.join(sorted(strange))}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """What an operator made of a caption's pool."""

    operator: str
    """ec, er-r, er-a, ss, ec+er-r or ec+er-a."""
    seed: Pool
    """Of the caption as it was."""
    mutant: Pool
    """Of the caption as it is now."""

    @property
    def removed_entities(self) -> tuple[str, ...]:
        """Named before and no longer."""
        return tuple(name for name in self.seed.entities if name not in self.mutant.entities)

    @property
    def added_entities(self) -> tuple[str, ...]:
        """Named now and not before."""
        return tuple(name for name in self.mutant.entities if name not in self.seed.entities)

    @property
    def kept_entities(self) -> tuple[str, ...]:
        """Named before and now."""
        return tuple(name for name in self.seed.entities if name in self.mutant.entities)

    @property
    def removed_triples(self) -> tuple[Triple, ...]:
        """Said before and no longer."""
        return tuple(triple for triple in self.seed.triples if triple not in self.mutant.triples)

    @property
    def added_triples(self) -> tuple[Triple, ...]:
        """Said now and not before."""
        return tuple(triple for triple in self.mutant.triples if triple not in self.seed.triples)

    @property
    def kept_triples(self) -> tuple[Triple, ...]:
        """Said before and now."""
        return tuple(triple for triple in self.seed.triples if triple in self.mutant.triples)

    def against_itself(self, *, is_seed: bool) -> Mutation:
        """The seed's caption, or the mutant's, with nothing changed: two images of it differ by luck alone."""
        pool = self.seed if is_seed else self.mutant
        return replace(self, operator="ss", seed=pool, mutant=pool)
