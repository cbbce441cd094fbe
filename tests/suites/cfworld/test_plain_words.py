"""Stems that tell what a text is about."""

from __future__ import annotations

import pytest

from salva.suites.cfworld.plain_words import likeness, stem, telling


@pytest.mark.parametrize(
    ("one", "other"),
    [("marble", "marbles"), ("marble", "marble's"), ("drop", "dropped"), ("float", "floating"), ("bounce", "bounces")],
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_small_words_tell_nothing_and_the_first_form_seen_is_kept() -> None:
    assert telling("The marbles and a marble are on the table.") == {stem("marbles"): "marbles", stem("table"): "table"}


def test_likeness_runs_from_nothing_to_all() -> None:
    assert likeness(frozenset("ab"), frozenset("cd")) == 0
    assert likeness(frozenset("ab"), frozenset("ab")) == 1
    assert likeness(frozenset("ab"), frozenset("bc")) == pytest.approx(1 / 3)
    assert likeness(frozenset(), frozenset()) == 0
