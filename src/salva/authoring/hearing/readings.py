"""What a prompt says of the things of a formula, read from the order of its words alone.

Numbers, colours, denials, places, relations and choices go to the things they are said of; whatever of the kind finds
no thing, or may be said of two, is a doubt. Knows English by lists of words and not by its grammar.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from salva.authoring.hearing.denials import denials_of
from salva.authoring.hearing.mentions import (
    BE,
    BREAKS,
    COMMA,
    DEFINITE,
    DENIERS,
    ENDS,
    INDEFINITE,
    JOINTS,
    PREPOSITIONS,
    Heard,
)
from salva.authoring.hearing.modifiers import modifiers_of, number_at
from salva.authoring.hearing.phrases import COMPARING, OPPOSITES, SIDES, SURROUNDINGS, Phrase, phrase_at
from salva.authoring.hearing.subjects import Subjects, Thing
from salva.english.captions.wordlists import words
from salva.english.nouns import is_plural_noun
from salva.logic.formula import COLOURS, Atom, Formula, Literal, Not, Related, conjunction, disjunction

_NO_NUMBERS = words(
    """
    several many few multiple various numerous countless lots hundred hundreds thousand thousands million millions
    billion billions dozens tons plenty zero half pair pairs couple group groups bunch bunches crowd herd flock swarm
    fleet trio quartet collection assortment array cluster
    """
)
"""They say that there is more than one thing and not how many."""
_HEAPS = words("lot number variety series row line pile stack set pack heap bundle mix selection range")
"""With an "of" behind them they say the same."""
_PAINTED = words("painted colored coloured dyed")
_OTHERS = words("one ones other others another both second third")
_DENYING = DENIERS | words(
    "never none nobody nothing hardly except lacking lacks missing devoid excluding instead rather"
)
_PRONOUNS = words("it them him her which whom each")


@dataclass(slots=True, kw_only=True)
class Reading:
    """All that a prompt says in words that a formula has."""

    said: list[tuple[Literal, bool]] = field(default_factory=list)
    """Atoms and relations, with whether they are said or denied; those of choices are among them."""
    choices: list[list[Atom]] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def formula(self) -> Formula:
        """The formula of it all."""
        chosen = {atom for choice in self.choices for atom in choice}
        parts: list[Formula] = [disjunction(choice) for choice in self.choices]
        parts += [leaf if is_said else Not(leaf) for leaf, is_said in self.said if leaf not in chosen]
        return conjunction(parts)


def read(heard: Heard, leaves: Collection[Literal]) -> Reading:
    """What a prompt says; where its words allow for two things, the one that the formula has among its leaves."""
    return _Reader(heard, leaves).reading()


class _Reader:
    def __init__(self, heard: Heard, leaves: Collection[Literal]) -> None:
        self.heard = heard
        self.words = heard.words
        self.leaves = leaves
        self.things = [Thing(mention=mention) for mention in heard.mentions]
        self.subjects = Subjects(heard, self.things)
        self.inside = {at for mention in heard.mentions for at in range(mention.start, mention.end)}
        self.read = set(self.inside)
        self.out = Reading(doubts=list(heard.doubts))

    def reading(self) -> Reading:
        for thing in self.things:
            self._modify(thing)
            thing.is_closed = self.subjects.word(thing.mention.whole - 1) in PREPOSITIONS
        for at in range(len(self.words)):
            if at not in self.read and self.words[at] in COLOURS:
                self._colour_behind(at)
            elif at not in self.read and (phrase := phrase_at(self.words, at)):
                self._phrase(phrase)
        self._denials()
        self._lists()
        chosen = self._choices()
        self._left_over()
        self._join(chosen)
        return self.out

    def _doubt(self, why: str) -> None:
        self.out.doubts.append(why)

    def _modify(self, thing: Thing) -> None:
        modifiers = modifiers_of(self.heard, thing.mention)
        thing.count, thing.colour = modifiers.count, modifiers.colour
        self.read.update(modifiers.read)
        self.out.doubts += modifiers.doubts

    def _colour_behind(self, at: int) -> None:
        word = self.subjects.word
        is_denied = word(at - 1) == "not"
        verb = at - 1 - is_denied
        subject: Thing | None = None
        if word(verb) in BE:
            subject = self.subjects.of_clause(verb)
        elif word(at - 1) in _PAINTED or not any(thing.mention.start > at for thing in self.things):
            subject = self.subjects.right_before(at)
        if subject is None or (subject.colour and not is_denied):
            return
        self.read.update(range(verb, at + 1))
        subject.is_closed = True
        if is_denied:
            self.out.said.append((Atom(subject.name, colour=self.words[at]), False))
        else:
            subject.colour = self.words[at]

    def _phrase(self, phrase: Phrase) -> None:
        needs_second = bool(phrase.relations) or phrase.is_of
        second = self.subjects.opening_at(phrase.end) if needs_second else None
        if needs_second and second is None and self.subjects.word(phrase.end) not in _PRONOUNS:
            return
        first = self.subjects.of_phrase(phrase, second)
        if first is None or (needs_second and (second is None or first.name == second.name)):
            if not phrase.is_loose:
                self._doubt(f"it is open of what the prompt says {' '.join(self.words[phrase.start : phrase.end])!r}")
            return
        denier = self._denier(phrase.start)
        if second is None:
            self._place(first, phrase.places, denier is None)
        elif not self._relate(phrase, first, second, denier is None):
            return
        self.read.update(range(phrase.start, phrase.end))
        if denier is not None:
            self.read.add(denier)

    def _relate(self, phrase: Phrase, first: Thing, second: Thing, is_said: bool) -> bool:
        """Whether a phrase was understood as a relation, or as a place in what surrounds."""
        options = [Related(relation, first.name, second.name) for relation in phrase.relations]
        options += [Related(OPPOSITES[r], second.name, first.name) for r in phrase.relations if r in OPPOSITES]
        leaf = next((leaf for leaf in options if leaf in self.leaves), None)
        if leaf is None and phrase.is_loose:
            return False
        second.is_closed = second.is_leading = True
        is_inside = second.name.split()[-1] in SURROUNDINGS
        if leaf is None and is_inside and (not options or self._places_used(first) & {*phrase.places}):
            self._place(first, phrase.places, is_said)
        elif not options:
            self._doubt(f"no formula says where of {second.name!r} the prompt puts {first.name!r}")
        else:
            self.out.said.append((leaf or options[0], is_said))
            first.is_tied = second.is_tied = True
        return True

    def _place(self, thing: Thing, places: tuple[str, ...], is_said: bool) -> None:
        used = self._places_used(thing)
        place = next((place for place in places if place in used), places[0])
        thing.is_closed = True
        if not is_said:
            self.out.said.append((Atom(thing.name, place=place), False))
        elif thing.place:
            self._doubt(f"the prompt says two places of {thing.name!r}")
        else:
            thing.place = place

    def _places_used(self, thing: Thing) -> set[str | None]:
        return {leaf.place for leaf in self.leaves if isinstance(leaf, Atom) and leaf.entity == thing.name}

    def _denier(self, at: int) -> int | None:
        """Where the "not" stands that denies what begins here, with at most a verb between."""
        while at and self.words[at - 1] not in BREAKS and at - 1 not in self.inside:
            at -= 1
        return at - 1 if self.subjects.word(at - 1) == "not" else None

    def _denials(self) -> None:
        denials = denials_of(self.heard, self.read)
        self.read |= denials.read
        for i in denials.denied:
            self.things[i].is_denied = True
            if self.things[i].is_tied:
                self._doubt(f"it is open what is denied of {self.things[i].name!r}")

    def _gaps(self) -> Iterator[tuple[Thing, Thing, tuple[str, ...]]]:
        """Two neighbours and the words between them that nothing else has read."""
        for one, other in pairwise(self.things):
            between = range(one.mention.end, other.mention.whole)
            yield one, other, tuple(self.words[at] for at in between if at not in self.read)

    def _choices(self) -> list[Thing]:
        """The things that are joined by "or"."""
        gaps = [gap if all(word in JOINTS for word in gap) else () for *_, gap in self._gaps()]
        chosen: list[Thing] = []
        for i, gap in enumerate(gaps):
            one, other = self.things[i : i + 2]
            if "or" not in gap or "and" in gap or one.is_denied != other.is_denied:
                continue
            self.read.update(at for at in range(one.mention.end, other.mention.whole) if self.words[at] == "or")
            if one.is_denied:
                continue
            first = i
            while first and gaps[first - 1] == (COMMA,):
                first -= 1
            group = self.things[first : i + 2]
            around = [*gaps[max(first - 1, 0) : first], *gaps[i + 1 : i + 2]]
            if any("and" in gap or "or" in gap for gap in around) or any(thing.is_tied for thing in group):
                self._doubt("it is open between what the prompt leaves a choice")
            opening = group[0].mention.whole
            self.read.update(at for at in (opening - 1, opening) if self.subjects.word(at) == "either")
            chosen += group
            self.out.choices.append([thing.atom for thing in group])
        return chosen

    def _lists(self) -> None:
        """Doubts about how far something reaches in a list, and whether two things are one."""
        for one, other, gap in self._gaps():
            names = f"{one.name!r} and {other.name!r}"
            if one.mention.end == other.mention.start:
                self._doubt(f"{names} may be one thing")
            if not gap or any(word not in JOINTS for word in gap) or one.is_denied != other.is_denied:
                continue
            is_bare = self.subjects.word(other.mention.end) in JOINTS | ENDS and not (other.is_tied or other.place)
            if one.is_leading and is_bare:
                self._doubt(f"it is open whether the prompt says the same of {names}")
            if other.mention.whole == other.mention.start and (one.count > 1 or one.colour):
                self._doubt(f"it is open whether a number or a colour is that of {names}")

    def _left_over(self) -> None:
        """Words that say something a formula could say, and that found no thing."""
        for thing in self.things:
            before = range(thing.mention.whole, thing.mention.start)
            self.read.update(at for at in before if self.words[at] in _OTHERS)
        for at, word in enumerate(self.words):
            if at in self.read or (word == "other" and self.subjects.word(at - 1) == "each"):
                continue
            if number_at(word) > 1 or (word[0].isdigit() and not number_at(word) and word[-1].isdigit()):
                self._doubt(f"the prompt says the number {word} of something else and the formula does not")
            elif word in _NO_NUMBERS or (word in _HEAPS and self.subjects.word(at + 1) == "of"):
                self._doubt(f"the prompt says {word!r}, which is no number that a formula says")
            elif word in COLOURS or word in SIDES or word in COMPARING:
                self._doubt(f"it is open of what the prompt says {word!r}")
            elif word in _OTHERS and not (word == "both" and self.subjects.word(at + 1) in INDEFINITE):
                self._doubt(f"it is open what {word!r} stands for")
            elif word in _DENYING or word in ("or", "either"):
                what = "denies" if word in _DENYING else "leaves open"
                self._doubt(f"it is open what the prompt {what} by {word!r}")

    def _join(self, chosen: list[Thing]) -> None:
        """One thing of all mentions that are of the same, and a doubt where two may be."""
        kept: list[Thing] = []
        for thing in self.things:
            same = [other for other in kept if other.name == thing.name and not _are_two(other, thing)]
            if thing.is_denied or not same:
                kept.append(thing)
            elif len(same) > 1 or same[0] in chosen or thing in chosen or not self._is_again(same[0], thing):
                self._doubt(f"it is open whether {thing.name!r} is one thing or two")
            else:
                same[0].colour = same[0].colour or thing.colour
                same[0].place = same[0].place or thing.place
        for thing in kept:
            noun = self.words[thing.mention.end - 1]
            # As the grammar has it: dogs are more than one, and a formula says of each thing how many there are.
            if thing.count == 1 and not thing.is_denied and is_plural_noun(noun):
                self._doubt(f"the prompt says {noun!r} and not how many")
        self.out.said += [(thing.atom, not thing.is_denied) for thing in kept]

    def _is_again(self, thing: Thing, again: Thing) -> bool:
        before = self.words[again.mention.opens : again.mention.start]
        is_same = again.mention.determiner in DEFINITE and not any(word in _OTHERS for word in before)
        return is_same and again.count in (1, thing.count)


def _are_two(one: Thing, other: Thing) -> bool:
    """Whether what is said of two things of one name tells them apart."""
    pairs = ((one.colour, other.colour), (one.place, other.place))
    return one.is_denied != other.is_denied or any(a and b and a != b for a, b in pairs)
