"""Which words differ between the prompts of a case, so that a reader sees at once what was changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_MOST_WORDS = 200
"""Longer prompts are not compared: nobody would read them word by word."""
_MOST_CHANGED = 0.6
"""Where more of the words differ, the prompts are two texts and not one with a change."""


class Segment(NamedTuple):
    """A piece of a prompt."""

    text: str
    is_changed: bool = False


def changed_words(texts: Sequence[str]) -> list[tuple[Segment, ...]]:
    """Each text in pieces, compared with the first one; the first one with the second."""
    if len(texts) < 2:
        return [(Segment(text),) for text in texts]
    return [_segments(text, texts[0] if place else texts[1]) for place, text in enumerate(texts)]


def _segments(text: str, other: str) -> tuple[Segment, ...]:
    pieces = re.findall(r"\S+|\s+", text)
    words, others = ([word.strip(".,;:!?").lower() for word in each.split()] for each in (text, other))
    if not words or max(len(words), len(others)) > _MOST_WORDS:
        return (Segment(text),)
    same = [False] * len(words)
    for block in SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks():
        same[block.a : block.a + block.size] = [True] * block.size
    if same.count(False) > _MOST_CHANGED * len(words):
        return (Segment(text),)
    flags = iter(not is_same for is_same in same)
    marked = [Segment(piece, next(flags) if piece.strip() else False) for piece in pieces]
    return tuple(_joined(marked))


def _joined(pieces: Sequence[Segment]) -> list[Segment]:
    """Neighbours of one kind together; a blank between two changed words is changed with them."""
    made: list[Segment] = []
    for place, piece in enumerate(pieces):
        is_between = 0 < place < len(pieces) - 1 and pieces[place - 1].is_changed and pieces[place + 1].is_changed
        is_changed = piece.is_changed or (not piece.text.strip() and is_between)
        if made and made[-1].is_changed == is_changed:
            made[-1] = Segment(made[-1].text + piece.text, is_changed)
        else:
            made.append(Segment(piece.text, is_changed))
    return made
