"""Captions that can have mutants: what speaks against a text, and against what was read in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from salva.core.mutation import Pool
from salva.english.captions.classes import Classes
from salva.english.captions.kinds import ALIVE, kind_of
from salva.english.captions.plausible import is_plausible
from salva.english.captions.reading import CaptionReader, CaptionReading, Link, pool_of
from salva.english.wordlists import words
from salva.english.words import article

MAX_WORDS = 120
"""A longer text is no caption."""
_ARTICLE = re.compile(r"\b(an?) ([a-z]+)\b", re.I)
_ONE = re.compile(r"an? (?!few|couple|lot|number|pair|bunch|dozen|hundred|thousand)", re.I)
"""Before a plural: "a young child squats" has a verb that was read as a noun."""
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
    articles = _ARTICLE.findall(text)
    return "a slip of grammar" if any(article(noun.lower()) != said.lower() for said, noun in articles) else ""


def fit_seeds(
    texts: Sequence[str], reader: CaptionReader, classes: Classes, unfit: Counter[str]
) -> Iterator[tuple[int, CaptionReading, Pool, str]]:
    """The number of each text that can be read, its reading and pool, and why it is no seed; unfit: gets the others."""
    why = list(map(unfit_text, texts))
    unfit.update(filter(None, why))
    fit = [i for i, reason in enumerate(why) if not reason]
    for i, reading in zip(fit, reader.read(texts[i] for i in fit), strict=True):
        pool = pool_of(reading, classes)
        yield i, reading, pool, unfit_seed(reading, pool, classes)


def unfit_seed(reading: CaptionReading, pool: Pool, classes: Classes) -> str:
    """Why a caption that was read can be no seed; empty where it can."""
    if not reading.mentions:
        return "names no thing"
    if not pool.triples:
        return "says nothing of two things"
    if any(mention.is_plural and _ONE.match(reading.text, mention.phrase) for mention in reading.mentions):
        return "a noun that may be a verb"
    if any(_may_be_of_another(reading, link, classes) for link in reading.links):
        return "doings of one of two"
    return "" if all(map(is_plausible, pool.triples)) else "an implausible triple"


def _may_be_of_another(reading: CaptionReading, link: Link, classes: Classes) -> bool:
    """Whether what a thing is said to be doing may be said of somebody named before it: a boy with a bat standing."""
    is_alive = [kind_of(classes.entity(mention.name)) == ALIVE for mention in reading.mentions[: link.subject + 1]]
    return link.predicate.split()[0].endswith("ing") and not is_alive[-1] and any(is_alive)
