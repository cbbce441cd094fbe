"""A run's values for loggers.

What was not measured is left out and never zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from salva.core.source import ImageSource
from salva.errors import StoreError
from salva.imaging.files import decode_picture
from salva.report.gallery import Exhibit, make_gallery
from salva.report.summary import ModelSummary, summarise_records
from salva.store.queries import open_source

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_GAP = 4
"""White pixels between the images of a case."""


class LoggedExample(NamedTuple):
    """A counterexample as a log shows it."""

    tag: str
    pixels: NDArray[np.uint8]
    """Its images side by side: height, width, 3."""
    text: str
    """Prompts and what is wrong, as a block that no markdown is read in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """What a log gets of a run."""

    numbers: Mapping[str, float]
    images: tuple[LoggedExample, ...] = ()


def logged(directory: Path, n_images: int) -> Logged:
    """The failure rate and the metrics of a run by name, and the first of its counterexamples."""
    with open_source(directory) as (records, images):
        summary = summarise_records(records)
        is_one = len(summary.by_model) == 1
        numbers: dict[str, float] = {}
        for model in summary.by_model.values():
            prefix = summary.suite if is_one else f"{summary.suite}/{model.model}"
            numbers |= {f"{prefix}/{name}": value for name, value in _numbers(model)}
        gallery = make_gallery(summary, images, n_images) if n_images else None
        examples = [
            LoggedExample(f"{summary.suite}/counterexample_{i}", pixels, _words(exhibit))
            for i, exhibit in enumerate(gallery.exhibits[: gallery.n_shown] if gallery else (), 1)
            if (pixels := _side_by_side(exhibit, images)) is not None
        ]
    return Logged(numbers=numbers, images=tuple(examples))


def _numbers(model: ModelSummary) -> Iterator[tuple[str, float]]:
    low, high = model.interval or (None, None)
    figures = {"failure_rate": model.failure_rate, "low": low, "high": high, "coverage": model.coverage}
    figures |= {name: metric.value for name, metric in model.metrics.items()}
    yield from ((name, value) for name, value in figures.items() if value is not None)
    yield "errors", float(model.results["error"])


def _side_by_side(exhibit: Exhibit, images: ImageSource) -> NDArray[np.uint8] | None:
    """The images of a case in one, on white; None where none can be read."""
    import numpy as np

    read: list[NDArray[np.uint8]] = []
    for image_id in exhibit.result.images.values():
        try:
            picture = decode_picture(images.file_bytes(image_id))
        except (StoreError, OSError, ValueError):
            continue
        read.append(np.frombuffer(picture.rgb, np.uint8).reshape(picture.height, picture.width, 3))
    if not read:
        return None
    height = max(len(pixels) for pixels in read)
    width = sum(pixels.shape[1] for pixels in read) + _GAP * (len(read) - 1)
    sheet = np.full((height, width, 3), 255, np.uint8)
    x = 0
    for pixels in read:
        sheet[: len(pixels), x : x + pixels.shape[1]] = pixels
        x += pixels.shape[1] + _GAP
    return sheet


def _words(exhibit: Exhibit) -> str:
    result = exhibit.result
    lines = [f"{result.check}: {result.outcome}", *(f"{shot.role}: {shot.text}" for shot in exhibit.shots)]
    lines += [failure.message for failure in result.failures] or list(result.failure_types)
    # Four spaces: a block of code, in which markdown and markup stay words.
    return "\n".join(f"    {' '.join(line.split())}" for line in lines)
