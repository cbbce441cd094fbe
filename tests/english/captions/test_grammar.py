"""Plain captions are read without a parser."""

from __future__ import annotations

import pytest

from salva.core.mutation import Triple
from salva.english.captions.classes import Classes
from salva.english.captions.grammar import GrammarReader
from salva.english.captions.reading import nesting, pool_of


@pytest.mark.parametrize(
    ("caption", "things", "triples"),
    [
        ("A cat next to a dog", "cat dog", ["cat next to dog"]),
        ("There is a cat to the left of a dog", "cat dog", ["cat left of dog"]),
        (
            "A picture of a cat above a dog that is next to a ball",
            "cat dog ball",
            ["cat above dog", "dog next to ball"],
        ),
        ("A cat above a dog and next to a ball", "cat dog ball", ["cat above dog", "cat next to ball"]),
        ("A cat and a dog on a chair", "cat dog chair", ["cat with dog", "cat on chair", "dog on chair"]),
        ("Two red apples and three cups.", "apple cup", ["apple with cup"]),
        ("A kitten under a bike", "cat bicycle", ["cat under bicycle"]),
        ("", "", []),
        ("They like it", "", []),
    ],
)
def test_a_caption_is_taken_apart(caption: str, things: str, triples: list[str]) -> None:
    (reading,) = GrammarReader().read([caption])
    pool = pool_of(reading, Classes(kind="paper"))
    assert " ".join(pool.entities) == things
    assert sorted(map(str, pool.triples)) == sorted(triples)


@pytest.mark.parametrize("caption", ["a shiny car", "a vacant lot", "red and blue", "a big"])
def test_a_word_that_may_be_no_noun_names_nothing(caption: str) -> None:
    (reading,) = GrammarReader().read([caption])
    assert reading.mentions == ()


def test_what_vg_keeps_apart_the_paper_merges() -> None:
    (reading,) = GrammarReader().read(["A man and a woman on a bike"])
    apart = pool_of(reading, Classes(kind="vg"))
    assert apart.entities == ("man", "woman", "bicycle")
    assert Triple(subject="man", predicate="and", object="woman") in apart.triples
    merged = pool_of(reading, Classes(kind="paper"))
    assert merged.entities == ("person", "bicycle")
    assert merged.triples == (Triple(subject="person", predicate="on", object="bicycle"),)


def test_nesting_is_the_longest_chain() -> None:
    captions = ["A cat above a dog and next to a ball", "A cat above a dog that is next to a ball"]
    assert [nesting(pool_of(reading, Classes())) for reading in GrammarReader().read(captions)] == [1, 2]
