"""Whether a formula says its numbers, colours, denials and relations of the things its prompt says them of.

Goes by the order of words alone: a number, a colour or "no" belongs to the next thing that is named, a colour also to
the one before, and behind "left of" stands what something is left of. A formula that says otherwise may be right for a
prompt that is built in another way; it is refused all the same, and the prompt goes to a judge.
"""

from __future__ import annotations

from collections.abc import Iterator

from salva.logic.formula import Atom, Formula, Literal, Not, Related, atoms, mentioned_by
from salva.logic.nouns import plural, singular
from salva.logic.words import COLOURS, number_of
from salva.writing.captions.wordlists import words

_BEFORE_NOUNS = words("no without neither nor")
_MORE_NUMBERS = {"dozen": 12}
_OVER, _UNDER, _ON = ("above", "over", "atop"), ("below", "under", "underneath", "beneath"), ("on", "onto", "upon")
_LEFT, _RIGHT = ("left of",), ("right of",)
_LARGER, _SMALLER = ("larger than", "bigger than"), ("smaller than",)
_ORDERED = {
    "left_of": (_LEFT, _RIGHT),
    "right_of": (_RIGHT, _LEFT),
    "above": (_OVER, _UNDER),
    "below": (_UNDER, _OVER),
    "on": ((*_ON, "atop", "top of"), ()),
    "larger_than": (_LARGER, _SMALLER),
    "smaller_than": (_SMALLER, _LARGER),
}
"""Relation to the words behind which its second thing stands, and those behind which its first does."""


def misplaced(f: Formula, spoken: list[str]) -> str:
    """What a formula says of another thing than its prompt; empty where nothing is."""
    leaves = list(_signed(f))
    things = {word: name for leaf, _ in leaves for name in mentioned_by(leaf) for word in _forms(name.split()[-1])}
    places = [things.get(word) for word in spoken]
    said = _numbers(f, spoken, places) or _colours(f, spoken, places)
    return said or _denials(leaves, spoken, places) or _order(f, spoken, places)


def _numbers(f: Formula, spoken: list[str], places: list[str | None]) -> str:
    counts = ((at, _MORE_NUMBERS.get(word) or number_of(word) or 1) for at, word in enumerate(spoken))
    said = {(_next(places, at), n) for at, n in counts if n > 1}
    used = {(leaf.entity, leaf.count) for leaf in atoms(f) if isinstance(leaf, Atom) and leaf.count > 1}
    for thing, n in sorted(said ^ used, key=str):
        who, other = ("the prompt", "the formula") if (thing, n) in said else ("the formula", "the prompt")
        return f"{who} says the number {n} of {repr(thing) if thing else 'something else'} and {other} does not"
    return ""


def _colours(f: Formula, spoken: list[str], places: list[str | None]) -> str:
    used = {(leaf.entity, leaf.colour) for leaf in atoms(f) if isinstance(leaf, Atom) and leaf.colour}
    in_names = {word for leaf in atoms(f) for name in mentioned_by(leaf) for word in name.split()}
    said: set[tuple[str, str]] = set()
    for at, word in enumerate(spoken):
        colour = "gray" if word == "grey" else word
        if colour not in COLOURS or word in in_names:
            continue
        near = {(thing, colour) for thing in (_next(places, at), _next(places[::-1], len(places) - 1 - at)) if thing}
        if not near & used:
            return f"the prompt says {word!r} and the formula does not say it of what stands beside it"
        said |= near
    wrong = sorted(used - said)
    return f"the prompt does not say {wrong[0][1]!r} of {wrong[0][0]!r}" if wrong else ""


def _denials(leaves: list[tuple[Literal, bool]], spoken: list[str], places: list[str | None]) -> str:
    denied = {name for leaf, is_said in leaves if not is_said for name in mentioned_by(leaf)}
    stated = {name for leaf, is_said in leaves if is_said for name in mentioned_by(leaf)}
    deniers = [at for at, word in enumerate(spoken) if word in _BEFORE_NOUNS]
    for at in deniers:
        thing = _next(places, at)
        if thing and thing not in denied:
            return f"the prompt denies {thing!r} and the formula does not"
    for thing in places[: deniers[0]] if deniers else ():
        if thing and thing not in stated:
            return f"the formula denies {thing!r} and the prompt does not"
    return ""


def _order(f: Formula, spoken: list[str], places: list[str | None]) -> str:
    for leaf in atoms(f):
        if not isinstance(leaf, Related) or leaf.relation not in _ORDERED:
            continue
        seconds, firsts = ({*_behind(phrases, spoken, places)} for phrases in _ORDERED[leaf.relation])
        if (seconds or firsts) and leaf.second not in seconds and leaf.first not in firsts:
            return f"the prompt does not say that {leaf.first!r} is {leaf.relation} {leaf.second!r}"
    return ""


def _behind(phrases: tuple[str, ...], spoken: list[str], places: list[str | None]) -> Iterator[str]:
    """The things named next behind a phrase."""
    for phrase in phrases:
        parts = phrase.split()
        for at in range(len(spoken)):
            if spoken[at : at + len(parts)] == parts and (thing := _next(places, at + len(parts) - 1)):
                yield thing


def _next(places: list[str | None], at: int) -> str | None:
    """The first thing named behind a place."""
    return next((thing for thing in places[at + 1 :] if thing), None)


def _signed(f: Formula, is_said: bool = True) -> Iterator[tuple[Literal, bool]]:
    """Every atom, with whether it is said or denied."""
    if isinstance(f, Atom | Related):
        yield f, is_said
    elif isinstance(f, Not):
        yield from _signed(f.part, not is_said)
    else:
        yield from _signed(f.left, is_said)
        yield from _signed(f.right, is_said)


def _forms(word: str) -> set[str]:
    return {word, plural(word), singular(word)}
