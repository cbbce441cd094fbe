"""Similarity of two vectors: plain cosine, and CLIPScore as published.

A CLIPScore of 0.75 is a cosine of 0.3; a table states in its title which of the two it shows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

CLIP_SCORE_WEIGHT = 2.5
"""The factor of Hessel et al. (2021), which spreads CLIP's narrow cosines over most of 0 to 1."""


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle between two vectors, -1 to 1."""
    if len(one) != len(other):
        raise ValueError(f"vectors of {len(one)} and {len(other)} numbers; both must come from one embedder")
    lengths = math.hypot(*one) * math.hypot(*other)
    if not lengths > 0 or math.isinf(lengths):
        raise ValueError("a vector without length or with a number that is none has no direction to compare")
    return max(-1.0, min(1.0, math.fsum(a * b for a, b in zip(one, other, strict=True)) / lengths))


def clip_score(image: Sequence[float], text: Sequence[float]) -> float:
    """CLIPScore of an image and a text: 2.5 times the cosine, and 0 where that is negative; 0 to 2.5."""
    return CLIP_SCORE_WEIGHT * max(cosine(image, text), 0.0)
