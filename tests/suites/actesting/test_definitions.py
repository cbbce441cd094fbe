"""The three definitions: every cell of the documented fault table, and 10,000 random images reckoned twice."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from suites.actesting.pictures import FAULTS, MUTATIONS, SEED, picture, pictures, pool, triple
from suites.actesting.slow_definitions import Change, Plain, slow_paper, slow_released

from salva.core.image import ImageRef
from salva.core.mutation import Mutation, Pool, Triple
from salva.core.observation import Detection, Detections, SeenRelation
from salva.core.protocols import ImageObservations
from salva.suites.actesting.definitions import (
    DEFINITIONS,
    EXTRA,
    KEPT_DROPPED,
    NEW_MISSING,
    NEW_RELATION_MISSING,
    OLD_STAYS,
    OPERATORS,
    RELATION_BROKEN,
    SEED_LACKS,
    Errors,
    expected,
    paper,
    released,
    swapped,
)
from salva.suites.actesting.observing import ImageReading, MutationOptions, boxes_query, see

_PAGE = Path(__file__).parents[3] / "docs/explanation/actesting-definitions.md"


def _cell(errors: Errors) -> str:
    words = [word for word, is_wrong in zip(("entities", "relations"), errors, strict=True) if is_wrong]
    if len(words) == 2:
        return "both"
    return words[0] if words else ("undecided" if None in errors else "passes")


def _documented() -> dict[tuple[str, str], tuple[str, ...]]:
    """The page's cells by operator and fault: a table for each definition, with faults as rows."""
    cells: dict[tuple[str, str, str], str] = {}
    for line in _PAGE.read_text(encoding="utf-8").splitlines():
        first, *others = [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
        if others == list(OPERATORS):
            definition = first
        elif first in FAULTS:
            cells |= {(operator, first, definition): cell for operator, cell in zip(OPERATORS, others, strict=True)}
    return {
        (operator, fault): tuple(cells[operator, fault, name] for name in ("expected", "paper", "released"))
        for operator, fault, _ in cells
    }


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("fault", FAULTS)
def test_every_cell_of_the_fault_table_is_as_documented(operator: str, fault: str) -> None:
    painted = pictures(operator, fault)
    told: tuple[str, ...] = ("cannot be",) * 3
    if painted is not None:
        mutation = MUTATIONS[operator]
        errors = expected(mutation, *painted).errors, paper(mutation, *painted), released(mutation, *painted)
        told = tuple(map(_cell, errors))
    assert _documented()[operator, fault] == told


def test_expected_finds_every_fault_and_no_more() -> None:
    table = _documented()
    assert len(table) == len(OPERATORS) * len(FAULTS)
    for (_, fault), (ours, _, _) in table.items():
        if ours == "cannot be":
            continue
        assert (ours == "passes") == (fault == "none")
        if "blank" not in fault:
            assert ours.startswith("relations") == (fault == "relation broken")


@pytest.mark.parametrize(
    ("operator", "fault", "kinds"),
    [
        ("ec", "kept entity dropped", {KEPT_DROPPED, NEW_RELATION_MISSING, RELATION_BROKEN}),
        ("ec", "new one missing", {NEW_MISSING, NEW_RELATION_MISSING}),
        ("ec", "old one stays", {OLD_STAYS}),
        ("er-r", "old one stays", {OLD_STAYS}),
        ("er-a", "new one missing", {NEW_MISSING, NEW_RELATION_MISSING}),
        ("ss", "extra one", {EXTRA}),
        ("ss", "relation broken", {RELATION_BROKEN}),
        ("ss", "blank seed", {SEED_LACKS, RELATION_BROKEN}),
    ],
)
def test_a_fault_is_called_by_its_name(operator: str, fault: str, kinds: set[str]) -> None:
    painted = pictures(operator, fault)
    assert painted is not None
    assert {departure.kind for departure in expected(MUTATIONS[operator], *painted).departures} == kinds


def test_a_pass_in_which_nothing_is_shown_is_undecided_and_says_so() -> None:
    painted = pictures("ss", "both blank")
    assert painted is not None
    found = expected(MUTATIONS["ss"], *painted)
    assert found.errors == Errors(None, None)
    assert found.empty


def test_a_triple_taken_away_between_things_that_stay_may_stay_too() -> None:
    mutation = Mutation(operator="er-r", seed=SEED, mutant=pool("dog bed cat ball", "dog on bed", "ball under bed"))
    both = picture(mutation, SEED.entities, SEED.triples)
    gone = picture(mutation, SEED.entities, mutation.mutant.triples)
    assert expected(mutation, both, both).errors == expected(mutation, both, gone).errors == Errors(False, False)


def test_tolerance_lets_so_many_differ() -> None:
    painted = pictures("ss", "kept entity dropped")
    assert painted is not None
    mutation = MUTATIONS["ss"]
    assert paper(mutation, *painted, tolerance=1).entity is False
    assert expected(mutation, *painted, tolerance=1).errors.entity is False
    assert expected(mutation, *painted, tolerance=2).errors.relation is True, "bed stands in all three checks"
    assert expected(mutation, *painted, tolerance=3).errors == Errors(False, False)


@pytest.mark.parametrize("fault", ["old one stays", "extra one"])
def test_a_name_that_breaks_both_halves_of_an_equation_differs_once(fault: str) -> None:
    painted = pictures("ec", fault)
    assert painted is not None
    assert [paper(MUTATIONS["ec"], *painted, tolerance=n).entity for n in (0, 1)] == [True, False]


def test_what_is_in_doubt_or_untold_leaves_only_what_rests_on_it_open() -> None:
    painted = pictures("ec", "old one stays")
    assert painted is not None
    seed, mutant = painted
    mutation = MUTATIONS["ec"]
    assert expected(mutation, seed, replace(mutant, doubtful=frozenset(["dog"]))).errors == Errors(None, False)
    assert expected(mutation, seed, replace(mutant, doubtful=frozenset(["cat"]))).errors == Errors(True, False)
    untold = replace(mutant, triples={**mutant.triples, triple("cat near bed"): None})
    assert expected(mutation, seed, untold).errors == Errors(True, None)
    broken = replace(untold, triples={**untold.triples, triple("horse on bed"): False})
    assert expected(mutation, seed, broken).errors == Errors(True, True)


def test_only_what_captions_name_is_looked_at_where_that_is_asked() -> None:
    painted = pictures("er-a", "extra one")
    assert painted is not None
    assert expected(MUTATIONS["er-a"], *painted, mentioned_only=True).errors == Errors(False, False)


@pytest.mark.parametrize("operator", OPERATORS)
def test_what_was_changed_for_what_is_told_from_the_triples(operator: str) -> None:
    is_swap = operator.startswith("ec")
    assert swapped(MUTATIONS[operator]) == (
        (frozenset(["dog"]), frozenset(["horse"])) if is_swap else (frozenset(),) * 2
    )


# Ten thousand random images

_NAMES = ("dog", "cat", "bed", "ball", "tree", "lamp", "man", "hat")
_PREDICATES = ("on", "near", "with", "holding", "wearing")
_THRESHOLD, _TOP = 0.4, 20


def _random_change(rng: random.Random) -> tuple[Mutation, Change]:
    """A caption of two or three triples and what an operator makes of it."""
    names = rng.sample(_NAMES, 8)
    things, others = names[:5], names[5:]
    pairs = [(things[0], things[1]), (things[2], things[1]), (things[3], things[4])][: rng.choice((2, 3))]
    said = [Triple(subject=s, predicate=rng.choice(_PREDICATES), object=o) for s, o in pairs]
    operator = rng.choice(OPERATORS)
    now, change = list(said), Change(operator)
    parts = operator.split("+")
    if "ec" in parts:
        change.old, change.new = things[0], others[0]
        now[0] = now[0]._replace(subject=others[0])
    if "er-r" in parts:
        lost = now.pop()
        mentioned = {x for t in now for x in (t.subject, t.object)}
        # The published files name one removed class, so of two only the first is told to the program.
        change.lost = next((x for x in (lost.subject, lost.object) if x not in mentioned), "")
        change.lost_triples = ((lost.subject, lost.predicate, lost.object),)
    if "er-a" in parts:
        gained = Triple(subject=others[1], predicate=rng.choice(_PREDICATES), object=things[1])
        now.append(gained)
        change.gained, change.gained_predicate = gained.subject, gained.predicate
    before, after = _pool(said), _pool(now)
    change.classes = after.entities
    return Mutation(operator=operator, seed=before, mutant=after), change


def _pool(triples: list[Triple]) -> Pool:
    return Pool(
        entities=tuple(dict.fromkeys(x for t in triples for x in (t.subject, t.object))), triples=tuple(triples)
    )


def _random_picture(rng: random.Random, wanted: Pool) -> Plain:
    """Mostly what was asked for, so that every rule passes often enough; anything else besides."""
    labels = [name for name in wanted.entities if rng.random() < 0.95] + rng.choices(
        _NAMES, k=rng.choice((0, 0, 0, 3, 22))
    )
    boxes = sorted(((name, rng.choice((0.3, 0.6, 0.9, 0.95))) for name in labels), key=lambda box: -box[1])
    places = {name: i for i, (name, _) in enumerate(boxes)}
    checks = [
        (places[t.subject], t.predicate, places[t.object])
        for t in wanted.triples
        if {t.subject, t.object} <= places.keys() and rng.random() < 0.95
    ]
    for _ in range(rng.choice((0, 0, 0, 2, 25)) if boxes else 0):
        checks.append((rng.randrange(len(boxes)), rng.choice(_PREDICATES), rng.randrange(len(boxes))))
    return Plain(boxes, checks)


def _seen(plain: Plain, mutation: Mutation) -> ImageReading:
    n = max(1, len(plain.boxes))
    boxes = tuple(
        Detection(label=name, score=score, box=(i / n, 0.0, (i + 1) / n, 1.0))
        for i, (name, score) in enumerate(plain.boxes)
    )
    relations = tuple(SeenRelation(subject=s, predicate=p, object=o, score=0.5) for s, p, o in plain.relations)
    seen = Detections(boxes=boxes, floor=0.1, threshold=_THRESHOLD, relations=relations)
    sight = ImageObservations(image=ImageRef(image_id="x", width=1, height=1), seen={boxes_query(mutation): seen})
    look = see(mutation, sight, MutationOptions())
    assert isinstance(look, ImageReading)
    return look


def test_paper_and_released_agree_with_a_second_reckoning_on_ten_thousand_random_pictures() -> None:
    rng = random.Random(15)
    outcomes: dict[tuple[str, str, str], set[bool]] = {}
    for _ in range(10_000):
        mutation, change = _random_change(rng)
        seed, mutant = _random_picture(rng, mutation.seed), _random_picture(rng, mutation.mutant)
        looks = [_seen(plain, mutation).image for plain in (seed, mutant)]
        by_paper, by_program = paper(mutation, *looks), released(mutation, *looks)
        assert by_paper == slow_paper(change, seed, mutant, _THRESHOLD, _TOP), (mutation, seed, mutant)
        if len(mutation.removed_entities) <= 1 + ("ec" in mutation.operator):
            assert by_program == slow_released(change, seed, mutant), (mutation, seed, mutant)
        for name, errors in zip(DEFINITIONS[1:], (by_paper, by_program), strict=True):
            for kind, is_wrong in zip(("things", "relations"), errors, strict=True):
                assert is_wrong is not None
                outcomes.setdefault((mutation.operator, name, kind), set()).add(is_wrong)
    assert len(outcomes) == len(OPERATORS) * 4
    assert all(seen == {True, False} for seen in outcomes.values()), "a rule that only ever says one thing is untested"
