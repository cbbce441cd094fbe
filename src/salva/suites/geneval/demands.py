"""What a prompt requires.

A formula holds all that the clauses say, so a case carries it alone: `2 clock & !3 clock` is at least two and fewer
than three. Clauses that no formula can say (two of one entity, one of them placed) are reported so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Literal

import msgspec

from salva.core.case import Case
from salva.core.decoding import converted
from salva.core.fingerprint import Json
from salva.english.nouns import plural
from salva.english.words import article, number_word
from salva.errors import FormulaError, UsageError
from salva.logic.formula import And, Atom, Formula, Not, Related, conjunction
from salva.logic.notation import parse, to_notation
from salva.messages import message
from salva.suites.geneval.published import (
    ABOVE,
    BELOW,
    LEFT,
    OTHER_SIDES,
    RIGHT,
    Clause,
    Colour,
    Demand,
    Position,
)

TAG = "tag"
SINGLE, TWO, COUNT, COLOR, POSITION, COLOR_ATTR = (
    *("single_object", "two_object", "counting", "colors", "position", "color_attr"),
)
TASKS = (SINGLE, TWO, COUNT, COLOR, POSITION, COLOR_ATTR)
_RELATION: Mapping[str, str] = {LEFT: "left_of", RIGHT: "right_of", ABOVE: "above", BELOW: "below"}
_POSITION = {relation: position for position, relation in _RELATION.items()}
_MOST = 98
"""The largest number that a formula can deny as one more."""


def formula_of(demand: Demand, *, in_full: bool = False) -> str:
    """What the clauses say, in notation; UsageError where no formula says it.

    in_full: with an atom for every entity, also for those that a relation names.
    """
    for is_short in (False,) if in_full else (True, False):
        formula = conjunction(_parts(demand, is_short=is_short))
        if _clauses(formula) == (demand.include, demand.exclude):
            return to_notation(formula)
    raise UsageError(message("clauses-not-formula"))


@lru_cache(maxsize=8192)
def demand_of(tag: str, formula: str | None) -> Demand | None:
    """The clauses that a formula says; None where it says more than clauses can."""
    try:
        clauses = _clauses(parse(formula)) if formula else None
    except FormulaError:
        return None
    return None if clauses is None else Demand(tag=tag, include=clauses[0], exclude=clauses[1])


def demands_of(case: Case) -> tuple[Demand, ...] | None:
    """What each prompt of a case asks for; None for a case that is none of GenEval's."""
    if TAG not in case.labels:
        return None
    demands = [demand_of(case.labels[TAG], prompt.formula) for prompt in case.prompts]
    return None if None in demands else tuple(demand for demand in demands if demand is not None)


def _parts(demand: Demand, *, is_short: bool) -> Iterator[Formula]:
    """One part a clause; in short, a relation stands for two plain entities as well."""
    placed = {name for clause in demand.include if clause.position for name in _two(demand, clause)}
    for clause in demand.include:
        is_plain = clause.count == 1 and not clause.colour
        if not (is_short and is_plain and clause.name in placed):
            yield Atom(clause.name, clause.count, clause.colour or None)
        if clause.position:
            yield Related(_RELATION[clause.position], *_two(demand, clause))
    for clause in demand.exclude:
        yield Not(Atom(clause.name, clause.count, clause.colour or None))


def _two(demand: Demand, clause: Clause) -> tuple[str, str]:
    return clause.name, demand.include[clause.target].name


def _clauses(formula: Formula) -> tuple[tuple[Clause, ...], tuple[Clause, ...]] | None:
    include: list[Clause] = []
    exclude: list[Clause] = []
    for part in _conjuncts(formula):
        if isinstance(part, Atom) and part.place is None:
            include.append(Clause(name=part.entity, count=part.count, colour=part.colour or ""))
        elif isinstance(part, Not) and isinstance(part.part, Atom) and part.part.place is None:
            exclude.append(Clause(name=part.part.entity, count=part.part.count, colour=part.part.colour or ""))
        elif not (isinstance(part, Related) and _place(include, part)):
            return None
    return tuple(include), tuple(exclude)


def _place(include: list[Clause], part: Related) -> bool:
    """Give the clause about the first entity its position; whether there is one such clause, after its target, and
    clauses have words for the relation and its sides."""
    if part.relation not in _POSITION or part != Related(part.relation, part.first, part.second):
        return False
    for name in (part.second, part.first):
        if not any(clause.name == name for clause in include):
            include.append(Clause(name=name, count=1))
    first, second = ([i for i, c in enumerate(include) if c.name == name] for name in (part.first, part.second))
    if len(first) > 1 or len(second) > 1 or first[0] < second[0] or include[first[0]].position:
        return False
    include[first[0]] = replace(include[first[0]], position=_POSITION[part.relation], target=second[0])
    return True


