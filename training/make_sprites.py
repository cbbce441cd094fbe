"""Makes src/salva/assets/sprites/ from the unpacked emoji packages; run once, the outcome is committed.

    python training/make_sprites.py PACKAGES      draw the sprites, index.json and checksums.json
    python training/make_sprites.py --checksums   only checksums.json, after any asset has changed

PACKAGES holds one folder per npm package, unpacked under the names in SETS. Needs pillow, and for
drawing also resvg-py; neither salva nor its tests import this file.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops

ASSETS = Path(__file__).resolve().parents[1] / "src" / "salva" / "assets"
LONGEST_SIDE = 160

# Each style with its folder in PACKAGES, its package, version and licence.
SETS = {
    "fluent-3d": ("fluent-emoji-3d", "@lobehub/fluent-emoji-3d", "1.1.0", "MIT"),
    "fluent-flat": ("fluent-emoji-flat", "@lobehub/fluent-emoji-flat", "1.1.0", "MIT"),
    "noto": ("noto", "@iconify-json/noto", "1.2.9", "Apache-2.0"),
    "noto-v1": ("noto-v1", "@iconify-json/noto-v1", "1.2.5", "Apache-2.0"),
}

# The code point of each drawing in the order of SETS; None where the set has no drawing, or only one
# that can be mistaken for another thing. Faces and bodies are mixed on purpose: a cat and a dog drawn
# as bodies by one set cannot be told apart when they are small.
DRAWINGS: dict[str, tuple[str | None, str | None, str | None, str | None]] = {
    "airplane": ("2708", "2708", "2708", "2708"),
    "apple": ("1f34e", "1f34f", "1f34e", "1f34e"),
    "ball": ("26bd", "1f3c0", "26bd", "26bd"),
    "banana": ("1f34c", "1f34c", "1f34c", "1f34c"),
    "bicycle": ("1f6b2", "1f6b2", "1f6b2", "1f6b2"),
    "bird": ("1f426", "1f426", "1f426", "1f426"),
    "boat": ("26f5", "26f5", "26f5", "26f5"),
    "book": ("1f4d5", "1f4d8", "1f4d5", "1f4d8"),
    "bus": ("1f68c", "1f68c", "1f68c", "1f68c"),
    "butterfly": ("1f98b", "1f98b", "1f98b", "1f98b"),
    "cake": ("1f382", "1f382", "1f382", "1f382"),
    "car": ("1f697", "1f699", "1f697", "1f697"),
    "cat": ("1f431", "1f408-200d-2b1b", "1f408-200d-2b1b", "1f408"),
    "chair": ("1fa91", "1fa91", "1fa91", None),
    "clock": ("23f0", "23f0", "23f0", "23f0"),
    "cow": ("1f404", "1f42e", "1f404", "1f404"),
    "cup": ("2615", "2615", "2615", "2615"),
    "dog": ("1f436", "1f436", "1f415", "1f415"),
    "donut": ("1f369", "1f369", "1f369", "1f369"),
    "elephant": ("1f418", "1f418", "1f418", "1f418"),
    "flower": ("1f337", "1f337", "1f337", "1f337"),
    "giraffe": ("1f992", "1f992", "1f992", None),
    "guitar": ("1f3b8", "1f3b8", "1f3b8", "1f3b8"),
    "hat": ("1f3a9", "1f3a9", "1f3a9", "1f3a9"),
    "horse": ("1f40e", "1f434", "1f40e", "1f434"),
    "house": ("1f3e0", "1f3e0", "1f3e0", "1f3e0"),
    "pizza": ("1f355", "1f355", "1f355", "1f355"),
    "scissors": ("2702", "2702", "2702", "2702"),
    "sheep": ("1f411", "1f40f", "1f411", "1f40f"),
    "train": ("1f682", "1f682", "1f682", "1f682"),
    "tree": ("1f333", "1f333", "1f333", "1f333"),
    "turtle": ("1f422", "1f422", "1f422", "1f422"),
    "umbrella": ("2602", "2602", "2602", "2602"),
}

COCO = {
    "airplane", "apple", "banana", "bicycle", "bird", "boat", "book", "bus", "cake", "car", "cat", "chair", "clock",
    "cow", "cup", "dog", "donut", "elephant", "giraffe", "horse", "pizza", "scissors", "sheep", "train", "umbrella",
}  # fmt: skip

COLOURABLE = {
    "apple", "ball", "banana", "bird", "book", "car", "chair", "cup", "flower", "guitar", "hat",
    "house", "umbrella",
}  # fmt: skip


def main(arguments: list[str]) -> None:
    """Draw everything, or only renew the checksums."""
    if arguments != ["--checksums"]:
        draw_all(Path(arguments[0]))
    (ASSETS / "checksums.json").write_text(json.dumps(checksums(), indent=1) + "\n")


def checksums() -> dict[str, str]:
    """The sha256 of every asset by its path below assets/."""
    names = {
        str(path.relative_to(ASSETS)): path
        for path in sorted(ASSETS.rglob("*"))
        if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts and path.name != "checksums.json"
    }
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in names.items()}


def draw_all(packages: Path) -> None:
    """Every sprite as a WebP file, and index.json."""
    index: dict[str, Any] = {
        "styles": {s: {"source": f"{p} {v}", "licence": licence} for s, (_, p, v, licence) in SETS.items()},
        "entities": {},
    }
    for entity, codes in DRAWINGS.items():
        styles = [style for style, code in zip(SETS, codes, strict=True) if code]
        index["entities"][entity] = {"styles": styles, "coco": entity in COCO, "colourable": entity in COLOURABLE}
        for style, code in zip(SETS, codes, strict=True):
            if code is None:
                continue
            sprite = cropped(drawing(packages / SETS[style][0], style, code))
            if (entity, style) in DARKER:
                sprite = darker(sprite, *DARKER[entity, style])
            if (entity, style) in GLAZED:
                sprite = glazed(sprite, GLAZED[entity, style])
            path = ASSETS / "sprites" / style / f"{entity.replace(' ', '-')}.webp"
            path.parent.mkdir(parents=True, exist_ok=True)
            sprite.save(path, lossless=True, quality=100, method=6)
    (ASSETS / "sprites" / "index.json").write_text(json.dumps(index, indent=1) + "\n")


# White porcelain is lost on a pale background, so two of the cups are glazed.
GLAZED = {("cup", "noto"): (105, 190, 240), ("cup", "noto-v1"): (240, 105, 95)}

# One set paints its dog in the orange of its cat: saturation and value are scaled to make it brown.
DARKER = {("dog", "noto-v1"): (0.75, 0.62)}


def darker(sprite: Image.Image, saturation: float, value: float) -> Image.Image:
    """The sprite with its saturation and value scaled."""
    h, s, v = sprite.convert("RGB").convert("HSV").split()
    scaled = Image.merge("HSV", (h, s.point(lambda p: int(p * saturation)), v.point(lambda p: int(p * value))))
    out = scaled.convert("RGB")
    out.putalpha(sprite.getchannel("A"))
    return out


def glazed(sprite: Image.Image, colour: tuple[int, int, int]) -> Image.Image:
    """The sprite with its greys and whites multiplied by a colour."""
    rgb = sprite.convert("RGB")
    is_grey = rgb.convert("HSV").getchannel("S").point(lambda s: 255 * (s < 70))
    out = Image.composite(ImageChops.multiply(rgb, Image.new("RGB", rgb.size, colour)), rgb, is_grey)
    out.putalpha(sprite.getchannel("A"))
    return out


def drawing(folder: Path, style: str, code: str) -> Image.Image:
    """One drawing of a package, in RGBA."""
    if style.startswith("fluent"):
        suffix = "webp" if style == "fluent-3d" else "svg"
        path = next(p for p in (folder / "assets" / f"{c}.{suffix}" for c in (code, f"{code}-fe0f")) if p.exists())
        return Image.open(path).convert("RGBA") if suffix == "webp" else rasterise(path.read_text())
    # Only the newer package maps code points to names; the older one shares the names.
    names = json.loads((folder.parent / "noto" / "chars.json").read_text())
    icons = json.loads((folder / "icons.json").read_text())
    name = names.get(code) or names[f"{code}-fe0f"]
    icon = icons["icons"].get(name) or icons["icons"][icons["aliases"][name]["parent"]]
    width, height = icon.get("width", icons.get("width", 128)), icon.get("height", icons.get("height", 128))
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return rasterise(
        f'<svg {spaces} viewBox="0 0 {width} {height}" width="{width}" height="{height}">{icon["body"]}</svg>'
    )


def rasterise(svg: str) -> Image.Image:
    """An SVG drawing at four times the sprite's size, to be shrunk smoothly."""
    import resvg_py

    png = bytes(resvg_py.svg_to_bytes(svg_string=svg, width=4 * LONGEST_SIDE, height=4 * LONGEST_SIDE))
    return Image.open(io.BytesIO(png)).convert("RGBA")


def cropped(image: Image.Image) -> Image.Image:
    """The drawing cut to what can be seen of it and shrunk to the longest side."""
    image = image.crop(image.getchannel("A").point(lambda a: 255 * (a > 12)).getbbox())
    scale = LONGEST_SIDE / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main(sys.argv[1:])
