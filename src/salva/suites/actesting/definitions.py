"""When a mutant's image fails: three definitions over the same two images.

`expected` is ours: the image changes by what the caption changed by, and by nothing else. `paper` is equations 7 to
14 of ACTesting to the letter, over sets of classes and of predicates. `released` is what the paper's program checks.
Sets come in, errors go out; nothing is known of boxes, judges or verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from salva.core.mutation import Mutation, Triple

EXPECTED, PAPER, RELEASED = DEFINITIONS = ("expected", "paper", "released")
EC, ER_R, ER_A, SS, EC_ER_R, EC_ER_A = OPERATORS = ("ec", "er-r", "er-a", "ss", "ec+er-r", "ec+er-a")

KEPT_DROPPED = "kept-entity-dropped"
NEW_MISSING = "new-entity-missing"
OLD_STAYS = "old-entity-stays"
EXTRA = "extra-entity"
SEED_LACKS = "seed-entity-missing"
RELATION_BROKEN = "kept-relation-broken"
NEW_RELATION_MISSING = "new-relation-missing"
OLD_RELATION_STAYS = "old-relation-stays"

_CUT = {EC: 10}
"""Of how many relations the released program looks at, where it is not 20."""
_USUAL_CUT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedImage:
    """What was seen of one image."""

    entities: frozenset[str]
    """Classes of the entities that count."""
    doubtful: frozenset[str] = frozenset()
    """Those among them in doubt."""
    triples: Mapping[Triple, bool | None]
    """Every triple of either caption, and whether the image shows it; None where are undecided."""
    relations: tuple[Triple, ...] | None
    """All that is related in it, the strongest first; None where that is not known of every triple."""
    strongest: frozenset[str]
    """Classes of its 20 strongest boxes, whatever their scores."""
    strongest_relations: tuple[Triple, ...] | None
    """What is related among these boxes."""


class Errors(NamedTuple):
    """Whether the entities and the relations of a pair are wrong; None where undecided."""

    entity: bool | None
    relation: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """One entity or relation that is not as the change of the caption says."""

    kind: str
    role: str
    """Whose image shows it: "seed" or "mutant"."""
    what: str
    """The class, or the predicate."""
    words: str
    """For people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What `expected` finds."""

    errors: Errors
    departures: tuple[Departure, ...] = ()
    asks_relations: bool = True
    """Whether the captions say anything of relations that could be wrong."""
    empty: str = ""
    """Why a pair without a fault is no success: an image that shows nothing of what its caption names."""


def expected(
    mutation: Mutation, seed: ObservedImage, mutant: ObservedImage, *, tolerance: int = 0, mentioned_only: bool = False
) -> Expectation:
    """entities(mutant) = entities(seed) - removed + added, and the captions' triples likewise.

    A removed triple whose two entities both stay is free: that a caption no longer says it does not forbid it.
    tolerance: how many entities, and how many relations, may be otherwise.
    """
    entities, n_unsure = _departed_entities(mutation, seed, mutant, mentioned_only=mentioned_only)
    relations, n_undecided, n_asked = _departed_triples(mutation, seed, mutant)
    errors = Errors(_exceeds(len(entities), n_unsure, tolerance), _exceeds(len(relations), n_undecided, tolerance))
    if not n_asked:
        errors = errors._replace(relation=None)
    empty = _empty(mutation, seed, mutant)
    if empty:
        # Nothing shown and nothing wrong is no success; what is wrong stays wrong.
        errors = Errors(errors.entity or None, errors.relation or None)
    return Expectation(
        errors=errors,
        departures=(*entities, *relations),
        asks_relations=n_asked > 0,
        empty=empty if not any(errors) else "",
    )


def paper(mutation: Mutation, seed: ObservedImage, mutant: ObservedImage, *, tolerance: int = 0) -> Errors:
    """Equations 7 to 14; of two operators, which the paper leaves open: some image between fits both of them."""
    seed_r, mutant_r = (_predicates(image.relations) for image in (seed, mutant))
    relation = None
    if seed_r is not None and mutant_r is not None:
        relation = len(_PAPER[mutation.operator](seed_r, mutant_r, frozenset(), frozenset())) > tolerance
    e1, e2 = swapped(mutation)
    entity = len(_PAPER[mutation.operator](seed.entities, mutant.entities, e1, e2)) > tolerance
    return Errors(entity, relation)


def released(mutation: Mutation, seed: ObservedImage, mutant: ObservedImage) -> Errors:
    """The checks of the paper's program; of two operators together, which it does not check, both."""
    cut = _CUT.get(mutation.operator, _USUAL_CUT)
    entity = any(rule(mutation, seed, mutant) for rule in _RELEASED_ENTITIES[mutation.operator])
    if seed.strongest_relations is None or mutant.strongest_relations is None:
        return Errors(entity, None)
    rule = _RELEASED_RELATIONS[mutation.operator.rpartition("+")[2]]
    return Errors(entity, rule(mutation, seed.strongest_relations[:cut], mutant.strongest_relations[:cut]))


