"""Of which thing a prompt says what stands at some place of it: the one thing of its clause.

A clause begins behind a full stop or a "while", and behind an "and" where the thing before it is done with. Where a
clause names several things ("a man wearing a hat on a horse"), none of them is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from salva.authoring.hearing.mentions import BE, BREAKS, COMMA, ENDS, JOINTS, PREPOSITIONS, STOP, Heard, Mention
from salva.authoring.hearing.phrases import SPACES, Phrase
from salva.english.captions.wordlists import words
from salva.english.words import number_of
from salva.logic.formula import Atom

_WHICH = words("which that who")


@dataclass(slots=True, kw_only=True)
class Thing:
    """A thing as one mention of it has it; grows while a prompt is read."""

    mention: Mention
    count: int = 1
    colour: str | None = None
    place: str | None = None
    is_denied: bool = False
    is_closed: bool = False
    """Whether its phrase has ended, so that an "and" behind it begins another."""
    is_tied: bool = False
    """Whether a relation is said of it."""
    is_leading: bool = False
    """Whether what is said of it, or to it, may go on to a thing behind it: "on a mat and a rug"."""

    @property
    def name(self) -> str:
        """As the formula has it."""
        return self.mention.name

    @property
    def atom(self) -> Atom:
        """The thing as an atom."""
        return Atom(self.name, self.count, self.colour, self.place)


class Subjects:
    """The things of a prompt, asked for by what is said of them."""

    def __init__(self, heard: Heard, things: Sequence[Thing]) -> None:
        self.words = heard.words
        self.things = things

    def word(self, at: int) -> str:
        """The word at a place; before the first and behind the last there is a full stop."""
        return self.words[at] if 0 <= at < len(self.words) else STOP

    def opening_at(self, at: int) -> Thing | None:
        """The thing whose noun phrase begins here."""
        return next((thing for thing in self.things if thing.mention.whole == at), None)

    def right_before(self, at: int) -> Thing | None:
        """The thing that nothing but verbs and the like part from this place."""
        before = [thing for thing in self.things if thing.mention.end <= at]
        gap = self.words[before[-1].mention.end : at] if before else ()
        return before[-1] if before and not any(word in BREAKS or number_of(word) for word in gap) else None

    def of_phrase(self, phrase: Phrase, second: Thing | None) -> Thing | None:
        """What a place, or a relation to a second thing, is said of."""
        before = self.word(phrase.start - 1)
        listed = self._ending_at(phrase.start - 1) if before == COMMA else None
        if listed and not listed.is_closed:
            return None
        if before in ENDS or before == COMMA:
            return self._next(second.mention.end if second else phrase.end)
        if before in ("and", "or", "with"):
            # "And above a dog" may go on about what was named before.
            return None if second else self._next(phrase.end)
        is_verb = before not in BE and self._ending_at(phrase.start) is None
        return None if phrase.is_towards and is_verb else self.of_clause(phrase.start, is_place=second is None)

    def of_clause(self, at: int, *, is_place: bool = False) -> Thing | None:
        """The one thing of the clause before this place."""
        if self.word(at - 1) in _WHICH:
            return self._ending_at(at - 1 - (self.word(at - 2) == COMMA))
        start = self._clause(at, is_place)
        found = self._between(start, at)
        while not found and start and self.word(start - 1) in JOINTS:
            start = self._clause(start - 1, is_place)
            found = self._between(start, at)
        return found[0] if len(found) == 1 else None

    def _next(self, at: int) -> Thing | None:
        """The thing that a phrase at the head of a clause is said of."""
        thing = next((thing for thing in self.things if thing.mention.start >= at), None)
        if thing is None:
            return None
        gap = self.words[at + (self.word(at) == COMMA) : thing.mention.opens]
        if any(word in JOINTS or word in ENDS or word in PREPOSITIONS for word in gap):
            return None
        thing.is_leading = True
        return thing

    def _between(self, start: int, end: int) -> list[Thing]:
        return [thing for thing in self.things if start <= thing.mention.start and thing.mention.end <= end]

    def _clause(self, at: int, is_place: bool) -> int:
        """Where the clause before a place begins."""
        while at:
            word = self.words[at - 1]
            if word in ENDS or (word == "with" and (is_place or self._is_space(at - 1))):
                return at
            if word in JOINTS:
                joint = at - 1
                while joint and self.words[joint - 1] in JOINTS:
                    joint -= 1
                ending = self._ending_at(joint)
                if ending is None or ending.is_closed:
                    return at
            at -= 1
        return 0

    def _is_space(self, at: int) -> bool:
        """Whether what ends here is a room or the like: "a kitchen with a cat on a table" has no kitchen on a table."""
        ending = self._ending_at(at)
        return ending is not None and ending.name.split()[-1] in SPACES

    def _ending_at(self, at: int) -> Thing | None:
        return next((thing for thing in self.things if thing.mention.end == at), None)
