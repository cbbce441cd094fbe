"""Questions about an image, made from the formulas of its prompts, and what the formulas answer to them.

Formulas come in, English questions go out: every atom as a yes or no, every entity as a number, and for
what a formula settles also something it rules out, so that nobody does well by always saying yes. Each choice
carries the formula that makes it right. Knows nothing of images or of who answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from salva.english.nouns import plural
from salva.english.words import described, in_relation, number_word
from salva.logic.entailment import entails, is_true
from salva.logic.formula import (
    COLOURS,
    MAX_COUNT,
    Atom,
    Formula,
    Literal,
    Not,
    Related,
    atoms,
    entities,
    largest_counts,
)
from salva.logic.notation import parse, to_notation
from salva.logic.order import canonical

YES, NO = "yes", "no"
PRESENCE, COUNT, COLOUR, PLACE, SIZE, RELATION = "presence", "count", "colour", "place", "size", "relation"
KINDS = (PRESENCE, COUNT, COLOUR, PLACE, SIZE, RELATION)

_PLACE_WORDS = {
    "left": "on the left",
    "x-middle": "in the middle, from left to right,",
    "right": "on the right",
    "top": "at the top",
    "y-middle": "in the middle, from top to bottom,",
    "bottom": "at the bottom",
}
_SIZES = ("larger_than", "smaller_than")
# The ways round that exclude each other; of the rest (next to, on) both or neither may be so.
_REVERSIBLE = ("left_of", "right_of", "above", "below", *_SIZES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedQuestion:
    """One question, its choices and what each of them means."""

    text: str
    kind: str
    """presence, count, colour, place, size or relation; what questions from files are about is theirs to say."""
    choices: tuple[str, ...]
    """The answers allowed; empty for any."""
    formulas: tuple[str, ...] = ()
    """For each choice the formula that makes it right; empty where none is known."""
    literal: str = ""
    """The atom or relation that "yes" asserts, in one form for all ways to put it; empty for other questions."""
    parents: tuple[str, ...] = ()
    """Questions, by their text, that must be answered with yes for this one to mean anything."""


@lru_cache(maxsize=4096)
def questions_about(notations: tuple[str, ...], counts: str = "exact") -> tuple[ClosedQuestion, ...]:
    """What to ask about an image of prompts with these formulas; the same list for all of them, parents first."""
    formulas = [parse(notation) for notation in notations]
    found: dict[str, ClosedQuestion] = {}
    names = dict.fromkeys(entity for f in formulas for entity in entities(f))
    for entity in names:
        _add(found, _is_it_so(Atom(entity)))
    for entity in names:
        _add(found, _how_many(entity, max(largest_counts(f).get(entity, 0) for f in formulas)))
    for f in formulas:
        for literal in atoms(f):
            _add(found, _is_it_so(literal))
    for f in formulas:
        for literal in atoms(f):
            if entails(f, literal, counts):
                for other in _ruled_out(f, literal, counts):
                    _add(found, _is_it_so(other))
    for notation, f in zip(notations, formulas, strict=True):
        answers = {expected_answer(question, notation, counts) for question in found.values()}
        # Where every yes-or-no question has the answer yes, saying yes would be enough.
        if YES in answers and NO not in answers and counts == "exact":
            entity = entities(f)[0]
            _add(found, _is_it_so(Atom(entity, largest_counts(f)[entity] + 1)))
    return tuple(found.values())


@lru_cache(maxsize=16384)
def expected_answer(question: ClosedQuestion, notation: str, counts: str = "exact") -> str | None:
    """The answer every right image of this formula gives; None where right images differ."""
    f = parse(notation)
    right = (
        choice
        for choice, meaning in zip(question.choices, question.formulas, strict=False)
        if entails(f, parse(meaning), counts)
    )
    return next(right, None)


def is_satisfied(
    notation: str, questions: Sequence[ClosedQuestion], answers: Mapping[str, str], counts: str = "exact"
) -> bool:
    """Whether answers (question text to choice) describe an image that is right for the formula."""
    f = parse(notation)
    said = {q.literal: answers.get(q.text, NO) == YES for q in questions if q.literal}
    if counts == "exact":
        counting = (question for question in questions if question.kind == COUNT and question.formulas)
        if any(_exceeds(question, answers, largest_counts(f)) for question in counting):
            return False
    return is_true(f, lambda literal: said.get(_key(literal), False))


def _exceeds(question: ClosedQuestion, answers: Mapping[str, str], most: Mapping[str, int]) -> bool:
    """Whether the answer to "how many" is more than the formula allows."""
    answer = answers.get(question.text)
    if question.literal or answer not in question.choices:
        return False
    (entity,) = entities(parse(question.formulas[-1]))
    return entity in most and question.choices.index(answer) > most[entity]


def _add(found: dict[str, ClosedQuestion], question: ClosedQuestion) -> None:
    """Add a question unless the same one is there: left of the dog is right of the cat from the other side."""
    found.setdefault(question.literal or question.text, question)


def _is_it_so(literal: Literal) -> ClosedQuestion:
    """The yes-or-no question for an atom or a relation; asked by itself, a place is a half of the image."""
    if isinstance(literal, Related):
        text = f"{'Are' if literal.first_side.count > 1 else 'Is'} there {in_relation(literal)} in the picture?"
        kind = SIZE if literal.relation in _SIZES else RELATION
        parents = tuple(_about_atom(side)[0] for side in literal.sides())
    else:
        text, kind = _about_atom(literal)
        is_plain = literal == Atom(literal.entity)
        parents = () if is_plain else (_about_atom(Atom(literal.entity))[0],)
    return ClosedQuestion(
        text=text,
        kind=kind,
        choices=(YES, NO),
        formulas=(to_notation(literal), to_notation(Not(literal))),
        literal=_key(literal),
        parents=parents,
    )


def _key(literal: Literal) -> str:
    return to_notation(canonical(literal) if isinstance(literal, Related) else literal)


def _about_atom(atom: Atom) -> tuple[str, str]:
    where = f" {_PLACE_WORDS[atom.place]} of the picture" if atom.place else " in the picture"
    kind = PLACE if atom.place else COLOUR if atom.colour else COUNT if atom.count > 1 else PRESENCE
    return f"{'Are there at least' if atom.count > 1 else 'Is there'} {described(atom)}{where}?", kind


def _how_many(entity: str, most: int) -> ClosedQuestion:
    numbers = range(1, min(most, MAX_COUNT - 1) + 1)
    last = numbers[-1] if numbers else 0
    return ClosedQuestion(
        text=f"How many {plural(entity)} are in the picture?",
        kind=COUNT,
        choices=("none", *(number_word(n) for n in numbers), f"more than {number_word(last) if last else 'none'}"),
        formulas=(
            f"!{entity}",
            *(f"{_numbered(entity, n)} & !{_numbered(entity, n + 1)}" for n in numbers),
            _numbered(entity, last + 1),
        ),
    )


def _numbered(entity: str, n: int) -> str:
    return to_notation(Atom(entity, n))


def _ruled_out(f: Formula, literal: Literal, counts: str) -> Iterator[Literal]:
    """What cannot be so as well: another colour of the entity, the relation the other way round."""
    if isinstance(literal, Related):
        turned = literal.turned(literal.relation)
        if literal.relation in _REVERSIBLE and entails(f, Not(turned), counts):
            yield turned
    elif literal.colour is not None:
        start = COLOURS.index(literal.colour) + 1
        for colour in (*COLOURS[start:], *COLOURS[:start]):
            other = Atom(literal.entity, colour=colour)
            if other not in atoms(f) and entails(f, Not(other), counts):
                yield other
                return
