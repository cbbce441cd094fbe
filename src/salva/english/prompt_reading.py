"""Prompts of other people's files to formulas, where their words allow one reading.

One prompt or two come in, their formulas go out, or None for a prompt that is not understood: whatever the logic
core's own grammar reads, as it reads it, and the sentences of the published templates. Sizes and other adjectives are
read in published pairs alone. What both prompts stand on or are in ("on a wooden table", "in the park") is a backdrop
and left out. A guess is worse than no formula, so wordings with two readings give None, and why.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from salva.english.sentences import from_english
from salva.english.tokens import PLACES
from salva.errors import UsageError
from salva.logic.equivalence import are_equivalent
from salva.logic.formula import COLOURS, Atom, entities
from salva.logic.notation import parse, to_notation

_STOPS = (
    "and|or|either|both|with|but|no|not|an?|the|to|of|on|above|below|next|which|that|where|is|are|such|as|in|then|it|"
    "its|them|present|visible|lined|up"
)
_WORD = rf"(?!(?:{_STOPS})\b)[a-z]+(?:-[a-z]+)*"
_NOUN = rf"((?:{_WORD},? )*{_WORD})"
_THING = rf"(?:an?|the) {_NOUN}"
_RELATED = "(to the left of|to the right of|above|below|next to)"
_RELATIONS = {
    "to the left of": "left_of",
    "to the right of": "right_of",
    "above": "above",
    "below": "below",
    "next to": "next_to",
    "to its left": "left_of",
    "to its right": "right_of",
    "above it": "above",
    "below it": "below",
}
_EXAMPLE = r"(?:, such as .*)?"
_ADJECTIVES = frozenset(
    (
        *("tiny", "small", "little", "big", "large", "huge", "short", "tall", "long", "young", "old", "new"),
        *("shiny", "matte", "smooth", "rough", "fluffy", "striped", "spotted", "round", "square", "bright", "dark"),
        *("wooden", "metal", "plastic", "glass", "stone", "plain"),
    )
)
"""What may stand before a noun of a published pair, beside colours; another word there may be half of a noun."""
_TWO_READINGS = "it can be read as"
"""How the grammar says that a sentence has two."""


LONGEST = 500
"""A longer text, in characters, says more than a formula does."""
_SIZES = {"tiny": "small", "small": "small", "little": "small", "big": "large", "large": "large", "huge": "large"}
_THE = rf"the ({_WORD})"
_THREE = f"{_THING}, {_THING} and {_THING}"
_NOT_BOTH = "it is not the case that both"


class Thing(NamedTuple):
    """A noun phrase: sizes and other adjectives are part of the entity, since the logic core knows no others."""

    entity: str
    colour: str

    @property
    def atom(self) -> str:
        """The phrase in the notation."""
        return f"{self.colour} {self.entity}".strip()


class Read(NamedTuple):
    """What one prompt was understood to say."""

    formula: str | None
    problem: str = ""
    """Why it has no formula, in one line."""


_TOO_LONG = Read(None, f"longer than {LONGEST} characters")


class Readings(NamedTuple):
    """What two prompts were understood to say."""

    formulas: tuple[str | None, str | None]
    surface: str
    """What both stand on or are in, without its article; empty when they share none."""
    problems: tuple[str, str] = ("", "")
    """Why a prompt has no formula."""


def read_prompts(a: str, b: str, *, is_published: bool = True) -> Readings:
    """The formulas of a pair.

    is_published: sizes and other adjectives, which the published pairs are made of, become part of a thing's name, and
    that is enough to hold the two against each other. In prompts of one's own they are refused, as the grammar does.
    """
    first, second = _normal(a), _normal(b)
    surface = _shared_surface(first, second) if max(len(first), len(second)) <= LONGEST else ""
    read = _published if is_published else _own
    one, other = (read(_without(text, surface)) for text in (first, second))
    return Readings((one.formula, other.formula), surface, (one.problem, other.problem))


def read_prompt(text: str) -> Read:
    """The formula of a prompt by itself, which means what `salva prove` reads in it."""
    return _own(_without(_normal(text), ""))


def _normal(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().rstrip(".").lower()


_ENDS = "(?=$|, where |, and it is |, and either |, but | that is )"
_ON = re.compile(rf" ((?:on|in|at) (?:an?|the)) ((?:{_WORD} )*{_WORD}){_ENDS}")
_OPENED = "(?: where | with |: )"
_OPENS = re.compile(rf"^(?:an?|the) ((?:{_WORD} )*{_WORD}){_OPENED}")


def _surfaces(text: str) -> set[str]:
    # "On the left" says where the things are, and is no scenery.
    on = {match[2] for match in _ON.finditer(text) if f"{match[1]} {match[2]}" not in PLACES}
    return on | {match[1] for match in _OPENS.finditer(text)}


def _shared_surface(first: str, second: str) -> str:
    shared = _surfaces(first) & _surfaces(second)
    return next(iter(shared)) if len(shared) == 1 else ""


def _without(text: str, surface: str) -> str:
    if surface:
        text = re.sub(rf" (?:on|in|at) (?:an?|the) {re.escape(surface)}{_ENDS}", "", text)
        text = re.sub(rf"^(?:an?|the) {re.escape(surface)}{_OPENED}", "", text)
    # What is there can be seen; to the grammar the word is a noun.
    return re.sub(f"^a scene{_OPENED}", "", text).removesuffix(" visible")


def _published(text: str) -> Read:
    """By the templates, then by the grammar."""
    if len(text) > LONGEST:
        return _TOO_LONG
    by_template = _by_template(text)
    return by_template if by_template.formula else _by_grammar(text)


def _own(text: str) -> Read:
    """As the grammar reads it; by a template where the grammar knows no such sentence, and every thing of it."""
    if len(text) > LONGEST:
        return _TOO_LONG
    spoken, by_template = _by_grammar(text), _by_template(text)
    if _TWO_READINGS in spoken.problem or not by_template.formula or not _names_things(text, by_template.formula):
        return spoken
    if not spoken.formula or are_equivalent(parse(spoken.formula), parse(by_template.formula)):
        return by_template
    return Read(None, f"{_TWO_READINGS} {by_template.formula} or as {spoken.formula}; say which")


def _by_grammar(text: str) -> Read:
    try:
        return Read(to_notation(from_english(text)))
    except UsageError as error:
        return Read(None, str(error).partition("\n")[0])


def _by_template(text: str) -> Read:
    for pattern, build in _PATTERNS:
        if match := pattern.fullmatch(text):
            try:
                return Read(to_notation(parse(build(*match.groups()))))
            except UsageError as error:
                return Read(None, str(error).partition("\n")[0])
    return Read(None, "no published sentence")


def _names_things(text: str, notation: str) -> bool:
    """Whether a formula names things as a text does, and the grammar calls them so too: no adjectives among them."""
    if any(word in _SIZES for word in text.split(" ")):
        return False
    named = entities(parse(notation))
    return all(re.search(rf"\b{entity}\b", text) and _by_grammar(f"a {entity}").formula == entity for entity in named)


def _thing(words: str) -> Thing:
    *adjectives, noun = words.replace(",", "").split(" ")
    if noun in COLOURS and noun != "orange":
        raise UsageError(f"expected a thing after its colour, got {words!r}")
    if adjectives and f", {noun}" in words:
        raise UsageError(f"expected an adjective after the comma, got {words!r}")
    colours = [word for word in adjectives if word in COLOURS]
    if len(colours) > 1:
        raise UsageError(f"expected one colour, got {words!r}")
    # In one order, so that "a small shiny cat" and "a shiny small cat" are one thing.
    others = sorted(word for word in adjectives if word not in COLOURS)
    strange = [word for word in others if word not in _ADJECTIVES]
    if strange:
        return _compound(words)
    return Thing(" ".join((*others, noun)), colours[0] if colours else "")


def _compound(words: str) -> Thing:
    """A thing whose name has several words ("stop sign"), where the grammar knows it for one."""
    f = from_english(f"a {words}")
    if not isinstance(f, Atom) or f.count > 1 or f.place:
        raise UsageError(f"expected a thing, got {words!r}")
    return Thing(f.entity, f.colour or "")


def _atom(words: str) -> str:
    return _thing(words).atom


def _rel(first: str, relation: str, second: str) -> str:
    """Two things and how they stand to each other; colours are said beside the relation."""
    one, two = _thing(first), _thing(second)
    return f"({one.atom} & {two.atom} & {_RELATIONS[relation]}({one.entity}, {two.entity}))"


def _both(first: str, second: str) -> str:
    """Two things; a small one and a large one are also told apart by size."""
    sizes = [[word for word in words.split(" ") if word in _SIZES] for words in (first, second)]
    if [len(found) for found in sizes] != [1, 1] or _SIZES[sizes[0][0]] == _SIZES[sizes[1][0]]:
        return f"{_atom(first)} & {_atom(second)}"
    one, two = (
        _thing(" ".join(word for word in words.split(" ") if word not in found))
        for words, found in zip((first, second), sizes, strict=True)
    )
    relation = "smaller_than" if _SIZES[sizes[0][0]] == "small" else "larger_than"
    return f"{one.atom} & {two.atom} & {relation}({one.entity}, {two.entity})"


def _three_with(a: str, b: str, c: str, first: tuple[str, ...], second: tuple[str, ...], *, is_both: bool) -> str:
    """Three things, and that two relations between them do not both hold, said in one of two ways."""
    named = {words.rpartition(" ")[2]: words for words in (a, b, c)}
    if len(named) < 3 or not {first[0], first[2], second[0], second[2]} <= {*named}:
        raise UsageError(f"expected relations between three things, got {', '.join(named)}")
    one, two = (_rel(named[x], relation, named[y]) for x, relation, y in (first, second))
    denied = f"!({one} & {two})" if is_both else f"(!{one} | !{two})"
    return f"{_atom(a)} & {_atom(b)} & {_atom(c)} & {denied}"


def _two_with(a: str, b: str, first: tuple[str, str], second: tuple[str, str], *, is_both: bool) -> str:
    """Two things, and that they do not both have these colours, said in one of two ways."""
    if [_thing(a).entity, _thing(b).entity] != [first[0], second[0]]:
        raise UsageError(f"expected the colours of {a!r} and {b!r}, got those of {first[0]!r} and {second[0]!r}")
    one, two = _with_word(a, first[1]), _with_word(b, second[1])
    denied = f"!({one} & {two})" if is_both else f"(!{one} | !{two})"
    return f"{_atom(a)} & {_atom(b)} & {denied}"


def _with_word(words: str, word: str) -> str:
    *adjectives, noun = words.split(" ")
    return _atom(" ".join((*adjectives, word, noun)))


def _not_either(words: str, first: str, second: str) -> str:
    *adjectives, noun = words.split(" ")
    return f"{_atom(words)} & !{_atom(' '.join((*adjectives, first, second, noun)))}"


_PATTERNS: tuple[tuple[re.Pattern[str], Callable[..., str]], ...] = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        (_THING, _atom),
        (rf"{_THING} and {_THING}", _both),
        (rf"it is not the case that there is not both {_THING} and {_THING}", lambda a, b: f"!!({_both(a, b)})"),
        (
            rf"both {_THING} and {_THING}, along with {_THING}",
            lambda a, b, c: f"({_atom(a)} & {_atom(b)}) & {_atom(c)}",
        ),
        (
            rf"{_THING}, along with both {_THING} and {_THING}",
            lambda a, b, c: f"{_atom(a)} & ({_atom(b)} & {_atom(c)})",
        ),
        (rf"it is not the case that there is no {_NOUN} {_RELATED} {_THING}", lambda a, r, b: f"!!{_rel(a, r, b)}"),
        (
            rf"{_THING} {_RELATED} {_THING}, with {_THING} {_RELATED} both",
            lambda b, r, c, a, s: f"{_rel(b, r, c)} & ({_rel(a, s, b)} & {_rel(a, s, c)})",
        ),
        (
            rf"{_THREE}, (?:where|and) {_NOT_BOTH} {_THE} is {_RELATED} {_THE} and {_THE} is {_RELATED} {_THE}",
            lambda a, b, c, *said: _three_with(a, b, c, said[:3], said[3:], is_both=True),
        ),
        (
            rf"{_THREE}, (?:where|and) either {_THE} is not {_RELATED} {_THE} or {_THE} is not {_RELATED} {_THE}",
            lambda a, b, c, *said: _three_with(a, b, c, said[:3], said[3:], is_both=False),
        ),
        (
            rf"{_THING} and {_THING}, (?:where|and) {_NOT_BOTH} {_THE} is ({_WORD}) and {_THE} is ({_WORD})",
            lambda a, b, n, x, m, y: _two_with(a, b, (n, x), (m, y), is_both=True),
        ),
        (
            rf"{_THING} and {_THING}, (?:where|and) either {_THE} is not ({_WORD}) or {_THE} is not ({_WORD})",
            lambda a, b, n, x, m, y: _two_with(a, b, (n, x), (m, y), is_both=False),
        ),
        (rf"{_THING} {_RELATED} {_THING}", _rel),
        (
            rf"{_THING} {_RELATED} {_THING}, which is {_RELATED} {_THING}",
            lambda a, r, b, s, c: f"{_rel(a, r, b)} & {_rel(b, s, c)}",
        ),
        (
            # The second thing is named again by its noun alone.
            rf"{_THING} {_RELATED} (?:an?|the) ((?:{_WORD},? )*({_WORD})), and the \4 {_RELATED} {_THING}",
            lambda a, r, b, _noun, s, c: f"{_rel(a, r, b)} & {_rel(b, s, c)}",
        ),
        (
            rf"a vertical stack with {_THING} on top, then {_THING},? and {_THING}",
            lambda a, b, c: f"{_rel(a, 'above', b)} & {_rel(b, 'above', c)}",
        ),
        (
            rf"{_THING} and either {_THING} or {_THING}",
            lambda a, b, c: f"{_atom(a)} & ({_atom(b)} | {_atom(c)})",
        ),
        (
            rf"either {_THING} with {_THING} or {_THING} with {_THING}",
            lambda a, b, c, d: f"({_atom(a)} & {_atom(b)}) | ({_atom(c)} & {_atom(d)})",
        ),
        (
            rf"{_THING} {_RELATED} either {_THING} or {_THING}",
            lambda a, r, b, c: f"{_rel(a, r, b)} | {_rel(a, r, c)}",
        ),
        (
            rf"either {_THING} {_RELATED} {_THING} or {_THING} {_RELATED} {_THING}",
            lambda a, r, b, c, s, d: f"{_rel(a, r, b)} | {_rel(c, s, d)}",
        ),
        (rf"either {_THING} or {_THING}", lambda a, b: f"{_atom(a)} | {_atom(b)}"),
        (
            rf"{_THING} that is either ({_WORD}) or ({_WORD})",
            lambda a, x, y: f"{_with_word(a, x)} | {_with_word(a, y)}",
        ),
        (rf"no {_NOUN}(?: visible| present)?", lambda a: f"!{_atom(a)}"),
        (
            rf"{_THING}, but no {_NOUN} (to its left|to its right|above it|below it)",
            lambda a, b, r: f"{_atom(a)} & !{_rel(b, r, a)}",
        ),
        (
            rf"(?:an?|the) ((?:{_WORD},? )*({_WORD})), but no {_NOUN} {_RELATED} the \2",
            lambda a, _noun, b, r: f"{_atom(a)} & !{_rel(b, r, a)}",
        ),
        (rf"{_THING} that is not ({_WORD}){_EXAMPLE}", lambda a, x: f"{_atom(a)} & !{_with_word(a, x)}"),
        (rf"{_THING} that is either not ({_WORD}) or not ({_WORD}){_EXAMPLE}", _not_either),
        (
            rf"it is not the case that both {_THING} and {_THING} are present",
            lambda a, b: f"!({_atom(a)} & {_atom(b)})",
        ),
        (rf"it is not the case that {_THING} is {_RELATED} {_THING}", lambda a, r, b: f"!{_rel(a, r, b)}"),
        (rf"it is not the case that there is {_THING}", lambda a: f"!{_atom(a)}"),
        (
            rf"it is not the case that there is both {_THING} and {_THING}",
            lambda a, b: f"!({_atom(a)} & {_atom(b)})",
        ),
        (
            rf"either no {_NOUN} or no {_NOUN}(?: present| in an? [a-z-]+ arrangement)?",
            lambda a, b: f"!{_atom(a)} | !{_atom(b)}",
        ),
    )
)
"""The published sentences, less those that can be read in two ways ("lined up", "next to them")."""
