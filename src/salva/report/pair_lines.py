"""A result in plain lines, for whoever reads test results: prompts, images, what was seen, what is wrong.

Words from prompts and images are data: each fact stands on one line, and no text can begin a line of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from salva.core.command import command_for
from salva.core.printable import printable
from salva.core.result import Result
from salva.core.run_spec import RunSpec
from salva.core.source import ImageSource, Seen
from salva.core.verdict import Failure, observers_text
from salva.report.examples import observers_of
from salva.store.blobs import Blobs
from salva.store.images import place_at
from salva.store.runfile import read_run_file


def lines_of(result: Result, images: ImageSource, directory: Path, chosen: RunSpec) -> Iterator[str]:
    """What to know of a result; images are named by the path that the run was given under.

    chosen: what was asked, of all of the suite and less what stands at its default.
    """
    case = result.case
    observers = observers_of(result)
    yield one_line(f"{result.outcome} by {result.check or 'no check'}, observed by {observers_text(observers) or '-'}")
    if result.failure_types:
        yield one_line(f"failure types: {', '.join(result.failure_types)}")
    if result.reason:
        yield one_line(f"reason: {result.reason}")
    for prompt in case.prompts:
        yield one_line(f"prompt {prompt.role}: {prompt.text}")
        if prompt.formula:
            yield "  " + one_line(f"formula: {prompt.formula}")
        image_id = result.images.get(prompt.role)
        yield "  " + one_line(f"image: {picture_path(directory, image_id)}")
        if image_id is not None and (seen := _seen(images.seen(image_id, observers))):
            yield "  " + one_line(f"seen: {seen}")
        yield from ("  " + _of(failure) for failure in result.failures if failure.role == prompt.role)
    roles = {prompt.role for prompt in case.prompts}
    yield from ("between the images: " + _of(failure) for failure in result.failures if failure.role not in roles)
    if command := command_for(case, result.model, chosen):
        yield one_line(f"again: {command}")


def one_line(text: str) -> str:
    """Text on one line, without characters that move others or that XML forbids."""
    return " ".join(printable(text).split())


def picture_path(directory: Path, image_id: str | None) -> str:
    """The file of an image, for people; StoreError for an id that could lead elsewhere."""
    if image_id is None:
        return "none"
    if address := _images_at(directory):
        return place_at(address, image_id)
    path = Blobs(directory).path_of(image_id)
    return str(path) if path.is_file() else f"{path} (missing)"


@lru_cache(maxsize=8)
def _images_at(directory: Path) -> str:
    """The address of a run's images where they are elsewhere; only to be printed."""
    content = read_run_file(directory)
    return content.images if content is not None else ""


def _seen(seen: Seen) -> str:
    """Entities by number, then texts."""
    things = [f"{n} {label}" for label, n in Counter(box.label for box in seen.boxes).items()]
    return ", ".join([*things, *(f"the text “{span.text}”" for span in seen.texts)])


def _of(failure: Failure) -> str:
    return one_line(f"{failure.failure_type}: {failure.message}")
