"""Captions about a dog, a bed, a cat and a ball, their mutants, and pictures of them with one fault each."""

from __future__ import annotations

from collections.abc import Iterable

from salva.core.mutation import Mutation, Pool, Triple
from salva.suites.actesting.definitions import OPERATORS, ObservedImage


def triple(text: str) -> Triple:
    """Of three words; dots stand for spaces within a predicate."""
    subject, predicate, thing = text.split()
    return Triple(subject=subject, predicate=predicate.replace(".", " "), object=thing)


def pool(entities: str, *triples: str) -> Pool:
    """Things in one string, triples in one each."""
    return Pool(entities=tuple(entities.split()), triples=tuple(map(triple, triples)))


SEED = pool("dog bed cat ball", "dog on bed", "cat near bed", "ball under bed")
_MUTANTS = {
    "ec": pool("horse bed cat ball", "horse on bed", "cat near bed", "ball under bed"),
    "er-r": pool("dog bed cat", "dog on bed", "cat near bed"),
    "er-a": pool("dog bed cat ball tree", "dog on bed", "cat near bed", "ball under bed", "tree behind bed"),
    "ss": SEED,
    "ec+er-r": pool("horse bed cat", "horse on bed", "cat near bed"),
    "ec+er-a": pool("horse bed cat ball tree", "horse on bed", "cat near bed", "ball under bed", "tree behind bed"),
}
MUTATIONS = {operator: Mutation(operator=operator, seed=SEED, mutant=_MUTANTS[operator]) for operator in OPERATORS}
FAULTS = (
    *("none", "kept entity dropped", "new one missing", "old one stays", "extra one", "relation broken"),
    *("blank seed", "blank mutant", "both blank"),
)


def picture(mutation: Mutation, entities: Iterable[str], said: Iterable[Triple]) -> ObservedImage:
    """A picture of these things, in which those of the triples hold whose things are there."""
    there = frozenset(entities)
    shown = tuple(t for t in said if {t.subject, t.object} <= there)
    focal = dict.fromkeys((*mutation.seed.triples, *mutation.mutant.triples))
    return ObservedImage(
        entities=there,
        triples={t: t in shown for t in focal},
        relations=shown,
        strongest=there,
        strongest_relations=shown,
    )


def pictures(operator: str, fault: str) -> tuple[ObservedImage, ObservedImage] | None:
    """The seed's picture and the mutant's with one fault; None where the operator cannot have it."""
    mutation = MUTATIONS[operator]
    before, now = {*mutation.seed.entities}, {*mutation.mutant.entities}
    said = [*mutation.mutant.triples]
    match fault:
        case "kept entity dropped":
            now -= {"bed"}
        case "new one missing":
            now -= {*mutation.added_entities}
        case "old one stays":
            now |= {*mutation.removed_entities}
        case "extra one":
            now |= {"lamp"}
        case "relation broken":
            said.remove(triple("cat near bed"))
        case "blank seed":
            before = set()
        case "blank mutant":
            now = set()
        case "both blank":
            before, now = set(), set()
    if (fault == "new one missing" and not mutation.added_entities) or (
        fault == "old one stays" and not mutation.removed_entities
    ):
        return None
    return picture(mutation, before, mutation.seed.triples), picture(mutation, now, said)
