"""The words of meaning in a prompt, and what it takes to show each."""

from __future__ import annotations

import pytest

from salva.core.case import Prompt
from salva.logic.notation import parse
from salva.suites.semvar.embedded import embedded_rows
from salva.suites.semvar.token_words import meaning_words, token_query


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a dog chasing a cat", ("dog", "chasing", "cat")),
        ("The mother's foot is on the baby's chest.", ("mother's", "foot", "on", "baby's", "chest")),
        ("A boy and a boy", ("boy",)),
        ("It is.", ()),
    ],
)
def test_empty_words_are_left_out(text: str, words: tuple[str, ...]) -> None:
    assert meaning_words(text) == words


@pytest.mark.parametrize(
    ("text", "formula", "meant"),
    [
        ("Two cats and one dog", "2 cat & dog", ("2 cat | 2 dog", "cat", "cat | dog", "dog")),
        (
            "A red car and a blue house",
            "red car & blue house",
            ("red car | red house", "car", "blue car | blue house", "house"),
        ),
        ("A cat above a dog", "above(cat, dog)", ("cat", "above(cat, dog) | above(dog, cat)", "dog")),
        ("A cat at the top", "cat@top", ("cat", "cat@top", "cat@top")),
    ],
)
def test_a_word_is_shown_when_it_is_true_of_any_thing(text: str, formula: str, meant: tuple[str, ...]) -> None:
    query = token_query(Prompt(role="a", text=text, formula=formula))
    assert query.kind == "grade"
    assert query.formulas == meant
    assert len(query.questions) == len(meant)


def test_without_a_formula_only_questions_are_asked() -> None:
    query = token_query(Prompt(role="a", text="a dog chasing a cat"))
    assert query.formulas == ()
    assert "'chasing'" in query.questions[1]


def test_every_embedded_word_has_a_formula_that_parses() -> None:
    for row in embedded_rows():
        for text, formula in zip(row.texts, row.formulas, strict=True):
            query = token_query(Prompt(role="a", text=text, formula=formula))
            assert len(query.formulas) == len(query.questions) > 1
            assert all(parse(one) for one in query.formulas)
