"""English sentences to formulas: the grammar english.py writes, and the plain sentences people write.

A sentence is noun phrases in a list, or clauses ("there is ...", "it is not the case that ..."); groups open with
either, both, all of or neither. What the grammar does not know, and what can be read in two ways, raises FormulaError
at the word: read right, or refused. Where there are two honest readings the message shows both.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, NoReturn

from salva.logic.english_words import (
    DENIALS,
    ENDINGS,
    GROUPS,
    JOINTS,
    NOT_THE_CASE,
    PICTURES,
    PLACES,
    RELATIONS,
    WHICH,
    tokens_of,
)
from salva.logic.formula import (
    MAX_COUNT,
    MAX_DEPTH,
    And,
    Atom,
    Formula,
    Not,
    Or,
    Related,
    axis_of,
    conjunction,
    depth,
    disjunction,
    entity_problem,
)
from salva.logic.notation import error_at, to_notation
from salva.logic.words import (
    COLOURS,
    GRAMMAR_WORDS,
    can_be_several,
    counts_in_pairs,
    is_plural_noun,
    number_of,
    singular,
    unsayable,
)


class _Phrase(NamedTuple):
    """What was read, and how it ends: a place or relation at the end of a list may belong to all of it."""

    formula: Formula
    ending: str = ""


@lru_cache(maxsize=4096)
def read(text: str) -> Formula:
    """The formula of a sentence, or of several."""
    return _Reader(text).formula()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self.at = 0
        endings = (self._ending_at(i) for i in range(len(self.tokens)))
        places = (PLACES.get(words) for words in endings)
        self.middle_axes = {axis_of(place) for place in places if place and place != "middle"}

    def formula(self) -> Formula:
        sentences = [self._sentence()]
        while self._take(".") and self._word():
            sentences.append(self._sentence())
        if self._word():
            self._fail(f"expected the end of the sentence, got {self._word()!r}")
        built = conjunction(sentences)
        if depth(built) > MAX_DEPTH:
            self._fail(f"the sentence nests deeper than {MAX_DEPTH} levels; simplify it")
        return built

    def _sentence(self) -> Formula:
        """Clauses in a list; the first may do without "there is"."""
        self._pass_picture()
        denied_at = self.at if any(self._is_at(words, self.at) for words in DENIALS) else -1
        parts = [self._clause(0) if self._is_clause(self.at) else self._phrases()]
        joined = ""
        while self._goes_on_with_clause():
            joined = self._joined_by(joined)
            if denied_at >= 0:
                self._refuse_open_denial(parts[0], joined)
            denied_at = self.at if any(self._is_at(words, self.at) for words in DENIALS) else -1
            parts.append(self._clause(0))
        return self._whole(parts, joined)

    def _pass_picture(self) -> None:
        """ "A photo of a cat" shows a cat."""
        start = self.at
        is_named = (self._take("a") or self._take("an") or self._take("the") or True) and self._word() in PICTURES
        self.at += is_named
        if not (is_named and self._take("of")):
            self.at = start

    def _phrases(self) -> Formula:
        """Noun phrases in a list without an opening word."""
        phrases = [self._phrase(0)]
        joined = ""
        while self._joint_at(self.at) and not self._goes_on_with_clause():
            joined = self._joined_by(joined)
            phrases.append(self._phrase(0))
        self._refuse_open_ending(phrases, joined)
        return self._said_of(self._whole([phrase.formula for phrase in phrases], joined), phrases)

    def _said_of(self, f: Formula, phrases: list[_Phrase]) -> Formula:
        """ "A cat is on the left": what is said of a single thing that was named first."""
        if self._word() not in ("is", "are"):
            return f
        if len(phrases) > 1 or not isinstance(f, Atom) or phrases[0].ending:
            self._fail("say it in one phrase, such as there is a cat on the left")
        self.at += 1
        return self._ended(f.entity, f.count, f.colour, self.at).formula

    def _goes_on_with_clause(self) -> bool:
        i = self.at
        while step := self._joint_at(i):
            i += step
        return i > self.at and self._is_clause(i)

    def _joint_at(self, i: int) -> int:
        """How many words join a list here."""
        if self._is_at(",", i):
            return 1
        return next((len(words.split()) for words in JOINTS if self._is_at(words, i)), 0)

    def _joined_by(self, before: str) -> str:
        """Pass a comma, a connective or both; the connective of the list so far."""
        is_comma = self._take(",")
        words = next((words for words in JOINTS if self._is_at(words, self.at)), "")
        if words:
            if before not in ("", ",", JOINTS[words]):
                self._fail("and with or can be read in two ways; say either ... or ..., both ... and ...")
            self._take(words)
            return JOINTS[words]
        if not is_comma or before in ("and", "or"):
            self._fail(f"expected and or or, got {self._word() or 'the end'!r}")
        return ","

    def _whole(self, parts: list[Formula], joined: str) -> Formula:
        if joined == ",":
            self._fail("the list has no and or or before its last part")
        return disjunction(parts) if joined == "or" else conjunction(parts)

    def _is_clause(self, i: int) -> bool:
        for words, _ in GROUPS:
            if self._is_at(words, i):
                return self._is_clause(i + len(words.split()))
        return self._is_at("there", i) or any(self._is_at(words, i) for words in DENIALS)

    def _clause(self, nesting: int) -> Formula:
        self._check(nesting)
        for words in DENIALS:
            if self._take(words):
                return Not(self._clause(nesting + 1))
        for words, connective in GROUPS:
            if self._take(words):
                return self._group(connective, nesting, is_clause=True).formula
        if not self._take("there"):
            self._fail(f"expected there is, got {self._word() or 'the end'!r}")
        if not (self._take("is") or self._take("are")):
            self._fail(f"expected is or are, got {self._word() or 'the end'!r}")
        if self._take("not"):
            return self._denied(nesting)
        return self._phrase(nesting).formula if nesting else self._phrases()

    def _denied(self, nesting: int) -> Formula:
        part = self._phrase(nesting + 1).formula
        if self._joint_at(self.at) and not self._goes_on_with_clause():
            self._fail(f"it is open how far the not reaches; say: {NOT_THE_CASE} there is both ... and ...")
        return Not(part)

    def _group(self, connective: str, nesting: int, is_clause: bool) -> _Phrase:
        def member() -> _Phrase:
            return _Phrase(self._clause(nesting + 1)) if is_clause else self._phrase(nesting + 1)

        parts = [member()]
        while self._take(","):
            if self._word() == connective:
                break
            parts.append(member())
        if not self._take(connective):
            self._fail(f"expected {connective!r} in this group, got {self._word() or 'the end'!r}")
        parts.append(member())
        while connective == "nor" and self._take("nor"):
            parts.append(member())
        self._refuse_open_ending(parts, connective)
        formulas = [part.formula for part in parts]
        if connective == "nor":
            return _Phrase(conjunction([Not(formula) for formula in formulas]))
        return _Phrase(disjunction(formulas) if connective == "or" else conjunction(formulas))

    def _phrase(self, nesting: int) -> _Phrase:
        self._check(nesting)
        for words, connective in GROUPS:
            if self._take(words):
                return self._group(connective, nesting, is_clause=False)
        if self._take("no"):
            return self._not(self._things(1, is_plural=None))
        if self._take("fewer than") or self._take("less than"):
            return self._not(self._things(self._number()))
        if self._take("at most"):
            return self._not(self._things(self._number(), step=1))
        if self._take("exactly") or self._take("only"):
            exact, at = self._things(n := self._number()), self.at
            assert isinstance(exact.formula, Atom | Related)
            if isinstance(exact.formula, Related):
                self.at = at
                self._fail("a number of things that stand in a relation cannot be said in a formula")
            return exact._replace(formula=And(exact.formula, Not(self._more(exact.formula, n + 1))))
        if self._take("at least"):
            return self._open_upwards(self._things(self._number()))
        if self._take("more than"):
            return self._open_upwards(self._things(self._number(), step=1))
        if self._take("a couple of"):
            return self._things(2)
        if self._take("half a dozen"):
            return self._things(6)
        if self._take("a dozen"):
            return self._things(12)
        if self._take("a") or self._take("an"):
            return self._things(1, is_plural=False)
        return self._things(self._number())

    def _not(self, phrase: _Phrase) -> _Phrase:
        return phrase._replace(formula=Not(phrase.formula))

    def _open_upwards(self, phrase: _Phrase) -> _Phrase:
        """At least so many: the largest number mentioned caps what is right, so it is mentioned as no bound."""
        if not isinstance(phrase.formula, Atom):
            self._fail("a number of things that stand in a relation cannot be said in a formula")
        return phrase._replace(formula=Or(phrase.formula, self._more(phrase.formula, MAX_COUNT)))

    def _more(self, atom: Atom, n: int) -> Atom:
        if n > MAX_COUNT:
            self._fail(f"a count must be from 1 to {MAX_COUNT}, got {n}")
        return Atom(atom.entity, n, atom.colour, atom.place)

    def _things(self, n: int, *, is_plural: bool | None = True, step: int = 0) -> _Phrase:
        """The noun after a number; is_plural None takes either form. step: added to the number."""
        start = self.at
        is_pair = self._take("pair of") or self._take("pairs of")
        plural = None if is_pair else n > 1 if is_plural else is_plural
        if self._is_lone_colour():
            return self._shared_noun(n + step, start)
        colour, entity = self._noun(plural)
        if is_pair and not counts_in_pairs(entity):
            n = 2 * n
        return self._ended(entity, n + step, colour, start)

    def _is_lone_colour(self) -> bool:
        """ "A red and a blue ball": the noun comes with the second colour."""
        step = self._joint_at(self.at + 1)
        return self._word() in COLOURS and bool(step)

    def _shared_noun(self, n: int, start: int) -> _Phrase:
        colour = self._word()
        here = self.at
        self.at += 1 + self._joint_at(self.at + 1)
        article = self._word() in ("a", "an") or number_of(self._word()) is not None
        m = 1 if self._word() in ("a", "an") else number_of(self._word()) or 1
        self.at += article
        if article and self._word() in COLOURS and not self._joint_at(self.at + 1):
            other, entity = self._noun(m > 1)
            if other is not None:
                if colour == "orange":
                    self.at = here
                    first = Atom("orange", n)
                    self._two_readings(
                        And(first, Atom(entity, m, other)), And(Atom(entity, n, colour), Atom(entity, m, other))
                    )
                self.at = here + 1
                return self._ended(entity, n, colour, start)
        self.at = here
        if colour != "orange":
            self._fail(f"{colour} what? name the thing after its colour, such as a {colour} ball")
        return self._ended(self._noun(n > 1)[1], n, None, start)

    def _ended(self, entity: str, n: int, colour: str | None, start: int) -> _Phrase:
        if any(self._take(words) for words in WHICH):
            if self._word() in COLOURS and colour is None:
                colour = self._word()
                self.at += 1
                return _Phrase(self._atom(entity, n, colour, None))
            if not self._ending_at(self.at):
                self._fail(f"expected a colour or a place, got {self._word() or 'the end'!r}")
        words = self._ending_at(self.at)
        place, relation = self._ending()
        if not relation:
            return _Phrase(self._atom(entity, n, colour, place), words)
        if n > 1 or colour:
            self.at = start
            self._fail(f"relations hold between single entities without a colour, such as a {entity}")
        if not (self._take("a") or self._take("an") or self._take("the") or self._take("one")):
            self._fail(f"expected a or an, got {self._word() or 'the end'!r}")
        second_at = self.at
        self._take("pair of")
        second_colour, second = self._noun(is_plural=False)
        if second_colour or second == entity:
            self.at = second_at
            self._fail("relations need a second, different entity without a colour")
        return _Phrase(Related(relation, entity, second), words)

    def _atom(self, entity: str, n: int, colour: str | None, place: str | None) -> Atom:
        if n > MAX_COUNT:
            self._fail(f"a count must be from 1 to {MAX_COUNT}, got {n}")
        return Atom(entity, n, colour, place)

    def _number(self) -> int:
        n = number_of(self._word())
        if n is None:
            self._fail(f"expected a, an, no or a number, got {self._word() or 'the end'!r}")
        self.at += 1
        if self._word() == "dozen":
            self.at += 1
            n *= 12
        if self._word() in ("hundred", "thousand", "million", "billion") or n > MAX_COUNT:
            self.at -= 1
            self._fail(f"a count must be from 1 to {MAX_COUNT}")
        return n

    def _noun(self, is_plural: bool | None) -> tuple[str | None, str]:
        start = self.at
        while self._word()[:1].isalpha() and self._word() not in GRAMMAR_WORDS and not self._ending_at(self.at):
            self.at += 1
        words = [token.text for token in self.tokens[start : self.at]]
        if not words:
            self._fail(f"expected an entity such as cat, got {self._word() or 'the end'!r}")
        colour = words.pop(0) if len(words) > 1 and words[0] in COLOURS else None
        problem: str | None = unsayable(words)
        if not problem and is_plural is False and is_plural_noun(words[-1]):
            problem = f"expected one thing after a or an, got {words[-1]!r}"
        if not problem and is_plural and not can_be_several(words[-1]):
            problem = f"expected several things after a number, got {words[-1]!r}"
        is_several = is_plural_noun(words[-1]) if is_plural is None else is_plural
        entity = singular(" ".join(words)) if is_several else " ".join(words)
        problem = problem or entity_problem(entity)
        if problem:
            self.at = start
            self._fail(problem)
        return colour, entity

    def _ending(self) -> tuple[str | None, str | None]:
        """The place or the relation that follows a noun."""
        words = self._ending_at(self.at)
        place = PLACES.get(words)
        if place == "middle":
            if len(self.middle_axes) != 1:
                self._fail("the axis of the middle is open; say in the horizontal middle or in the vertical middle")
            place = f"{next(iter(self.middle_axes))}-middle"
        if words:
            self._take(words)
        return place, RELATIONS.get(words)

    def _ending_at(self, i: int) -> str:
        return next((words for words in ENDINGS if self._is_at(words, i)), "")

    def _refuse_open_ending(self, phrases: list[_Phrase], joined: str) -> None:
        """What ends a list may be said of its last thing or of all: "a lion and a bear on the left"."""
        *others, last = phrases
        if not others or not last.ending or any(phrase.ending for phrase in others):
            return
        of_last = last.formula.part if isinstance(last.formula, Not) else last.formula
        if isinstance(of_last, Atom) and all(isinstance(f, Atom | Not) for f, _ in others):
            spread = [_placed(f, of_last.place) for f, _ in others]
            parts = [f for f, _ in others]
            join = disjunction if joined == "or" else conjunction
            self._two_readings(join([*parts, last.formula]), join([*spread, last.formula]))
        self._fail(f"it is open whether {last.ending!r} is said of the last thing or of all; say it of each")

    def _refuse_open_denial(self, first: Formula, joined: str) -> None:
        start = self.at
        second = self._clause(0)
        assert isinstance(first, Not)
        join = And if joined == "and" else Or
        self.at = start
        self._two_readings(join(first, second), Not(join(first.part, second)))

    def _two_readings(self, one: Formula, other: Formula) -> NoReturn:
        self._fail(f"it can be read as {to_notation(one)} or as {to_notation(other)}; say which")

    def _check(self, nesting: int) -> None:
        if nesting > MAX_DEPTH:
            self._fail(f"the sentence nests deeper than {MAX_DEPTH} levels; simplify it")

    def _word(self) -> str:
        return self.tokens[self.at].text

    def _is_at(self, words: str, i: int) -> bool:
        wanted = words.split(" ")
        return [token.text for token in self.tokens[i : i + len(wanted)]] == wanted

    def _take(self, words: str) -> bool:
        if not self._is_at(words, self.at):
            return False
        self.at += len(words.split(" "))
        return True

    def _fail(self, problem: str) -> NoReturn:
        raise error_at(problem, self.text, self.tokens[min(self.at, len(self.tokens) - 1)].start)


def _placed(f: Formula, place: str | None) -> Formula:
    """The same with every thing at a place."""
    if isinstance(f, Not):
        return Not(_placed(f.part, place))
    assert isinstance(f, Atom)
    return Atom(f.entity, f.count, f.colour, f.place or place)
