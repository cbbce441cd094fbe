"""Plain English sentences whose meaning is known, made without the reader.

A meaning is drawn first, as a small structure of its own that turns into notation; then it is worded in one of the
many ways people have. Sentences with two honest readings are made apart, with both readings. Imports nothing of the
package, so that a mistake of the reader cannot be made here too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from english.further_sentences import FURTHER
from english.meanings import (
    AXES,
    COLOURS,
    DENIALS,
    NOUNS,
    NUMBERS,
    RELATED,
    SIDES,
    Beside,
    Noun,
    Part,
    Sentence,
    Some,
    every,
    some,
)


class Writer:
    """Draws meanings and words them."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    # --- meanings

    def nouns(self, n: int) -> list[Noun]:
        return self.rng.sample(NOUNS, n)

    def thing(self, noun: Noun, *, place: str = "", may_be_none: bool = True) -> Some:
        rng = self.rng
        colour = rng.choice(COLOURS) if rng.random() < 0.25 else ""
        if may_be_none and rng.random() < 0.15:
            return Some(noun, colour=colour, place=place, bound="none")
        n = rng.choice((1, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 10, 12, 16, 24))
        bound = rng.choice(("exactly", "least", "most")) if rng.random() < 0.2 else ""
        return Some(noun, n, colour, place, bound)

    def places(self, n: int) -> list[str]:
        """A place for each of n things, on one axis; the middle only beside a place that tells the axis."""
        axis = self.rng.choice(AXES)
        chosen = [self.rng.choice(axis[:2])] + [self.rng.choice(axis) for _ in range(n - 1)]
        self.rng.shuffle(chosen)
        return chosen

    def parts(self, n: int, *, may_be_none: bool = True) -> list[Part]:
        """Things that can be listed in one breath: none with a place, all, or the first ones."""
        nouns = self.nouns(n)
        if n > 1 and self.rng.random() < 0.1:
            one, other = self.rng.sample(COLOURS[:9], 2)
            between = [self.thing(noun, may_be_none=may_be_none) for noun in nouns[1:-1]]
            return [Some(nouns[0], colour=one), *between, Some(nouns[0], 2, colour=other)]
        style = self.rng.choice(("none", "none", "all", "first"))
        n_placed = {"none": 0, "all": n, "first": self.rng.randint(1, n)}[style]
        places = (self.places(n_placed) if n_placed else []) + [""] * (n - n_placed)
        return [
            self.thing(noun, place=place, may_be_none=may_be_none) for noun, place in zip(nouns, places, strict=True)
        ]

    # --- noun phrases

    def number(self, n: int) -> str:
        return self.rng.choice((NUMBERS[n - 1] if n <= len(NUMBERS) else str(n), str(n)))

    def named(self, thing: Some, *, is_many: bool) -> str:
        noun = thing.noun.many if is_many else thing.noun.one
        return f"{thing.colour} {noun}" if thing.colour else noun

    def counted(self, thing: Some, n: int) -> str:
        """A number and its noun."""
        rng, paired = self.rng, thing.noun.article == "a pair of"
        if n == 1:
            if paired:
                return f"{rng.choice(('a', 'one'))} pair of {self.named(thing, is_many=True)}"
            return f"{self.number(1)} {self.named(thing, is_many=False)}"
        if paired:
            return f"{self.number(n)} pairs of {self.named(thing, is_many=True)}"
        ways = [self.number(n)]
        if n == 2 and thing.noun.many != "glasses":
            ways += ["a pair of", "a couple of"]
        if n in (4, 6) and thing.noun.one in ("shoe", "boot", "glove"):
            ways.append(f"{NUMBERS[n // 2 - 1]} pairs of")
        ways += {6: ["half a dozen"], 12: ["a dozen"], 24: ["two dozen"]}.get(n, [])
        return f"{rng.choice(ways)} {self.named(thing, is_many=True)}"

    def phrase(self, part: Part, *, is_short: bool = True) -> str:
        if isinstance(part, Beside):
            words = self.rng.choice(RELATED[part.relation])
            return f"{part.first.article} {part.first.one} {words} {part.second.article} {part.second.one}"
        said = self._things(part)
        if not part.place:
            return said
        choices = [words for words in SIDES[part.place] if is_short or words not in _OPEN_MIDDLES]
        return f"{said} {self.rng.choice(choices)}"

    def _things(self, thing: Some) -> str:
        rng, n = self.rng, thing.n
        if thing.bound == "none":
            one, many = (self.named(thing, is_many=is_many) for is_many in (False, True))
            if thing.noun.article == "a pair of":
                return f"no {many}"
            return rng.choice((f"no {one}", f"no {many}", f"not a single {one}", f"zero {many}"))
        if thing.bound == "exactly":
            return f"{rng.choice(('exactly', 'exactly', 'only', 'just'))} {self.plain(thing, n)}"
        if thing.bound == "least":
            more = [f"more than {self.plain(thing, n - 1)}"] if n > 1 else []
            several = replace(thing, noun=thing.noun._replace(one=thing.noun.many))
            is_paired = thing.noun.article == "a pair of"
            more += [] if is_paired else [f"{self.number(n)} or more {self.named(several, is_many=True)}"]
            return rng.choice([f"at least {self.plain(thing, n)}", *more])
        if thing.bound == "most":
            fewer = rng.choice(("fewer", "less"))
            return rng.choice(
                (
                    f"at most {self.plain(thing, n)}",
                    f"no more than {self.plain(thing, n)}",
                    f"{fewer} than {self.plain(thing, n + 1)}",
                )
            )
        if n == 1 and thing.noun.article != "a pair of" and rng.random() < 0.75:
            return f"{'a' if thing.colour else thing.noun.article} {self.named(thing, is_many=False)}"
        return self.counted(thing, n)

    def plain(self, thing: Some, n: int) -> str:
        """A number and its noun, the number as a word or a figure alone."""
        if thing.noun.article == "a pair of":
            return f"{self.number(n)} pair{'s' if n > 1 else ''} of {self.named(thing, is_many=True)}"
        return f"{self.number(n)} {self.named(thing, is_many=n > 1)}"

    # --- lists and sentences

    def listed(self, phrases: Sequence[str], word: str) -> str:
        if len(phrases) == 1:
            return phrases[0]
        if len(phrases) > 2 and self.rng.random() < 0.15:
            return f" {word} ".join(phrases)
        comma = "," if len(phrases) > 2 and self.rng.random() < 0.5 else ""
        return f"{', '.join(phrases[:-1])}{comma} {word} {phrases[-1]}"

    def there(self, phrase: str, part: Part) -> str:
        is_many = isinstance(part, Some) and part.n > 1
        if not is_many and self.rng.random() < 0.1:
            return f"there's {phrase}"
        return f"there {'are' if is_many else 'is'} {phrase}"

    def framed(self, phrase: str, part: Part) -> str:
        """A list of phrases as a sentence, as a caption, or as what a photo shows."""
        way = self.rng.random()
        if way < 0.5:
            return self.there(phrase, part)
        if way < 0.85 or phrase.startswith("not "):
            return phrase
        return f"{self.rng.choice(('a photo', 'a picture', 'an image', 'a drawing'))} of {phrase}"

    def finished(self, text: str) -> str:
        text = text[0].upper() + text[1:] if self.rng.random() < 0.7 else text
        return text + self.rng.choice((".", ".", ""))

    def sentences(self, clauses: Sequence[str]) -> str:
        return " ".join(text if text.endswith(".") else f"{text}." for text in map(self.finished, clauses))

    def is_short(self, parts: Sequence[Part]) -> bool:
        return any(isinstance(part, Some) and part.place and "middle" not in part.place for part in parts)


