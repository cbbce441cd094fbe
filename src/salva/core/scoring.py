"""Scores of images against texts, S(T, I) from 0 to 1: what they are called, and what a check says about them.

Whoever handles such scores (people's ratings, training data, sheets) asks the check that scores; none is known by
name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from salva.core.case import Case
from salva.core.options import option

Pair = tuple[str, str]
"""The roles of a text and of the image that is held against it."""
_PREFIX = "s_"


def pair_name(text: str, image: str) -> str:
    """What S(T_text, I_image) is called among a verdict's scores."""
    return f"{_PREFIX}{text}_{image}"


def role_score(role: str) -> str:
    """What the score of an image by its own questions is called among a verdict's scores."""
    return f"{_PREFIX}{role}"


def is_pair_name(score: str) -> bool:
    """Whether a verdict's score is one of an image against a text."""
    return score.startswith(_PREFIX)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingFilter:
    """What the scores of a case must reach for its images to be trained on."""

    min_score: float = option(0.8, "Matched scores must be above this (C2 of equation 12).")
    max_asymmetry: float = option(0.1, "How far the two ways to see one change may lie apart (C3 of equation 16).")
    filter: str = option(
        "strict", "Whether mismatched scores are looked at too (equations 13 to 16).", choices=("strict", "none")
    )
    need_kept: bool = option(
        True, "The picture of the kept meaning must pass as well: the paper's code asks for it, its equation does not."
    )


class PairScoring(Protocol):
    """What a check that scores images against texts says about its scores."""

    suite: str
    """Whose cases are scored so."""
    pairs: tuple[Pair, ...]
    """What is scored, matched pairs first."""
    preferences: tuple[Pair, ...]
    """Roles of an image and of a worse one under the caption of the first, in a case that passes the filter."""
    figures: tuple[str, ...]
    """What follows from a full set of scores, by the names that verdicts have for it."""

    def figures_of(self, scores: Mapping[Pair, float]) -> Mapping[str, float]:
        """These figures."""

    def rated_case(self, case_id: str, key: str, texts: Mapping[str, str], category: str) -> Case:
        """The case that people rated under a key; texts by role and category as far as their table has them."""

    def passes(self, scores: Mapping[Pair, float], wanted: TrainingFilter) -> bool:
        """Whether the images of a case with these scores are worth training on."""

    def filter_note(self, wanted: TrainingFilter) -> str:
        """What the filter asks for, in one sentence."""