def _conjuncts(formula: Formula) -> list[Formula]:
    parts: list[Formula] = []
    stack = [formula]
    while stack:
        node = stack.pop()
        if isinstance(node, And):
            stack += [node.right, node.left]
        else:
            parts.append(node)
    return parts


# English


def text_of(demand: Demand) -> str | None:
    """The prompt in the published words; None for clauses that they have no words for."""
    include = demand.include
    first = include[0]
    if len(include) == 2 and include[1].position and not (first.colour or include[1].colour):
        return f"a photo of {phrase_of(include[1])} {include[1].position} {phrase_of(first)}"
    if any(clause.position for clause in include) or len(include) > 2:
        return None
    return f"a photo of {' and '.join(map(phrase_of, include))}"


def phrase_of(clause: Clause) -> str:
    """An entity with its number or article, and its colour."""
    noun = f"{clause.colour} {clause.name}" if clause.colour else clause.name
    return f"{article(noun)} {noun}" if clause.count == 1 else f"{number_word(clause.count)} {plural(noun)}"


def commuted(demand: Demand) -> Demand | None:
    """The two entities in the other order; None where there are not two, or one is placed."""
    if len(demand.include) != 2 or demand.exclude or any(clause.position for clause in demand.include):
        return None
    return replace(demand, include=demand.include[::-1])


def other_side(demand: Demand) -> Demand | None:
    """The position said of the other entity; None where there is none, or an entity has more than its place."""
    if len(demand.include) != 2 or demand.exclude or not demand.include[1].position:
        return None
    target, placed = demand.include
    turned = replace(target, position=OTHER_SIDES[placed.position], target=0)
    return replace(demand, include=(replace(placed, position="", target=0), turned))


def exchanged(demand: Demand) -> Demand | None:
    """The two entities, each in the other's colour; None where there are not two different ones."""
    if len(demand.include) != 2 or demand.exclude:
        return None
    one, other = demand.include
    if not one.colour or not other.colour or one.colour == other.colour:
        return None
    return replace(demand, include=(replace(one, colour=other.colour), replace(other, colour=one.colour)))


# The metadata


def metadata_of(demand: Demand, prompt: str) -> dict[str, Json]:
    """The object that the published files hold for a prompt, its keys in their order."""
    entry: dict[str, Json] = {TAG: demand.tag, "include": [_entry(clause) for clause in demand.include]}
    if demand.exclude:
        entry["exclude"] = [_entry(clause) for clause in demand.exclude]
    return {**entry, "prompt": prompt}


def _entry(clause: Clause) -> dict[str, Json]:
    entry: dict[str, Json] = {"class": clause.name, "count": clause.count}
    if clause.colour:
        entry["color"] = clause.colour
    if clause.position:
        entry["position"] = [clause.position, clause.target]
    return entry


class _MetadataEntry(msgspec.Struct, frozen=True):
    name: Annotated[str, msgspec.Meta(min_length=1)] = msgspec.field(name="class")
    count: Annotated[int, msgspec.Meta(ge=1, le=_MOST)] = 1
    color: Colour | Literal[""] = ""
    position: tuple[Position, int] | None = None


class _Metadata(msgspec.Struct, frozen=True):
    tag: Annotated[str, msgspec.Meta(min_length=1)]
    include: Annotated[tuple[_MetadataEntry, ...], msgspec.Meta(min_length=1)]
    exclude: tuple[_MetadataEntry, ...] | None = None


def demand_in(metadata: Mapping[str, Json]) -> Demand:
    """The clauses of one metadata object; UsageError says what is wrong with it."""
    read = converted(metadata, _Metadata)
    unwanted = read.exclude or ()
    for number, entry in enumerate(read.include):
        if entry.position and not 0 <= entry.position[1] < number:
            where = f"include[{number}].position"
            raise UsageError(message("entry-invalid", where=where, why="The target must be an earlier entry"))
    if any(entry.color or entry.position for entry in unwanted):
        raise UsageError(message("entry-invalid", where="exclude", why="Only a class and a count are allowed"))
    return Demand(tag=read.tag, include=tuple(map(_clause, read.include)), exclude=tuple(map(_clause, unwanted)))


def _clause(entry: _MetadataEntry) -> Clause:
    position, target = entry.position or ("", 0)
    return Clause(name=entry.name, count=entry.count, colour=entry.color, position=position, target=target)


def names_of(demands: Iterable[Demand]) -> tuple[str, ...]:
    """Every entity that is asked for or unwanted, sorted."""
    return tuple(sorted({clause.name for demand in demands for clause in (*demand.include, *demand.exclude)}))
