"""ColourReader: the colour word of each entity, from the pixels in its box; none if undecided.

Takes the boxes of any detector and adds colours. Pixels that differ from the surroundings of a box belong to the
entity and vote; the entity's usual colour plays no part.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import isfinite
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from salva.core.about import About, Habits
from salva.core.image import Picture
from salva.core.observation import Detections, Observation
from salva.core.options import WithoutOptions
from salva.core.protocols import ObserveRequest
from salva.core.scene import Box
from salva.errors import PluginError, SalvaError
from salva.imaging.palette import PALETTE
from salva.messages import message

_RED_FROM, _HUES_TO = 7.0, (42.0, 66.0, 109.0, 184.0, 304.0, 331.0)
"""In degrees on the circle of hues in CIELAB: where red begins, and where red, orange, yellow, green, blue and purple
end. The rest is pink."""
_DARK, _BLACK, _WHITE = 7.0, 29.0, 69.0
"""Lightness: below the first all is black; without a hue, black is below the second and white above the third."""
_BLUISH = 260.0
"""The hue of daylight in the shade, which white and gray entities take on."""
# The weight of each word's pixels. Entities of any colour have black tyres, windows and outlines, white highlights and
# gray shadows.
_COUNTS = {"brown": 0.75, "black": 0.4, "white": 1.1, "gray": 0.75}
_WARM, _SHADED = ("red", "orange", "yellow"), 0.7
"""These colours look brown in the shade: with this many votes for each vote for brown, they get those for brown too."""
_CENTRE = 1.1
"""How fast the weight of a pixel falls from the middle of its box, in half sides."""
_ALIKE = 7.5
"""Distance in CIELAB up to which two pixels have about one colour."""
_CELL = 3.0
"""Colours nearer than this count as the same."""
_SHARPNESS = 3
"""How strongly colours common around the box and rare in it are excluded."""
_GAP, _RING = 0.03, 0.2
"""Where the surroundings of a box begin and end, as shares of its longer side; boxes may be a little tight."""
_LEAST, _MARGIN = 0.36, 0.12
"""The share of votes that the first colour needs, and its lead over the second; with less the colour is undecided. All
numbers here are fitted to crops of photographs and painter scenes: bench/real_pictures.py."""
_FEWEST, _N_PIXELS = 12, 700
"""The fewest pixels for a colour, and about how many are sampled."""


class PixelColours(WithoutOptions):
    """Colours of detected entities from pixels alone."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(needs_roles=("detector",), takes_labels=True)
    habits: ClassVar[Habits] = Habits(batch_size=8)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """The detector's boxes, those of the requested names with colours."""
        outcomes: list[Observation | SalvaError] = []
        for request in requests:
            detections = request.given.get("detector")
            if not isinstance(detections, Detections):
                values = {"component": "the colour reader", "wanted": "a detector's boxes", "got": repr(detections)}
                raise PluginError(message("input-unexpected", **values))
            labels = request.query.labels
            outcomes.append(with_colours(detections, request.picture, labels, labels))
        return outcomes


def with_colours(
    detections: Detections, picture: Picture, wanted: Collection[str], coloured: Collection[str]
) -> Detections:
    """The same boxes, those whose name is one of `coloured` with colours."""
    boxes = tuple(
        replace(box, colour=colour_of(picture, box.box)) if box.name_for(wanted) in coloured else box
        for box in detections.boxes
    )
    return replace(detections, boxes=boxes)


def colour_of(picture: Picture, box: Box) -> str | None:
    """The colour word of the entity in the box; None if undecided."""

    if not all(map(isfinite, box)):
        return None
    pixels = np.frombuffer(picture.rgb, np.uint8).reshape(picture.height, picture.width, 3)
    x0, x1 = max(0, round(box[0] * picture.width)), min(picture.width, round(box[2] * picture.width))
    y0, y1 = max(0, round(box[1] * picture.height)), min(picture.height, round(box[3] * picture.height))
    if x1 <= x0 or y1 <= y0 or (x1 - x0) * (y1 - y0) < _FEWEST:
        return None
    ys, xs = _grid(y0, y1, x0, x1, _N_PIXELS)
    inside = _lab(pixels[ys, xs])
    off_centre = ((xs + 0.5 - x0) / (x1 - x0) * 2 - 1) ** 2 + ((ys + 0.5 - y0) / (y1 - y0) * 2 - 1) ** 2
    weights = np.exp(-off_centre / (2 * _CENTRE**2))
    around = _around(pixels, (x0, y0, x1, y1))
    if len(around):
        # Colours as common around the box as in it are background, if anything in the box stands out.
        shades, which = _shades(inside)
        own = _alike(shades, shades) @ np.bincount(which, weights) / weights.sum()
        grounds, ground = _shades(around)
        behind = _alike(shades, grounds) @ np.bincount(ground) / len(around)
        weights = weights * ((own / (own + behind)) ** _SHARPNESS)[which]
    counted = np.bincount(_words_of(inside), weights, len(PALETTE))
    return _winner({word: n * _COUNTS.get(word, 1.0) for word, n in zip(PALETTE, counted.tolist(), strict=True)})


