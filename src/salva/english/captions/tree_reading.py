"""A parsed sentence to a reading: what it says of two entities, by prepositions, verbs and lists.

A list of entities shares what is said of it; relative clauses, participles and passives find their subject. Where the
rules cannot tell, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from salva.english.captions.kinds import ALIVE, PLACE, THING, kind_of
from salva.english.captions.nouns import COMPOUNDS, RELATIONAL
from salva.english.captions.reading import AND, CaptionReading, Link, Mention
from salva.english.captions.senses import sense
from salva.english.captions.tree import Nouns, Tree, mend
from salva.english.captions.verbs import gerund
from salva.english.wordlists import words as words_of

_SUBJECTS = ("nsubj", "nsubjpass")
_WHO = ("that", "who", "which")
_ADVERBS = words_of("captions", "adverbs")
_AROUND = words_of("captions", "around")
"""Prepositions that say where: said after a list, they are said of all of it."""
_STATES = words_of("captions", "states")
_OWN_PLACE = words_of("captions", "own_place")
"""Doings whose place is the doer's: a man holding a bat on a field; but bread is prepared on a table."""
_NEED_A_PLACE = words_of("captions", "need_a_place")
_WITH_TOOLS = words_of("captions", "with_tools")
_BE = words_of("captions", "be")
_MAX_CLIMB = 12
"""Arcs followed upwards at most; a caption that needs more is not understood."""


@dataclass(slots=True)
class _Relation:
    """Words that relate two entities."""

    subject: int
    predicate: str
    object: int
    at: int
    """The word that says it: a preposition or a verb; of a list the noun that goes on with it."""


def read_tree(tree: Tree) -> CaptionReading:
    """What a sentence names and says."""
    mend(tree)
    nouns = Nouns(tree)
    said = list(_relations(tree, nouns))
    things = [i for i in range(len(tree.words)) if nouns.is_thing[i]]
    number = {i: n for n, i in enumerate(things)}
    subjects = {link.subject for link in said}
    unique: dict[tuple[int, str, int], _Relation] = {}
    for link in said:
        if link.subject != link.object:
            unique.setdefault((link.subject, link.predicate, link.object), link)
    kept = list(unique.values())
    return CaptionReading(
        text=tree.text,
        mentions=tuple(_mention(tree, nouns, i, is_subject=i in subjects) for i in things),
        links=tuple(
            Link(
                subject=number[link.subject],
                predicate=link.predicate,
                object=number[link.object],
                cut=_cut(tree, nouns, link, kept),
            )
            for link in kept
        ),
    )


def _relations(tree: Tree, nouns: Nouns) -> Iterator[_Relation]:
    """Everything a sentence says of two entities."""
    for i in range(len(tree.words)):
        arc = tree.arcs[i]
        if arc in ("prep", "agent", "dative") or (arc == "conj" and tree.tags[i] == "IN"):
            yield from _by_preposition(tree, nouns, i)
        elif arc in ("dobj", "attr") and (tree.is_verb(tree.heads[i]) or tree.is_noun(tree.heads[i])):
            yield from _by_verb(tree, nouns, i)
        elif arc == "relcl":
            yield from _of_relative(tree, nouns, i)
        elif arc == "poss" and nouns.is_thing[i]:
            yield from (_Relation(owned, "of", i, i) for owned in nouns.resolve(tree.heads[i])[:1])
        elif arc == "conj" and tree.is_noun(i) and tree.is_noun(tree.heads[i]):
            before, here = nouns.resolve(tree.heads[i]), nouns.resolve(i)
            if before and here:
                yield _Relation(before[-1], AND, here[0], i)


