"""Hypothesis strategies for formulas and scenes, for every test that quantifies over them."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from salva.core.scene import Scene, Thing
from salva.errors import UsageError
from salva.logic.formula import PLACES, RELATIONS, And, Atom, Formula, Not, Or, Related, Side
from salva.logic.worlds import count_worlds

ENTITIES = ("cat", "dog", "apple", "hot dog", "orange", "sheep", "knife", "scissors")
COLOURS = ("red", "blue")


def atoms_about(
    entities: Sequence[str] = ENTITIES,
    max_count: int = 4,
    colours: Sequence[str] = COLOURS,
    places: Sequence[str] = PLACES,
) -> st.SearchStrategy[Atom]:
    """Atoms about these entities; empty colours or places leave them out."""
    return st.builds(
        Atom,
        entity=st.sampled_from(entities),
        count=st.integers(1, max_count),
        colour=st.sampled_from((None, None, *colours)),
        place=st.sampled_from((None, None, *places)),
    )


def relations_between(entities: Sequence[str] = ENTITIES) -> st.SearchStrategy[Related]:
    """Relations between two different entities."""
    pairs = st.lists(st.sampled_from(entities), min_size=2, max_size=2, unique=True)
    return st.builds(lambda relation, pair: Related(relation, pair[0], pair[1]), st.sampled_from(RELATIONS), pairs)


def described_relations(entities: Sequence[str] = ENTITIES) -> st.SearchStrategy[Related]:
    """Relations whose sides have numbers and colours."""
    sides = st.builds(Side, count=st.integers(1, 2), colour=st.sampled_from((None, *COLOURS)))
    different = st.builds(
        lambda plain, one, other: Related(plain.relation, plain.first, plain.second, one, other),
        *(relations_between(entities), sides, sides),
    )
    of_one_name = st.builds(
        lambda relation, name, n: Related(relation, name, name, Side(n, "red"), Side(1, "blue")),
        *(st.sampled_from(RELATIONS), st.sampled_from(entities), st.integers(1, 2)),
    )
    return different | of_one_name


def combined(leaves: st.SearchStrategy[Formula], max_leaves: int = 6) -> st.SearchStrategy[Formula]:
    """Formulas of these leaves with and, or, not at any depth."""
    return st.recursive(
        leaves,
        lambda parts: st.one_of(st.builds(And, parts, parts), st.builds(Or, parts, parts), st.builds(Not, parts)),
        max_leaves=max_leaves,
    )


def any_formulas(max_leaves: int = 6) -> st.SearchStrategy[Formula]:
    """Formulas of every kind; some are too large to be decided."""
    leaves = st.one_of(atoms_about(), atoms_about(), relations_between(), described_relations())
    return combined(leaves, max_leaves)


def formulas(max_leaves: int = 6) -> st.SearchStrategy[Formula]:
    """Formulas of every kind that are small enough to be decided."""
    return any_formulas(max_leaves).filter(_is_decidable)


def _is_decidable(f: Formula) -> bool:
    try:
        return all(count_worlds(f, counts) >= 0 for counts in ("exact", "at-least"))
    except UsageError:
        return False


def plain_formulas(
    entities: Sequence[str] = ("cat", "dog", "apple"), max_count: int = 2, max_leaves: int = 6
) -> st.SearchStrategy[Formula]:
    """Formulas of counts alone: no colours, places or relations."""
    return combined(atoms_about(entities, max_count, (), ()), max_leaves)


def scenes(entities: Sequence[str] = ("cat", "dog", "apple"), max_things: int = 6) -> st.SearchStrategy[Scene]:
    """Scenes of boxes on a coarse grid, so that equal centres happen."""
    return st.lists(
        st.builds(
            lambda label, x, y, colour: thing_at(label, x / 10, y / 10, colour),
            st.sampled_from(entities),
            st.integers(1, 9),
            st.integers(1, 9),
            st.sampled_from((*COLOURS, "green")),
        ),
        max_size=max_things,
    ).map(lambda things: Scene(things=tuple(things)))


def thing_at(label: str, x: float, y: float = 0.5, colour: str | None = None, side: float = 0.1) -> Thing:
    """A thing with its centre at (x, y)."""
    return Thing(label=label, box=(x - side / 2, y - side / 2, x + side / 2, y + side / 2), colour=colour)