def _winner(votes: dict[str, float]) -> str | None:
    """The word with most votes; None if another has nearly as many."""
    warm = max(_WARM, key=lambda word: votes[word])
    if sum(votes[word] for word in _WARM) > _SHADED * votes["brown"]:
        votes = votes | {warm: votes[warm] + votes["brown"], "brown": 0.0}
    first, second = sorted(votes, key=lambda word: -votes[word])[:2]
    n = sum(votes.values())
    return first if votes[first] >= _LEAST * n and votes[first] - votes[second] >= _MARGIN * n else None


def _words_of(lab: NDArray[np.float64]) -> NDArray[np.intp]:
    """The number of each colour's word in the palette, fitted to photographs."""

    number = {word: i for i, word in enumerate(PALETTE)}
    lightness, chroma = lab[:, 0], np.hypot(lab[:, 1], lab[:, 2])
    hue = np.degrees(np.arctan2(lab[:, 2], lab[:, 1]))
    by_hue = np.array([number[word] for word in ("red", "orange", "yellow", "green", "blue", "purple", "pink")])
    words = by_hue[np.searchsorted(np.array(_HUES_TO) - _RED_FROM, (hue - _RED_FROM) % 360, side="right")]
    red, orange, yellow, pink = (words == number[word] for word in ("red", "orange", "yellow", "pink"))
    is_dull = (lightness < 62) & (chroma < 45)
    words[red & (lightness > 57) & (chroma < 62)] = number["pink"]
    words[pink & (lightness < 45)] = number["red"]
    words[red & (lightness < 48) & (chroma < 39)] = number["brown"]
    words[(orange & is_dull) | (yellow & (is_dull | ((lightness < 84) & (chroma < 40))))] = number["brown"]
    # The lighter a colour, the more chroma it needs to be called by its hue, twice as much for the blue of shade.
    needed = (9 + 0.22 * np.maximum(0, lightness - 20)) * (1 + np.maximum(0, np.cos(np.radians(hue - _BLUISH))))
    words[chroma < needed] = number["gray"]
    words[(chroma < needed) & (lightness > _WHITE)] = number["white"]
    words[((chroma < needed) & (lightness < _BLACK)) | ((lightness < _DARK) & (chroma < 30))] = number["black"]
    return words


def _grid(y0: int, y1: int, x0: int, x1: int, most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of about so many pixels of a rectangle, evenly spaced."""

    step = max(1, int(((y1 - y0) * (x1 - x0) / most) ** 0.5))
    ys, xs = np.meshgrid(np.arange(y0 + step // 2, y1, step), np.arange(x0 + step // 2, x1, step), indexing="ij")
    return ys.ravel(), xs.ravel()


def _around(pixels: NDArray[np.uint8], box: tuple[int, int, int, int]) -> NDArray[np.float64]:
    """The colours of the surroundings of a box."""
    x0, y0, x1, y1 = box
    height, width = pixels.shape[:2]
    longer = max(x1 - x0, y1 - y0)
    gap, reach = round(_GAP * longer), max(3, round(_RING * longer))
    top, bottom = max(0, y0 - reach), min(height, y1 + reach)
    ys, xs = _grid(top, bottom, max(0, x0 - reach), min(width, x1 + reach), 2 * _N_PIXELS)
    is_outside = (ys < y0 - gap) | (ys >= y1 + gap) | (xs < x0 - gap) | (xs >= x1 + gap)
    return _lab(pixels[ys[is_outside], xs[is_outside]])


def _shades(lab: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The distinct colours, and the number of each pixel's colour among them."""

    cells = np.round(lab / _CELL).astype(np.int64) @ np.array([1_000_000, 1_000, 1])
    _, first, which = np.unique(cells, return_index=True, return_inverse=True)
    return lab[first], which


def _alike(ones: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """The similarity of each pair of colours, from 0 to 1."""

    squared = (ones**2).sum(1)[:, None] - 2 * ones @ others.T + (others**2).sum(1)
    likeness: NDArray[np.float64] = np.exp(-np.maximum(0, squared) / (2 * _ALIKE**2))
    return likeness


def _lab(rgb: NDArray[np.uint8] | NDArray[np.float64]) -> NDArray[np.float64]:
    """sRGB to CIELAB under D65."""

    share = np.asarray(rgb, np.float64) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = linear @ to_xyz.T / np.array([0.9505, 1.0, 1.089])
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = root[..., 0], root[..., 1], root[..., 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)
