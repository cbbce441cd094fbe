"""ACTesting's operators: a reading and a corpus come in, changed captions go out, each with the pool it must read as.

EC exchanges an entity, ER_R takes a triple out, ER_A puts one in, SS says a word otherwise. They propose; whether a
caption reads as it should is decided by reading it (making.py).
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from salva.core.mutation import Pool, Triple
from salva.english.captions.classes import Classes
from salva.english.captions.kinds import ALIVE, PLACE, THING, can_be_asked_for, kind_of
from salva.english.captions.nouns import COMPOUNDS
from salva.english.captions.reading import AND, CaptionReading, Mention
from salva.english.captions.wordnet import WordNet
from salva.english.mutation.corpus import can_come_in, is_sayable, predicates_of
from salva.english.mutation.density import Density, draw
from salva.english.mutation.synonyms import reworded
from salva.english.mutation.text import leaves_a_hole, with_addition, with_other_noun, with_sentence, without
from salva.english.nouns import singular
from salva.english.predicates import relation_of

EC, ER_R, ER_A, SS = "ec", "er-r", "er-a", "ss"
SINGLE = (EC, ER_R, ER_A, SS)
COMPOSED = ("ec+er-r", "ec+er-a")
OPERATORS = (*SINGLE, *COMPOSED)
_N_DRAWS = 12
_APPENDED = 0.5
"""Share of additions put behind somebody at the end of a caption; behind a thing it may be said of another."""
_ANYWHERE = ("next to", "near", "behind", "in front of", "left of", "right of", "above", "under")
"""Predicates that go with any two entities."""
_BESIDE_A_PLACE = ("next to", "near", "behind", "in front of")
_CHOOSY = frozenset(("in", "at", "through", "down", "into", "up", "across", "along", "around", "between", "from", "to"))
"""Predicates that make no English with just any entity, nor does any other with a place: on a bedroom."""
_ENCLOSED = ("bathroom", "bedroom", "kitchen", "room", "building", "house")
_NOT_BEHIND = {**dict.fromkeys(("on", "down", "across"), _ENCLOSED), "in": ("beach", "hill", "mountain", "sidewalk")}
_OF_KIND = {
    ALIVE: ("with", "on", "holding", "wearing", "riding", "carrying", "looking at", "eating"),
    PLACE: ("with",),
    THING: ("with", "on"),
}
"""Predicates that go only with what the corpus says them with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """A caption taken apart."""

    reading: CaptionReading
    pool: Pool


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A changed caption, before it is read."""

    text: str
    is_wanted: Callable[[Pool], bool]
    """Whether what is read in it is what the operator meant."""
    predicates: tuple[str, ...] = ()
    """Those at the place of the change."""
    entity: str = ""
    """What came in, or went out where nothing did."""
    density: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What operators draw from."""

    classes: Classes
    density: Density
    synonyms: WordNet | None = None
    """Who is asked for other words for a noun, besides the table."""
    wordings: Mapping[str, str] = field(default_factory=dict)
    """Changed captions as a text model says them."""

    def standing(self, role: str, predicate: str, kind: str = "") -> Mapping[str, tuple[str, ...]]:
        """Classes that can be put where something of this role stands with a predicate, by density."""
        corpus = self.density.corpus
        is_choosy = kind == PLACE or predicate in _CHOOSY
        names = [
            name
            for name in corpus.standing[role]
            if can_come_in(name)
            and (not kind or kind_of(name) == kind)
            and name not in _NOT_BEHIND.get(predicate, ())
            and (not is_choosy or corpus.together[name, predicate] > (kind == PLACE))
        ]
        return self.density.by_level(f"{role} {kind}", predicate, names)

    def is_new(self, name: str, seed: Seed) -> bool:
        """Whether a caption names nothing that is a class, a kind of it or a more general word for it."""
        is_other = not any(self.classes.is_a(name, own) for own in seed.pool.entities)
        return is_other and not re.search(rf"\b{re.escape(name)}", seed.reading.text, re.I)

    def said_of(self, kind: str, predicate: str) -> Mapping[str, tuple[str, ...]]:
        """Classes that the corpus says with a predicate of something of a kind, by density."""
        names = [name for name in self.density.corpus.seen.get((kind, predicate), ()) if can_come_in(name)]
        return self.density.by_level(f"said of {kind}", predicate, names)


