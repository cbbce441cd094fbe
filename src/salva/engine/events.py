"""Events from lanes and threads: one record a kind of news."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from salva.core.image import Picture
from salva.core.protocols import Painting
from salva.engine.units import ObserveJob, RenderJob
from salva.errors import StoreError
from salva.store.records import StoredImage


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderDone:
    """A generator is done with a batch."""

    jobs: Sequence[RenderJob]
    outcomes: Sequence[object]
    """For each job what was generated, or a BackendError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesWritten:
    """Images are whole on disk."""

    painted: Sequence[tuple[RenderJob, Painting]]
    images: Sequence[StoredImage]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageLoaded:
    """A stored image is back in memory, or could not be read."""

    image_id: str
    picture: Picture | StoreError


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveDone:
    """A observer is done with a batch."""

    jobs: Sequence[ObserveJob]
    outcomes: Sequence[object]
    """For each job what was seen, or a BackendError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFailed:
    """Something that no single piece of work can survive: the run ends with it."""

    error: BaseException
    jobs: Sequence[RenderJob | ObserveJob] = ()
    """What was asked of a component that ended so."""


Event = RenderDone | FilesWritten | ImageLoaded | ObserveDone | WorkFailed
