"""Draws sprites with colours and shadows, backgrounds and text into given boxes.

Knows no formulas, worlds or faults; its own choices depend on a seed.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

from salva.assets.files import read_asset
from salva.core.image import Picture
from salva.core.scene import Box
from salva.generators.painter.background import draw_background
from salva.generators.painter.effects import apply_effect
from salva.generators.painter.lettering import draw_strip, strip_size
from salva.imaging.palette import PALETTE

Floats = npt.NDArray[np.float32]

# The part that is coloured, if not the one with the most common hue.
_BODY = {
    ("ball", "noto"): "light",
    ("ball", "noto-v1"): "light",
    ("cup", "fluent-3d"): "pale",
    ("cup", "fluent-flat"): "pale",
    ("hat", "fluent-3d"): "dark",
    ("hat", "fluent-flat"): "dark",
    ("hat", "noto"): "dark",
    ("hat", "noto-v1"): "dark",
    ("house", "noto"): "light",
}
_SHADOW = 0.32


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """An entity with its box and style."""

    entity: str
    style: str
    box: Box
    """Whole pixels divided by the side, so that the sprite fills it exactly."""
    colour: str | None = None
    is_flipped: bool = False
    turn: float = 0.0
    """Degrees; a turned drawing is as large as its box allows."""
    effect: str = ""
    """A change of the sprite, such as outlined; empty for none."""
    board: Box | None = None
    """A plain board in front of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStrip:
    """Words on a strip, and its box."""

    text: str
    box: Box
    is_dark: bool = False
    """Light words on a dark strip."""
    turn: float = 0.0
    """Degrees; the box is that of the turned strip."""


@cache
def sprite_index() -> dict[str, dict[str, dict[str, Any]]]:
    """Styles with their sources; entities with their styles and whether they can be coloured."""
    index: dict[str, dict[str, dict[str, Any]]] = json.loads(read_asset("sprites/index.json"))
    return index


@cache
def aspect(entity: str, style: str) -> float:
    """Width by height of a drawing."""
    sprite = _sprite(entity, style)
    return sprite.width / sprite.height


