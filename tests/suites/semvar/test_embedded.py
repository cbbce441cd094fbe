"""The embedded triples: enough of them, decided by the logic core, in words pocket knows, always the same."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from pathlib import Path

import pytest

from salva.english.sentences import from_english
from salva.errors import FormulaError
from salva.generators.painter.drawing import sprite_index
from salva.logic.equivalence import are_equivalent, is_determinate
from salva.logic.formula import Atom, atoms, entities
from salva.logic.notation import parse
from salva.suites.semvar.embedded import PER_CATEGORY, embedded_rows

TRAINING = Path(__file__).parents[3] / "training"


def test_five_categories_of_as_many_different_triples() -> None:
    rows = embedded_rows()
    per_category = Counter(row.categories[0] for row in rows)
    assert per_category.keys() == {"absolute_location", "relative_location", "color", "counting", "size"}
    assert set(per_category.values()) == {PER_CATEGORY}
    assert len({row.texts for row in rows}) == len({row.row_id for row in rows}) == len(rows)


def test_the_paraphrase_means_the_same_and_the_swap_does_not() -> None:
    for row in embedded_rows():
        a, pv, pi = (parse(formula or "") for formula in row.formulas)
        assert are_equivalent(a, pi), row.texts
        assert not are_equivalent(a, pv), row.texts
        assert is_determinate(a), row.texts
        assert is_determinate(pv), row.texts


def test_a_swap_shares_every_word_and_the_paraphrase_is_another_sentence() -> None:
    for row in embedded_rows():
        anchor, swapped, paraphrase = row.texts
        assert len({anchor, swapped, paraphrase}) == 3
        if row.categories != ("counting",):
            assert Counter(anchor.lower().split()) == Counter(swapped.lower().split())


def test_a_sentence_that_the_grammar_reads_means_its_formula() -> None:
    n_read = 0
    for row in embedded_rows():
        for text, formula in zip(row.texts, map(parse, filter(None, row.formulas)), strict=True):
            try:
                read = from_english(text)
            except FormulaError:
                continue
            # The grammar knows no size words and takes "large cat" for the name of an entity.
            if set(entities(read)) == set(entities(formula)):
                n_read += 1
                assert are_equivalent(read, formula), text
    assert n_read > 300


def test_everything_said_can_be_painted() -> None:
    known = sprite_index()["entities"]
    for row in embedded_rows():
        for formula in map(parse, filter(None, row.formulas)):
            assert set(entities(formula)) <= known.keys()
            coloured = {leaf.entity for leaf in atoms(formula) if isinstance(leaf, Atom) and leaf.colour}
            assert all(known[entity]["colourable"] for entity in coloured)


def test_every_word_is_one_that_pocket_was_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TRAINING))
    before = set(sys.modules)
    captions = importlib.import_module("pocket_captions")
    known = set(captions.vocabulary())
    words = {word for row in embedded_rows() for text in row.texts for word in captions.tokenise(text)}
    for name in set(sys.modules) - before:
        del sys.modules[name]
    assert words - known == set()


def test_the_first_triples_never_change() -> None:
    rows = {row.row_id: row for row in embedded_rows()}
    assert rows["absolute_location_1_flower_butterfly"].texts == (
        "A flower on the left and a butterfly on the right",
        "A butterfly on the left and a flower on the right",
        "A butterfly on the right and a flower on the left",
    )
    assert rows["size_43_sheep_cat"].formulas == (
        "larger_than(sheep, cat)",
        "larger_than(cat, sheep)",
        "smaller_than(cat, sheep)",
    )