def swapped(mutation: Mutation) -> tuple[frozenset[str], frozenset[str]]:
    """The entity that was changed for another, and the other; nothing where the operator changes none."""
    if EC not in mutation.operator.split("+"):
        return frozenset(), frozenset()
    pairs = [(old, new) for old in mutation.removed_entities for new in mutation.added_entities]
    now = set(mutation.mutant.triples)
    for old, new in pairs:
        changed = {_with(triple, old, new) for triple in mutation.seed.triples}
        # What else the operator did is only to take triples away, or only to add some.
        if changed <= now or now <= changed:
            return frozenset((old,)), frozenset((new,))
    return frozenset(mutation.removed_entities[:1]), frozenset(mutation.added_entities[:1])


# expected


def _departed_entities(
    mutation: Mutation, seed: ObservedImage, mutant: ObservedImage, *, mentioned_only: bool
) -> tuple[list[Departure], int]:
    added, removed, kept = (
        frozenset(names) for names in (mutation.added_entities, mutation.removed_entities, mutation.kept_entities)
    )
    names = added | removed | kept
    if not mentioned_only:
        names |= seed.entities | mutant.entities
    departures: list[Departure] = []
    n_unsure = 0
    for name in sorted(names):
        is_wanted = name in added or (name in seed.entities and name not in removed)
        rests_on_seed = name not in added and name not in removed
        if name in mutant.doubtful or (rests_on_seed and name in seed.doubtful):
            n_unsure += 1
        elif is_wanted != (name in mutant.entities):
            departures.append(_departed_entity(name, added, removed, kept, is_wanted=is_wanted))
    return departures, n_unsure


def _departed_entity(
    name: str, added: AbstractSet[str], removed: AbstractSet[str], kept: AbstractSet[str], *, is_wanted: bool
) -> Departure:
    if name in added:
        return Departure(kind=NEW_MISSING, role="mutant", what=name, words=f"{name} is missing, which the caption adds")
    if name in removed:
        return Departure(kind=OLD_STAYS, role="mutant", what=name, words=f"{name} is there, which the caption removes")
    if name not in kept:
        role, other = ("seed", "mutant") if is_wanted else ("mutant", "seed")
        words = f"{name} is there and in neither caption; the {other}'s image lacks it"
        return Departure(kind=EXTRA, role=role, what=name, words=words)
    kind, role = (KEPT_DROPPED, "mutant") if is_wanted else (SEED_LACKS, "seed")
    return Departure(kind=kind, role=role, what=name, words=f"{name} is missing, which both captions name")


def _departed_triples(
    mutation: Mutation, seed: ObservedImage, mutant: ObservedImage
) -> tuple[list[Departure], int, int]:
    """What is wrong, how many are undecided, and how many could have been wrong."""
    departures: list[Departure] = []
    n_undecided = n_asked = 0
    for triple, kind, holds in _held(mutation, seed, mutant):
        n_asked += 1
        n_undecided += holds is None
        if holds is False:
            role = "seed" if kind == RELATION_BROKEN and mutant.triples[triple] else "mutant"
            departures.append(Departure(kind=kind, role=role, what=triple.predicate, words=_WORDS[kind].format(triple)))
    return departures, n_undecided, n_asked


def _held(mutation: Mutation, seed: ObservedImage, mutant: ObservedImage) -> Iterator[tuple[Triple, str, bool | None]]:
    """Every triple that must come out one way, the fault if it does not, and whether it did."""
    for triple in mutation.kept_triples:
        before, now = seed.triples[triple], mutant.triples[triple]
        yield triple, RELATION_BROKEN, None if before is None or now is None else before == now
    for triple in mutation.added_triples:
        yield triple, NEW_RELATION_MISSING, mutant.triples[triple]
    for triple in mutation.removed_triples:
        if {triple.subject, triple.object} & {*mutation.removed_entities}:
            stays = mutant.triples[triple]
            yield triple, OLD_RELATION_STAYS, None if stays is None else not stays