def proposals(operator: str, seed: Seed, setting: Setting, rng: random.Random) -> Iterator[Proposal]:
    """Changed captions, the one to try first first; none where the operator has nothing to change."""
    makers: Mapping[str, Callable[[Seed, Setting, random.Random], Iterator[Proposal]]] = {
        EC: exchanges,
        ER_R: removals,
        ER_A: additions,
        SS: rewordings,
    }
    return makers[operator](seed, setting, rng)


def exchanges(
    seed: Seed, setting: Setting, rng: random.Random, spared: frozenset[str] = frozenset()
) -> Iterator[Proposal]:
    """EC: another entity in the place of one, with the same number and in the same grammatical role."""
    names = [setting.classes.entity(mention.name) for mention in seed.reading.mentions]
    once = Counter(names)
    # What is "of" something is made of it, or shows it, and few other entities are.
    made = {triple.subject for triple in seed.pool.triples if triple.predicate == "of"}
    unsure = _unsure(seed.reading, names)
    targets = [
        (name, mention)
        for name, mention in zip(names, seed.reading.mentions, strict=True)
        if once[name] == 1
        and is_sayable(name)
        and name not in spared
        and name not in made
        and name not in unsure
        and not _is_bound(seed.reading.text, mention)
    ]
    targets = [target for target in targets if predicates_of(seed.pool, target[0])] or targets
    for _ in range(_N_DRAWS if targets else 0):
        old, mention = targets[rng.randrange(len(targets))]
        predicates = predicates_of(seed.pool, old)
        place = setting.standing(mention.role, predicates[0] if predicates else "", kind_of(old))
        if not place:
            continue
        drawn = draw(place, rng)
        if drawn.name in spared or not setting.is_new(drawn.name, seed):
            continue
        wanted = _renamed(seed.pool, old, drawn.name)
        yield Proposal(
            text=with_other_noun(seed.reading.text, mention, drawn.name),
            is_wanted=_same_as(wanted),
            predicates=predicates,
            entity=drawn.name,
            density=drawn.density,
            weight=drawn.weight,
        )


def removals(seed: Seed, setting: Setting, rng: random.Random) -> Iterator[Proposal]:
    """ER_R: one triple taken out, and its object with it where nothing else mentions that.

    Where two entities are said in one list, the second goes with what the list says of both.
    """
    if len(seed.pool.triples) < 2:
        return
    names = [setting.classes.entity(mention.name) for mention in seed.reading.mentions]
    links = [link for link in seed.reading.links if link.cut]
    unsure = _unsure(seed.reading, names)
    for link in rng.sample(links, len(links)):
        predicate = setting.classes.predicate(link.predicate)
        triple = Triple(subject=names[link.subject], predicate=predicate, object=names[link.object])
        if {triple.subject, triple.object} & unsure and predicate.endswith("with"):
            continue
        gone = triple.object if names.count(triple.object) == 1 else ""
        taken = [triple]
        if link.predicate == AND and gone:
            taken = [other for other in seed.pool.triples if gone in (other.subject, other.object)]
            triple = next((other for other in taken if other != triple), triple)
        rest = tuple(other for other in seed.pool.triples if other not in taken)
        n_wanted = 2 if link.predicate == AND else 1
        if len(rest) != len(seed.pool.triples) - n_wanted or not rest or not link.cut:
            continue
        wanted = Pool(entities=tuple(name for name in seed.pool.entities if name != gone), triples=rest)
        if leaves_a_hole(seed.reading.text, link.cut):
            continue
        yield Proposal(
            text=without(seed.reading.text, link.cut),
            is_wanted=_same_as(wanted),
            predicates=(triple.predicate,),
            entity=names[link.object],
            density=setting.density.level(names[link.object], triple.predicate),
        )


