"""Prompts to formulas: what the grammar reads means here what it means there, and templates add no guesses."""

from __future__ import annotations

import pytest

from salva.english.prompt_reading import read_prompt, read_prompts
from salva.english.sentences import from_english
from salva.errors import FormulaError
from salva.logic.equivalence import are_equivalent
from salva.logic.notation import parse

NAMES = ("stop sign", "traffic light", "fire hydrant", "dining table", "sports ball", "hot dog", "skis", "orange")
SENTENCES = (
    "a {a}",
    "a {a} and a {b}",
    "a {a} below a {b}",
    "a {a} to the left of a {b}",
    "either a {a} or a {b}",
    "a {a} and either a {b} or a cow",
    "no {a}",
    "either no {a} or no {b}",
    "it is not the case that there is both a {a} and a {b}",
)
REFUSED = (
    "an orange and a blue ball",
    "either an orange or a blue ball",
    "a glass, plate and a cup",
    "a cats",
    "a fluffy white dog",
    "A dark red cat.",
    "a small cat and a large dog",
    "no small dog",
    "a red cat and a shiny, small dog",
    "a dog running",
    "a rose red",
)


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("name", NAMES)
def test_what_the_grammar_reads_is_read_with_its_meaning(sentence: str, name: str) -> None:
    for a, b in ((name, "bicycle"), ("bicycle", name)):
        text = sentence.format(a=a, b=b)
        formula = read_prompt(text).formula
        assert formula is not None, text
        assert are_equivalent(parse(formula), from_english(text)), text


@pytest.mark.parametrize("text", REFUSED)
def test_what_the_grammar_refuses_no_template_guesses(text: str) -> None:
    with pytest.raises(FormulaError) as error:
        from_english(text)
    assert read_prompt(text) == (None, error.value.problem)
    assert read_prompts(text, "a cow", is_published=False).formulas == (None, "cow")


@pytest.mark.parametrize(
    ("text", "formula"),
    [("a white and a black cat", "white cat & black cat"), ("a smooth plastic cup", "smooth plastic cup")],
)
def test_where_a_template_says_another_thing_the_grammar_counts(text: str, formula: str) -> None:
    assert read_prompt(text).formula == formula


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("a red bus above a blue car", "red bus & blue car & above(bus, car)"),
        ("a red bus next to a red stop sign", "red bus & red stop sign & next_to(bus, stop sign)"),
        ("a cat, but no dog to its left", "cat & !(dog & cat & left_of(dog, cat))"),
        ("the cat and the dog", "cat & dog"),
        ("a cat that is not red", "cat & !red cat"),
        ("no cat visible", "!cat"),
        ("no cat and no dog visible", "!cat & !dog"),
        ("a scene with a cat", "cat"),
    ],
)
def test_sentences_that_the_grammar_does_not_know_are_read_by_templates(text: str, formula: str) -> None:
    assert read_prompt(text).formula == formula


def test_two_readers_that_disagree_are_two_readings() -> None:
    read = read_prompt("no birthday present")
    assert read.formula is None
    assert read.problem == "it can be read as !birthday or as !birthday present; say which"


def test_adjectives_are_read_in_published_pairs_alone() -> None:
    pair = ("a small blue banana", "a blue small banana")
    assert read_prompts(*pair).formulas == ("blue small banana", "blue small banana")
    own = read_prompts(*pair, is_published=False)
    assert own.formulas == (None, None)
    assert "'small' cannot be said in a formula" in own.problems[0]


def test_what_is_named_again_by_its_noun_is_the_same_thing() -> None:
    text = (
        "a stop sign, a red dog and a cow, where it is not the case that both the sign is above the dog and the dog is "
        "above the cow"
    )
    formula = read_prompt(text).formula
    assert formula is not None
    assert "above(stop sign, dog)" in formula
    assert "red dog & cow & above(dog, cow)" in formula
    assert read_prompt(text.replace("the sign", "the bus")).formula is None