_OPEN_MIDDLES = ("in the middle", "in the center", "in the centre")


def one_thing(w: Writer) -> Sentence:
    thing = w.thing(w.nouns(1)[0], place=w.rng.choice(("", "", *SIDES)))
    if thing.bound == "none" and w.rng.random() < 0.3:
        there = w.rng.choice(("there isn't", "there is not", "there's not"))
        return Sentence(w.finished(f"{there} {w.phrase(replace(thing, bound=''), is_short=False)}"), thing.notation)
    return Sentence(w.finished(w.framed(w.phrase(thing, is_short=False), thing)), thing.notation)


def conjunction(w: Writer) -> Sentence:
    parts = w.parts(w.rng.randint(2, 4))
    phrases = _without_bare_not([w.phrase(part) for part in parts])
    is_none = [isinstance(part, Some) and part.bound == "none" for part in parts]
    word = "and"
    if is_none == [False, True]:
        word = w.rng.choice(("and", "but", "with"))
    elif is_none == [False, False]:
        word = w.rng.choice(("and", "and", "along with", "together with", "with", "as well as"))
    return Sentence(w.finished(w.framed(w.listed(phrases, word), parts[0])), every(parts))


def _without_bare_not(phrases: Sequence[str]) -> list[str]:
    """ "Not a single cat and a dog" can be read in two ways, "no cat and a dog" cannot."""
    return [phrase.replace("not a single ", "no ") for phrase in phrases]


