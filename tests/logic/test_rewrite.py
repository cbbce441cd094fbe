from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import given, settings
from strategies import formulas

from salva.errors import UsageError
from salva.logic.equivalence import are_equivalent
from salva.logic.formula import Formula
from salva.logic.laws import LAWS, Law, find_laws
from salva.logic.notation import parse, to_notation
from salva.logic.rewrite import rewrites


def mentions(pattern: str) -> set[str]:
    """The variables of a pattern."""
    return set(pattern) & set("PQR")


def rewritten(notation: str, law: str | None = None) -> list[str]:
    return [to_notation(rewrite.formula) for rewrite in rewrites(parse(notation), law)]


@pytest.mark.parametrize(
    ("notation", "law", "wanted"),
    [
        ("cat & dog", "commutative", ["dog & cat"]),
        ("cat | dog", "commutative-and", []),
        ("cat & dog & cow", "associative", ["cat & (dog & cow)"]),
        ("cat | (dog | cow)", "associative-or", ["cat | dog | cow"]),
        ("cat & (dog | cow)", "distributive", ["cat & dog | cat & cow"]),
        ("cat & dog | cat & cow", "distributive-and", ["cat & (dog | cow)"]),
        ("cat | dog & cow", "distributive-or", ["(cat | dog) & (cat | cow)"]),
        ("!cat", "complement", ["!!!cat"]),
        ("!!cat", "complement", ["!!!!cat", "cat"]),
        ("!(cat & dog)", "de-morgan", ["!cat | !dog"]),
        ("!cat & !dog", "de-morgan-or", ["!(cat | dog)"]),
        ("cat & (cat | dog)", "absorption", ["cat"]),
        ("cow & (cat & dog)", "commutative", ["cat & dog & cow", "cow & (dog & cat)"]),
        ("cat", None, ["!!cat"]),
    ],
)
def test_a_law_applies_where_it_fits(notation: str, law: str | None, wanted: list[str]) -> None:
    assert rewritten(notation, law) == wanted


def test_positions_and_directions_are_told() -> None:
    (rewrite,) = rewrites(parse("cow & !(cat | dog)"), "de-morgan")
    assert rewrite.position == (1,)
    assert rewrite.direction == "forward"
    assert rewrite.law.name == "de-morgan-or"
    (back,) = rewrites(parse("!cat & !dog"), "de-morgan")
    assert back.direction == "backward"


def test_absorption_that_drops_a_larger_number_is_not_offered() -> None:
    assert rewritten("cat & (cat | 3 cat)", "absorption") == []
    assert rewritten("3 cat & (3 cat | cat)", "absorption") == ["3 cat"]


def test_a_pattern_that_names_a_part_twice_wants_it_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("salva.logic.rewrite.are_equivalent", lambda *_: True)
    assert rewritten("cat & (dog | cow)", "absorption") == []
    assert rewritten("(cat & dog) | (cow & dog)", "distributive-and") == []


def test_saying_it_twice_is_only_done_when_asked() -> None:
    assert "cat & cat" not in rewritten("cat")
    assert rewritten("cat", "idempotence-and") == ["cat & cat"]
    assert "cat" in rewritten("cat & cat")


def test_an_unknown_law_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no law named 'comutative'.*Did you mean 'commutative'"):
        list(rewrites(parse("cat"), "comutative"))


def test_laws_have_names_of_their_own_and_stand_by_family() -> None:
    assert len({law.name for law in LAWS}) == len(LAWS)
    families = [family for family, _ in groupby(law.family for law in LAWS)]
    assert len(set(families)) == len(families)
    assert [law.name for law in find_laws("de-morgan")] == ["de-morgan-and", "de-morgan-or"]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_every_law_is_an_equivalence_of_its_own_patterns(law: Law) -> None:
    assert are_equivalent(parse(law.left.lower()), parse(law.right.lower()))


@settings(max_examples=60)
@given(formulas(max_leaves=5))
def test_every_rewrite_keeps_the_worlds(f: Formula) -> None:
    for rewrite in rewrites(f):
        assert rewrite.formula != f
        assert are_equivalent(f, rewrite.formula)


@settings(max_examples=60)
@given(formulas(max_leaves=5))
def test_laws_that_keep_every_mention_are_never_dropped(f: Formula) -> None:
    for law in LAWS:
        if mentions(law.left) != mentions(law.right):
            continue
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("salva.logic.rewrite.are_equivalent", lambda *_: True)
            unproven = list(rewrites(f, law.name))
        assert list(rewrites(f, law.name)) == unproven
