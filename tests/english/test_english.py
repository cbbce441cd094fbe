from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import any_formulas

from salva.english.sentences import from_english, parse_text, read_prompt, to_english
from salva.errors import FormulaError
from salva.logic.formula import Formula
from salva.logic.notation import parse, to_notation


@settings(max_examples=400)
@given(any_formulas(max_leaves=10))
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
        ("a cat near a dog", "near(cat, dog)"),
        ("There is no cat close to a dog", "!near(cat, dog)"),
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
    ("sentence", "notation"),
    [
        ("no cats and no dogs", "!cat & !dog"),
        ("a pair of cats", "2 cat"),
        ("two pairs of shoes", "4 shoe"),
        ("a dozen eggs", "12 egg"),
        ("a red and a blue ball", "red ball & blue ball"),
        ("a cat along with a dog", "cat & dog"),
        ("a cat with either a dog or a cow", "cat & (dog | cow)"),
        ("It is not true that there is a cat", "!cat"),
        ("There is neither a cat nor a dog", "!cat & !dog"),
        ("a cat but no dog", "cat & !dog"),
        ("exactly two cats", "2 cat & !3 cat"),
        ("exactly two pairs of shoes", "4 shoe & !5 shoe"),
        ("at least two cats", "2 cat | 99 cat"),
        ("a cat on the left of a dog", "left_of(cat, dog)"),
        ("a cat on the left of the picture", "cat@left"),
        ("a cat under a table", "below(cat, table)"),
        ("There is a cat. There is a dog on the left.", "cat & dog@left"),
        ("a photo of a cat and a dog", "cat & dog"),
        ("a stop sign and two teddy bears", "stop sign & 2 teddy bear"),
        ("a cat without a dog", "cat & !dog"),
        ("a cat but not a dog", "cat & !dog"),
        ("There is not a single cat", "!cat"),
        ("no cats, dogs or cows", "!cat & !dog & !cow"),
        ("It is not the case that there is a cat and a dog", "!(cat & dog)"),
        ("A cat is on the left and a dog is on the right.", "cat@left & dog@right"),
        ("A cat and a dog are on the left", "cat@left & dog@left"),
        ("a traffic light", "traffic light"),
        ("two or more cats", "2 cat | 99 cat"),
        ("neither cats nor dogs", "!cat & !dog"),
        ("There aren't any cats or dogs", "!cat & !dog"),
        ("a cat with a dog and without a bird", "cat & dog & !bird"),
        ("There is a cat; it is false that there is a dog", "cat & !dog"),
    ],
)
def test_what_people_write(sentence: str, notation: str) -> None:
    assert to_notation(from_english(sentence)) == notation


@pytest.mark.parametrize(
    ("sentence", "one", "other"),
    [
        ("a lion, a tiger and a bear on the left", "lion & tiger & bear@left", "lion@left & tiger@left & bear@left"),
        (
            "a cat on the left, a dog and a cow on the right",
            "cat@left & dog & cow@right",
            "cat@left & dog@right & cow@right",
        ),
        ("It is not the case that there is a cat and there is a dog", "!cat & dog", "!(cat & dog)"),
        (
            "There is a cow and it is not true that there is a cat and there is a dog",
            "cow & !cat & dog",
            "cow & !(cat & dog)",
        ),
        ("It is not the case that there is a cat, but a dog", "!(cat & dog)", "!cat & dog"),
        ("a cat and a dog or a cow", "cat & dog | cow", "cat & (dog | cow)"),
        ("There isn't a cat or a dog", "!cat | dog", "!(cat | dog)"),
        ("no cat or a dog", "!cat | dog", "!(cat | dog)"),
        ("no cats and dogs", "!cat & !dog", "!(cat & dog)"),
        ("no red cats or dogs", "!red cat & !dog", "!red cat & !red dog"),
        ("a cat without a dog and a cow", "cat & !dog & cow", "cat & !(dog & cow)"),
        ("a cat next to a dog and a cow", "next_to(cat, dog) & cow", "next_to(cat, dog) & next_to(cat, cow)"),
        ("a cat and a dog on a sofa", "cat & on(dog, sofa)", "on(cat, sofa) & on(dog, sofa)"),
        ("a cat and a dog that are red", "cat & red dog", "red cat & red dog"),
        ("an orange and a blue ball", "orange & blue ball", "orange ball & blue ball"),
        ("a pair of glasses", "2 glass", "eyeglasses"),
        ("a cat in the middle", "cat@x-middle", "cat@y-middle"),
    ],
)
def test_two_honest_readings_are_both_shown(sentence: str, one: str, other: str) -> None:
    with pytest.raises(FormulaError) as caught:
        from_english(sentence)
    assert caught.value.code == "two-readings"
    assert f" {one} " in str(caught.value)
    assert f" {other}." in str(caught.value)


@pytest.mark.parametrize(
    "sentence",
    [
        "ten thousand cats",
        "a cat sitting on a sofa",
        "a cat sat on a sofa",
        "no cat sits on a sofa",
        "a cat directly above a dog",
        "a cat outside",
        "a cat behind glass",
        "several cats",
        "cats and dogs",
        "a cat and a blue",
        "a red and blue ball",
        "a small cat",
        "no cat without a dog",
        "a cat is",
        "a picture with a cat",
        "a scene with a cat",
        "no cat visible",
        "one or two cats",
        "either a cat or a dog, but not both",
        "a man playing tennis and a dog",
        "a graffiti covered wall",
        "an all white kitchen with a stove",
        "a sign is next to an ornate white gazebo",
    ],
)
def test_what_a_formula_cannot_say_is_refused(sentence: str) -> None:
    with pytest.raises(FormulaError):
        from_english(sentence)