def disjunction(w: Writer) -> Sentence:
    parts = w.parts(w.rng.randint(2, 3))
    phrases = _without_bare_not([w.phrase(part) for part in parts])
    has_none = any(phrase.startswith(("no ", "zero ")) for phrase in phrases)
    listed = w.listed(phrases, "or") if not has_none else f"either {', '.join(phrases[:-1])} or {phrases[-1]}"
    if not has_none and len(parts) == 2 and w.rng.random() < 0.5:
        listed = f"either {listed}"
    return Sentence(w.finished(w.framed(listed, parts[0])), some(parts))


def clauses(w: Writer) -> Sentence:
    """Clauses, each with its own there is; what would be open in a list is plain here."""
    parts = w.parts(w.rng.randint(2, 3))
    if w.rng.random() < 0.4:
        named = {part.noun for part in parts if isinstance(part, Some)}
        first, second = [noun for noun in w.nouns(6) if noun not in named][:2]
        parts[w.rng.randrange(len(parts))] = Beside(w.rng.choice(list(RELATED)), first, second)
    w.rng.shuffle(parts)
    is_short = w.is_short(parts)
    said = [w.there(w.phrase(part, is_short=is_short), part) for part in parts]
    way = w.rng.random()
    if way < 0.35:
        return Sentence(w.sentences(said), every(parts))
    if way < 0.7:
        return Sentence(w.finished(w.listed(said, w.rng.choice(("and", "and", "but")))), every(parts))
    text = w.listed(said, "or")
    if len(said) == 2 and w.rng.random() < 0.5:
        text = f"either {text}"
    return Sentence(w.finished(text), some(parts))


def neither(w: Writer) -> Sentence:
    nouns = w.nouns(w.rng.randint(2, 3))
    parts = [Some(noun, colour=w.rng.choice(("", "", "red")), bound="none") for noun in nouns]
    said = [w.phrase(replace(part, bound="", n=1)) for part in parts]
    way = w.rng.choice(("neither", "neither", "neither bare", "no or", "no and", "not single", "not single or"))
    if way == "neither":
        first = w.rng.choice((", ", " nor ")).join(said[:-1])
        text = f"neither {first} nor {said[-1]}"
    elif way == "neither bare":
        text = f"neither {' nor '.join(w.named(part, is_many=True) for part in parts)}"
    elif way in ("no or", "not single or"):
        is_many = way == "no or" and w.rng.random() < 0.5
        parts = [replace(part, colour="") for part in parts] if parts[0].colour else parts
        text = "no " if way == "no or" else "not a single "
        text += w.listed([w.named(part, is_many=is_many) for part in parts], "or")
    elif way == "no and":
        text = w.listed([f"no {w.named(part, is_many=w.rng.random() < 0.5)}" for part in parts], "and")
    else:
        text = w.listed([f"not a single {w.named(part, is_many=False)}" for part in parts], "and")
    return Sentence(w.finished(w.framed(text, parts[0])), every(parts))


def denial(w: Writer) -> Sentence:
    """What is denied as a whole: one thing, a group, or a list of phrases."""
    opening = w.rng.choice(DENIALS)
    n = w.rng.choice((1, 2, 2, 3))
    parts = w.parts(n, may_be_none=False)
    phrases = [w.phrase(part, is_short=w.is_short(parts)) for part in parts]
    word = w.rng.choice(("and", "or"))
    listed = w.listed(phrases, word)
    if n == 2 and w.rng.random() < 0.6:
        listed = f"{'both' if word == 'and' else 'either'} {listed}"
    parts = [replace(part, is_denied=True) if isinstance(part, Some) else part for part in parts]
    inner = every(parts) if word == "and" else some(parts)
    if w.rng.random() < 0.25 and n == 1:
        other = w.thing(w.nouns(1)[0], may_be_none=False)
        if other.noun not in [part.noun for part in parts if isinstance(part, Some)]:
            text = (
                f"{w.there(w.phrase(other), other)}, {w.rng.choice(('and', 'but'))} {opening[0].lower()}{opening[1:]} "
            )
            return Sentence(w.finished(f"{text}{w.there(listed, parts[0])}"), f"{other.notation} & !({inner})")
    return Sentence(w.finished(f"{opening} {w.there(listed, parts[0])}"), f"!({inner})")


def nested(w: Writer) -> Sentence:
    a, b, c = (w.thing(noun, may_be_none=False) for noun in w.nouns(3))
    x, y, z = (w.phrase(part) for part in (a, b, c))
    ways = (
        (f"{x} with either {y} or {z}", f"{a.notation} & ({b.notation} | {c.notation})"),
        (f"{x} and either {y} or {z}", f"{a.notation} & ({b.notation} | {c.notation})"),
        (f"{x}, along with both {y} and {z}", f"{a.notation} & {b.notation} & {c.notation}"),
        (f"both {x} and {y}, along with {z}", f"{a.notation} & {b.notation} & {c.notation}"),
        (f"either both {x} and {y} or {z}", f"({a.notation} & {b.notation}) | {c.notation}"),
        (f"{x}, and {w.there(f'{y} or {z}', b)}", f"{a.notation} & ({b.notation} | {c.notation})"),
        (f"{x} and neither {w.phrase(replace(b, bound=''))} nor {w.phrase(replace(c, bound=''))}", ""),
    )
    text, meaning = w.rng.choice(ways)
    if not meaning:
        meaning = f"{a.notation} & !{replace(b, bound='').notation} & !{replace(c, bound='').notation}"
    return Sentence(w.finished(w.framed(text, a)), meaning)