def _by_preposition(tree: Tree, nouns: Nouns, p: int) -> Iterator[_Relation]:
    named = [kid for kid in tree.kids(p, "pobj") if not nouns.is_between(kid)]
    objects = [thing for kid in named for thing in nouns.standing(kid)]
    for clause in tree.kids(p, "pcomp"):
        objects += [thing for kid in tree.kids(clause, "nsubj") for thing in nouns.standing(kid)]
    words, top, governor = _whole_preposition(tree, p)
    if not objects:
        if any(tree.words[kid] in ("it", "them") for kid in named):
            yield from _about_it(tree, nouns, words, top, governor)
        return
    if tree.is_noun(governor) and (nouns.through[governor] and words == "of"):
        return
    predicate, subjects = _governed(tree, nouns, words, top, governor)
    if words in _AROUND and any(kind_of(nouns.name[thing]) == PLACE for thing in objects):
        subjects = _doers(tree, nouns, governor) or subjects
    is_passive = tree.arcs[p] == "agent" and words == "by" and tree.tags[governor] != "VBG"
    if is_passive and tree.words[governor] not in _STATES:
        doing = gerund(tree.words[governor], "VBN")
        yield from (_Relation(actor, doing, done, top) for actor in objects for done in subjects)
        return
    yield from (_Relation(subject, predicate, thing, top) for subject in subjects for thing in objects)


def _doers(tree: Tree, nouns: Nouns, i: int) -> list[int]:
    """Who does something with a thing: a woman holding a racket on a court is on it, not the racket."""
    verb = tree.heads[i]
    if not tree.is_noun(i) or tree.arcs[i] != "dobj" or not tree.is_verb(verb) or kind_of(nouns.name[i]) != THING:
        return []
    subjects = _subjects(tree, nouns, verb)
    return subjects if subjects and all(kind_of(nouns.name[k]) == ALIVE for k in subjects) else []


def _about_it(tree: Tree, nouns: Nouns, words: str, top: int, governor: int) -> Iterator[_Relation]:
    """ "A table with a bowl on it", "a table has a bowl on it": the bowl is on the table."""
    if not tree.is_noun(governor):
        return
    withs = [kid for kid in tree.kids(governor, "prep") if tree.words[kid] == "with" and kid < top]
    things = [thing for kid in withs for under in tree.kids(kid, "pobj") for thing in nouns.standing(under)]
    owners = nouns.resolve(governor)
    if not things:
        above = tree.heads[governor]
        things = nouns.sharing(governor, top, is_shared=True)
        if tree.arcs[governor] == "pobj" and tree.words[above] == "with" and tree.is_noun(tree.heads[above]):
            owners = nouns.resolve(tree.heads[above])
        elif tree.arcs[governor] == "dobj" and tree.words[above] in ("has", "have"):
            owners = _subjects(tree, nouns, above)
        else:
            return
    yield from (_Relation(thing, words, owner, top) for thing in things for owner in owners)


def _whole_preposition(tree: Tree, p: int) -> tuple[str, int, int]:
    """The words of a preposition, its first word, and what it hangs on: "in front of" is one."""
    words, top, governor = tree.words[p], p, tree.heads[p]
    if tree.arcs[p] == "conj":
        # "on the left of a dog and above a ball": the second hangs where the first does.
        return words, p, _whole_preposition(tree, governor)[2] if tree.tags[governor] == "IN" else governor
    if tree.words[governor] in _ADVERBS and not tree.is_noun(governor) and not tree.is_verb(governor):
        words, top, governor = f"{tree.words[governor]} {words}", governor, tree.heads[governor]
    elif words == "of" and tree.words[governor] in RELATIONAL and tree.arcs[governor] in ("pobj", "advmod"):
        said = RELATIONAL[tree.words[governor]]
        first, top, governor = _whole_preposition(tree, tree.heads[governor])
        words = first if not said or (said == "on back of" and first != "on") else said
    return words, top, governor


