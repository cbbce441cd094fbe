"""R-precision: how often an image finds its own caption among others.

Vectors in, a share out, over seeded draws of other captions. A tie is no find: an image that fits every caption alike
tells none apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from salva.errors import UsageError
from salva.messages import message
from salva.stats.frechet import Quality
from salva.stats.intervals import wilson

N_DISTRACTORS = 99
"""As published: one caption is right, 99 are not."""
N_DRAWS = 10


def r_precision(
    images: ArrayLike,
    texts: ArrayLike,
    own: Sequence[int],
    *,
    n_distractors: int = N_DISTRACTORS,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> Quality:
    """The mean over draws of the share of images whose own text is nearer than every other; spread: over draws.

    The interval is over captions: it says what others like these would give.
    texts: one row a different text. own: for each image the row of its own text.
    """
    vectors, captions = (_unit(rows) for rows in (images, texts))
    if len(vectors) != len(own) or not len(vectors) or vectors.shape[1] != captions.shape[1]:
        why = f"images have the shape {vectors.shape}, texts {captions.shape}, and there are {len(own)} places"
        raise UsageError(message("numbers-unusable", what="vectors", why=why))
    if len(captions) < 2:
        raise UsageError(message("numbers-unusable", what="captions", why="R-precision needs two different ones"))
    n_others = min(n_distractors, len(captions) - 1)
    rng = np.random.default_rng(seed)
    shares = np.zeros(n_draws)
    for vector, place in zip(vectors, own, strict=True):
        scores = captions @ vector
        others = np.delete(scores, place)
        for draw in range(n_draws):
            drawn = others if n_others == len(others) else others[rng.choice(len(others), n_others, replace=False)]
            # Not below by what rounding alone could do: two equal captions must tie.
            shares[draw] += scores[place] > drawn.max() + 1e-12
    shares /= len(vectors)
    few = n_others < n_distractors
    warning = message("captions-few", n=n_others, usual=n_distractors)
    return Quality(
        value=float(shares.mean()),
        n_images=len(vectors),
        n_reference=n_others,
        spread=float(shares.std()),
        # Draws say nothing of other captions, and images of one caption rise and fall together.
        interval=wilson(float(shares.mean()), len(set(own))),
        warning=warning if few else "",
    )


def _unit(vectors: ArrayLike) -> NDArray[np.float64]:
    rows = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise UsageError(message("numbers-unusable", what="vectors", why="one has no length or holds NaN"))
    unit: NDArray[np.float64] = rows / lengths
    return unit
