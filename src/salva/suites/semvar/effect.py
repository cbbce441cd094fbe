"""SemVarBench's figures: from seven alignment scores of a case to how far its image follows the meaning.

S(T, I) is how well an image fits a text, 0 to 1. The anchor text a, its permutation of another meaning
pv and its permutation of the same meaning pi give three texts and three images; seven of the nine
scores are needed. Numbers in, numbers out; equations are those of the SemVarBench paper.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from salva.core.scoring import Pair
from salva.stats.means import mean

PAIRS = (("a", "a"), ("pv", "pv"), ("pi", "pi"), ("a", "pv"), ("pv", "a"), ("a", "pi"), ("pi", "a"))
"""The seven (text, image) pairs that are scored, the three matched ones first."""

CHANGED_AT = 0.5
"""Above this gamma an image counts as changed: halfway between the ideal ends, 0 and 1."""

QUADRANTS = {
    1: "text changes, image changes",
    2: "text stays, image changes",
    3: "text stays, image stays",
    4: "text changes, image stays",
}
"""The four kinds of outcome; 1 and 3 are as they should be. From the equations: an image that stays has a small
gamma. The paper's appendix A names the second and the third the other way round."""


ASPECTS: Mapping[str, tuple[str, ...]] = {
    "relation": (*("absolute_location", "relative_location", "action", "interaction", "direction", "spatio_temporal"),),
    "attribute-comparison": ("size", "height", "weight", "vague_amount"),
    "attribute-value": (
        *("color", "material", "appearance", "age", "shape", "temperature", "texture", "sentiment", "manner"),
        "counting",
    ),
}
"""The three aspects and their twenty categories, by the names of the published files."""
OTHER_ASPECT = "other"
UNLABELLED = "unlabelled"
"""Category and aspect of a triple that comes without any."""

_OTHER_NAMES = {"colour": "color", "spatial_temporal": "spatio_temporal", "vague_amounts": "vague_amount"}
_ASPECT_OF = {category: aspect for aspect, categories in ASPECTS.items() for category in categories}


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What the seven scores of one case come to."""

    alignment: float
    """S-bar: the mean of the three matched scores."""
    gamma_w: float
    """How much the image changes with the meaning (equation 2)."""
    gamma_wo: float
    """How much the image changes without the meaning (equation 3)."""
    kappa: float
    """gamma_w less gamma_wo (equation 4)."""


def effect(scores: Mapping[Pair, float]) -> Effect:
    """The figures of one case from S by (text, image)."""
    gamma_w = variation(scores, "pv")
    gamma_wo = variation(scores, "pi")
    return Effect(
        alignment=(scores["a", "a"] + scores["pv", "pv"] + scores["pi", "pi"]) / 3,
        gamma_w=gamma_w,
        gamma_wo=gamma_wo,
        kappa=_exact(gamma_w - gamma_wo),
    )


def variation(scores: Mapping[Pair, float], permuted: str) -> float:
    """Gamma of equation 1: how far the step from the anchor's image to this one moves both texts' scores."""
    seen_by_anchor = abs(scores["a", permuted] - scores["a", "a"])
    return _exact(seen_by_anchor + abs(scores[permuted, permuted] - scores[permuted, "a"]))


def _exact(value: float) -> float:
    """Without the last digits, which are rounding: a kappa of 0 or 0.5 must not fall on the wrong side of its band."""
    return round(value, 14)


def quadrants(gamma_w: float, gamma_wo: float) -> tuple[int, int]:
    """The quadrants a case's two steps fall into: that of the changed meaning, then that of the kept one."""
    return (1 if gamma_w > CHANGED_AT else 4), (2 if gamma_wo > CHANGED_AT else 3)


def seed_variation(scores: Sequence[Mapping[Pair, float]], permuted: str) -> float:
    """Gamma between images of the same prompt under different seeds, over all pairs of repeats.

    The anchor is generated again instead of its permutation, and seen through the same two texts, so this is
    what gamma would be if the permutation did nothing. At least two repeats are needed.
    """
    return mean(
        abs(one["a", "a"] - other["a", "a"]) + abs(one[permuted, "a"] - other[permuted, "a"])
        for one, other in combinations(scores, 2)
    )


def category_name(text: str) -> str:
    """A category as the published files spell it: lower case, words joined by underscores."""
    name = re.sub(r"[\s_-]+", "_", text.strip().lower())
    return _OTHER_NAMES.get(name, name)


def aspect_of(category: str) -> str:
    """The aspect a category belongs to; `other` for one the paper does not have."""
    return UNLABELLED if category == UNLABELLED else _ASPECT_OF.get(category, OTHER_ASPECT)


def labels_of_triple(categories: Sequence[str], split: str, key: str) -> dict[str, str]:
    """What the tables group a triple by."""
    aspects = dict.fromkeys(map(aspect_of, categories))
    return {"category": ",".join(categories), "aspect": ",".join(aspects), "split": split, "id": key}
