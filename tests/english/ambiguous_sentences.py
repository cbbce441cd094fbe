"""Sentences with two honest readings, made without the reader: a right reader refuses each and shows both.

Imports nothing of the package.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from english.further_sentences import SHORT_NOUNS
from english.meanings import DENIALS, RELATED, SIDES, Sentence, Some
from english.sentences import Writer


def _things(w: Writer, n: int) -> list[Some]:
    return [Some(noun, w.rng.choice((1, 1, 2, 3))) for noun in w.nouns(n)]


def _joined(parts: list[str], word: str) -> str:
    return (" & " if word == "and" else " | ").join(parts)


def place_behind_a_list(w: Writer) -> Sentence:
    """ "A lion, a tiger and a bear on the left": the bear, or all of them."""
    things = _things(w, w.rng.randint(2, 4))
    place = w.rng.choice(("left", "right", "top", "bottom"))
    word = w.rng.choice(("and", "and", "or"))
    nouns = [thing.noun for thing in things]
    before = [replace(thing, place=place) for thing in _things(w, w.rng.choice((0, 0, 1))) if thing.noun not in nouns]
    phrases = [*map(w.phrase, before), *map(w.phrase, things[:-1]), w.phrase(replace(things[-1], place=place))]
    of_last = [*before, *things[:-1], replace(things[-1], place=place)]
    of_all = [*before, *(replace(thing, place=place) for thing in things)]
    text = w.framed(w.listed(phrases, word), of_last[0])
    one, other = (_joined([thing.notation for thing in reading], word) for reading in (of_last, of_all))
    return Sentence(w.finished(text), one, other)


def colour_behind_a_list(w: Writer) -> Sentence:
    things = _things(w, 2)
    said = " and ".join(map(w.phrase, things)) + " that are red"
    red = [replace(thing, colour="red") for thing in things]
    one, other = (f"{first.notation} & {red[1].notation}" for first in (things[0], red[0]))
    return Sentence(w.finished(w.framed(said, things[0])), one, other)


def open_denial(w: Writer) -> Sentence:
    """ "It is not the case that there is a cat and there is a dog": the cat, or both."""
    a, b = _things(w, 2)
    word = w.rng.choice(("and", "or"))
    sign = "&" if word == "and" else "|"
    text = f"{w.rng.choice(DENIALS)} {w.there(w.phrase(a), a)} {word} {w.there(w.phrase(b), b)}"
    return Sentence(w.finished(text), f"!{a.notation} {sign} {b.notation}", f"!({a.notation} {sign} {b.notation})")


def open_not(w: Writer) -> Sentence:
    """ "There isn't a cat and a dog"; "no cat or a dog"."""
    a, b = _things(w, 2)
    word = w.rng.choice(("and", "or"))
    a = replace(a, n=1)
    text = f"there isn't {w.phrase(a)} {word} {w.phrase(b)}"
    if w.rng.random() < 0.3:
        word, text = "or", w.framed(f"no {a.noun.one} or {w.phrase(b)}", a)
    sign = "&" if word == "and" else "|"
    return Sentence(w.finished(text), f"!{a.notation} {sign} {b.notation}", f"!({a.notation} {sign} {b.notation})")


def open_without(w: Writer) -> Sentence:
    a, b, c = _things(w, 3)
    if a.noun.one == "photo":
        # Which is refused with another code.
        a, b = b, a
    text = w.framed(f"{w.phrase(a)} without {w.phrase(b)} and {w.phrase(c)}", a)
    one = f"{a.notation} & !{b.notation} & {c.notation}"
    return Sentence(w.finished(text), one, f"{a.notation} & !({b.notation} & {c.notation})")


def no_and(w: Writer) -> Sentence:
    a, b = (Some(noun) for noun in w.nouns(2))
    text = w.framed(f"no {a.noun.many} and {b.noun.many}", a)
    return Sentence(w.finished(text), f"!{a.notation} & !{b.notation}", f"!({a.notation} & {b.notation})")


def open_colour(w: Writer) -> Sentence:
    """ "No red cats or dogs": red dogs, or any?"""
    a, b = (Some(noun, bound="none") for noun in w.nouns(2))
    a = replace(a, colour="red")
    text = w.framed(f"no red {a.noun.many} or {b.noun.many}", a)
    return Sentence(
        w.finished(text), f"{a.notation} & {b.notation}", f"{a.notation} & {replace(b, colour='red').notation}"
    )


def and_with_or(w: Writer) -> Sentence:
    a, b, c = _things(w, 3)
    x, y, z = map(w.phrase, (a, b, c))
    f, g, h = (thing.notation for thing in (a, b, c))
    if w.rng.random() < 0.5:
        text, one, other = f"{x} and {y} or {z}", f"({f} & {g}) | {h}", f"{f} & ({g} | {h})"
    else:
        text, one, other = f"{x} or {y} and {z}", f"{f} | ({g} & {h})", f"({f} | {g}) & {h}"
    if w.rng.random() < 0.3:
        first, second = text.split(x, 1)[1].split(y, 1)
        said = [w.there(phrase, thing) for phrase, thing in zip((x, y, z), (a, b, c), strict=True)]
        text = f"{said[0]}{first}{said[1]}{second.removesuffix(z)}{said[2]}"
        return Sentence(w.finished(text), one, other)
    return Sentence(w.finished(w.framed(text, a)), one, other)


def behind_a_group(w: Writer) -> Sentence:
    """ "Either a cat or a dog and a bird": is the bird there beside a cat too?"""
    a, b, c = _things(w, 3)
    x, y, z = map(w.phrase, (a, b, c))
    f, g, h = (thing.notation for thing in (a, b, c))
    text, one, other = w.rng.choice(
        (
            (f"either {x} or {y} and {z}", f"({f} | {g}) & {h}", f"{f} | ({g} & {h})"),
            (f"both {x} and {y} or {z}", f"({f} & {g}) | {h}", f"{f} & ({g} | {h})"),
            (f"neither {x} nor {y} and {z}", f"!{f} & !{g} & {h}", f"!{f} & !({g} & {h})"),
        )
    )
    return Sentence(w.finished(w.framed(text, a)), one, other)


def relation_to_a_list(w: Writer) -> Sentence:
    """ "A cat next to a dog and a bird": is the bird next to the cat?"""
    a, b, c = w.nouns(3)
    relation = w.rng.choice(list(RELATED))
    words = w.rng.choice(RELATED[relation])
    said = f"{a.article} {a.one} {words} {b.article} {b.one} and {c.article} {c.one}"
    first = f"{relation}({a.one}, {b.one})"
    return Sentence(
        w.finished(w.framed(said, Some(a))), f"{first} & {c.one}", f"{first} & {relation}({a.one}, {c.one})"
    )


def list_in_a_relation(w: Writer) -> Sentence:
    """ "A cat and a dog on a sofa": is the cat on it?"""
    a, b, c = w.nouns(3)
    relation = w.rng.choice(list(RELATED))
    words = w.rng.choice(RELATED[relation])
    said = f"{a.article} {a.one} and {b.article} {b.one} {words} {c.article} {c.one}"
    last = f"{relation}({b.one}, {c.one})"
    return Sentence(w.finished(w.framed(said, Some(a))), f"{a.one} & {last}", f"{relation}({a.one}, {c.one}) & {last}")


def orange(w: Writer) -> Sentence:
    ball = Some(next(noun for noun in w.nouns(60) if noun.article == "a"))
    red = replace(ball, colour="red").notation
    return Sentence(
        w.finished(w.framed(f"an orange and a red {ball.noun.one}", ball)),
        f"orange & {red}",
        f"{replace(ball, colour='orange').notation} & {red}",
    )


def middle(w: Writer) -> Sentence:
    (thing,) = _things(w, 1)
    text = w.framed(f"{w.phrase(thing)} {w.rng.choice(SIDES['x-middle'][::2])}", thing)
    one, other = (replace(thing, place=f"{axis}-middle").notation for axis in "xy")
    return Sentence(w.finished(text), one, other)


def same_twice(w: Writer) -> Sentence:
    """ "A cat and two cats": are the two more?"""
    (noun,) = w.nouns(1)
    one, other = (Some(noun, w.rng.randint(1, 3)) for _ in range(2))
    if w.rng.random() < 0.3:
        text = w.sentences([w.there(w.phrase(part), part) for part in (one, other)])
    else:
        text = w.finished(w.framed(f"{w.phrase(one)} and {w.phrase(other)}", one))
    both = f"{one.notation} & {other.notation}"
    return Sentence(text, both, f"{both} & {Some(noun, one.n + other.n).notation}")


def colour_before_a_list(w: Writer) -> Sentence:
    """ "A red cat and dog": is the dog red?"""
    a, b = (Some(noun) for noun in w.rng.sample(SHORT_NOUNS, 2))
    text = w.framed(f"a red {a.noun.one} and {b.noun.one}", a)
    red = replace(a, colour="red").notation
    return Sentence(w.finished(text), f"{red} & {b.notation}", f"{red} & {replace(b, colour='red').notation}")


AMBIGUOUS: tuple[Callable[[Writer], Sentence], ...] = (
    *(place_behind_a_list, place_behind_a_list, colour_behind_a_list, open_denial, open_not, open_without, no_and),
    open_colour,
    *(
        and_with_or,
        behind_a_group,
        relation_to_a_list,
        list_in_a_relation,
        orange,
        middle,
        same_twice,
        colour_before_a_list,
    ),
)


def ambiguous_sentence(rng: Random) -> Sentence:
    """A sentence with two honest readings, and both of them."""
    return rng.choice(AMBIGUOUS)(Writer(rng))