def _governed(tree: Tree, nouns: Nouns, words: str, top: int, governor: int) -> tuple[str, list[int]]:
    """What a preposition says, with the verb it belongs to, and of whom."""
    if tree.is_noun(governor):
        above = tree.heads[governor]
        if words == "with" and tree.arcs[governor] == "dobj" and gerund(tree.words[above], "VBG") in _WITH_TOOLS:
            return words, _subjects(tree, nouns, above)
        subjects = nouns.sharing(governor, top, is_shared=words in _AROUND or " " in words)
        if subjects:
            return words, subjects
        if above != governor and tree.is_verb(above):
            return words, _subjects(tree, nouns, above)
        if tree.arcs[governor] == "pobj":
            return words, _governed(tree, nouns, words, *_whole_preposition(tree, above)[1:])[1]
        return words, []
    if tree.is_verb(governor):
        subjects = _subjects(tree, nouns, governor)
        verb = tree.words[governor]
        objects = [thing for kid in tree.kids(governor, "dobj") for thing in nouns.standing(kid) if kid < top]
        has_object = bool(objects)
        doing = gerund(verb, tree.tags[governor])
        if has_object and words in ("on", "in", "on top of") and doing not in _OWN_PLACE:
            return words, objects
        earlier = [kid for kid in tree.kids(governor, "prep") if tree.words[kid] == words.split()[0] and kid < top]
        if earlier and words in ("on", "in"):
            # On a blanket on a bed: the blanket is on the bed.
            things = [thing for end in _ends(tree, earlier[-1]) for thing in nouns.standing(end)]
            return words, things or subjects
        if verb in _BE or has_object or verb in ("has", "have"):
            return words, subjects
        is_passive = tree.tags[governor] == "VBN" or (tree.tags[governor] == "VBD" and tree.arcs[governor] == "acl")
        return f"{verb if is_passive else gerund(verb, tree.tags[governor])} {words}", subjects
    if tree.tags[governor].startswith(("JJ", "RB", "RP", "IN")):
        above = tree.heads[governor]
        said = f"{tree.words[governor]} {words}" if words == "of" else words
        if above == governor:
            return said, []
        if tree.is_noun(above):
            return said, nouns.resolve(above)
        if tree.is_verb(above):
            return said, _subjects(tree, nouns, above)
    return words, []


def _ends(tree: Tree, p: int) -> list[int]:
    """The nouns behind a preposition, also one of several words."""
    ends = tree.kids(p, "pobj")
    return [under for end in ends for of in tree.kids(end, "prep") for under in tree.kids(of, "pobj")] or ends


def _subjects(tree: Tree, nouns: Nouns, verb: int, climbed: int = 0) -> list[int]:
    """The entities of which a verb says something."""
    if climbed > _MAX_CLIMB:
        return []
    own = tree.kids(verb, *_SUBJECTS)
    for kid in own:
        if tree.words[kid] in _WHO and tree.arcs[verb] in ("relcl", "ccomp"):
            break
        if tree.is_noun(kid):
            return nouns.standing(kid)
        if tree.words[kid] in ("he", "she", "they") and tree.is_verb(tree.heads[verb]) and tree.heads[verb] != verb:
            return _subjects(tree, nouns, tree.heads[verb], climbed + 1)
        return []
    if tree.kids(verb, "expl"):
        return [thing for kid in tree.kids(verb, "attr", "dobj") for thing in nouns.standing(kid)]
    head = tree.heads[verb]
    if head == verb:
        return []
    if tree.is_noun(head):
        if tree.arcs[verb] in ("acl", "relcl", "advcl", "amod", "conj", "xcomp", "dep", "ccomp"):
            found = nouns.sharing(head, verb, is_shared=True)
            return found or _subjects_above(tree, nouns, head, climbed)
        return []
    if tree.is_verb(head):
        return _subjects(tree, nouns, head, climbed + 1)
    # "while riding", "by holding", "about to eat": whoever the word above is said of.
    return _subjects_above(tree, nouns, head, climbed)


def _subjects_above(tree: Tree, nouns: Nouns, i: int, climbed: int) -> list[int]:
    """Whom a word that is no entity is said of: the first entity on the way up."""
    for _ in range(_MAX_CLIMB):
        head = tree.heads[i]
        if head == i:
            return []
        if tree.is_noun(head) and (things := nouns.resolve(head)):
            return things
        if tree.is_verb(head):
            return _subjects(tree, nouns, head, climbed + 1)
        i = head
    return []


def _by_verb(tree: Tree, nouns: Nouns, i: int) -> Iterator[_Relation]:
    verb = tree.heads[i]
    objects = nouns.standing(i)
    if not objects or not tree.is_verb(verb) or tree.words[verb] in _BE:
        return
    particles = [tree.words[kid] for kid in tree.kids(verb, "prt") if kid < i]
    said = " ".join((gerund(tree.words[verb], tree.tags[verb]), *particles))
    if nouns.through[i] and said in ("taking", "snapping"):
        said = "photographing"
    for subject in _subjects(tree, nouns, verb):
        yield from (_Relation(subject, said, thing, verb) for thing in objects)


