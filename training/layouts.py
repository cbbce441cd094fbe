"""Decides what goes where in a batch of training scenes: which sprites, how large, turned and tinted how.

Numbers only, drawn with numpy in worker processes, so that the GPU never waits for them. Knows the
sprites by their outlines and labels, never by their pixels. Some pictures are hard: tiny or turned things, things that
cover each other or stick out of the picture.
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


class Planner:
    """An endless stream of plans."""

    def __init__(self, bank: Path, side: int, batch: int, seed: int) -> None:
        stored = np.load(bank)
        self.owners: np.ndarray = stored["owners"]
        n_labels = len(stored["labels"])
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
        n_things = rng.choice(len(HOW_MANY), n, p=HOW_MANY / HOW_MANY.sum())
        has_patches = rng.random(n) < np.where(n_things == 0, 0.75, 0.22)
        n_used = n_things + np.where(has_patches, rng.integers(1, MAX_PATCHES + 1, n), 0)
        order = np.argsort(-n_used, kind="stable")
        n_things, n_used = n_things[order], n_used[order]
        sprite = np.zeros((n, N_SLOTS), np.int64)
        size = np.ones((n, N_SLOTS), np.float32)
        for row in range(n):
            sprite[row], size[row] = self._cast(int(n_things[row]), int(n_used[row]))
        stretch = np.exp(rng.normal(0, 0.05, (n, N_SLOTS, 2)))
        centre = self._place(n_used, self.extents[sprite] * stretch * size[..., None])
        is_thing = np.isfinite(centre[..., 0]) & (sprite < self.n_sprites)
        matrix, offset = self._tints(sprite)
        level = np.round(np.log2(160 / (size * self.side)) + rng.choice((-0.6, 0, 0, 0, 0.9), sprite.shape))
        return Plan(
            seed=int(rng.integers(2**31)),
            n_used=n_used,
            sprite=sprite,
            transform=self._transforms(size[..., None] * stretch, centre).astype(np.float32),
            level=level.clip(0, N_LEVELS - 1).astype(np.int64),
            flip=(rng.random(sprite.shape) < 0.5) & (sprite < self.n_sprites),
            matrix=matrix.astype(np.float32),
            offset=offset.astype(np.float32),
            smallest=np.where(is_thing, size, 1.0).min(1),
        )

    def _cast(self, n_things: int, n_used: int) -> tuple[np.ndarray, np.ndarray]:
        """The sprites of one picture and their sizes, big ones first so that they find room."""
        rng = self.rng
        n_kinds = int(rng.integers(1, 4)) if rng.random() < 0.5 else max(1, n_things)
        kinds = rng.choice(len(self.of_label), n_kinds)
        sprite = np.zeros(N_SLOTS, np.int64)
        for slot, kind in enumerate(rng.choice(kinds, n_things)):
            sprite[slot] = rng.choice(self.of_label[kind][int(rng.random() < 0.4)])
        largest = {0: 0.6, 1: 0.65, 2: 0.5, 3: 0.46, 4: 0.42, 5: 0.38, 6: 0.36}.get(n_things, 0.3)
        if n_things in (1, 2) and rng.random() < 0.4:
            largest *= 1.45  # fills the picture, as small painters like to do
        smallest = SMALLEST if rng.random() < 0.5 else 0.105
        low, high = math.log(smallest), math.log(largest)
        size = np.exp(rng.uniform(low, high, N_SLOTS))
        if rng.random() < 0.5:
            size = np.clip(size[0] * rng.uniform(0.8, 1.25, N_SLOTS), smallest, largest)
        size[:n_things] = -np.sort(-size[:n_things])
        n_patches = n_used - n_things
        sprite[n_things:n_used] = rng.integers(self.n_sprites, len(self.extents), n_patches)
        size[n_things:n_used] = rng.uniform(0.12, 0.9, n_patches)
        return sprite, size.astype(np.float32)

    def _place(self, n_used: np.ndarray, extent: np.ndarray) -> np.ndarray:
        """Centres that keep things apart, let them touch, cover each other or leave the picture."""
        rng = self.rng
        n, n_tries = len(n_used), 40
        tolerance = rng.choice((0.0, 0.0, 0.04, 0.15, 0.3, 0.45, 0.65), n)[:, None]
        is_huddle = rng.random(n) < 0.25
        is_cut = rng.random(n) < 0.4
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

    def _transforms(self, scale: np.ndarray, centre: np.ndarray) -> np.ndarray:
        rng = self.rng
        shape = scale.shape[:2]
        # In most pictures things stand upright, as the painter draws them, or nearly so.
        kind = rng.random((shape[0], 1))
        angle = np.where(rng.random(shape) < 0.5, rng.normal(0, 0.13, shape).clip(-0.3, 0.3), 0)
        angle = np.where(kind < 0.3, rng.uniform(-0.9, 0.9, shape), angle)
        angle = np.where(kind > 0.94, rng.uniform(-math.pi, math.pi, shape), angle)
        shear = np.where(rng.random(shape) < 0.2, rng.normal(0, 0.08, shape), 0)
        cos, sin = np.cos(angle), np.sin(angle)
        sx, sy = scale[..., 0], scale[..., 1]
        # What found no room is sent far outside the picture.
        cx, cy = (np.nan_to_num(centre[..., i] * 2 - 1, nan=50.0) for i in (0, 1))
        a, b, c, d = cos / sx, (sin + shear) / sx, -sin / sy, cos / sy
        return np.stack((a, b, -a * cx - b * cy, c, d, -c * cx - d * cy), -1).reshape(*shape, 2, 3)

    def _tints(self, sprite: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A colour matrix and an offset for each slot: slight for all, any colour for what can take one."""
        rng = self.rng
        shape = sprite.shape
        can = self.is_colourable[sprite]
        is_turned = can & (rng.random(shape) < 0.2)
        hue = _hue_matrices(np.where(is_turned, rng.uniform(-math.pi, math.pi, shape), rng.normal(0, 0.12, shape)))
        colour = rng.random((*shape, 3)) ** rng.choice((0.3, 1.0, 2.5), shape)[..., None]
        slope, lift = rng.uniform(0.4, 1.3, shape), rng.uniform(0, 0.5, shape)
        weight = np.where(can & (rng.random(shape) < 0.2), rng.uniform(0.55, 1.0, shape), 0)
        dye = colour[..., :, None] * np.array((0.299, 0.587, 0.114)) * slope[..., None, None]
        gain = rng.normal(1, 0.08, shape).clip(0.7, 1.25)[..., None, None]
        matrix = gain * ((1 - weight)[..., None, None] * hue + weight[..., None, None] * dye)
        return matrix, (weight * lift)[..., None] * colour + rng.normal(0, 0.02, (*shape, 3))


def _hue_matrices(angle: np.ndarray) -> np.ndarray:
    """Rotations about the grey axis."""
    cos, sin = np.cos(angle)[..., None, None], np.sin(angle)[..., None, None]
    axis = np.full((3, 3), 1 / 3)
    cross = np.array(((0, -1, 1), (1, 0, -1), (-1, 1, 0))) / math.sqrt(3)
    return cos * np.eye(3) + sin * cross + (1 - cos) * axis
