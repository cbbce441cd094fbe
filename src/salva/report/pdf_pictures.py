"""Images with boxes in PDF.

Loaded by the PDF report alone, since it needs the page maker.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from io import BytesIO

from reportlab.lib.utils import ImageReader
from reportlab.platypus import Flowable

from salva.charts.colours import hex_colour
from salva.charts.scene import BAD, FINE, Colour
from salva.core.printable import printable
from salva.report.gallery import Overlay, Thumbnail

_LETTERS = 5.5
_BAR = 7.0
"""The height of the bar that a name stands on."""


class BoxedPicture(Flowable):  # type: ignore[misc]  # reportlab has no types
    """A picture of a side at most so long, with its boxes."""

    def __init__(self, picture: Thumbnail, overlays: Sequence[Overlay], side: float, font: str) -> None:
        super().__init__()
        self._picture, self._overlays, self._font = picture, overlays, font
        self._scale = side / max(picture.width, picture.height)
        self.width, self.height = picture.width * self._scale, picture.height * self._scale

    def wrap(self, *_available: float) -> tuple[float, float]:
        """The room it takes."""
        return self.width, self.height

    def draw(self) -> None:
        """On the page that it has come to stand on."""
        data = base64.b64decode(self._picture.uri.partition(",")[2])
        self.canv.drawImage(ImageReader(BytesIO(data)), 0, 0, self.width, self.height)
        for overlay in self._overlays:
            self._box(overlay)

    def _box(self, overlay: Overlay) -> None:
        page, scale = self.canv, self._scale
        colour = hex_colour(Colour(BAD if overlay.is_blamed else FINE if overlay.is_text else "good"))
        # A page is measured from its foot, a picture from its top.
        left, top = overlay.x * scale, self.height - overlay.y * scale
        width, height = overlay.width * scale, overlay.height * scale
        page.saveState()
        page.setStrokeColor(colour)
        page.setLineWidth(1.1 if overlay.is_blamed else 0.8)
        page.setDash([3, 2] if overlay.is_text else [])
        page.rect(left, top - height, width, height)
        name = printable(overlay.label)
        letters = page.stringWidth(name, self._font, _LETTERS) + 3
        x, y = max(0.0, min(left, self.width - letters)), min(top, self.height - _BAR)
        page.setFillColor(colour)
        page.rect(x, y, min(letters, self.width), _BAR, stroke=0, fill=1)
        page.setFillColor("#ffffff")
        page.setFont(self._font, _LETTERS)
        page.drawString(x + 1.5, y + 1.8, name)
        page.restoreState()
