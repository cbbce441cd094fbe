"""The words of the grammar that reader.py reads, and a sentence as the words it is made of.

What joins, what denies, what ends a noun phrase; Words walks along a sentence and points at the place where it
stops making sense. Knows no grammar beyond that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import product
from typing import NamedTuple, NoReturn

from salva.english.names import word_problem
from salva.english.words import RELATION_WORDS
from salva.logic.formula import COLOURS, Formula
from salva.logic.notation import error_at, to_notation
from salva.messages import Message, message

NOT_THE_CASE = "it is not the case that"
THE_CASE = "it is the case that"

DENIALS = (NOT_THE_CASE, "it is not true that", "it is false that")
ASSERTIONS = (THE_CASE, "it is true that")
GROUPS = (("either", "or"), ("both", "and"), ("all of", "and"), ("neither", "nor"))
WITHOUT = "without"
JOINTS = {
    "and": "and",
    "but": "and",
    "along with": "and",
    "together with": "and",
    "as well as": "and",
    "with": "and",
    WITHOUT: "and",
    "or": "or",
}
ORDERS = ("draw", "paint", "sketch", "generate", "create", "make", "render", "show", "depict")
"""What asks for an image, at the start of a sentence."""
PICTURES = ("photo", "photograph", "picture", "image", "painting", "drawing", "illustration", "sketch", "cartoon")
SHORT_FORMS = {
    "there's": "there is",
    "it's": "it is",
    "that's": "that is",
    "isn't": "is not",
    "aren't": "are not",
    "grey": "gray",
}
OPENERS = ("or", "either", "neither", "nor", "no", "not", "zero", WITHOUT, "most", "fewer", "less", "false")
"""Words that leave it open whether what they speak of is there."""

_AT = ("on the", "at the", "to the", "on", "at")
_SIDES = {
    f"{words} {place}{side}": (place,)
    for words, place, side in product(_AT, ("left", "right"), ("", " side", "-hand side"))
} | {f"{words} {place}": (place,) for words, place in product(_AT, ("top", "bottom"))}
_CORNERS = {
    f"{words} the {high}{between}{side}{corner}": (side, place)
    for place, heights in (("top", ("top", "upper")), ("bottom", ("bottom", "lower")))
    for high, words, between, side, corner in product(
        heights, ("in", "at", "on", "to"), (" ", "-"), ("left", "right"), ("", " corner", "-hand corner")
    )
}
_MIDDLES = {
    f"{word} the {axis}{middle}": (f"{name}middle",)
    for word in ("in", "at")
    for axis, name in (("", ""), ("horizontal ", "x-"), ("vertical ", "y-"))
    for middle in ("middle", "center", "centre")
}
# "On the left of the picture" is a place; on the left of a picture stands what is beside one.
PLACES: dict[str, tuple[str, ...]] = {
    f"{words}{whole}": places
    for words, places in (_SIDES | _CORNERS | _MIDDLES).items()
    for whole in ("", *(f" of the {whole}" for whole in (*PICTURES, "scene", "frame")))
}
"""A corner is two places."""
RELATIONS = {words: relation for relation, words in RELATION_WORDS.items()} | {
    **{
        f"{words}{side}{end} of": f"{side}_of"
        for side in ("left", "right")
        for words in ("", "to the ", "on the ", "at the ")
        for end in ("", " side", "-hand side")
        if words or not end
    },
    "under": "below",
    "underneath": "below",
    "beneath": "below",
    "beside": "next_to",
    "close to": "near",
    "on top of": "on",
    "bigger than": "larger_than",
}
WHICH = ("that is", "that are", "which is", "which are")
_ENDINGS = frozenset((*PLACES, *RELATIONS))
_LONGEST = max(len(words.split()) for words in (*_ENDINGS, *JOINTS))


class Token(NamedTuple):
    """A word or sign, and where it stands in the text."""

    text: str
    start: int


def tokens_of(text: str) -> list[Token]:
    """The words and signs of a text in lower case, short forms spelled out; the last one is empty and marks the end."""
    tokens: list[Token] = []
    for match in re.finditer(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|\S", text):
        heard = match[0].lower().replace("’", "'")
        colour, hyphen, rest = heard.partition("-")
        if hyphen and rest in ("coloured", "colored") and SHORT_FORMS.get(colour, colour) in COLOURS:
            heard = colour
        tokens += [Token(word, match.start()) for word in SHORT_FORMS.get(heard, heard).split()]
    return [*tokens, Token("", len(text.rstrip()))]


class Words:
    """A sentence and how far it is read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self.at = 0

    @property
    def word(self) -> str:
        """The word here; empty at the end."""
        return self.tokens[self.at].text

    def is_at(self, phrase: str, i: int) -> bool:
        """Whether these words stand at a place."""
        wanted = phrase.split(" ")
        return [token.text for token in self.tokens[i : i + len(wanted)]] == wanted

    def is_any_at(self, phrases: Iterable[str], i: int) -> bool:
        """Whether one of these phrases stands at a place."""
        return any(self.is_at(phrase, i) for phrase in phrases)

    def take(self, *phrases: str) -> bool:
        """Pass the first of these phrases that stands here."""
        for phrase in phrases:
            if self.is_at(phrase, self.at):
                self.at += len(phrase.split(" "))
                return True
        return False

    def ending_at(self, i: int) -> str:
        """The place or relation that is said at a place; empty where there is none."""
        return self._longest_of(_ENDINGS, i)

    def joint_at(self, i: int) -> str:
        """The words that join a list here, a comma among them."""
        return "," if self.is_at(",", i) else self._longest_of(JOINTS, i)

    def _longest_of(self, phrases: Collection[str], i: int) -> str:
        """The longest of these phrases here: "on top of a dog" is neither "on top" nor "on"."""
        said = [token.text for token in self.tokens[i : i + _LONGEST]]
        tried = (" ".join(said[:n]) for n in range(len(said), 0, -1))
        return next((phrase for phrase in tried if phrase in phrases), "")

    def is_set_off(self, i: int) -> bool:
        """Whether a comma or a but here ends what stands before."""
        return "," in (self.tokens[i].text, self.tokens[i - 1].text) or self.is_at("but", i)

    def past_joints(self, i: int) -> int:
        """The place behind the comma and the connective that stand here."""
        if self.is_at(",", i):
            i += 1
        words = self.joint_at(i) if i < len(self.tokens) else ""
        return i + len(words.split()) if words not in ("", ",") else i

    def fail(self, problem: Message, at: int | None = None) -> NoReturn:
        """The error that points at a place, the one reached unless told."""
        i = min(self.at if at is None else at, len(self.tokens) - 1)
        raise error_at(problem, self.text, self.tokens[i].start)

    def expected(self, wanted: str) -> NoReturn:
        """The error that says what should stand here, or why what stands here cannot."""
        got = repr(self.word) if self.word else "the end"
        self.fail(word_problem(self.word) or message("formula-expected", wanted=wanted, got=got))

    def two_readings(self, one: Formula, other: Formula, at: int | None = None) -> NoReturn:
        """The error that shows both readings."""
        self.fail(message("two-readings", one=to_notation(one), other=to_notation(other)), at)