def additions(seed: Seed, setting: Setting, rng: random.Random) -> Iterator[Proposal]:
    """ER_A: an entity that the caption does not name, put to one that it names, by a predicate of the corpus."""
    mentions = seed.reading.mentions
    text = seed.reading.text.rstrip(" .!")
    ends_with_thing = bool(mentions) and mentions[-1].end == len(text)
    names = [setting.classes.entity(mention.name) for mention in mentions]
    # So plain that boxes decide all of it: what follows is said of the noun before it.
    is_plain = all(relation_of(link.predicate) for link in seed.reading.links)
    is_plain = is_plain and not any(mention.is_plural for mention in mentions)
    ends_alive = bool(names) and kind_of(names[-1]) == ALIVE
    # "There is a cup near the dog" says which dog where the caption names one.
    once = [m for name, m in zip(names, mentions, strict=True) if names.count(name) == 1 and is_sayable(name)]
    anchors = [m for m in once if can_be_asked_for(setting.classes.entity(m.name))] or once
    for _ in range(_N_DRAWS if anchors else 0):
        is_appended = ends_with_thing and (is_plain or (ends_alive and rng.random() < _APPENDED))
        anchor = mentions[-1] if is_appended else anchors[rng.randrange(len(anchors))]
        there = setting.classes.entity(anchor.name)
        kind = kind_of(there)
        own = _OF_KIND[kind] if is_appended else ()
        own = tuple(p for p in own if p != "with" or " with " not in text)
        free = _BESIDE_A_PLACE if kind == PLACE else _ANYWHERE
        predicates = [p for p in free if any(key[1] == p for key in setting.density.corpus.seen)]
        predicates += [p for p in own if (kind, p) in setting.density.corpus.seen]
        if not predicates:
            continue
        predicate = predicates[rng.randrange(len(predicates))]
        place = setting.standing("object", predicate, THING) if predicate in free else setting.said_of(kind, predicate)
        if not place:
            continue
        drawn = draw(place, rng)
        if not setting.is_new(drawn.name, seed):
            continue
        if is_appended:
            changed = with_addition(seed.reading.text, predicate, drawn.name)
        else:
            changed = with_sentence(seed.reading.text, predicate, drawn.name, anchor)
        yield Proposal(
            text=changed,
            is_wanted=_one_more(seed.pool, Triple(subject=there, predicate=predicate, object=drawn.name)),
            predicates=(predicate,),
            entity=drawn.name,
            density=drawn.density,
            weight=drawn.weight,
        )


def rewordings(seed: Seed, setting: Setting, rng: random.Random) -> Iterator[Proposal]:
    """SS: one word or phrase by a synonym; the classes stay."""
    ways = reworded(seed.reading, setting.synonyms)
    for text in rng.sample(ways, len(ways)):
        yield Proposal(text=text, is_wanted=_same_as(seed.pool))


def _is_bound(text: str, mention: Mention) -> bool:
    """Whether a noun belongs to the words around it: a piece of cake, bow tie, butter and jelly sandwiches."""
    before, after = text[: mention.phrase].rstrip(), text[mention.end :].split(maxsplit=1)
    if after and f"{mention.name} {singular(after[0].lower())}" in COMPOUNDS:
        return True
    if mention.phrase != mention.start or not before:
        return False
    is_compound = " " in text[mention.start : mention.end]
    return not mention.is_plural or (is_compound and before.endswith((" and", ",")))


def _unsure(reading: CaptionReading, names: Sequence[str]) -> set[str]:
    """Entities of a "with" that may be said of another one between them: a dog on a bed with pillows."""
    unsure = set()
    for link in reading.links:
        between = range(link.subject + 1, link.object)
        shared = {
            other.object
            for other in reading.links
            if (other.subject, other.predicate) == (link.subject, link.predicate)
        }
        if link.predicate.endswith("with") and not shared >= {*between}:
            unsure |= {names[link.subject], names[link.object]}
    return unsure


def _renamed(pool: Pool, old: str, new: str) -> Pool:
    def name(one: str) -> str:
        return new if one == old else one

    return Pool(
        entities=tuple(map(name, pool.entities)),
        triples=tuple(
            Triple(subject=name(t.subject), predicate=t.predicate, object=name(t.object)) for t in pool.triples
        ),
    )


def _same_as(wanted: Pool) -> Callable[[Pool], bool]:
    things, triples = set(wanted.entities), set(wanted.triples)
    return lambda pool: set(pool.entities) == things and set(pool.triples) == triples


def _one_more(seed: Pool, new: Triple) -> Callable[[Pool], bool]:
    """Whether a pool is the seed's and one triple more, told from either end: a cup is near the dog."""
    either = (new, Triple(subject=new.object, predicate=new.predicate, object=new.subject))

    def is_wanted(pool: Pool) -> bool:
        more = set(pool.triples) - set(seed.triples)
        return (
            set(pool.entities) == {*seed.entities, new.object}
            and len(pool.triples) == len(seed.triples) + 1
            and len(more) == 1
            and more.pop() in either
        )

    return is_wanted
