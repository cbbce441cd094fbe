"""Which words differ between prompts: every text stays whole, and only what changed is marked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from salva.report.changed_words import changed_words


def marked(*texts: str) -> list[list[str]]:
    return [[piece.text for piece in pieces if piece.is_changed] for pieces in changed_words(texts)]


@given(texts=st.lists(st.text(alphabet="ab ,\n", max_size=20), max_size=3))
def test_every_text_stays_whole(texts: list[str]) -> None:
    assert ["".join(piece.text for piece in pieces) for pieces in changed_words(texts)] == texts


def test_what_is_in_one_text_alone_is_marked() -> None:
    assert marked("a cat on a mat", "a dog on a mat") == [["cat"], ["dog"]]
    assert marked("a cat on a mat", "a very big cat on a mat") == [[], ["very big"]]
    assert marked("A cat.", "a cat") == [[], []], "neither case nor a full stop is a change"


def test_others_are_compared_with_the_first_and_one_alone_with_nothing() -> None:
    assert marked("one red cat", "one blue cat", "one red dog") == [["red"], ["blue"], ["dog"]]
    assert marked("one red cat") == [[]]


def test_two_different_texts_and_very_long_ones_are_not_marked() -> None:
    assert marked("the rain falls on the sea", "every apple has a green worm") == [[], []]
    long = "word " * 300
    assert marked(long, f"{long} more") == [[], []]