def _of_relative(tree: Tree, nouns: Nouns, verb: int) -> Iterator[_Relation]:
    """ "The pizza that his friend wants to eat": the friend is eating it."""
    own = [kid for kid in tree.kids(verb, "nsubj") if tree.is_noun(kid)]
    if not own or not tree.is_noun(tree.heads[verb]):
        return
    last = verb
    while deeper := tree.kids(last, "xcomp"):
        last = deeper[0]
    if tree.kids(last, "dobj", "prep") or not tree.is_verb(last) or tree.words[last] in _BE:
        return
    said = gerund(tree.words[last], tree.tags[last])
    for subject in nouns.standing(own[0]):
        yield from (_Relation(subject, said, thing, verb) for thing in nouns.resolve(tree.heads[verb]))


def _mention(tree: Tree, nouns: Nouns, i: int, *, is_subject: bool) -> Mention:
    first = i
    while first and tree.heads[first - 1] in (i, first) and tree.arcs[first - 1] in ("compound", "nmod"):
        first -= 1
    inside = [kid for kid in tree.children[i] if kid < i and tree.arcs[kid] not in ("prep", "cc", "punct", "mark")]
    phrase = min([first, *(tree.span(kid)[0] for kid in inside)])
    name = nouns.name[i]
    if i:
        name = COMPOUNDS.get(f"{tree.words[i - 1]} {name}", name)
    name = sense(name, tree.words, i)
    return Mention(
        name=name,
        phrase=tree.starts[phrase],
        start=tree.starts[first],
        end=tree.starts[i] + len(tree.words[i]),
        is_plural=tree.tags[i] in ("NNS", "NNPS"),
        role="subject" if is_subject else "object",
    )


def _cut(tree: Tree, nouns: Nouns, one: _Relation, said: Sequence[_Relation]) -> tuple[int, int] | None:
    """The part of the text that says this and nothing else, the whole clause where that does."""
    if one.predicate == AND:
        return _second_of_two(tree, nouns, one)
    places = [one.at]
    above = tree.heads[one.at] if not tree.is_verb(one.at) else one.at
    if tree.is_verb(above) and tree.arcs[above] in ("acl", "relcl", "advcl"):
        places.insert(0, above)
    stays = any(other.at < one.at and tree.heads[other.at] == above != other.at for other in said)
    if (tree.tags[above] == "VBN" or tree.words[above] in _NEED_A_PLACE) and not stays:
        # Filled with what? Put where? Nothing of such a clause can go but all of it, or a second place.
        places.remove(one.at)
    for place in places:
        if tree.is_verb(place) and tree.arcs[place] not in ("acl", "relcl", "advcl"):
            continue
        first, last = tree.span(place)
        touched = [
            other
            for other in said
            if first <= other.at <= last or first <= other.subject <= last or first <= other.object <= last
        ]
        if touched == [one] and not first <= one.subject <= last and first > 0:
            named = [i for i in range(first, last + 1) if nouns.is_thing[i]]
            if named == [one.object]:
                return tree.starts[first], tree.starts[last] + len(tree.words[last])
    return None


def _second_of_two(tree: Tree, nouns: Nouns, one: _Relation) -> tuple[int, int] | None:
    """The second entity of a list of two that no verb agrees with: "a cup" of "with a bowl and a cup"."""
    i, first = one.at, tree.heads[one.at]
    joints = [
        tree.words[kid] for kid in tree.children[first] if tree.arcs[kid] in ("cc", "preconj", "conj") and kid != i
    ]
    if joints != [AND] or tree.kids(i, "conj") or tree.arcs[first] in (*_SUBJECTS, "conj"):
        return None
    low, high = tree.span(i)
    named = [k for k in range(low, high + 1) if nouns.is_thing[k]]
    return (tree.starts[low], tree.starts[high] + len(tree.words[high])) if named == [one.object] else None
