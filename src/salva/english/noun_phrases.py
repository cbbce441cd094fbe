"""One noun phrase of a sentence to its formula: how many of what, in which colour, where.

Words come in at the number or article and leave behind the place or relation that ends the phrase. Lists, groups and
clauses are reader.py's; a phrase says how it opened and ended, because both may reach further than the phrase.
"""

from __future__ import annotations

from collections.abc import Sequence

from salva.english.nouns import can_be_several, counts_in_pairs, is_plural_noun, name_problem, singular
from salva.english.phrases import NO, Ending, Joint, Phrase, joined, members_of
from salva.english.tokens import PLACES, RELATIONS, WHICH, WITHOUT, Words
from salva.english.words import article, number_of
from salva.logic.formula import COLOURS, MAX_COUNT, RESERVED_WORDS, And, Atom, Not, Or, axis_of, entity_problem
from salva.messages import message

_STOPS = RESERVED_WORDS | {WITHOUT}


class NounPhrases:
    """Reads noun phrases of one sentence."""

    def __init__(self, words: Words) -> None:
        self._words = words
        places = (PLACES.get(words.ending_at(i)) for i in range(len(words.tokens)))
        self._middle_axes = {axis_of(place) for place in places if place and place != "middle"}

    def phrase(self) -> Phrase:
        """A noun phrase; negative ones ("no cats", "fewer than two cats") included."""
        words = self._words
        if words.take("no more than", "at most"):
            return _denied(self._things(self._number(), step=1))
        if words.take("no", "zero"):
            return self.none()
        if words.take("fewer than", "less than"):
            return _denied(self._things(self._number()))
        if words.take("exactly", "only", "just"):
            at, phrase = words.at, self._things(self._number())
            atom = self._counted(phrase, at)
            return phrase._replace(formula=And(atom, Not(self._atom_of(atom, atom.count + 1))))
        if words.take("at least"):
            return self._open_upwards(words.at, self._things(self._number()))
        if words.take("more than"):
            return self._open_upwards(words.at, self._things(self._number(), step=1))
        for several, n in (("a couple of", 2), ("half a dozen", 6), ("a dozen", 12)):
            if words.take(several):
                return self._things(n)
        if words.take("a", "an"):
            return self._things(1, is_plural=False)
        n = self._number()
        if words.take("or more"):
            return self._open_upwards(words.at, self._things(n, is_plural=n > 1 or None))
        return self._things(n)

    def absent(self) -> Phrase:
        """What stands behind a without or a nor: also a noun alone."""
        if self._words.take("any") or self._is_noun_at(self._words.at):
            return self._things(1, is_plural=None)
        return self.phrase()

    def none(self) -> Phrase:
        """What is denied by a word that is no article: "no cats", "not a single cat", "no cats or dogs"."""
        words = self._words
        denied = [_denied(self._things(1, is_plural=None))]
        joints = []
        while (behind := words.past_joints(words.at)) > words.at and self._is_noun_at(behind):
            joints.append(Joint(words.tokens[behind - 1].text, words.at))
            words.at = behind
            denied.append(_denied(self._things(1, is_plural=None)))
        if not joints:
            return denied[0]._replace(opening=NO)
        if joints[-1].words != "or" or any(joint.words not in (",", "or") for joint in joints):
            apart = [phrase.formula for phrase in denied]
            together = joined([f.part for f in apart if isinstance(f, Not)], "and")
            words.two_readings(joined(apart, "and"), Not(together), joints[0].at)
        self._refuse_open_colour(denied, joints[0].at)
        return Phrase(members_of(words, denied, "and", joints), denied[-1].ending)

    def _refuse_open_colour(self, denied: Sequence[Phrase], at: int) -> None:
        """ "No red cats or dogs": are there dogs of another colour?"""
        things = [phrase.formula.part for phrase in denied if isinstance(phrase.formula, Not)]
        atoms = [thing for thing in things if isinstance(thing, Atom)]
        if len(atoms) == len(denied) and atoms[0].colour and not any(atom.colour for atom in atoms[1:]):
            coloured = [Atom(atom.entity, atom.count, atoms[0].colour, atom.place) for atom in atoms]
            self._words.two_readings(joined(atoms, "nor"), joined(coloured, "nor"), at)

    def is_noun_here(self) -> bool:
        """Whether a noun stands here without an article or a number."""
        return self._is_noun_at(self._words.at)

    def _is_noun_at(self, i: int) -> bool:
        word = self._words.tokens[i].text if i < len(self._words.tokens) else ""
        return word[:1].isalpha() and word not in (*_STOPS, "zero", "half", "just") and number_of(word) is None

    def _open_upwards(self, at: int, phrase: Phrase) -> Phrase:
        """At least so many: the largest number mentioned caps what is right, so it is mentioned as no bound."""
        atom = self._counted(phrase, at)
        return phrase._replace(formula=Or(atom, self._atom_of(atom, MAX_COUNT)))

    def _counted(self, phrase: Phrase, at: int) -> Atom:
        if not isinstance(phrase.formula, Atom):
            self._words.fail(message("relation-sides", example="a cat on a mat"), at)
        return phrase.formula

    def _atom_of(self, atom: Atom, n: int) -> Atom:
        if n > MAX_COUNT:
            self._words.fail(message("count-range", limit=MAX_COUNT, got=n))
        return Atom(atom.entity, n, atom.colour, atom.place)

    def _things(self, n: int, *, is_plural: bool | None = True, step: int = 0) -> Phrase:
        """The noun after a number; is_plural None takes either form. step: added to the number."""
        words = self._words
        start = words.at
        is_pair = words.take("pair of", "pairs of")
        wanted = None if is_pair else n > 1 if is_plural else is_plural
        colour: str | None
        if shared := self._shared_noun(n):
            if words.word == "orange":
                self._refuse_orange(n, *shared)
            colour, entity = words.word, shared[2]
            words.at += 1
        else:
            colour, entity = self._noun(wanted)
        if is_pair and entity == "glass":
            words.two_readings(Atom("glass", 2 * n, colour), Atom("eyeglasses", n, colour), start)
        if is_pair and not counts_in_pairs(entity):
            n = 2 * n
        return self._ended(Atom(entity, self._within(n + step), colour), start)

    def _within(self, n: int) -> int:
        if n > MAX_COUNT:
            self._words.fail(message("count-range", limit=MAX_COUNT, got=n))
        return n

    def _shared_noun(self, n: int) -> tuple[int, str, str] | None:
        """The number, colour and noun that end "a red and a blue ball", where a colour stands here alone.

        None where it does not stand alone; a colour whose noun never comes is an error, but an orange is an entity.
        """
        words = self._words
        here = words.at
        if words.word not in COLOURS or not words.joint_at(here + 1):
            return None
        m, colour = n, words.word
        while colour in COLOURS and words.joint_at(words.at + 1):
            words.at = words.past_joints(words.at + 1)
            m = 1 if words.word in ("a", "an") else number_of(words.word) or 0
            words.at += m > 0
            colour = words.word if m else ""
        is_shared = colour in COLOURS and self._is_noun_at(words.at + 1) and not words.ending_at(words.at + 1)
        entity = self._noun(m > 1)[1] if is_shared else ""
        words.at = here
        if not entity and words.word != "orange":
            words.fail(message("colour-alone", colour=words.word))
        return (m, colour, entity) if entity else None

    def _refuse_orange(self, n: int, m: int, colour: str, entity: str) -> None:
        other = Atom(entity, m, colour)
        self._words.two_readings(And(Atom("orange", n), other), And(Atom(entity, n, "orange"), other))

    def _ended(self, atom: Atom, start: int) -> Phrase:
        """The phrase with what is said behind its noun."""
        words = self._words
        verb = ""
        if words.take(*WHICH) or (words.word in ("is", "are") and (verb := words.word)):
            words.at += bool(verb)
            if words.word in COLOURS and atom.colour is None:
                ending = Ending(words.word, colour=words.word, verb=verb)
                words.at += 1
                return Phrase(Atom(atom.entity, atom.count, ending.colour, None), ending)
            if not words.ending_at(words.at):
                words.expected("a colour or a place")
        said = words.ending_at(words.at)
        if not said:
            return Phrase(atom)
        if said in PLACES:
            ending = Ending(said, place=self._place(said, atom), verb=verb)
            words.take(said)
        else:
            words.take(said)
            ending = Ending(said, relation=RELATIONS[said], second=self._second(atom, start), verb=verb)
        formula = ending.applied_to(atom)
        assert formula is not None
        return Phrase(formula, ending)

    def _place(self, said: str, atom: Atom) -> str:
        place = PLACES[said]
        if place != "middle":
            return place
        if len(self._middle_axes) != 1:
            one, other = (Atom(atom.entity, atom.count, atom.colour, f"{axis}-middle") for axis in "xy")
            self._words.two_readings(one, other)
        return f"{next(iter(self._middle_axes))}-middle"

    def _second(self, atom: Atom, start: int) -> str:
        """The other entity of a relation."""
        words = self._words
        if atom.count > 1 or atom.colour:
            single = f"{article(atom.entity)} {atom.entity}"
            words.fail(message("relation-sides", example=single), start)
        if not words.take("a", "an", "the", "one"):
            words.expected("a or an")
        at = words.at
        words.take("pair of")
        colour, second = self._noun(is_plural=False)
        if colour or second == atom.entity:
            words.fail(message("relation-sides", example="a cat on a mat"), at)
        return second

    def _number(self) -> int:
        words = self._words
        n = number_of(words.word)
        if n is None and words.word and not words.word.strip("0"):
            words.fail(message("count-range", limit=MAX_COUNT, got=words.word))
        if n is None:
            words.expected("a, an, no or a number")
        words.at += 1
        if words.word == "dozen":
            words.at += 1
            n *= 12
        if words.word in ("hundred", "thousand", "million", "billion") or n > MAX_COUNT:
            words.fail(message("count-range", limit=MAX_COUNT, got="more"), words.at - 1)
        return n

    def _noun(self, is_plural: bool | None) -> tuple[str | None, str]:
        words = self._words
        start = words.at
        while words.word[:1].isalpha() and words.word not in _STOPS and not words.ending_at(words.at):
            words.at += 1
        named = [token.text for token in words.tokens[start : words.at]]
        if not named:
            words.expected("an entity such as cat")
        colour = named.pop(0) if len(named) > 1 and named[0] in COLOURS else None
        problem = name_problem(named)
        if not problem and named[-1] in COLOURS and named != ["orange"]:
            problem = message("colour-alone", colour=named[-1])
        if not problem and {*named[1:-1]} & {*COLOURS} - {"orange"}:
            problem = message("entity-colour", entity=" ".join(named))
        if not problem and is_plural is False and is_plural_noun(named[-1]):
            problem = message("formula-expected", wanted="a singular noun", got=repr(named[-1]))
        if not problem and is_plural and not can_be_several(named[-1]):
            problem = message("formula-expected", wanted="a plural noun", got=repr(named[-1]))
        is_several = is_plural_noun(named[-1]) if is_plural is None else is_plural
        entity = singular(" ".join(named)) if is_several else " ".join(named)
        problem = problem or entity_problem(entity)
        if problem:
            words.fail(problem, start)
        return colour, entity


def _denied(phrase: Phrase) -> Phrase:
    return phrase._replace(formula=Not(phrase.formula))
