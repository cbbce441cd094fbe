"""Captions that can have mutants: what speaks against a text, and against what was read in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from salva.core.mutation import Pool
from salva.english.captions.classes import Classes
from salva.english.captions.reading import CaptionReader, CaptionReading, pool_of
from salva.english.wordlists import words

MAX_WORDS = 120
"""A longer text is no caption."""
_ENGLISH = words("captions", "english")


def unfit_text(text: str) -> str:
    """Why a text is not worth reading; empty where it is."""
    spoken = re.findall(r"[^\W\d_]+", text.lower())
    if not spoken:
        return "empty"
    if len(spoken) > MAX_WORDS:
        return f"longer than {MAX_WORDS} words"
    n_latin = sum(letter.isascii() for word in spoken for letter in word)
    if n_latin * 2 < sum(map(len, spoken)) or (len(spoken) > 3 and not _ENGLISH & set(spoken)):
        return "not English"
    return ""


def fit_seeds(
    texts: Sequence[str], reader: CaptionReader, classes: Classes, unfit: Counter[str]
) -> Iterator[tuple[int, CaptionReading, Pool, str]]:
    """The number of each text that can be read, its reading and pool, and why it is no seed; unfit: gets the others."""
    why = list(map(unfit_text, texts))
    unfit.update(filter(None, why))
    fit = [i for i, reason in enumerate(why) if not reason]
    for i, reading in zip(fit, reader.read(texts[i] for i in fit), strict=True):
        pool = pool_of(reading, classes)
        yield i, reading, pool, unfit_seed(reading, pool)


def unfit_seed(reading: CaptionReading, pool: Pool) -> str:
    """Why a caption that was read can be no seed; empty where it can."""
    if not reading.mentions:
        return "names no thing"
    return "" if pool.triples else "says nothing of two things"
