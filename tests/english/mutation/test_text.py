"""Captions changed in one place: articles, numbers and colours stay, the rest of the old thing goes."""

from __future__ import annotations

import pytest

from salva.english.captions.reading import Mention
from salva.english.mutation.text import with_addition, with_other_noun, with_sentence, without


def mention(text: str, phrase: str, noun: str, *, is_plural: bool = False) -> Mention:
    start = text.index(phrase)
    at = text.index(noun, start)
    return Mention(name=noun, phrase=start, start=at, end=at + len(noun), is_plural=is_plural)


@pytest.mark.parametrize(
    ("text", "phrase", "noun", "new", "is_plural", "changed"),
    [
        ("A cat on a bed.", "A cat", "cat", "elephant", False, "An elephant on a bed."),
        ("A man on an old wooden chair", "an old wooden chair", "chair", "umbrella", False, "A man on an old umbrella"),
        ("Two young girls wave", "Two young girls", "girls", "sheep", True, "Two sheep wave"),
        ("A brown and white cow", "A brown and white cow", "cow", "dog", False, "A brown and white dog"),
        ("With some vegetable here", "some vegetable", "vegetable", "boot", False, "With some boots here"),
    ],
)
def test_a_noun_is_exchanged(text: str, phrase: str, noun: str, new: str, is_plural: bool, changed: str) -> None:
    assert with_other_noun(text, mention(text, phrase, noun, is_plural=is_plural), new) == changed


@pytest.mark.parametrize(
    ("text", "part", "rest"),
    [
        ("A cat on a bed near a dog.", "near a dog", "A cat on a bed."),
        ("A cat above a dog and next to a ball", "above a dog", "A cat next to a ball"),
        ("A cat above a dog and next to a ball", "next to a ball", "A cat above a dog"),
    ],
)
def test_a_part_is_taken_out_with_what_joined_it(text: str, part: str, rest: str) -> None:
    start = text.index(part)
    assert without(text, (start, start + len(part))) == rest


def test_an_addition_stands_before_the_full_stop() -> None:
    assert with_addition("A cat on a bed.", "left of", "orange") == "A cat on a bed to the left of an orange."
    caption = "A cat it caught."
    anchor = mention(caption, "A cat", "cat")
    assert with_sentence(caption, "under", "cup", anchor) == "A cat it caught. There is a cup under the cat."
