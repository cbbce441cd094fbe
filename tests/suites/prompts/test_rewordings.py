"""Rewordings are proved: whatever the formula, each has its worlds and reads back to them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import formulas

from salva.assets.files import read_asset
from salva.english.sentences import from_english, to_english
from salva.english.words import comparable
from salva.generators.pocket_words import read_words
from salva.logic.equivalence import are_equivalent
from salva.logic.formula import Formula
from salva.logic.laws import find_laws
from salva.logic.notation import parse, to_notation
from salva.logic.rewrite import Rewrite
from salva.suites.prompts.rewordings import rewordings


@given(formulas(), st.integers(min_value=0, max_value=4))
@settings(max_examples=60, deadline=None)
def test_every_rewording_says_the_same_in_other_words(f: Formula, n_wanted: int) -> None:
    text = to_english(f)
    made = rewordings(text, to_notation(f), n_wanted)
    assert len(made) <= n_wanted
    assert len({comparable(one.text) for one in made} | {comparable(text)}) == len(made) + 1
    for one in made:
        assert are_equivalent(parse(one.formula), f)
        assert are_equivalent(from_english(one.text), f)


def test_plain_laws_come_before_double_denials() -> None:
    def laws(text: str, notation: str, n: int = 1) -> list[str]:
        return [one.law for one in rewordings(text, notation, n)]

    assert laws("a cat and a dog", "cat & dog") == ["commutative-and"]
    assert laws("a cat to the left of a dog", "left_of(cat, dog)") == ["converse"]
    assert laws("a cat", "cat") == ["complement"]
    assert laws("a cat and a dog", "cat & dog", 2) == ["commutative-and", "complement"]
    assert (
        rewordings("a cat to the left of a dog", "left_of(cat, dog)", 1)[0].text
        == "There is a dog to the right of a cat"
    )


def test_a_number_is_denied_in_words_that_the_embedded_models_know() -> None:
    (reworded,) = rewordings("two cats", "2 cat", 1)
    assert reworded.text == "It is not the case that there are not two cats"
    assert are_equivalent(from_english(reworded.text), parse("2 cat"))
    card = json.loads(read_asset("pocket/painter.json"))
    assert not {*read_words(reworded.text)} - {*card["words"]}


def test_a_text_that_does_not_name_its_things_is_not_said_again_in_english() -> None:
    assert rewordings("eine Katze und ein Hund", "cat & dog", 1) == []
    assert rewordings("two cats and a dog", "2 cat & dog", 1) != []


def test_what_does_not_say_the_same_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    (law, *_) = find_laws("complement")
    wrong = Rewrite(law=law, position=(), formula=parse("2 cat"), direction="forward")
    monkeypatch.setattr("salva.suites.prompts.rewordings.rewrites", lambda *_: iter([wrong]))
    assert rewordings("a cat", "cat", 3) == []