@pytest.mark.parametrize(
    ("sentence", "position", "code"),
    [
        ("There is a cat and a dog or a cow", 25, "two-readings"),
        ("There isn't a cat and a dog", 18, "two-readings"),
        ("There is a cat in the middle", 15, "two-readings"),
        ("There is a cat on", 17, "formula-expected"),
        ("There is a cat on a cat", 20, "relation-sides"),
        ("There are two red cats on two dogs", 14, "reach-open"),
        ("There was a cat", 6, "formula-expected"),
        ("There is cat", 9, "article-missing"),
        ("There is a", 10, "formula-expected"),
        ("There are 100 cats", 10, "count-range"),
        ("There are 0 cats", 10, "count-range"),
        ("0 cat", 0, "count-range"),
        ("There is either a cat and a dog", 22, "formula-expected"),
        ("Draw me cats", 8, "number-missing"),
        ("a cat. The cats are red.", 11, "reference-open"),
        ("a dog and a missing cat", 12, "word-denies"),
        ("a dog and another cat", 10, "word-counts"),
        ("a cat and a dog yesterday!", 12, "word-not-in-formulas"),
        ("There is a c\x07t", 12, "text-unprintable"),
    ],
)
def test_what_is_no_sentence_is_pointed_at(sentence: str, position: int, code: str) -> None:
    with pytest.raises(FormulaError) as caught:
        from_english(sentence)
    assert caught.value.code == code
    assert caught.value.position == position


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        " \n\t ",
        "it is not the case that " * 400 + "there is a cat",
        "There is " + "both " * 1500 + "a cat",
        "a" * 20_000,
        "cat " * 5_000,
        "a cat and " * 900 + "a cat",
        "not " * 2_000 + "a cat",
        "Es gibt eine Katze und einen Hund",
        "un gato y un perro",
        "有一只猫和一只狗",
        "a 🐈 and a 🐕",
        "a cat\x00 and a dog",
        "a cat\x1b[31m and a dog",
        "=HYPERLINK(1)",
        "cat & !dog",
        "a cat@left and a dog",
        "a cat); left_of(cat, dog",
        "a left_of and a dog",
        "a cat and 1e9 dogs",
        "a cat and -3 dogs",
        "٣ cats",
    ],
)
def test_nothing_and_too_much_are_errors_and_not_crashes(sentence: str) -> None:
    with pytest.raises(FormulaError):
        from_english(sentence)


WORDS = ("there", "is", "are", "a", "no", "not", "it", "it is not the case that", "either", "both", "or", "and", ",")
NOUNS = ("all of", "a cat", "two dogs", "on", "on the left", "in the middle", "next to", "the")
MORE = ("without", "with", "but", "neither", "nor", "a pair of", "red", "orange", "exactly", "at least", "cats", ".")
REST = ("that are", "of the picture", "a photo of", "zero", "any", "a single", "one", "no more than", "dozen", "half")


@settings(max_examples=600)
@given(st.lists(st.sampled_from(WORDS + NOUNS + MORE + REST), max_size=14))
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


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        *(("2 cats", "2 cat"), ("thirty cats", "30 cat"), ("zero cats", "!cat"), ("twenty-one cats", "21 cat")),
        *(("cat", "cat"), ("3 red cat", "3 red cat"), ("stop sign", "stop sign"), ("cat & dog", "cat & dog")),
    ],
)
def test_a_short_text_is_english_before_it_is_a_thing_of_that_name(text: str, formula: str) -> None:
    assert parse_text(text) == parse(formula)


@pytest.mark.parametrize(
    "text", ["cats", "some cats", "many cats", "red cats", "every cat", "another cat", "without cats"]
)
def test_what_names_no_number_is_no_thing_of_that_name(text: str) -> None:
    with pytest.raises(FormulaError):
        parse_text(text)


@pytest.mark.parametrize(
    ("notation", "sentence"),
    [
        ("cat & cat", "There is a cat and it is the case that there is a cat"),
        ("cat@left & cat@top & dog", "There is a cat in the top left corner and a dog"),
        ("next_to(2 cat, 2 dog)", "There are two cats next to the same two dogs"),
        ("left_of(red apple, 2 green apple)", "There is a red apple to the left of two green apples"),
        ("orange & red cat", "There is an orange and there is a red cat"),
    ],
)
def test_what_could_be_read_otherwise_is_worded_with_care(notation: str, sentence: str) -> None:
    assert to_english(parse(notation)) == sentence
    assert from_english(sentence) == parse(notation)


@pytest.mark.parametrize(
    ("prompt", "formula"),
    [
        ("a cat to the left of a dog", "left_of(cat, dog)"),
        ("A traffic light to the right of a hair drier.", "right_of(traffic light, hair drier)"),
        ("a bench above a stop sign", "above(bench, stop sign)"),
        ("a photo of a dog right of a teddy bear", "right_of(dog, teddy bear)"),
        ("a photo of a red bus and a blue car", "red bus & blue car"),
        ("a photo of four giraffes", "4 giraffe"),
        ("a photo of a bench", "bench"),
        ("a  cat\tand a dog ", "cat & dog"),
    ],
)
def test_prompts_of_published_suites_are_read(prompt: str, formula: str) -> None:
    assert read_prompt(prompt) == (formula, "")


def test_of_a_prompt_that_is_refused_the_problem_is_given() -> None:
    with pytest.raises(FormulaError) as error:
        from_english("a small cat")
    assert read_prompt("a small cat") == (None, error.value.problem)
