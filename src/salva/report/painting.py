"""What was painted in the place of prompts, and which of their words were passed over, as tables.

A provider may rewrite a prompt, a wrapper deduces what should be seen, a small model passes over words it does not
know: what is judged by the prompt was not painted word for word, and whoever reads a report should see what was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from salva.core.source import Painted
from salva.core.table import Table


def painting_tables(painted: Sequence[Painted], model: str) -> Iterator[Table]:
    """What one model made of its prompts, where that is not the prompts themselves."""
    mine = [made for made in painted if made.model == model]
    if any(made.text for made in mine):
        yield Table(
            name="painted in the place of prompts",
            columns=("prompt", "painted", "pictures"),
            rows=tuple((made.prompt, made.text, made.n) for made in mine if made.text),
            note="As somebody rewrote them before painting; the pictures are judged by the prompts all the same.",
        )
    pictures: Counter[str] = Counter()
    for made in mine:
        pictures.update(dict.fromkeys(made.passed_over, made.n))
    if pictures:
        yield Table(
            name="words passed over",
            columns=("word", "pictures"),
            rows=tuple(pictures.most_common()),
            note="Words that the model does not know and painted past, where a prompt or an option allows that.",
        )
