"""The picture that every judge is asked about before a run: one cat on a plain ground.

    python training/make_preflight.py && python training/make_sprites.py --checksums

A drawing of ours would do as well as a photo, as long as nobody can doubt what it shows; this one is the Noto cat that
the painter uses too, twice its size. A changed picture has other keys, so runs under way are asked about it again.
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image

ASSETS = Path(__file__).parent.parent / "src" / "salva" / "assets"
SIDE, HEIGHT = 256, 176
GROUND = (226, 232, 240)


def main() -> None:
    """Draw it."""
    with Image.open(ASSETS / "sprites" / "noto" / "cat.webp") as file:
        cat = file.convert("RGBA")
    cat = cat.resize((round(cat.width * HEIGHT / cat.height), HEIGHT), Image.Resampling.LANCZOS)
    picture = Image.new("RGBA", (SIDE, SIDE), GROUND)
    picture.alpha_composite(cat, ((SIDE - cat.width) // 2, (SIDE - cat.height) // 2))
    picture.convert("RGB").save(ASSETS / "preflight" / "cat.webp", lossless=True, method=6, quality=100)


if __name__ == "__main__":
    main()
