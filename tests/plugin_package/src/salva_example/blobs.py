"""Detector: one box around everything that stands out from the picture's border colour.

Too simple for real work; it shows the seam. It knows no names, so it takes the first word it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from salva.core.about import About, Naming
from salva.core.observation import Detection, Detections
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.errors import SalvaError


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobsOptions:
    """What the detector can be told with --set detector.NAME=VALUE."""

    contrast: int = option(40, "How far a pixel must be from the border colour, 0 to 255.")


class Blobs:
    """Detector: a box around whatever is not background."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        role="detector", takes_labels=True, names=Naming.ASKED, made_for="One thing on a ground of one colour."
    )
    Options = BlobsOptions

    def __init__(self, options: BlobsOptions) -> None:
        self._contrast = options.contrast

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        """One Detections per request, in order."""
        return [self._look_at(request) for request in requests]

    def _look_at(self, request: ObserveRequest) -> Detections:
        import numpy as np

        picture = request.picture
        pixels = np.frombuffer(picture.rgb, dtype=np.uint8).reshape(picture.height, picture.width, 3).astype(int)
        stands_out = np.abs(pixels - pixels[0, 0]).max(axis=2) > self._contrast
        rows, columns = np.flatnonzero(stands_out.any(axis=1)), np.flatnonzero(stands_out.any(axis=0))
        if not len(rows):
            return Detections()
        box = (
            float(columns[0]) / picture.width,
            float(rows[0]) / picture.height,
            float(columns[-1] + 1) / picture.width,
            float(rows[-1] + 1) / picture.height,
        )
        name = request.query.labels[0] if request.query.labels else "thing"
        return Detections(boxes=(Detection(label=name, score=1.0, box=box),))
