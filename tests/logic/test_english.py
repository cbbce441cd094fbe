from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import formulas

from salva.errors import FormulaError
from salva.logic.english import from_english, to_english
from salva.logic.formula import Formula
from salva.logic.notation import parse, to_notation


@settings(max_examples=400)
@given(formulas(max_leaves=10))
def test_a_sentence_reads_back_as_the_formula_it_was_made_from(f: Formula) -> None:
    assert from_english(to_english(f)) == f


@pytest.mark.parametrize(
    ("notation", "sentence"),
    [
        ("cat & dog", "There is a cat and a dog"),
        ("2 cat & dog", "There are two cats and a dog"),
        ("dog & 2 cat", "There is a dog and two cats"),
        ("cat@right & dog@left", "There is a cat on the right and a dog on the left"),
        ("apple@top & cow@middle", "There is an apple at the top and a cow in the middle"),
        ("cat@x-middle", "There is a cat in the horizontal middle"),
        ("cat | dog", "There is either a cat or a dog"),
        ("dog & !cat", "There is a dog and no cat"),
        ("!(3 cat)", "There are fewer than three cats"),
        ("!!cat", "It is not the case that there is no cat"),
        ("!(cat & dog)", "It is not the case that there is both a cat and a dog"),
        ("cat & dog & cow", "There is a cat, a dog and a cow"),
        ("cat & (dog & cow)", "There is a cat and both a dog and a cow"),
        ("cat & (dog | cow)", "There is a cat and either a dog or a cow"),
        ("cat & dog | cow", "There is either both a cat and a dog or a cow"),
        ("cat & dog & cow | apple", "There is either all of a cat, a dog and a cow or an apple"),
        ("left_of(cat, apple)", "There is a cat to the left of an apple"),
        ("larger_than(cat, apple)", "There is a cat larger than an apple"),
        ("cat & !(dog | cow)", "There is a cat and it is not the case that there is either a dog or a cow"),
        ("scissors & 2 red knife", "There is a pair of scissors and two red knives"),
    ],
)
def test_sentences(notation: str, sentence: str) -> None:
    assert to_english(parse(notation)) == sentence
    assert from_english(sentence) == parse(notation)


@pytest.mark.parametrize(
    ("sentence", "notation"),
    [
        ("a cat and a dog", "cat & dog"),
        ("Two red cats.", "2 red cat"),
        ("There's a cat next to a dog", "next_to(cat, dog)"),
        ("a cat to the left of a dog", "left_of(cat, dog)"),
        ("a cat on top of the dog", "on(cat, dog)"),
        ("a cat bigger than a dog", "larger_than(cat, dog)"),
        ("There is a cat or a dog", "cat | dog"),
        ("There is a cat, a dog, and an apple.", "cat & dog & apple"),
        ("There is an apple on top and a dog on the bottom", "apple@top & dog@bottom"),
        ("There isn't a cat", "!cat"),
        ("There are no cats", "!cat"),
        ("there is no cat, but there is a dog", "!cat & dog"),
        ("There is a cat, and there is a cat or a dog", "cat & (cat | dog)"),
        ("There are 3 sheep and one bus", "3 sheep & bus"),
        ("two pairs of boots", "4 boot"),
        ("two pairs of scissors", "2 scissors"),
        ("Either there is a cat or there is a dog", "cat | dog"),
    ],
)
def test_plain_variants(sentence: str, notation: str) -> None:
    assert to_notation(from_english(sentence)) == notation


@pytest.mark.parametrize(
    ("sentence", "position", "problem"),
    [
        ("There is a cat and a dog or a cow", 25, "two ways"),
        ("There isn't a cat and a dog", 18, "how far the not reaches"),
        ("There is a cat in the middle", 15, "axis of the middle"),
        ("There is a cat on", 17, "expected a or an"),
        ("There is a cat on a cat", 20, "different entity"),
        ("There is two red cats on a dog", 13, "without a colour"),
        ("There was a cat", 6, "expected is or are"),
        ("There is cat", 9, "expected a, an, no or a number"),
        ("a cat, a dog", 12, "before its last part"),
        ("There is a", 10, "expected an entity"),
        ("There are 100 cats", 10, "from 1 to 99"),
        ("There is either a cat and a dog", 22, "expected 'or'"),
        ("Draw me a cat", 0, "expected a, an, no or a number"),
        ("a cat and a dog yesterday!", 25, "expected the end"),
        ("There is a c\x07t", 12, "cannot be printed"),
    ],
)
def test_what_is_no_sentence_is_pointed_at(sentence: str, position: int, problem: str) -> None:
    with pytest.raises(FormulaError, match=problem) as caught:
        from_english(sentence)
    assert caught.value.position == position


@pytest.mark.parametrize(
    "sentence",
    ["", "it is not the case that " * 400 + "there is a cat", "There is " + "both " * 1500 + "a cat", "a" * 20_000],
)
def test_nothing_and_too_much_are_errors_and_not_crashes(sentence: str) -> None:
    with pytest.raises(FormulaError):
        from_english(sentence)


WORDS = ("there", "is", "are", "a", "no", "not", "it", "it is not the case that", "either", "both", "or", "and", ",")
NOUNS = ("all of", "a cat", "two dogs", "on", "on the left", "in the middle", "next to", "the")


@given(st.lists(st.sampled_from(WORDS + NOUNS), max_size=14))
def test_any_row_of_words_reads_or_is_pointed_at(words: list[str]) -> None:
    text = " ".join(words)
    try:
        f = from_english(text)
    except FormulaError as error:
        position = error.position
    else:
        position = 0
        assert from_english(to_english(f)) == f
    assert 0 <= position <= len(text)