def draw(
    placed: Sequence[Placed],
    *,
    side: int,
    background: str,
    seed: int,
    has_shadows: bool,
    text: TextStrip | None = None,
) -> Picture:
    """The image of these entities, from back to front."""
    canvas = draw_background(background, side, seed)
    for thing in placed:
        x0, y0, x1, y1 = (round(edge * side) for edge in thing.box)
        sprite, shadow, reach = _resize(
            thing.entity, thing.style, thing.colour, x1 - x0, y1 - y0, thing.is_flipped, thing.effect, thing.turn
        )
        if has_shadows:
            canvas.paste((20, 20, 30), (x0 - reach + reach // 2, y0 - reach + reach // 2), shadow)
        canvas.paste(sprite, (x0, y0), sprite)
    boards = random.Random(seed)
    for thing in placed:
        if thing.board is not None:
            x0, y0, x1, y1 = (round(edge * side) for edge in thing.board)
            shade = boards.randint(60, 190)
            canvas.paste((shade, round(shade * 0.9), round(shade * 0.75)), (x0, y0, x1, y1))
    if text is not None:
        _draw_text(canvas, text)
    return Picture(rgb=canvas.tobytes(), width=side, height=side)


def recolour(sprite: Image.Image, colour: str, body: str = "hue") -> Image.Image:
    """The sprite with its body in another colour; light and shade stay.

    body: "hue" for the most common hue, "light" or "dark" for greys, "pale" for slightly tinted whites.
    """
    pixels = np.asarray(sprite, dtype=np.float32) / np.float32(255)
    rgb, alpha = pixels[..., :3], pixels[..., 3]
    share = _body_share(rgb, alpha, body)[..., None]
    value = rgb.max(axis=-1)
    inside = value[(share[..., 0] > 0.5) & (alpha > 0.5)]
    middle = float(np.median(inside)) if inside.size else 1.0
    shade = (value / max(middle, 0.05))[..., None]
    base = np.asarray(PALETTE[colour], dtype=np.float32) / 255
    lit = np.clip((shade - 1) * 0.8, 0, 1)
    body_rgb = np.where(shade <= 1, base * (0.25 + 0.75 * shade), base + (1 - base) * lit)
    mixed = rgb * (1 - share) + np.clip(body_rgb, 0, 1) * share
    out = np.concatenate([mixed, alpha[..., None]], axis=-1)
    return Image.fromarray((out * 255 + 0.5).astype(np.uint8), "RGBA")


def text_box_size(text: str, side: int, turn: float = 0.0) -> tuple[float, float]:
    """Width and height of a strip with these words, as fractions of the side."""
    width, height = strip_size(text, side)
    if turn:
        width, height = Image.new("1", (width, height)).rotate(turn, expand=True).size
    return width / side, height / side


def _draw_text(canvas: Image.Image, text: TextStrip) -> None:
    strip = draw_strip(text.text, canvas.width, is_dark=text.is_dark)
    if text.turn:
        strip = strip.rotate(text.turn, Image.Resampling.BICUBIC, expand=True)
    canvas.paste(strip, (round(text.box[0] * canvas.width), round(text.box[1] * canvas.width)), strip)


@lru_cache(maxsize=512)
def _sprite(entity: str, style: str, colour: str | None = None) -> Image.Image:
    if colour is not None:
        return recolour(_sprite(entity, style), colour, _BODY.get((entity, style), "hue"))
    content = read_asset(f"sprites/{style}/{entity.replace(' ', '-')}.webp")
    return Image.open(io.BytesIO(content)).convert("RGBA")


@lru_cache(maxsize=2048)
def _resize(
    entity: str,
    style: str,
    colour: str | None,
    width: int,
    height: int,
    is_flipped: bool,
    effect: str,
    turn: float,
) -> tuple[Image.Image, Image.Image, int]:
    """A resized sprite, its soft shadow, and how far the shadow extends beyond the sprite."""
    drawn = _sprite(entity, style, colour)
    sprite = _rotate(drawn, turn, width, height) if turn else drawn.resize((width, height), Image.Resampling.LANCZOS)
    if effect:
        sprite = apply_effect(sprite, effect)
    if is_flipped:
        sprite = sprite.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    reach = max(3, max(width, height) // 16)
    shadow = Image.new("L", (width + 2 * reach, height + 2 * reach))
    shadow.paste(sprite.getchannel("A").point(lambda a: int(a * _SHADOW)), (reach, reach))
    return sprite, shadow.filter(ImageFilter.GaussianBlur(reach / 2)), reach


def _rotate(sprite: Image.Image, turn: float, width: int, height: int) -> Image.Image:
    """The sprite turned, as large as fits into the box."""
    turned = sprite.rotate(turn, Image.Resampling.BICUBIC, expand=True)
    turned = turned.crop(turned.getchannel("A").getbbox())
    scale = min(width / turned.width, height / turned.height)
    fitted = turned.resize(
        (max(1, round(turned.width * scale)), max(1, round(turned.height * scale))), Image.Resampling.LANCZOS
    )
    canvas = Image.new("RGBA", (width, height))
    canvas.paste(fitted, ((width - fitted.width) // 2, (height - fitted.height) // 2))
    return canvas


def _body_share(rgb: Floats, alpha: Floats, body: str) -> Floats:
    value, lowest = rgb.max(axis=-1), rgb.min(axis=-1)
    saturation = (value - lowest) / np.maximum(value, 1e-3)
    if body in ("light", "pale"):
        return _ramp((0.3 if body == "light" else 0.4) - saturation, 0.1) * _ramp(value - 0.5, 0.1)
    if body == "dark":
        return _ramp(0.5 - value, 0.1)
    hue = _hue(rgb, value, lowest)
    strength = saturation * alpha * (saturation > 0.25) * (value > 0.2)
    histogram, _ = np.histogram(hue, bins=24, range=(0, 360), weights=strength)
    smooth = histogram + 0.5 * (np.roll(histogram, 1) + np.roll(histogram, -1))
    centre = int(np.argmax(smooth)) * 15 + 7.5
    apart = np.abs((hue - centre + 180) % 360 - 180)
    return _ramp(46 - apart, 10) * _ramp(saturation - 0.15, 0.1)


def _hue(rgb: Floats, value: Floats, lowest: Floats) -> Floats:
    red, green, blue = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    span = np.maximum(value - lowest, 1e-3)
    sector = np.where(
        value == red,
        (green - blue) / span % 6,
        np.where(value == green, (blue - red) / span + 2, (red - green) / span + 4),
    )
    return np.asarray(sector * 60, dtype=np.float32)


def _ramp(excess: Floats, width: float) -> Floats:
    """0 below zero, 1 above width, straight between."""
    return np.asarray(np.clip(excess / width, 0, 1), dtype=np.float32)


def pick_style(rng: random.Random, entity: str, styles: Sequence[str]) -> str:
    """A style of this entity, among the allowed ones (none means all)."""
    drawn: list[str] = sprite_index()["entities"][entity]["styles"]
    return rng.choice([style for style in drawn if not styles or style in styles])
