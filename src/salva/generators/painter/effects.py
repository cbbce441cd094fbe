"""Effects on sprites: outlines, silhouettes, blocks and exchanged colours.

People recognise the entity; to a detector trained on the sprites the image is new.
"""

from __future__ import annotations

from PIL import Image, ImageChops, ImageFilter

_BLOCKS = 12
_INK = (30, 30, 45)


def apply_effect(sprite: Image.Image, effect: str) -> Image.Image:
    """The sprite with an effect."""
    makers = {
        "outlined": _outline,
        "silhouettes": _silhouette,
        "pixelated": _pixelate,
        "recoloured": _exchange_colours,
    }
    return makers[effect](sprite)


def _outline(sprite: Image.Image) -> Image.Image:
    """Its edges in ink on white."""
    alpha = sprite.getchannel("A")
    ground = Image.new("RGB", sprite.size, (255, 255, 255))
    ground.paste(sprite, (0, 0), sprite)
    # The filter takes the border of the canvas for an edge.
    edges = ImageChops.multiply(ground.convert("L").filter(ImageFilter.FIND_EDGES), _inside(sprite.size))
    rim = ImageChops.subtract(alpha, alpha.filter(ImageFilter.MinFilter(3)))
    lines = ImageChops.lighter(edges.point(lambda value: min(255, value * 3)), rim)
    drawn = Image.composite(Image.new("RGB", sprite.size, _INK), Image.new("RGB", sprite.size, (255, 255, 255)), lines)
    drawn.putalpha(alpha)
    return drawn


def _inside(size: tuple[int, int]) -> Image.Image:
    mask = Image.new("L", size, 0)
    mask.paste(255, (1, 1, max(2, size[0] - 1), max(2, size[1] - 1)))
    return mask


def _silhouette(sprite: Image.Image) -> Image.Image:
    dark = Image.new("RGB", sprite.size, _INK)
    dark.putalpha(sprite.getchannel("A"))
    return dark


def _pixelate(sprite: Image.Image) -> Image.Image:
    small = sprite.resize((_BLOCKS, _BLOCKS), Image.Resampling.BOX)
    return small.resize(sprite.size, Image.Resampling.NEAREST)


def _exchange_colours(sprite: Image.Image) -> Image.Image:
    """Red becomes green, green blue and blue red."""
    red, green, blue, alpha = sprite.split()
    return Image.merge("RGBA", (blue, red, green, alpha))
