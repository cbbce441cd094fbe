"""Decides what goes where in a batch of training scenes: which sprites, how large, turned and tinted how.

Numbers only, drawn with numpy in worker processes, so that the GPU never waits for them. Knows the
sprites by their outlines and labels, never by their pixels. Some pictures are hard: tiny or turned things, things that
cover each other, stick out of the picture or stand behind boards, one that fills it, things drawn in another manner.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

N_LEVELS = 4
MAX_THINGS = 12
MAX_PATCHES = 3
N_SLOTS = MAX_THINGS + MAX_PATCHES
SMALLEST = 0.055
"""14 px of 256."""
# Nothing at all as often as needed to teach silence; many things as often as few.
HOW_MANY = np.array([0.08, 0.1, 0.1, 0.09, 0.08, 0.07, 0.07, 0.07, 0.07, 0.07, 0.08, 0.08, 0.04])
KINDS = {
    "usual": 0.55,
    "turned": 0.09,
    "boards": 0.17,
    "filling": 0.05,
    "outlined": 0.04,
    "silhouettes": 0.04,
    "blocks": 0.03,
    "exchanged": 0.03,
}
"""What a picture is made to teach, and its share of all: only the first two have tiny, cut and covered things too."""
PLAIN_SHAPES = ("ball", "book", "clock", "pizza")
"""Never shown as silhouettes: what is no more than a disc or a rectangle must not be asked for."""
N_BOARDS = 4
FEW = 6
"""So many things at most where boards stand before them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to paste where, slot by slot, for a whole batch; every array is [n, N_SLOTS, ...] but two."""

    seed: int
    n_used: np.ndarray
    """[n] How many slots each picture fills; falling, so that slot k concerns the first pictures only."""
    sprite: np.ndarray
    """Index into the bank; patches follow the sprites."""
    transform: np.ndarray
    """The 2 x 3 map from picture to sprite."""
    level: np.ndarray
    flip: np.ndarray
    matrix: np.ndarray
    """Colours are multiplied by this 3 x 3 matrix ..."""
    offset: np.ndarray
    """... and shifted by this."""
    smallest: np.ndarray
    """[n] The longest side of the smallest thing, as a share of the picture's."""
    kind: np.ndarray
    """[n] Names out of KINDS."""
    n_blocks: np.ndarray
    """[n] Into how many blocks a side each drawing falls; 0 for none."""
    board: np.ndarray
    """[n, N_BOARDS, 2, 3] The map from picture to board, which reaches from -1 to 1."""
    board_shape: np.ndarray
    """[n, N_BOARDS] The power of its rim: 1 for a rhombus, 2 for an ellipse, many for a rectangle, 0 for no board."""


