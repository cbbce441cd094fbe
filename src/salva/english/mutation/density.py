"""Adaptability density: how well an entity and a predicate go together, in levels, and how often each level is drawn.

Low density is drawn more often (the paper wants tests where the software adapts badly), and every draw says by how
much, so that a rate can be weighted back to what a uniform draw would have given.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from salva.core.grouping import group_by
from salva.english.mutation.corpus import Corpus

LEVELS = ("low", "middle", "high")
_SHARES = {"low": 4, "middle": 2, "high": 1}
_RARE = 2
"""Times a pair is said in the corpus up to which it counts as rare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Density:
    """Levels of (entity, predicate): by what an earlier run matched where there is one, else by the corpus."""

    corpus: Corpus
    matched: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Thing and predicate to the share of an earlier run's cases that held."""
    _by_place: dict[tuple[str, str], dict[str, tuple[str, ...]]] = field(default_factory=dict)

    def level(self, name: str, predicate: str) -> str:
        """low, middle or high."""
        share = self.matched.get((name, predicate))
        if share is not None:
            return LEVELS[min(int(share * 3), 2)]
        if self.matched:
            return "middle"  # nothing was seen of it, for or against
        n = self.corpus.together[name, predicate]
        return "low" if n == 0 else "middle" if n <= _RARE else "high"

    def by_level(self, role: str, predicate: str, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Names of entities that can stand somewhere, by level; asked for again and again with the same names."""
        place = (role, predicate)
        if place not in self._by_place:
            levels = group_by(names, lambda name: self.level(name, predicate))
            self._by_place[place] = {level: tuple(levels[level]) for level in LEVELS if level in levels}
        return self._by_place[place]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A name that was drawn, and what it stands for."""

    name: str
    density: str
    weight: float
    """How much more often a uniform draw would have given it."""


def draw(by_level: Mapping[str, tuple[str, ...]], rng: random.Random) -> Drawn:
    """A name: first a level, the low ones more often, then one of its names."""
    levels = list(by_level)
    shares = [_SHARES[level] for level in levels]
    level = rng.choices(levels, shares)[0]
    n_all = sum(map(len, by_level.values()))
    chance = _SHARES[level] / sum(shares)
    names = by_level[level]
    return Drawn(name=names[rng.randrange(len(names))], density=level, weight=len(names) / (n_all * chance))
