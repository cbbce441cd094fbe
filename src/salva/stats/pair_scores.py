"""Scores of a pair of images: faithfulness and CLIP, their mean, difference and stability.

Numbers in, numbers out; has never heard of questions, vectors or verdicts. Names are those of the TIFA-lite
project, whose tables these functions give again to the last digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

SCALES: Mapping[str, float] = {"percent": 100.0, "cosine": 1.0, "clipscore": 2.5}
"""The factor of the cosine of an image and a text; percent and clipscore cut it off at 0 first."""


def mean(values: Iterable[float]) -> float:
    """The mean, summed with Kahan's correction as data-frame libraries do, so that published digits come out again."""
    total = lost = 0.0
    n = 0
    for value in values:
        n += 1
        corrected = value - lost
        fresh = total + corrected
        lost = (fresh - total) - corrected
        total = fresh
    if not n:
        raise ValueError("the mean of no values is not defined")
    return total / n


def on_scale(cosine: float, scale: str) -> float:
    """A cosine of image and text on one of the SCALES."""
    return cosine if scale == "cosine" else SCALES[scale] * max(cosine, 0.0)


def pair_scores(name: str, a: float, b: float, *, divide_by: float = 1.0) -> dict[str, float]:
    """NAME_A, NAME_B, their mean, difference and stability, which is 1 - difference / divide_by."""
    diff = abs(a - b)
    return {
        f"{name}_A": a,
        f"{name}_B": b,
        f"{name}_mean": (a + b) / 2,
        f"{name}_diff": diff,
        f"{name}_stability": 1 - diff / divide_by,
    }


def clip_divisor(scale: str, stability: str) -> float:
    """What a difference of CLIP scores is divided by.

    "scaled" brings it to 0..1, as the project's notebook does; "published" is the printed formula 1 - difference,
    which on a scale of 0 to 100 goes far below zero.
    """
    return SCALES[scale] if stability == "scaled" else 1.0