class Planner:
    """An endless stream of plans."""

    def __init__(self, bank: Path, side: int, batch: int, seed: int) -> None:
        stored = np.load(bank)
        self.owners: np.ndarray = stored["owners"]
        n_labels = len(stored["labels"])
        self.telling = np.flatnonzero(~np.isin(stored["labels"], PLAIN_SHAPES))
        plain = [np.flatnonzero((self.owners == i) & ~stored["dyed"]) for i in range(n_labels)]
        dyed = [np.flatnonzero((self.owners == i) & stored["dyed"]) for i in range(n_labels)]
        self.of_label = [
            (as_drawn, other if len(other) else as_drawn) for as_drawn, other in zip(plain, dyed, strict=True)
        ]
        self.n_sprites = len(self.owners)
        self.extents = np.concatenate((stored["extents"], stored["patch_extents"]))
        self.is_colourable = np.concatenate((stored["colourable"], np.ones(len(stored["patch_extents"]), bool)))
        self.side = side
        self.batch = batch
        self.rng = np.random.default_rng(seed)

    def __iter__(self) -> Iterator[Plan]:
        while True:
            yield self.plan(self.batch)

    def plan(self, n: int) -> Plan:
        """The plan of n pictures."""
        rng = self.rng
        kind = rng.choice(list(KINDS), n, p=list(KINDS.values()))
        n_things = rng.choice(len(HOW_MANY), n, p=HOW_MANY / HOW_MANY.sum())
        n_things = np.where((kind == "boards") & (n_things > FEW), n_things - FEW, n_things)
        n_things = np.where(kind == "filling", 1, n_things)
        has_patches = rng.random(n) < np.where(n_things == 0, 0.75, 0.22)
        n_used = n_things + np.where(has_patches, rng.integers(1, MAX_PATCHES + 1, n), 0)
        order = np.argsort(-n_used, kind="stable")
        kind, n_things, n_used = kind[order], n_things[order], n_used[order]
        sprite = np.zeros((n, N_SLOTS), np.int64)
        size = np.ones((n, N_SLOTS), np.float32)
        for row in range(n):
            sprite[row], size[row] = self._cast(str(kind[row]), int(n_things[row]), int(n_used[row]))
        stretch = np.exp(rng.normal(0, 0.05, (n, N_SLOTS, 2)))
        extent = self.extents[sprite] * stretch * size[..., None]
        centre = self._place(kind, n_used, extent)
        is_thing = np.isfinite(centre[..., 0]) & (sprite < self.n_sprites)
        matrix, offset = self._tints(kind, sprite)
        level = np.round(np.log2(160 / (size * self.side)) + rng.choice((-0.6, 0, 0, 0, 0.9), sprite.shape))
        n_blocks = np.where(kind == "blocks", rng.integers(8, 25, n), 0)
        level = np.where(n_blocks[:, None] > 0, N_LEVELS, level)  # a block has the mean colour of what it stands for
        board, board_shape = self._boards(kind, np.where(is_thing[..., None], centre, np.nan), extent)
        return Plan(
            seed=int(rng.integers(2**31)),
            n_used=n_used,
            sprite=sprite,
            transform=self._transforms(kind, size[..., None] * stretch, centre).astype(np.float32),
            level=level.clip(0, N_LEVELS - 1).astype(np.int64),
            flip=(rng.random(sprite.shape) < 0.5) & (sprite < self.n_sprites),
            matrix=matrix.astype(np.float32),
            offset=offset.astype(np.float32),
            smallest=np.where(is_thing, size, 1.0).min(1),
            kind=kind,
            n_blocks=n_blocks,
            board=board,
            board_shape=board_shape,
        )

    def _cast(self, kind: str, n_things: int, n_used: int) -> tuple[np.ndarray, np.ndarray]:
        """The sprites of one picture and their sizes, big ones first so that they find room."""
        rng = self.rng
        n_kinds = int(rng.integers(1, 4)) if rng.random() < 0.5 else max(1, n_things)
        kinds = rng.choice(self.telling if kind == "silhouettes" else len(self.of_label), n_kinds)
        sprite = np.zeros(N_SLOTS, np.int64)
        for slot, label in enumerate(rng.choice(kinds, n_things)):
            sprite[slot] = rng.choice(self.of_label[label][int(rng.random() < 0.4)])
        largest = {0: 0.6, 1: 0.65, 2: 0.5, 3: 0.46, 4: 0.42, 5: 0.38, 6: 0.36}.get(n_things, 0.3)
        if n_things in (1, 2) and rng.random() < 0.4:
            largest *= 1.45  # fills the picture, as small painters like to do
        smallest = SMALLEST if rng.random() < 0.5 and kind in ("usual", "turned") else 0.105
        low, high = math.log(smallest), math.log(largest)
        size = np.exp(rng.uniform(low, high, N_SLOTS))
        if rng.random() < 0.5:
            size = np.clip(size[0] * rng.uniform(0.8, 1.25, N_SLOTS), smallest, largest)
        if kind == "filling":
            size[0] = rng.uniform(0.7, 1.05)
        size[:n_things] = -np.sort(-size[:n_things])
        n_patches = n_used - n_things
        sprite[n_things:n_used] = rng.integers(self.n_sprites, len(self.extents), n_patches)
        size[n_things:n_used] = rng.uniform(0.12, 0.9, n_patches)
        return sprite, size.astype(np.float32)

    def _place(self, kind: np.ndarray, n_used: np.ndarray, extent: np.ndarray) -> np.ndarray:
        """Centres that keep things apart, let them touch, cover each other or leave the picture."""
        rng = self.rng
        n, n_tries = len(n_used), 40
        is_free = np.isin(kind, ("usual", "turned"))
        tolerance = np.where(is_free, rng.choice((0.0, 0.0, 0.04, 0.15, 0.3, 0.45, 0.65), n), 0)[:, None]
        is_huddle = rng.random(n) < 0.25
        is_cut = rng.random(n) < np.where(is_free, 0.4, 0.05)
        slack = np.where(
            is_cut, np.where(rng.random(n) < 0.5, rng.uniform(0.42, 0.58, n), rng.uniform(0.1, 0.58, n)), 0
        )
        slack = slack[:, None, None]
        # Where things may leave the picture, half of the tries lie near its edges.
        press = np.where(is_cut, 0.35, 1.0)[:, None, None]
        centre = np.full((n, N_SLOTS, 2), np.nan, np.float32)
        rows = np.arange(n)
        for slot in range(N_SLOTS):
            half = extent[:, slot, None, :] / 2
            room = np.maximum(0.5 - half * (1 - 2 * slack), 0)
            spots = rng.uniform(-1, 1, (n, n_tries, 2))
            tries = 0.5 + room * np.sign(spots) * np.abs(spots) ** press
            overlap = np.zeros((n, n_tries))
            for earlier in range(slot):
                there, their_half = centre[:, None, earlier], extent[:, None, earlier] / 2
                shared = np.minimum(tries + half, there + their_half) - np.maximum(tries - half, there - their_half)
                area = np.clip(shared, 0, None).prod(-1)
                least = 4 * np.minimum(half.prod(-1), their_half.prod(-1))
                overlap = np.fmax(overlap, area / least)
            is_fine = overlap <= tolerance
            pick = is_fine.argmax(1)
            if slot:
                distance = np.abs(tries - centre[:, None, slot - 1]).max(-1)
                distance = np.where(is_fine & np.isfinite(distance), distance, 9)
                pick = np.where(is_huddle, distance.argmin(1), pick)
            pick = np.where(is_fine.any(1), pick, overlap.argmin(1))
            is_placed = (slot < n_used) & (overlap[rows, pick] < np.maximum(tolerance[:, 0], 0.25))
            centre[:, slot] = np.where(is_placed[:, None], tries[rows, pick], np.nan)
        return centre

    def _transforms(self, kind: np.ndarray, scale: np.ndarray, centre: np.ndarray) -> np.ndarray:
        rng = self.rng
        shape = scale.shape[:2]
        # In most pictures things stand upright, as the painter draws them, or nearly so.
        is_tilted = rng.random(shape[0]) < np.where(kind == "usual", 0.3, 0.1)
        angle = np.where(rng.random(shape) < 0.5, rng.normal(0, 0.13, shape).clip(-0.3, 0.3), 0)
        angle = np.where(is_tilted[:, None], rng.uniform(-0.9, 0.9, shape), angle)
        angle = np.where((kind == "turned")[:, None], rng.uniform(-math.pi, math.pi, shape), angle)
        shear = np.where(rng.random(shape) < 0.2, rng.normal(0, 0.08, shape), 0)
        cos, sin = np.cos(angle), np.sin(angle)
        sx, sy = scale[..., 0], scale[..., 1]
        # What found no room is sent far outside the picture.
        cx, cy = (np.nan_to_num(centre[..., i] * 2 - 1, nan=50.0) for i in (0, 1))
        a, b, c, d = cos / sx, (sin + shear) / sx, -sin / sy, cos / sy
        return np.stack((a, b, -a * cx - b * cy, c, d, -c * cx - d * cy), -1).reshape(*shape, 2, 3)

    def _boards(self, kind: np.ndarray, centre: np.ndarray, extent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A board before most things of the pictures that have any; somewhere, where there is no thing."""
        rng = self.rng
        board = np.zeros((len(kind), N_BOARDS, 2, 3), np.float32)
        shape = np.zeros((len(kind), N_BOARDS), np.float32)
        for row in np.flatnonzero(kind == "boards"):
            slots = rng.permutation(np.flatnonzero(np.isfinite(centre[row, :, 0])))[:N_BOARDS]
            spots = [(centre[row, slot], extent[row, slot]) for slot in slots if rng.random() < 0.85]
            for i, (middle, size) in enumerate(spots or [(rng.random(2), rng.uniform(0.15, 0.6, 2))]):
                board[row, i] = self._board(middle, size)
                shape[row, i] = rng.choice((1, 2, 4, 40), p=(0.05, 0.12, 0.08, 0.75))
        return board, shape

    def _board(self, centre: np.ndarray, extent: np.ndarray) -> np.ndarray:
        """The map to a board that hides a part of a box from one side, mostly a third to two thirds."""
        rng = self.rng
        direction = rng.integers(4) * math.pi / 2 if rng.random() < 0.75 else rng.uniform(-math.pi, math.pi)
        along = np.array((math.cos(direction), math.sin(direction)))
        across = np.array((-along[1], along[0]))
        reach, width = np.abs(along) @ extent / 2, np.abs(across) @ extent / 2
        hidden = rng.uniform(0.3, 0.6) if rng.random() < 0.88 else rng.uniform(0.75, 1.1)
        beyond = max(0.0, rng.uniform(-0.5, 1.2)) * reach
        half_along, half_across = reach * hidden + beyond / 2, width * rng.uniform(0.95, 1.7)
        middle = centre + along * (reach + beyond - half_along)
        middle = middle + across * rng.uniform(-0.8, 0.8) * max(0.0, half_across - width)
        tilt = rng.normal(0, 0.12) if rng.random() < 0.3 else 0.0
        turn = np.array(((math.cos(tilt), math.sin(tilt)), (-math.sin(tilt), math.cos(tilt))))
        axes = np.stack((along @ turn / half_along, across @ turn / half_across)) / 2
        return np.concatenate((axes, -axes @ (middle * 2 - 1)[:, None]), 1)

    def _tints(self, kind: np.ndarray, sprite: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A colour matrix and an offset for each slot: slight for all, any colour for what can take one."""
        rng = self.rng
        shape = sprite.shape
        is_filling, is_exchanged = (kind == "filling")[:, None], (kind == "exchanged")[:, None]
        can = self.is_colourable[sprite] | is_filling
        is_turned = can & (rng.random(shape) < np.where(is_filling, 0.4, 0.2)) | is_exchanged
        hue = _hue_matrices(np.where(is_turned, rng.uniform(-math.pi, math.pi, shape), rng.normal(0, 0.12, shape)))
        colour = rng.random((*shape, 3)) ** rng.choice((0.3, 1.0, 2.5), shape)[..., None]
        slope, lift = rng.uniform(0.4, 1.3, shape), rng.uniform(0, 0.5, shape)
        is_dyed = can & ~is_exchanged & (rng.random(shape) < np.where(is_filling, 0.4, 0.2))
        weight = np.where(is_dyed, rng.uniform(0.55, 1.0, shape), 0)
        dye = colour[..., :, None] * np.array((0.299, 0.587, 0.114)) * slope[..., None, None]
        gain = rng.normal(1, 0.08, shape).clip(0.7, 1.25)[..., None, None]
        matrix = gain * ((1 - weight)[..., None, None] * hue + weight[..., None, None] * dye)
        offset = (weight * lift)[..., None] * colour + rng.normal(0, 0.02, (*shape, 3))
        # One colour for all of a picture's silhouettes, dark more often than not.
        flat = rng.random((len(kind), 1, 3)) ** rng.choice((1.0, 3.0, 6.0), (len(kind), 1, 1))
        is_flat = ((kind == "silhouettes")[:, None] & (sprite < self.n_sprites))[..., None]
        return np.where(is_flat[..., None], 0, matrix), np.where(is_flat, flat, offset)


def _hue_matrices(angle: np.ndarray) -> np.ndarray:
    """Rotations about the grey axis."""
    cos, sin = np.cos(angle)[..., None, None], np.sin(angle)[..., None, None]
    axis = np.full((3, 3), 1 / 3)
    cross = np.array(((0, -1, 1), (1, 0, -1), (-1, 1, 0))) / math.sqrt(3)
    matrices: np.ndarray = cos * np.eye(3) + sin * cross + (1 - cos) * axis
    return matrices
