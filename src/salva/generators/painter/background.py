"""Backgrounds: too plain to be mistaken for an entity or text, except for the kind `photo`."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt
from PIL import Image

Floats = npt.NDArray[np.float32]

_N_SHAPES = 64


def draw_background(kind: str, side: int, seed: int) -> Image.Image:
    """A canvas: varied, plain (one colour), white, or photo (as busy as a photograph, made by code)."""
    if kind == "white":
        return Image.new("RGB", (side, side), (255, 255, 255))
    rng = random.Random(seed)
    if kind == "plain":
        return Image.new("RGB", (side, side), _colour(rng))
    if kind == "photo":
        return _photo(side, rng)
    makers = (_plain, _gradient, _gradient, _glow, _clouds, _clouds, _stripes, _dots, _checks, _landscape, _landscape)
    return rng.choice(makers)(side, rng)


def _colour(rng: random.Random, low: float = 0.6, high: float = 0.97) -> tuple[int, int, int]:
    """A muted colour, as entities are saturated."""
    light = rng.uniform(low, high)
    tint = rng.uniform(0.02, 0.22)
    red, green, blue = (light + rng.uniform(-tint, tint) for _ in range(3))
    return _byte(red), _byte(green), _byte(blue)


def _near(rng: random.Random, colour: tuple[int, int, int], step: float) -> tuple[int, int, int]:
    shift = rng.choice((-1, 1)) * rng.uniform(0.5, 1) * step * 255
    red, green, blue = (channel + shift + rng.uniform(-6, 6) for channel in colour)
    return _byte(red / 255), _byte(green / 255), _byte(blue / 255)


def _byte(value: float) -> int:
    return max(0, min(255, round(value * 255)))


def _plain(side: int, rng: random.Random) -> Image.Image:
    return Image.new("RGB", (side, side), _colour(rng))


def _gradient(side: int, rng: random.Random) -> Image.Image:
    angle = rng.uniform(0, 2 * np.pi)
    x, y = _grid(side)
    share = x * np.float32(np.cos(angle)) + y * np.float32(np.sin(angle))
    share = (share - share.min()) / (share.max() - share.min())
    return _mix(share, _colour(rng), _colour(rng))


def _glow(side: int, rng: random.Random) -> Image.Image:
    x, y = _grid(side)
    distance = np.hypot(x - rng.uniform(0.2, 0.8), y - rng.uniform(0.2, 0.8))
    return _mix(np.clip(distance, 0, 1), _colour(rng, 0.8, 0.98), _colour(rng))


def _clouds(side: int, rng: random.Random) -> Image.Image:
    """Soft noise: a few random cells enlarged."""
    cells = rng.choice((3, 4, 6, 9))
    noise = np.random.default_rng(rng.getrandbits(32)).random((cells, cells), dtype=np.float32)
    stretched = Image.fromarray(noise, "F").resize((side, side), Image.Resampling.BICUBIC)
    base = _colour(rng)
    return _mix(np.clip(np.asarray(stretched), 0, 1), base, _near(rng, base, 0.16))


def _stripes(side: int, rng: random.Random) -> Image.Image:
    angle = rng.uniform(0, np.pi)
    x, y = _grid(side)
    waves = rng.uniform(2, 7)
    along = x * np.float32(np.cos(angle)) + y * np.float32(np.sin(angle))
    base = _colour(rng)
    return _mix(
        np.float32(0.5) + np.float32(0.5) * np.sin(along * np.float32(2 * np.pi * waves)), base, _near(rng, base, 0.08)
    )


def _dots(side: int, rng: random.Random) -> Image.Image:
    x, y = _grid(side)
    waves = np.float32(2 * np.pi * rng.uniform(3, 8))
    base = _colour(rng)
    share = np.clip(np.sin(x * waves) * np.sin(y * waves) * np.float32(3) - np.float32(1), 0, 1)
    return _mix(share, base, _near(rng, base, 0.08))


def _checks(side: int, rng: random.Random) -> Image.Image:
    x, y = _grid(side)
    cells = rng.randint(3, 8)
    share = (((x * cells).astype(np.int32) + (y * cells).astype(np.int32)) % 2).astype(np.float32)
    base = _colour(rng)
    return _mix(share, base, _near(rng, base, 0.06))


def _landscape(side: int, rng: random.Random) -> Image.Image:
    """Sky, two hills and a field."""
    x, y = _grid(side)
    sky = _mix(y, (150 + rng.randint(-30, 40), 200 + rng.randint(-20, 20), 240), (235, 240, 250))
    ground = rng.choice(((150, 195, 120), (190, 200, 130), (215, 195, 150), (225, 232, 238), (175, 205, 160)))
    canvas = np.array(sky)
    horizon = rng.uniform(0.5, 0.75)
    for depth in (0, 1):
        crest = (
            horizon
            + 0.12 * depth
            + rng.uniform(0.02, 0.06) * np.sin(x[0] * np.float32(rng.uniform(3, 8)) + np.float32(rng.uniform(0, 6)))
        )
        shade = 1.06 - 0.08 * depth
        canvas[y[:, :1] > crest[None, :]] = [min(255, round(channel * shade)) for channel in ground]
    return Image.fromarray(canvas)


def _grid(side: int) -> tuple[Floats, Floats]:
    steps = np.linspace(0, 1, side, dtype=np.float32)
    return np.broadcast_to(steps[None, :], (side, side)), np.broadcast_to(steps[:, None], (side, side))


def _mix(share: Floats, first: tuple[int, int, int], second: tuple[int, int, int]) -> Image.Image:
    """The first colour where share is 0, the second where it is 1."""
    mask = Image.fromarray((share * np.float32(255)).astype(np.uint8), "L")
    return Image.composite(Image.new("RGB", mask.size, second), Image.new("RGB", mask.size, first), mask)


def _photo(side: int, rng: random.Random) -> Image.Image:
    """Shaded shapes of all sizes with grain: the edges and contrasts of a photograph without entities."""
    small = 160
    x, y = _grid(small)
    dice = np.random.default_rng(rng.getrandbits(32))
    spread, vivid = dice.uniform(0.2, 0.7), dice.uniform(0.08, 0.4)
    mood = dice.uniform(0.2, 0.8) + vivid * (dice.random(3) - 0.5)
    canvas = np.broadcast_to(mood, (small, small, 3)) + dice.uniform(-0.4, 0.4) * (y[..., None] - 0.5)
    for number in range(_N_SHAPES):
        # Many small shapes and few large ones, as in photographs.
        radius = 0.5 / (1 + 0.35 * number) * dice.uniform(0.5, 1.3)
        angle, narrow = dice.uniform(0, np.pi), dice.uniform(0.3, 1)
        dx, dy = x - dice.uniform(-0.1, 1.1), y - dice.uniform(-0.1, 1.1)
        along = (dx * np.cos(angle) + dy * np.sin(angle)) / radius
        across = (dy * np.cos(angle) - dx * np.sin(angle)) / (radius * narrow)
        distance = np.maximum(abs(along), abs(across)) if dice.random() < 0.4 else np.hypot(along, across)
        cover = np.clip((1 - distance) * radius * small * dice.uniform(0.2, 1) + 0.5, 0, 1)[..., None]
        colour = mood + spread * (dice.random() - 0.5) + 2 * vivid * (dice.random(3) - 0.5)
        shaded = colour + dice.uniform(-0.2, 0.2) * np.clip(along, -1, 1)[..., None]
        canvas = canvas * (1 - cover) + shaded * cover
    large = Image.fromarray((np.clip(canvas, 0, 1) * 255).astype(np.uint8)).resize(
        (side, side), Image.Resampling.BICUBIC
    )
    grain = dice.normal(0, dice.uniform(2, 9), (side, side, 1))
    return Image.fromarray(np.clip(np.asarray(large) + grain, 0, 255).astype(np.uint8))
