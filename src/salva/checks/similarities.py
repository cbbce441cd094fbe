"""What vector checks share: CLIP scores of a pair and how alike its images are.

Vectors of images and prompts come in, scores go out, on a scale that is always named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from salva.core.case import Case, Prompt
from salva.core.observation import Vector
from salva.core.options import option
from salva.core.protocols import ImageObservations, Need, Query
from salva.stats.pair_scores import clip_divisor, on_scale, pair_scores
from salva.stats.similarity import cosine

PICTURE = Query(role="embedder")


@dataclass(frozen=True, kw_only=True)  # no slots: other options join these
class SimilarityOptions:
    """How vectors become CLIP scores."""

    clip_scale: str = option(
        "percent",
        "100 x cosine, cosine, or 2.5 x cosine.",
        choices=("percent", "cosine", "clipscore"),
    )
    clip_stability: str = option("scaled", "1 - difference, by scale or as published.", choices=("scaled", "published"))


def similarity_needs(case: Case) -> list[Need]:
    """The vector of every image and of its own prompt."""
    return [
        Need(role=prompt.role, query=query)
        for prompt in case.prompts
        for query in (PICTURE, Query(role="embedder", text=prompt.text))
    ]


def similarity_scores(
    case: Case, observations: Mapping[str, ImageObservations], options: SimilarityOptions
) -> dict[str, float]:
    """clip_A, clip_B, their mean, difference and stability, and image_similarity; empty where a vector is missing."""
    pictures, matches = [], []
    for prompt in case.prompts:
        sight = observations.get(prompt.role)
        picture = sight.seen.get(PICTURE) if sight else None
        text = _text_vector(case.prompts, sight) if sight else None
        if not isinstance(picture, Vector) or text is None:
            return {}
        pictures.append(picture)
        matches.append(on_scale(cosine(picture.values, text.values), options.clip_scale))
    if len(pictures) != 2:
        return {}
    scale = options.clip_scale
    scores = pair_scores("clip", *matches, divide_by=clip_divisor(scale, options.clip_stability))
    # Two images have no published rescaling: their likeness is the cosine, in percent where CLIP scores are.
    likeness = cosine(pictures[0].values, pictures[1].values)
    return {**scores, "image_similarity": 100 * likeness if scale == "percent" else likeness}


def _text_vector(prompts: tuple[Prompt, ...], sight: ImageObservations) -> Vector | None:
    """The vector of the prompt this image was generated for, whichever place the image stands in now."""
    for prompt in prompts:
        vector = sight.seen.get(Query(role="embedder", text=prompt.text))
        if isinstance(vector, Vector):
            return vector
    return None
