"""Vectors of images and texts by one embedder, for figures of image quality.

Vectors that the run has stored from the same embedder are used, the rest are made now; nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from salva.core.about import habits_of
from salva.core.image import Picture
from salva.core.observation import Vector
from salva.core.protocols import ObserveRequest, Query
from salva.core.quantity import quantity
from salva.core.run_spec import ComponentSpec
from salva.engine.actors import Actor
from salva.engine.guard import build
from salva.engine.progress import Progress
from salva.errors import BackendError, SalvaError, StoreError, UsageError
from salva.imaging.files import SUFFIXES, decode_picture
from salva.messages import message, text_of
from salva.registry import bind
from salva.store.sqlite import RunStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_QUERY = Query(role="embedder")
_NO_PICTURE = Picture(rgb=bytes(3), width=1, height=1)
Name = TypeVar("Name")


def built_embedder(embedder: str, settings: Mapping[str, str] | None) -> tuple[Actor, object]:
    """The embedder of a name, with what its keys are made of."""
    actor = Actor.of(bind(ComponentSpec.parse("embedder", embedder, settings)))
    assert actor.binding is not None, "just bound"
    return actor, build(actor.binding)


def features_of(
    store: RunStore, painted: Mapping[Name, Sequence[str]], actor: Actor, component: object, progress: Progress
) -> Iterator[tuple[Name, NDArray[np.float64]]]:
    """The vectors of each model's images, or of each set of them, one row an image."""
    for model, images in painted.items():
        stored: dict[str, Vector] = {}
        missing: list[str] = []
        for image_id in dict.fromkeys(images):
            outcome = store.observation_outcome(actor.observation_key(image_id, _QUERY, {}))
            if outcome is not None and isinstance(outcome[1], Vector):
                stored[image_id] = outcome[1]
            else:
                missing.append(image_id)
        pictures = (_read(store, image_id) for image_id in missing)
        stored.update(zip(missing, embed(component, pictures, Stage(progress, str(model), len(missing))), strict=True))
        yield model, matrix((stored[image_id] for image_id in images), len(images))


def _read(store: RunStore, image_id: str) -> Picture:
    try:
        return decode_picture(store.blobs.read(image_id))
    except ValueError as error:
        raise StoreError(message("image-damaged", path=image_id)) from error


def image_files(folder: Path, at_least: int = 2) -> list[Path]:
    """The images in a folder and its subfolders."""
    if not folder.is_dir():
        raise UsageError(message("file-missing", path=str(folder)))
    inside = sorted(path for path in folder.rglob("*") if path.is_file())
    files = [path for path in inside if path.suffix.lower() in SUFFIXES]
    if len(files) < at_least:
        among = f" among {quantity(len(inside), 'files')}" if len(inside) > len(files) else ""
        wanted, found = f"{at_least} images or more ({', '.join(SUFFIXES)})", f"{len(files)}{among}"
        raise UsageError(message("folder-invalid", path=str(folder), wanted=wanted, found=found))
    return files


def embed_files(component: object, files: Sequence[Path], stage: Stage) -> NDArray[np.float64]:
    """The vectors of image files, one row each."""
    return matrix(embed(component, map(_decoded, files), stage), len(files))


def _decoded(path: Path) -> Picture:
    try:
        return decode_picture(path.read_bytes())
    except (ValueError, OSError) as error:
        raise UsageError(message("file-unreadable", path=str(path), why=text_of(error).rstrip("."))) from error


class Stage(NamedTuple):
    """A part of the work, as progress shows it."""

    progress: Progress
    name: str
    total: int


def embed_texts(component: object, texts: Sequence[str], stage: Stage) -> NDArray[np.float64]:
    """The vectors of texts, one row each; a text has the same vector whatever image it is asked about."""
    requests = (ObserveRequest(picture=_NO_PICTURE, query=Query(role="embedder", text=text)) for text in texts)
    return matrix(_answered(component, requests, stage), len(texts))


def embed(component: object, pictures: Iterable[Picture], stage: Stage) -> Iterator[Vector]:
    """The vectors of images, in their order."""
    return _answered(component, (ObserveRequest(picture=picture, query=_QUERY) for picture in pictures), stage)


def _answered(component: Any, requests: Iterable[ObserveRequest], stage: Stage) -> Iterator[Vector]:
    size = max(1, habits_of(component).batch_size)
    rest = iter(requests)
    stage.progress.start(stage.name, stage.total)
    while part := list(islice(rest, size)):
        for seen in component.observe(part):
            if isinstance(seen, SalvaError):
                raise seen
            if not isinstance(seen, Vector):
                what = f"a {type(seen).__name__} instead of a vector"
                raise BackendError(
                    message("numbers-invalid", component=type(component).__name__, what=what), is_retryable=False
                )
            yield seen
        stage.progress.advance(stage.name, len(part))
    stage.progress.finish(stage.name)


def matrix(vectors: Iterable[Vector], n: int) -> NDArray[np.float64]:
    """One row a vector, filled as they come: tuples of floats take four times the room."""
    import numpy as np

    rows: NDArray[np.float64] | None = None
    for index, vector in enumerate(vectors):
        if rows is None:
            rows = np.empty((n, len(vector.values)))
        rows[index] = vector.values
    assert rows is not None, "both folders and runs without images have been refused"
    return rows
