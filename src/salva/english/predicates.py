"""English predicates that two boxes decide: on, under, above, left of, next to, in, near and their kin.

The geometry is that of formulas; of any other predicate (riding, wearing) boxes say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from salva.core.scene import Thing
from salva.english.tokens import RELATIONS
from salva.logic.formula import Related
from salva.logic.order import canonical
from salva.logic.placing import is_related

_BEYOND_FORMULAS = {"in": "in", "inside": "in", "within": "in"}
_SYNONYMS = {"over": "above", "by": "next to", "alongside": "next to"}


def relation_of(predicate: str) -> str | None:
    """The formulas' relation that a predicate is; None where formulas have none such."""
    return RELATIONS.get(_SYNONYMS.get(predicate, predicate))


def is_geometric(predicate: str) -> bool:
    """Whether two boxes decide it."""
    return relation_of(predicate) is not None or predicate in _BEYOND_FORMULAS


def stands(predicate: str, first: Sequence[Thing], second: Sequence[Thing]) -> bool:
    """Whether one of some entities stands to one of others as a geometric predicate says."""
    relation, is_swapped = _one_way(predicate)
    return any(is_related(relation, *((b, a) if is_swapped else (a, b))) for a in first for b in second if a is not b)


@cache
def _one_way(predicate: str) -> tuple[str, bool]:
    """The relation that the geometry knows, and whether its two entities are the predicate's the other way round."""
    relation = relation_of(predicate)
    if relation is None:
        return _BEYOND_FORMULAS[predicate], False
    one_way = canonical(Related(relation, "first", "second"))
    return one_way.relation, one_way.first == "second"
