"""One noun phrase of a sentence to its formula: how many of what, in which colour, where.

Words come in at the number or article and leave behind the place or relation that ends the phrase. Lists, groups and
clauses are reader.py's; a phrase says how it opened and ended, because both may reach further than the phrase.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from salva.english.names import is_known, name_problem, whole_name_problem, word_problem
from salva.english.nouns import can_be_several, counts_in_pairs, is_plural_noun, singular
from salva.english.phrases import NO, Ending, Joint, Mention, Phrase, between, joined, members_of
from salva.english.tokens import OPENERS, PLACES, RELATIONS, WHICH, WITHOUT, Words
from salva.english.wordlists import words as words_of
from salva.english.words import number_of
from salva.logic.formula import COLOURS, MAX_COUNT, RESERVED_WORDS, And, Atom, Not, Or, axis_of, entity_problem
from salva.logic.touching import TOUCHING
from salva.messages import message

_STOPS = RESERVED_WORDS | {WITHOUT, "which"}
_SEVERAL = {"a couple of": 2, "half a dozen": 6, "a dozen": 12}
_ALSO_COLOURS = words_of("words", "also_colours")
_MANY = ("hundred", "thousand", "million", "billion")


class NounPhrases:
    """Reads noun phrases of one sentence."""

    def __init__(self, words: Words) -> None:
        self._words = words
        said = (PLACES.get(words.ending_at(i), ()) for i in range(len(words.tokens)))
        self._middle_axes = {axis_of(place) for places in said for place in places if place != "middle"}
        self._mentioned: list[Atom] = []
        self.n_denials = 0
        """How many denials around the phrase here are open."""

    def phrase(self) -> Phrase:
        """A noun phrase; negative ones ("no cats", "fewer than two cats") included."""
        words = self._words
        if words.take("no more than", "at most"):
            return self._fewer(self._things(self._number(), step=1))
        if words.take("no", "zero"):
            return self.none()
        if words.take("fewer than", "less than"):
            return self._fewer(self._things(self._number()))
        if words.take("exactly", "only", "just"):
            is_one = words.take("a single") or self._takes_article()
            return self._exactly(self._things(1, is_plural=False) if is_one else self._things(self._number()))
        if words.take("a single", "one single"):
            return self._single()
        if words.take("at least"):
            return self._open_upwards(self._things(self._number()))
        if words.take("more than"):
            return self._open_upwards(self._things(self._number(), step=1))
        if words.take("the"):
            start = words.at
            atom, is_known = self._definite()
            return self._ended(atom, start, is_known=is_known)._replace(has_article=True)
        if self._takes_article():
            return self._things(1, is_plural=False)._replace(has_article=True)
        n = self._number()
        if words.take("or more"):
            return self._open_upwards(self._things(n, is_plural=n > 1 or None))
        return self._things(n)

    def absent(self) -> Phrase:
        """What stands behind a without or a nor: also a noun alone."""
        if self._words.take("any") or self._is_noun_at(self._words.at):
            return self._things(1, is_plural=None)
        self.n_denials += 1
        phrase = self.phrase()
        self.n_denials -= 1
        return phrase

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
        return members_of(words, denied, "and", joints)._replace(ending=denied[-1].ending)

    def _refuse_open_colour(self, denied: Sequence[Phrase], at: int) -> None:
        """ "No red cats or dogs": are there dogs of another colour?"""
        things = [phrase.formula.part for phrase in denied if isinstance(phrase.formula, Not)]
        atoms = [thing for thing in things if isinstance(thing, Atom)]
        if len(atoms) == len(denied) and atoms[0].colour and not any(atom.colour for atom in atoms[1:]):
            coloured = [Atom(atom.entity, atom.count, atoms[0].colour, atom.place) for atom in atoms]
            self._words.two_readings(joined(atoms, "nor"), joined(coloured, "nor"), at)

    def without_article(self, before: Phrase) -> Phrase | None:
        """A single noun behind a phrase with an article: "a cat and dog"; None where none stands here."""
        words = self._words
        if not before.has_article or (before.ending and before.ending.relation):
            return None
        start = words.at
        words.at += words.word in COLOURS and self._is_noun_at(words.at + 1)
        noun = words.word
        is_alone = self._is_noun_at(words.at) and not self._is_noun_at(words.at + 1)
        words.at = start
        if not is_alone or not is_known(noun):
            return None
        phrase = self._things(1, is_plural=False)
        said = before.mentions[0].atom if before.mentions else None
        colour = said.colour if said else None
        if said and said.entity in _ALSO_COLOURS and not colour and words.tokens[start].text in COLOURS:
            words.fail(message("colour-or-thing", word=said.entity), start - 2)
        if colour and isinstance(phrase.formula, Atom) and not phrase.formula.colour:
            coloured = Atom(noun, colour=colour, place=phrase.formula.place)
            words.two_readings(And(before.formula, phrase.formula), And(before.formula, coloured), start)
        return phrase._replace(has_article=True)

    def is_noun_here(self) -> bool:
        """Whether a noun stands here without an article or a number."""
        return self._is_noun_at(self._words.at)

    def _is_noun_at(self, i: int) -> bool:
        word = self._words.tokens[i].text if i < len(self._words.tokens) else ""
        return word[:1].isalpha() and word not in (*_STOPS, "zero", "half", "just", "all") and number_of(word) is None

    def _exactly(self, phrase: Phrase) -> Phrase:
        atom = self._unbounded(phrase)
        more = Phrase(self._atom_of(atom, atom.count + 1))
        return phrase._replace(formula=And(atom, self._fewer(more).formula))

    def _fewer(self, phrase: Phrase) -> Phrase:
        """Who denies a bound mentions no largest number: five cats are not fewer than two."""
        return _denied(self._open_upwards(phrase) if self.n_denials else phrase)

    def _single(self) -> Phrase:
        start = self._words.at
        one = self._things(1, is_plural=False)
        exactly = self._exactly(one)
        if self.n_denials:
            self._words.two_readings(Not(exactly.formula), Not(one.formula), start)
        return exactly

    def _open_upwards(self, phrase: Phrase) -> Phrase:
        """At least so many: the largest number mentioned caps what is right, so it is mentioned as no bound."""
        atom = self._unbounded(phrase)
        return phrase._replace(formula=Or(atom, self._atom_of(atom, MAX_COUNT)))

    def _unbounded(self, phrase: Phrase) -> Atom:
        if not isinstance(phrase.formula, Atom):
            self._words.fail(message("bound-reach", words=phrase.ending.words if phrase.ending else ""))
        return phrase.formula

    def _atom_of(self, atom: Atom, n: int) -> Atom:
        return Atom(atom.entity, self._within(n), atom.colour, atom.place)

    def _definite(self) -> tuple[Atom, bool]:
        """What stands behind "the", and whether it was mentioned before."""
        words = self._words
        start = words.at
        n = number_of(words.word)
        words.at += n is not None
        colour, entity = self._noun(None if n is None else n > 1)
        noun = words.tokens[words.at - 1].text
        is_pair = counts_in_pairs(entity)
        is_plural = is_plural_noun(noun) or (can_be_several(noun) and not is_pair and words.word == "are")
        is_several = is_plural and n is None
        own = [atom for atom in self._mentioned if atom.entity == entity]
        meant = [atom for atom in own if colour in (None, atom.colour) or atom.colour is None]
        if not meant:
            if is_several:
                words.fail(message("number-missing", words=noun), start)
            return Atom(entity, self._within(n or 1), colour), False
        is_open = any(token.text in OPENERS for token in words.tokens[:start])
        n_meant = meant[0].count
        is_as_many = n_meant > 1 if is_several else n_meant == (n or 1) or (is_pair and n is None)
        if is_open or len(meant) > 1 or not is_as_many or (colour and meant[0].colour != colour):
            words.fail(message("reference-open", entity=entity), start)
        return meant[0], True

    def _things(self, n: int, *, is_plural: bool | None = True, step: int = 0) -> Phrase:
        """The noun after a number and what is said of it; is_plural None takes either form; step is added to n."""
        start = self._words.at
        atom = self._counted(n, is_plural)
        return self._ended(Atom(atom.entity, self._within(atom.count + step), atom.colour), start)

    def _counted(self, n: int, is_plural: bool | None) -> Atom:
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
        return Atom(entity, self._within(n), colour)

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

    def _ended(self, atom: Atom, start: int, *, is_known: bool = False) -> Phrase:
        """The phrase with what is said behind its noun."""
        words = self._words
        if not is_known:
            self._mentioned.append(atom)
        ending = self._ending(atom, start)
        formula = ending.applied_to(atom) if ending else atom
        if formula is None:
            words.fail(message("relation-sides", example="a cat on a mat"), start)
        mentions = () if is_known else (_mention_of(atom, ending),)
        if ending and ending.second and not ending.is_second_known:
            mentions = (*mentions, Mention(ending.second))
        return Phrase(formula, ending, mentions=mentions, is_known=is_known)

    def _ending(self, atom: Atom, start: int) -> Ending | None:
        words = self._words
        verb = ""
        if words.take(*WHICH) or (words.word in ("is", "are") and (verb := words.word)):
            words.at += bool(verb)
            if words.word in COLOURS and atom.colour is None:
                words.at += 1
                colour = words.tokens[words.at - 1].text
                return Ending(colour, colour=colour, verb=verb)
            if not words.ending_at(words.at):
                words.expected("a colour or a place")
        said = words.ending_at(words.at)
        if not said:
            return None
        if said in PLACES:
            places = self._places(said, atom)
            words.take(said)
            return Ending(said, places=places, verb=verb)
        words.take(said)
        second, is_known = self._second(said, atom, start)
        return Ending(said, relation=RELATIONS[said], second=second, is_second_known=is_known, verb=verb)

    def _places(self, said: str, atom: Atom) -> tuple[str, ...]:
        places = PLACES[said]
        if places != ("middle",):
            return places
        if len(self._middle_axes) != 1:
            one, other = (Atom(atom.entity, atom.count, atom.colour, f"{axis}-middle") for axis in "xy")
            self._words.two_readings(one, other)
        return (f"{next(iter(self._middle_axes))}-middle",)

    def _second(self, said: str, atom: Atom, start: int) -> tuple[Atom, bool]:
        """The other side of a relation, and whether it was mentioned before."""
        words = self._words
        is_shared = words.take("the same")
        if not is_shared and words.take("the"):
            second, is_known = self._definite()
        else:
            is_one = self._takes_article()
            second, is_known = self._counted(1 if is_one else self._number(), is_plural=not is_one), False
        if not is_known:
            self._mentioned.append(second)
        if between(RELATIONS[said], atom, second) is None:
            words.fail(message("relation-sides", example="a cat on a mat"), words.at - len(second.entity.split()))
        # Two cats on two mats: each on both of them, or each on its own?
        if RELATIONS[said] in TOUCHING and atom.count > 1 and (second.count > 1) != is_shared:
            words.fail(message("reach-open", words=said), start)
        return second, is_known

    def _takes_article(self) -> bool:
        """Pass "a" or "an" where it is no part of a number."""
        words = self._words
        return not words.is_any_at(_SEVERAL, words.at) and words.take("a", "an")

    def _number(self) -> int:
        words = self._words
        for several, n_several in _SEVERAL.items():
            if words.take(several):
                return n_several
        n = number_of(words.word)
        if n is None and words.word and not words.word.strip("0"):
            words.fail(message("count-range", limit=MAX_COUNT, got=words.word))
        if n is None:
            self._refuse_missing_number()
        words.at += 1
        if words.word == "dozen":
            words.at += 1
            n *= 12
        if words.word in _MANY or n > MAX_COUNT:
            words.fail(message("count-range", limit=MAX_COUNT, got="more"), words.at - 1)
        if words.word == "of":
            words.fail(message("word-counts", word=f"{words.tokens[words.at - 1].text} of"), words.at - 1)
        return n

    def _refuse_missing_number(self) -> NoReturn:
        """The error about a noun phrase without an article or a number."""
        words = self._words
        named = self._named() if self.is_noun_here() and not word_problem(words.word) else []
        words.at -= len(named)
        if named and is_plural_noun(named[-1]):
            words.fail(name_problem(named) or message("number-missing", words=" ".join(named)))
        if named and is_known(named[-1]):
            words.fail(message("article-missing", words=" ".join(named)))
        words.expected("a, an, no or a number")

    def _named(self) -> list[str]:
        """Pass the words up to what ends a noun phrase."""
        words = self._words
        start = words.at
        while words.word[:1].isalpha() and words.word not in _STOPS and not words.ending_at(words.at):
            words.at += 1
        return [token.text for token in words.tokens[start : words.at]]

    def _noun(self, is_plural: bool | None) -> tuple[str | None, str]:
        words = self._words
        start = words.at
        named = self._named()
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
        problem = problem or entity_problem(entity) or whole_name_problem(entity, colour)
        if problem:
            words.fail(problem, start)
        return colour, entity


def _denied(phrase: Phrase) -> Phrase:
    return phrase._replace(formula=Not(phrase.formula), mentions=())


def _mention_of(atom: Atom, ending: Ending | None) -> Mention:
    if ending is None:
        return Mention(atom)
    place = ending.places[0] if len(ending.places) == 1 else None
    return Mention(Atom(atom.entity, atom.count, ending.colour or atom.colour, place), len(ending.places) > 1)
