"""A box cut out of an image, with everything outside a mask filled with grey. Knows no labels or scores."""

from __future__ import annotations

from salva.core.image import Picture
from salva.core.masks import Mask, rows_of
from salva.core.scene import Box
from salva.imaging.files import as_image

GREY = (0x99, 0x99, 0x99)


def part_of(
    picture: Picture, box: Box | tuple[()], mask: tuple[int, int, int, int, str] | tuple[()] = (), side: int = 0
) -> Picture:
    """The inside of the box, at least a pixel; with a mask, grey outside it.

    side: the shorter side is resized to this length and the middle square kept; 0 leaves the size.
    """
    from PIL import Image

    image = as_image(picture)
    if mask:
        left, top, width, height, packed = mask
        rows = rows_of(Mask(left=left, top=top, width=width, height=height, packed=packed))
        stencil = Image.frombytes("L", (width, height), b"".join(rows)).point(lambda value: 255 * value)
        masked = Image.new("RGB", image.size, GREY)
        masked.paste(image.crop((left, top, left + width, top + height)), (left, top), stencil)
        image = masked
    if box:
        x0, x1 = _ends(box[0], box[2], picture.width)
        y0, y1 = _ends(box[1], box[3], picture.height)
        image = image.crop((x0, y0, x1, y1))
    if side:
        # As CLIP's own preparation does it: only the middle square of an oblong part is used.
        scale = side / min(image.size)
        size = (max(side, round(image.width * scale)), max(side, round(image.height * scale)))
        image = image.resize(size, Image.Resampling.BICUBIC)
        left, top = (image.width - side) // 2, (image.height - side) // 2
        image = image.crop((left, top, left + side, top + side))
    return Picture(rgb=image.tobytes(), width=image.width, height=image.height)


def _ends(low: float, high: float, length: int) -> tuple[int, int]:
    """Whole pixels from one end to the other, within the image and at least one."""
    first = min(max(0, round(low * length)), length - 1)
    return first, min(max(first + 1, round(high * length)), length)
