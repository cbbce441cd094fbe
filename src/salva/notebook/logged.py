"""A run's values for loggers.

Nothing that was not decided is a number: a rate that rests on no pair is left out and never zero.
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
"""White pixels between the pictures of a pair."""


class LoggedPair(NamedTuple):
    """A counterexample as a log shows it."""

    tag: str
    pixels: NDArray[np.uint8]
    """Its pictures side by side: height, width, 3."""
    text: str
    """Prompts and what broke, as a block that no markdown is read in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """What a log is told of a run."""

    numbers: Mapping[str, float]
    pictures: tuple[LoggedPair, ...] = ()


def logged(directory: Path, n_pictures: int) -> Logged:
    """The rates of a run by name, and the first of its counterexamples."""
    with open_source(directory) as (records, images):
        summary = summarise_records(records)
        is_one = len(summary.by_model) == 1
        numbers: dict[str, float] = {}
        for model in summary.by_model:
            prefix = summary.suite if is_one else f"{summary.suite}/{model.model}"
            numbers |= {f"{prefix}/{name}": value for name, value in _numbers(model)}
        gallery = make_gallery(records, images, n_pictures) if n_pictures else None
        exhibits = gallery.exhibits[: min(gallery.n_shown, n_pictures)] if gallery else ()
        pairs = [
            LoggedPair(f"{summary.suite}/counterexample_{i}", pixels, _words(exhibit))
            for i, exhibit in enumerate(exhibits, 1)
            if (pixels := _side_by_side(exhibit, images)) is not None
        ]
    return Logged(numbers=numbers, pictures=tuple(pairs))


def _numbers(model: ModelSummary) -> Iterator[tuple[str, float]]:
    leading = model.leading
    for name, figure in leading.rates.items():
        if figure is not None and figure.rate is not None:
            yield name, figure.rate
    for key_figure in model.key_figures:
        if key_figure.value is not None:
            yield key_figure.title, key_figure.value
    if leading.figure is not None and leading.figure.rate is not None:
        if leading.rate is None and not model.key_figures:
            yield "failure rate", leading.figure.rate
        if leading.figure.interval is not None:
            yield "low", leading.figure.interval.low
            yield "high", leading.figure.interval.high
    n_decided = model.outcomes["PASS"] + model.outcomes["FAIL"]
    if n_all := sum(model.outcomes.values()):
        yield "decided", n_decided / n_all
    yield "failed", float(model.outcomes["ERROR"])


def _side_by_side(exhibit: Exhibit, images: ImageSource) -> NDArray[np.uint8] | None:
    """The pictures of a case in one, on white; None where none can be read."""
    import numpy as np

    read: list[NDArray[np.uint8]] = []
    for image_id in exhibit.verdict.images.values():
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
    lines = [exhibit.kind, *(f"{shot.role}: {shot.text}" for shot in exhibit.shots)]
    lines += [failure.message for failure in exhibit.verdict.failures] or list(exhibit.verdict.failure_types)
    # Four spaces: a block of code, in which markdown and markup stay words.
    return "\n".join(f"    {' '.join(line.split())}" for line in lines)