_WORDS = {
    RELATION_BROKEN: "missing relation of both captions: {}",
    NEW_RELATION_MISSING: "missing added relation: {}",
    OLD_RELATION_STAYS: "removed relation still there: {}",
}


def _exceeds(n_wrong: int, n_unsure: int, tolerance: int) -> bool | None:
    if n_wrong > tolerance:
        return True
    return None if n_wrong + n_unsure > tolerance else False


def _empty(mutation: Mutation, seed: ObservedImage, mutant: ObservedImage) -> str:
    for pool, image, name in ((mutation.seed, seed, "seed"), (mutation.mutant, mutant, "mutant")):
        if not image.entities & {*pool.entities}:
            return f"the {name}'s image shows nothing of its caption"
    return ""


# paper

_Names = frozenset[str]

_PAPER: Mapping[str, Callable[[_Names, _Names, _Names, _Names], _Names]] = {
    EC: lambda s, a, e1, e2: ((s & a) ^ (s - e1)) | ((s - e1) ^ (a - e2)),
    ER_R: lambda s, a, *_: a - s,
    ER_A: lambda s, a, *_: s - a,
    SS: lambda s, a, *_: s ^ a,
    EC_ER_R: lambda s, a, e1, e2: ((a - e2) - (s - e1)) | (s & e2),
    EC_ER_A: lambda s, a, e1, e2: (s - e1) - (a - e2),
}
"""The names by which the sets of the seed and of the mutant are not as the operator's relation says, each once."""


def _predicates(relations: Iterable[Triple] | None) -> _Names | None:
    return None if relations is None else frozenset(triple.predicate for triple in relations)


# released


def _lacks_new(mutation: Mutation, _: ObservedImage, mutant: ObservedImage) -> bool:
    return not {*mutation.added_entities} <= mutant.strongest


def _lacks_or_keeps(mutation: Mutation, _: ObservedImage, mutant: ObservedImage) -> bool:
    taken_away = {*mutation.removed_entities} - swapped(mutation)[0]
    return bool(taken_away & mutant.strongest) or not {*mutation.mutant.entities} <= mutant.strongest


def _seed_lacks(mutation: Mutation, seed: ObservedImage, _: ObservedImage) -> bool:
    return not {*mutation.mutant.entities} <= seed.strongest


_RELEASED_ENTITIES: Mapping[str, Sequence[Callable[[Mutation, ObservedImage, ObservedImage], bool]]] = {
    EC: (_lacks_new,),
    ER_R: (_lacks_or_keeps,),
    ER_A: (_lacks_new,),
    SS: (_seed_lacks,),
    EC_ER_R: (_lacks_new, _lacks_or_keeps),
    EC_ER_A: (_lacks_new,),
}


def _within(some: Sequence[Triple], others: Sequence[Triple]) -> bool:
    return {triple.predicate for triple in some} <= {triple.predicate for triple in others}


def _removal_wrong(mutation: Mutation, seed: Sequence[Triple], mutant: Sequence[Triple]) -> bool:
    taken_away = _beyond_the_swap(mutation, mutation.removed_triples)
    return all(triple in mutant for triple in taken_away) or not _within(mutant, seed)


def _addition_wrong(mutation: Mutation, seed: Sequence[Triple], mutant: Sequence[Triple]) -> bool:
    return not _within(_beyond_the_swap(mutation, mutation.added_triples), mutant) or not _within(seed, mutant)


_RELEASED_RELATIONS: Mapping[str, Callable[[Mutation, Sequence[Triple], Sequence[Triple]], bool]] = {
    EC: lambda _, seed, mutant: not _within(seed, mutant),
    ER_R: _removal_wrong,
    ER_A: _addition_wrong,
    SS: lambda _, seed, mutant: not _within(mutant, seed),
}


def _beyond_the_swap(mutation: Mutation, triples: Sequence[Triple]) -> list[Triple]:
    """Those of the removed or added triples that are not just the same with one entity changed for another."""
    olds, news = swapped(mutation)
    if not olds or not news:
        return list(triples)
    (old,), (new,) = olds, news
    both = {*mutation.seed.triples, *mutation.mutant.triples}
    return [t for t in triples if not ({_with(t, old, new), _with(t, new, old)} - {t}) & both]


def _with(triple: Triple, old: str, new: str) -> Triple:
    return triple._replace(
        subject=new if triple.subject == old else triple.subject,
        object=new if triple.object == old else triple.object,
    )
