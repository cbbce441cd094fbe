"""Packs everything the compositor pastes into one file: the sprites, and patches that are no things.

The patches (words, lines, scribbles, plain shapes) teach the detector what to leave alone. Runs once,
on the CPU, so that drawing a batch never touches a font or an image file.

    python training/make_bank.py            writes training/out/bank.npz
"""

from __future__ import annotations

import json
import random
import string
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from salva.generators.painter.drawing import _BODY, recolour
from salva.imaging.palette import PALETTE

HERE = Path(__file__).resolve().parent
SPRITES = HERE.parent / "src" / "salva" / "assets" / "sprites"
BANK = HERE / "out" / "bank.npz"
SIDE = 160
N_PATCHES = 900
WORDS = (  # noqa: SIM905  # a list of ninety words would be ninety lines
    "a an the there is are not case that either or otherwise and no left right top bottom middle image on of in at "
    "least one two three four five six seven eight nine ten cats dogs apples bananas cows cat dog apple banana cow "
    "horse sheep bird car bus open sale stop hello welcome photo news menu exit free now best 2024 100 7up"
).split()


def square(picture: Image.Image) -> tuple[np.ndarray, tuple[float, float]]:
    """The picture in the middle of a transparent square, and the share of it that it fills."""
    picture = picture.convert("RGBA")
    picture = picture.crop(picture.getchannel("A").getbbox() or (0, 0, 1, 1))
    scale = SIDE / max(picture.size)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    if size != picture.size:
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    canvas = Image.new("RGBA", (SIDE, SIDE))
    canvas.paste(picture, ((SIDE - size[0]) // 2, (SIDE - size[1]) // 2))
    return np.asarray(canvas).transpose(2, 0, 1).copy(), (size[0] / SIDE, size[1] / SIDE)


def fonts() -> list[str]:
    """Scalable fonts of this machine; Pillow's own is always among them."""
    found = sorted(str(path) for path in Path("/usr/share/fonts").rglob("*.ttf"))
    return ["", *found[:24]]


def _font(path: str, size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.truetype(path, size) if path else ImageFont.load_default(size)


def _colour(rng: random.Random) -> tuple[int, int, int]:
    if rng.random() < 0.5:
        grey = rng.choice((0, 20, 40, 235, 255))
        return grey, grey, grey
    return rng.randrange(256), rng.randrange(256), rng.randrange(256)


def text_patch(rng: random.Random, font_paths: list[str]) -> Image.Image:
    """A line or two of words, with or without a strip behind them."""
    words = [rng.choice(WORDS) for _ in range(rng.randint(1, 5))]
    if rng.random() < 0.25:
        words = ["".join(rng.choices(string.ascii_letters + string.digits, k=rng.randint(1, 8))) for _ in words]
    text = " ".join(words)
    if rng.random() < 0.3:
        text = text.upper()
    if rng.random() < 0.3 and len(words) > 2:
        text = text.replace(" ", "\n", 1)
    font = _font(rng.choice(font_paths), rng.randint(18, 64))
    probe = ImageDraw.Draw(Image.new("RGBA", (1, 1)))
    x0, y0, x1, y1 = probe.multiline_textbbox((0, 0), text, font=font)
    pad = rng.randint(2, 14)
    strip = (*_colour(rng), 255) if rng.random() < 0.5 else (0, 0, 0, 0)
    patch = Image.new("RGBA", (int(x1 - x0) + 2 * pad, int(y1 - y0) + 2 * pad), strip)
    ink = (*_colour(rng), 255)
    ImageDraw.Draw(patch).multiline_text((pad - x0, pad - y0), text, font=font, fill=ink)
    return patch


def shape_patch(rng: random.Random) -> Image.Image:
    """A plain shape, a scribble or a bundle of lines."""
    side = 320  # drawn double and shrunk, for smooth edges
    patch = Image.new("RGBA", (side, side))
    draw = ImageDraw.Draw(patch)
    fill = (*_colour(rng), 255)
    box = (8, 8, side - 8, rng.randint(side // 3, side - 8))
    kind = rng.choice(("ellipse", "rectangle", "rounded", "polygon", "scribble", "lines", "ring", "arc", "cloud"))
    points = [(rng.randrange(8, side - 8), rng.randrange(8, side - 8)) for _ in range(rng.randint(3, 9))]
    width = rng.randint(4, 36)
    if kind == "ellipse":
        draw.ellipse(box, fill=fill)
    elif kind == "rectangle":
        draw.rectangle(box, fill=fill)
    elif kind == "rounded":
        draw.rounded_rectangle(box, radius=rng.randint(10, 60), fill=fill, outline=(*_colour(rng), 255), width=6)
    elif kind == "polygon":
        draw.polygon(points[:5], fill=fill)
    elif kind == "scribble":
        draw.line(points, fill=fill, width=width, joint="curve")
    elif kind == "lines":
        for start, end in pairwise(points):
            draw.line((start, end), fill=(*_colour(rng), 255), width=width)
    elif kind == "ring":
        draw.ellipse(box, outline=fill, width=width)
    elif kind == "arc":
        draw.arc(box, rng.randrange(360), rng.randrange(360), fill=fill, width=width)
    else:
        for x, y in points:
            radius = rng.randint(20, 80)
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=fill)
    return patch


def main() -> None:
    """Write the bank."""
    index = json.loads((SPRITES / "index.json").read_text())
    labels = sorted(index["entities"])
    sprites, extents, owners, colourable, styles, dyed = [], [], [], [], [], []
    for label in labels:
        entity = index["entities"][label]
        for style in entity["styles"]:
            drawing = Image.open(SPRITES / style / f"{label.replace(' ', '-')}.webp").convert("RGBA")
            body = _BODY.get((label, style), "hue")
            for colour in (None, *(PALETTE if entity["colourable"] else ())):
                pixels, extent = square(recolour(drawing, colour, body) if colour else drawing)
                sprites.append(pixels)
                extents.append(extent)
                owners.append(labels.index(label))
                colourable.append(bool(entity["colourable"]))
                styles.append(style)
                dyed.append(colour is not None)
    rng = random.Random(7)
    font_paths = fonts()
    patches = [square(text_patch(rng, font_paths) if i % 3 else shape_patch(rng)) for i in range(N_PATCHES)]
    BANK.parent.mkdir(exist_ok=True)
    np.savez_compressed(
        BANK,
        labels=np.array(labels),
        styles=np.array(styles),
        sprites=np.stack(sprites),
        extents=np.array(extents, np.float32),
        owners=np.array(owners),
        colourable=np.array(colourable),
        dyed=np.array(dyed),
        patches=np.stack([pixels for pixels, _ in patches]),
        patch_extents=np.array([extent for _, extent in patches], np.float32),
    )
    print(f"{len(labels)} things, {len(sprites)} sprites, {len(patches)} patches: {BANK.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
