"""The cosine of two vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle between two vectors, -1 to 1."""
    if len(one) != len(other):
        raise ValueError(f"vectors of {len(one)} and {len(other)} numbers")
    lengths = math.hypot(*one) * math.hypot(*other)
    if not lengths > 0 or math.isinf(lengths):
        raise ValueError("a vector has no direction")
    return max(-1.0, min(1.0, math.fsum(a * b for a, b in zip(one, other, strict=True)) / lengths))
