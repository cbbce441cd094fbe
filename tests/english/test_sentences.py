"""English is read right or refused: many sentences whose meaning is known, made without the reader.

SALVA_PROVE multiplies how many are tried; `make prove` sets it.
"""

from __future__ import annotations

import os
import re
from random import Random

import pytest
from english.ambiguous_sentences import ambiguous_sentence
from english.sentences import plain_sentence

from salva.english.sentences import from_english
from salva.errors import FormulaError
from salva.logic.equivalence import are_equivalent
from salva.logic.formula import And, Atom, Formula, Not, Or, Related
from salva.logic.notation import parse, to_notation

EFFORT = int(os.environ.get("SALVA_PROVE", "1"))
_READINGS = re.compile(r"can be read as (.+) or as (.+)\. Say which")


def canonical(f: Formula) -> object:
    """A formula without the order and the bracketing of its lists: what has the same one says the same."""
    if isinstance(f, Atom | Related):
        return repr(f)
    if isinstance(f, Not):
        return ("not", canonical(f.part))
    parts: list[object] = []
    stack: list[Formula] = [f]
    while stack:
        node = stack.pop()
        if isinstance(node, And | Or) and type(node) is type(f):
            stack += [node.left, node.right]
        else:
            parts.append(canonical(node))
    return (type(f).__name__, *sorted(set(parts), key=repr))


def says(read: Formula, notation: str) -> bool:
    meaning = parse(notation)
    return canonical(read) == canonical(meaning) or are_equivalent(read, meaning)


@pytest.mark.parametrize("seed", range(4))
def test_plain_sentences_are_read_right(seed: int) -> None:
    """450 each, and 200 with two readings: 2,000 sentences."""
    rng = Random(seed)
    refused, misread = [], []
    n = 450 * EFFORT
    for _ in range(n):
        sentence = plain_sentence(rng)
        try:
            read = from_english(sentence.text)
        except FormulaError as error:
            refused.append(f"{sentence.text} ({error})")
            continue
        if not says(read, sentence.meaning):
            misread.append(f"{sentence.text}: {to_notation(read)}, and it means {sentence.meaning}")
    assert misread == []
    assert len(refused) <= 0.05 * n, refused[:20]


def test_sentences_with_two_readings_are_refused_with_both() -> None:
    rng = Random(5)
    for _ in range(200 * EFFORT):
        sentence = ambiguous_sentence(rng)
        with pytest.raises(FormulaError) as caught:
            print(sentence.text, to_notation(from_english(sentence.text)))
        shown = _READINGS.search(str(caught.value))
        assert shown, (sentence, str(caught.value))
        one, other = (parse(notation) for notation in shown.groups())
        wanted = (sentence.meaning, sentence.other)
        is_shown = [any(says(reading, notation) for reading in (one, other)) for notation in wanted]
        assert is_shown == [True, True], (sentence, shown.groups())
        assert not are_equivalent(one, other), (sentence, shown.groups())
