"""More plain sentences of known meaning: articles that come back to an entity, corners, colours and numbers in
relations, lists with commas or without articles, single ones, orders.

Imports nothing of the package.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from english.meanings import COLOURS, NOUNS, RELATED, SIDES, Noun, Sentence, Some, every, some

if TYPE_CHECKING:
    from english.sentences import Writer

TOUCHING = ("next_to", "near", "on")
CORNERS = {
    (side, place): (
        f"in the {high} {side} corner",
        f"in the {high} {side}",
        f"at the {place} {side}",
        f"in the {high}-{side} corner",
        f"in the {high} {side}-hand corner of the image",
    )
    for side in ("left", "right")
    for place, high in (("top", "upper"), ("top", "top"), ("bottom", "lower"), ("bottom", "bottom"))
}
ORDERS = ("draw", "Draw", "please paint", "Generate", "show me", "Create an image of", "draw me a picture of")
SHORT_NOUNS = [noun for noun in NOUNS if " " not in noun.one and noun.article != "a pair of"]


def _count(thing: Some) -> str:
    colour = "gray " if thing.colour == "grey" else f"{thing.colour} " if thing.colour else ""
    return f"{thing.n} {colour}{thing.noun.one}"


def _between(relation: str, first: Some, second: Some) -> str:
    return f"{relation}({_count(first)}, {_count(second)})"


def _pick(w: Writer, *, n_most: int = 1) -> Some:
    """One or more of a noun, of a colour or of none."""
    return Some(w.rng.choice(SHORT_NOUNS), w.rng.randint(1, n_most), w.rng.choice(("", "", *COLOURS)))


def _two(w: Writer, *, n_most: int = 1) -> tuple[Some, Some]:
    first, second = _pick(w, n_most=n_most), _pick(w, n_most=n_most)
    while second.noun == first.noun:
        second = _pick(w, n_most=n_most)
    return first, second


def _the(w: Writer, thing: Some) -> str:
    number = f"{w.number(thing.n)} " if thing.n > 1 else ""
    return f"the {number}{w.named(thing, is_many=thing.n > 1)}"


def _is(thing: Some) -> str:
    return "are" if thing.n > 1 else "is"


def _a(w: Writer, thing: Some) -> str:
    return w.phrase(replace(thing, bound=""))


def described_relation(w: Writer) -> Sentence:
    """ "Two red cats to the left of a dog", "a red apple above a green apple"."""
    relation = w.rng.choice(list(RELATED))
    first, second = _two(w, n_most=3)
    if relation in TOUCHING and first.n > 1:
        second = replace(second, n=1)
    if w.rng.random() < 0.2:
        one, other = w.rng.sample(COLOURS[:9], 2)
        first, second = replace(first, colour=one), replace(first, colour=other, n=1)
    words = w.rng.choice(RELATED[relation])
    verb = w.rng.choice(("", "", f" {_is(first)}"))
    text = f"{_a(w, first)}{verb} {words} {_a(w, second)}"
    return Sentence(w.finished(text if verb else w.framed(text, first)), _between(relation, first, second))


def definite_relation(w: Writer) -> Sentence:
    """ "The cat is above the dog", after both were introduced or without that."""
    relation = w.rng.choice(list(RELATED))
    first, second = _two(w, n_most=2)
    if relation in TOUCHING and first.n > 1:
        second = replace(second, n=1)
    said = f"{_the(w, first)} {_is(first)} {w.rng.choice(RELATED[relation])} {_the(w, second)}"
    meaning = _between(relation, first, second)
    if w.rng.random() < 0.5:
        return Sentence(w.finished(said), meaning)
    start = w.framed(f"{_a(w, first)} and {_a(w, second)}", first)
    return Sentence(w.sentences([start, said]), f"{every([first, second])} & {meaning}")


def back_to_it(w: Writer) -> Sentence:
    """ "There are two cats and a dog. The cats are on the left."."""
    first, second = _two(w, n_most=3)
    place = w.rng.choice(("left", "right", "top", "bottom"))
    there = w.there(f"{_a(w, first)} and {_a(w, second)}", first)
    is_bare = first.noun.one != first.noun.many and w.rng.random() < 0.5
    noun = w.named(replace(first, colour=w.rng.choice(("", first.colour))), is_many=first.n > 1)
    said = f"the {noun}" if is_bare else _the(w, first)
    text = w.sentences([there, f"{said} {_is(first)} {w.rng.choice(SIDES[place])}"])
    return Sentence(text, every([first, second, replace(first, place=place)]))


def corner(w: Writer) -> Sentence:
    things = [replace(thing, colour="") for thing in _two(w, n_most=3)][: w.rng.choice((1, 1, 2))]
    said, meanings = [], []
    for thing in things:
        side, place = chosen = w.rng.choice(list(CORNERS))
        said.append(f"{_a(w, thing)} {w.rng.choice(CORNERS[chosen])}")
        meanings.append(every([replace(thing, place=side), replace(thing, place=place)]))
    if len(things) == 1 and w.rng.random() < 0.2:
        none = replace(things[0], n=1)
        text = said[0].replace(_a(w, things[0]), "", 1) if things[0].n == 1 else ""
        if text.startswith(" "):
            return Sentence(w.finished(f"no {none.noun.one}{text}"), f"!({meanings[0]})")
    return Sentence(w.finished(w.framed(" and ".join(said), things[0])), " & ".join(meanings))


def without_articles(w: Writer) -> Sentence:
    """ "A cat and dog", "a knife, fork or spoon"."""
    nouns: list[Noun] = w.rng.sample(SHORT_NOUNS, w.rng.randint(2, 3))
    things = [Some(noun) for noun in nouns]
    things[-1] = replace(things[-1], colour=w.rng.choice(("", "", *COLOURS)))
    word = w.rng.choice(("and", "or"))
    names = [w.named(thing, is_many=False) for thing in things]
    article = w.rng.choice((nouns[0].article, "the"))
    listed = w.listed([f"{article} {names[0]}", *names[1:]], word)
    return Sentence(w.finished(w.framed(listed, things[0])), every(things) if word == "and" else some(things))


def commas(w: Writer) -> Sentence:
    """ "2 cats, 3 dogs"."""
    things = [replace(w.thing(noun, may_be_none=False), bound="") for noun in w.nouns(w.rng.randint(2, 4))]
    return Sentence(w.finished(w.framed(", ".join(map(w.phrase, things)), things[0])), every(things))


def single(w: Writer) -> Sentence:
    first, second = _two(w)
    said = f"{w.rng.choice(('a single', 'one single', 'only a single'))} {w.named(first, is_many=False)}"
    if w.rng.random() < 0.3:
        article = "a" if first.colour else first.noun.article
        said = f"{w.rng.choice(('only', 'just', 'exactly'))} {article} {w.named(first, is_many=False)}"
    both = [(said, replace(first, bound="exactly")), (_a(w, second), second)][: w.rng.choice((1, 2))]
    w.rng.shuffle(both)
    text = " and ".join(text for text, _ in both)
    return Sentence(w.finished(w.framed(text, both[0][1])), every([thing for _, thing in both]))


def order(w: Writer) -> Sentence:
    things = [replace(thing, bound="") for thing in _two(w, n_most=3)]
    said = w.listed([_a(w, thing) for thing in things], "and")
    return Sentence(f"{w.rng.choice(ORDERS)} {said}{w.rng.choice(('.', ''))}", every(things))


def coloured(w: Writer) -> Sentence:
    thing = replace(_pick(w, n_most=3), colour=w.rng.choice(COLOURS))
    spelled = f"{thing.colour}-{w.rng.choice(('coloured', 'colored'))}"
    text = _a(w, thing).replace(f" {thing.colour} ", f" {spelled} ", 1)
    return Sentence(w.finished(w.framed(text, thing)), thing.notation)


FURTHER: tuple[Callable[[Writer], Sentence], ...] = (
    *(described_relation, described_relation, definite_relation, back_to_it, corner, without_articles, commas, single),
    *(order, coloured),
)
