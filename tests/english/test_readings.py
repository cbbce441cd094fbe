"""Sentences of many kinds, written down with what they mean or why they are refused: none is misread."""

from __future__ import annotations

from pathlib import Path

import pytest
from english.test_sentences import says

from salva.english.reader import read
from salva.errors import FormulaError
from salva.logic.notation import to_notation

_LINES = (Path(__file__).parent / "readings.tsv").read_text("utf-8").splitlines()
READINGS = [tuple(line.split("\t")) for line in _LINES if line and not line.startswith("#")]


def test_there_are_four_hundred_different_sentences() -> None:
    assert len({sentence for sentence, _ in READINGS}) == len(READINGS) >= 400


@pytest.mark.parametrize(("sentence", "meaning"), READINGS)
def test_each_sentence_is_read_right_or_refused_with_the_right_code(sentence: str, meaning: str) -> None:
    _, is_refused, code = meaning.partition("refused ")
    if is_refused:
        with pytest.raises(FormulaError) as caught:
            print(to_notation(read(sentence)))
        assert caught.value.code == code
    else:
        assert says(read(sentence), meaning)
