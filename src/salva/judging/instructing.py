"""Text that instructs a judge: a reading comes in, the texts that do so leave.

Words alone (score, yes, perfect, 100 %) are on every street and should alarm nobody. What tells a judge what to say was
learnt from 16,607 texts by many hands in the languages the shipped reader reads (training/train_instructing.py): a
weight for every piece of a text, words and runs of letters, and their mean against a bar. No model but the weights.
"""

from __future__ import annotations

import io
import re
import unicodedata
import zlib
from collections.abc import Iterator
from functools import cache

import numpy as np

from salva.assets.files import read_asset
from salva.core.observation import Reading
from salva.core.verdict import Verdict

JUDGE_INSTRUCTING = "judge_instructing_texts"
"""The score of a verdict that counts such texts."""
N_WEIGHTS = 2**17
WEIGHTS = "instructing/weights.npz"
_LONGEST = 2000
"""Text beyond this is not searched."""
_RUNS = (3, 4, 5)
_N_WORDS = 12
"""Of longer texts each part of so many words is searched too."""
_PLAINLY = 0.45
"""Above the bar: a text has many parts, and one of them leans some way by chance."""
_TOKEN = re.compile(r"[a-z']+|\d+|[\u3040-\u30ff\u3400-\u9fff]|[^\w\s]|\w+")
_SPACED = re.compile(r"(?<!\w)(?:\w {1,2}){4,}\w(?!\w)")
_DIGIT_IN_WORD = re.compile(r"(?<=[a-z])[\d@$!](?=[a-z])|(?<![\w.,])\d(?=[a-z]{2})")
_DIGITS_FOR_LETTERS = str.maketrans("0134578@$!", "oieastbasi")


def instructs(text: str) -> bool:
    """Whether a text tells a judge what to say, as a whole or, more plainly, in a part of it."""
    return any(
        _leaning(reading) > 0 or any(_leaning(part) > _PLAINLY for part in _parts(reading))
        for reading in _readings(text[:_LONGEST])
    )


def is_instructed(verdict: Verdict) -> bool:
    """Whether text in an image that a verdict rests on tells a judge what to say."""
    return verdict.scores.get(JUDGE_INSTRUCTING, 0) > 0


def instructing_texts(reading: object) -> tuple[str, ...]:
    """The texts in an image that tell a judge what to say; lines count together where only together they do."""
    if not isinstance(reading, Reading):
        return ()
    lines = [span.text for span in sorted(reading.spans, key=lambda span: (round(span.box[1], 2), span.box[0]))]
    for n_together in (1, 2, 3, len(lines)):
        together = [" ".join(lines[start : start + n_together]) for start in range(len(lines) - n_together + 1)]
        if instructing := tuple(text for text in together if instructs(text)):
            return instructing
    return ()


def plain(text: str) -> str:
    """Text without case, accents and wide forms, s p a c e d words joined."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    letters = "".join(letter for letter in decomposed if not unicodedata.combining(letter)).replace("’", "'")
    return _SPACED.sub(lambda spaced: spaced[0].replace(" ", ""), letters)


def places(text: str) -> list[int]:
    """Which weights a plain text has, each once."""
    # A reader may see half a character.
    return sorted({zlib.crc32(piece.encode("utf-8", "replace")) % N_WEIGHTS for piece in _pieces(text)})


def _pieces(text: str) -> Iterator[str]:
    """Words, words beside each other and one apart; runs of letters, without spaces, since a reader may lose them."""
    tokens = ["^", *_TOKEN.findall(text), "$"]
    for place, token in enumerate(tokens):
        yield f"1 {token}"
        if place:
            yield f"2 {tokens[place - 1]} {token}"
        if place > 1:
            yield f"3 {tokens[place - 2]} _ {token}"
    letters = f"^{''.join(text.split())}$"
    for length in _RUNS:
        for start in range(len(letters) - length + 1):
            yield f"c{letters[start : start + length]}"


def _readings(text: str) -> tuple[str, ...]:
    """A text as it stands, and with the letters that digits may stand for where they stand in words."""
    as_is = plain(text)
    in_words = _DIGIT_IN_WORD.sub(lambda digit: digit[0].translate(_DIGITS_FOR_LETTERS), as_is)
    return tuple(dict.fromkeys((as_is, in_words)))


def _parts(text: str) -> Iterator[str]:
    """The parts of a long text: what stands among much else would be lost in the mean."""
    words = text.split()
    for end in range(len(words), _N_WORDS, -_N_WORDS // 3):
        yield " ".join(words[max(0, end - _N_WORDS) : end])
    if len(words) > _N_WORDS:
        yield " ".join(words[:_N_WORDS])


def _leaning(text: str) -> float:
    """How far a plain text leans towards telling a judge what to say; the bar is at 0."""
    weights, scale, bar = _weights()
    at = places(text)
    return float(weights[at].sum() * scale / np.sqrt(len(at)) - bar)


@cache
def _weights() -> tuple[np.ndarray[tuple[int], np.dtype[np.int32]], float, float]:
    with np.load(io.BytesIO(read_asset(WEIGHTS))) as stored:
        return stored["weights"].astype(np.int32), float(stored["scale"]), float(stored["bar"])