def relation(w: Writer) -> Sentence:
    first, second, third, fourth = w.nouns(4)
    beside = Beside(w.rng.choice(list(RELATED)), first, second)
    said = w.phrase(beside)
    way = w.rng.random()
    if way < 0.5:
        return Sentence(w.finished(w.framed(said, beside)), beside.notation)
    if way < 0.6:
        return Sentence(w.finished(said.replace(f" {first.one} ", f" {first.one} is ", 1)), beside.notation)
    if way < 0.75:
        other = Beside(w.rng.choice(list(RELATED)), third, fourth)
        word = w.rng.choice(("and", "or"))
        joined = every([beside, other]) if word == "and" else some([beside, other])
        return Sentence(w.finished(w.framed(f"{said} {word} {w.phrase(other)}", beside)), joined)
    if way < 0.85:
        return Sentence(w.finished(f"{w.rng.choice(DENIALS)} there is {said}"), f"!{beside.notation}")
    other_thing = w.thing(third)
    text = w.sentences([w.there(said, beside), w.there(w.phrase(other_thing), other_thing)])
    return Sentence(text, every([beside, other_thing]))


def absence(w: Writer) -> Sentence:
    a, b = w.nouns(2)
    there = w.thing(a, may_be_none=False, place=w.rng.choice(("", "", "left", "top")))
    gone = Some(b, colour=w.rng.choice(("", "", "blue")), bound="none")
    one, many = (w.named(gone, is_many=is_many) for is_many in (False, True))
    with_article = w.phrase(replace(gone, bound="", n=1))
    said = w.rng.choice(
        (
            f"without {with_article}",
            f"without any {many}",
            f"without {many}",
            f"and without {with_article}",
            f"but no {one}",
            f"but no {many}",
            f"with no {many}",
            f"but not {with_article}",
            f"but not a single {one}" if b.article != "a pair of" else f"but no {many}",
        )
    )
    comma = "," if said.startswith("but") and w.rng.random() < 0.5 else ""
    return Sentence(w.finished(w.framed(f"{w.phrase(there)}{comma} {said}", there)), every([there, gone]))


def shared_noun(w: Writer) -> Sentence:
    noun = w.rng.choice([noun for noun in NOUNS if noun.article == "a"])
    colours = w.rng.sample(COLOURS[:9], w.rng.choice((2, 2, 3)))
    n = w.rng.choice((1, 1, 2, 3))
    parts = [Some(noun, n, colour) for colour in colours]
    word = w.rng.choice(("and", "and", "or"))
    number = "a" if n == 1 else w.number(n)
    said = w.listed([f"{number} {colour}" for colour in colours], word)
    text = f"{said} {noun.many if n > 1 else noun.one}"
    return Sentence(w.finished(w.framed(text, parts[0])), every(parts) if word == "and" else some(parts))


def said_of(w: Writer) -> Sentence:
    """ "A cat is on the left", "a cat and a dog are on the left"."""
    one, two = (Some(noun, place=place) for noun, place in zip(w.nouns(2), w.places(2), strict=True))
    if w.rng.random() < 0.4:
        two = replace(two, place=one.place)
        if "middle" in one.place:
            one, two = replace(one, place="left"), replace(two, place="left")
        where = w.rng.choice(SIDES[one.place])
        text = f"{w.phrase(replace(one, place=''))} and {w.phrase(replace(two, place=''))} are {where}"
        return Sentence(w.finished(text), every([one, two]))
    said = [f"{w.phrase(replace(part, place=''))} is {w.rng.choice(SIDES[part.place])}" for part in (one, two)]
    return Sentence(w.finished(" and ".join(said)), every([one, two]))


PLAIN: tuple[Callable[[Writer], Sentence], ...] = (
    *(one_thing, conjunction, conjunction, conjunction, disjunction, disjunction, clauses, clauses, neither),
    *(denial, denial, nested, relation, relation, absence, absence, shared_noun, said_of),
    *FURTHER,
)


def plain_sentence(rng: Random) -> Sentence:
    """A sentence with one honest reading."""
    return rng.choice(PLAIN)(Writer(rng))
