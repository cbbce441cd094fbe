"""Colourist: the colour of each thing from the pixels in its box, as one of the words a formula can use, or none.

A picture and a detector's boxes come in, whoever the detector is; the same boxes go out with their colours. What
differs from the surroundings of a box is taken for the thing, and its pixels vote. What colour a thing usually has does
not come into it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from salva.core.about import About, Habits
from salva.core.image import Picture
from salva.core.observation import Detections, Observation
from salva.core.options import NoOptions
from salva.core.protocols import LookRequest
from salva.core.scene import Box
from salva.errors import PluginError, SalvaError
from salva.imaging.palette import PALETTE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Outlines are black, highlights white and shadows gray whatever the thing's colour is, so their pixels say less.
_VOTE = {"black": 0.5, "white": 0.7, "gray": 0.7}
_SHADES = (0.55, 0.75, 0.9, 1.0, 1.15, 1.35)
"""Light a colour is seen in: below 1 in the shade, above it towards white."""
_APART = 8.0
"""How far from every colour around the box a pixel must be to belong to the thing, in CIELAB."""
_LIGHTNESS = 0.5
"""What a difference in lightness counts beside one in hue."""
_LEAST = 0.1
"""When less of the box than this stands out, the thing has the colour of what is behind it, and all of it votes."""
_GAP, _RING = 0.03, 0.12
"""From where to where the surroundings of a box reach, in its longer side: boxes may be a little tight."""
_SECOND = 0.85
"""With more than this of the first colour's votes for a second one, nobody can say which the thing has."""
_N_PIXELS, _N_AROUND = 1500, 96


class PixelColours:
    """Tells the colours of what a detector saw from the pixels alone."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(needs=("detector",), takes_labels=True)
    habits: ClassVar[Habits] = Habits(batch_size=8)
    Options: ClassVar[type[NoOptions]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def look(self, requests: Sequence[LookRequest]) -> Sequence[Observation | SalvaError]:
        """The detector's boxes, those of the names that are asked for with their colours."""
        outcomes: list[Observation | SalvaError] = []
        for request in requests:
            detections = request.given.get("detector")
            if not isinstance(detections, Detections):
                raise PluginError(f"colours are told in a detector's boxes, got {detections!r}")
            labels = request.query.labels
            outcomes.append(with_colours(detections, request.picture, labels, labels))
        return outcomes


def with_colours(
    detections: Detections, picture: Picture, wanted: Collection[str], coloured: Collection[str]
) -> Detections:
    """The same boxes, each with its colour where its name, in the words that are wanted, is one of the coloured."""
    boxes = tuple(
        replace(box, colour=colour_of(picture, box.box)) if box.name_for(wanted) in coloured else box
        for box in detections.boxes
    )
    return replace(detections, boxes=boxes)


def colour_of(picture: Picture, box: Box) -> str | None:
    """The colour word for what is in the box; None where the pixels do not say one."""
    import numpy as np

    pixels = np.frombuffer(picture.rgb, np.uint8).reshape(picture.height, picture.width, 3)
    x0, x1 = round(box[0] * picture.width), round(box[2] * picture.width)
    y0, y1 = round(box[1] * picture.height), round(box[3] * picture.height)
    x0, y0, x1, y1 = max(0, x0), max(0, y0), min(picture.width, x1), min(picture.height, y1)
    if x1 <= x0 or y1 <= y0:
        return None
    inside = _lab(_thinned(pixels[y0:y1, x0:x1].reshape(-1, 3), _N_PIXELS))
    longer = max(x1 - x0, y1 - y0)
    gap, margin = round(_GAP * longer), max(3, round(_RING * longer))
    top, left = max(0, y0 - margin), max(0, x0 - margin)
    around = pixels[top : y1 + margin, left : x1 + margin]
    is_ring = np.ones(around.shape[:2], bool)
    is_ring[max(0, y0 - gap - top) : y1 + gap - top, max(0, x0 - gap - left) : x1 + gap - left] = False
    ring = _lab(_thinned(around[is_ring], _N_AROUND))
    if len(ring):
        standing_out = inside[_squared_distances(inside, ring).min(1) > _APART**2]
        if len(standing_out) >= _LEAST * len(inside):
            inside = standing_out
    shades, whose = _prototypes()
    scale = np.array([_LIGHTNESS, 1.0, 1.0])
    nearest = whose[_squared_distances(inside * scale, shades * scale).argmin(1)]
    votes = np.bincount(nearest, minlength=len(PALETTE)) * np.array([_VOTE.get(name, 1.0) for name in PALETTE])
    best, second = votes.argsort()[:-3:-1]
    return tuple(PALETTE)[int(best)] if votes[second] <= _SECOND * votes[best] else None


def _squared_distances(ones: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """From each of some points to each of others."""
    squared: NDArray[np.float64] = (ones**2).sum(1)[:, None] - 2 * ones @ others.T + (others**2).sum(1)
    return squared


def _thinned(pixels: NDArray[np.uint8], most: int) -> NDArray[np.uint8]:
    """Evenly taken pixels, no more than about `most`."""
    return pixels[:: max(1, len(pixels) // most)]


@cache
def _prototypes() -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Every colour in every light, and which colour each is."""
    import numpy as np

    lit_colours, whose = [], []
    for i, rgb in enumerate(PALETTE.values()):
        base = np.array(rgb, np.float64)
        for shade in _SHADES:
            lit = base * (0.25 + 0.75 * shade) if shade <= 1 else base + (255 - base) * 0.8 * (shade - 1)
            lit_colours.append(lit)
            whose.append(i)
    return _lab(np.array(lit_colours)), np.array(whose)


def _lab(rgb: NDArray[np.uint8] | NDArray[np.float64]) -> NDArray[np.float64]:
    """sRGB to CIELAB under D65, where distances are about as people see them."""
    import numpy as np

    share = np.asarray(rgb, np.float64) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = linear @ to_xyz.T / np.array([0.9505, 1.0, 1.089])
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = root[..., 0], root[..., 1], root[..., 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)
