"""A parsed caption as a formula."""

from __future__ import annotations

import re

from salva.core.mutation import Pool
from salva.english.mutation.operators import Seed
from salva.english.tokens import RELATIONS
from salva.english.wordlists import words
from salva.logic.formula import entity_problem

CHECK_OF = {
    "ec": "entity-change",
    "er-r": "triple-removal",
    "er-a": "triple-addition",
    "ss": "unchanged",
    "ec+er-r": "triple-removal",
    "ec+er-a": "triple-addition",
}
"""Operator to the relation its images are held against; how two operators compose is the relation's matter."""
_DENYING = words("mutation", "denying")


def formula_of(seed: Seed) -> str | None:
    """What a caption says, as a formula; None where a pool is not all of it.

    That is so where a triple is nothing that boxes can decide, where there are several of an entity, since a pool has
    no numbers, and where something is denied.
    """
    mentions = seed.reading.mentions
    if len(mentions) != len(seed.pool.entities) or any(mention.is_plural for mention in mentions):
        return None
    return None if _denies(seed.reading.text) else pool_formula(seed.pool)


def entities_of(text: str, pool: Pool) -> tuple[str, ...]:
    """What an image of a caption must show; nothing is known where the caption denies something."""
    return () if _denies(text) else pool.entities


def _denies(text: str) -> bool:
    return bool(_DENYING & set(re.findall(r"[\w']+", text.lower())))


def pool_formula(pool: Pool) -> str | None:
    """A pool as a formula; None where boxes cannot decide all of it."""
    relations = [RELATIONS.get(triple.predicate) for triple in pool.triples]
    if not pool.entities or None in relations or any(map(entity_problem, pool.entities)):
        return None
    related = {name for triple in pool.triples for name in (triple.subject, triple.object)}
    parts = [
        f"{relation}({triple.subject}, {triple.object})"
        for relation, triple in zip(relations, pool.triples, strict=True)
    ]
    return " & ".join((*parts, *(name for name in pool.entities if name not in related)))
