"""Images in memory while observed."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from salva.core import memory
from salva.core.image import AnyPicture, Picture, bytes_of


@dataclass(slots=True, kw_only=True)
class _Held:
    picture: AnyPicture | None
    n_bytes: int
    held: memory.Held | None = None
    """Its bytes, unless the image brings them with it; none while it waits to be loaded."""
    n_jobs: int = 0


class ImageBuffer:
    """Images that were just generated or loaded; each is dropped after its last observation."""

    def __init__(self) -> None:
        self._held: dict[str, _Held] = {}
        self._to_load: deque[str] = deque()

    @property
    def n_pictures(self) -> int:
        """Images here or being loaded; those that wait to be loaded take no room yet."""
        return len(self._held) - len(self._to_load)

    def add(self, image_id: str, picture: AnyPicture) -> None:
        """Put an image here; without an observation of it, release takes it away again."""
        if image_id not in self._held:
            self._held[image_id] = _Held(picture=picture, n_bytes=bytes_of(picture))
            self._take(image_id)

    def want(self, image_id: str, n_bytes: int = 0) -> None:
        """Register an observation of an image; it is queued for loading if it is not here. n_bytes: its size."""
        if image_id not in self._held:
            self._held[image_id] = _Held(picture=None, n_bytes=n_bytes)
            self._to_load.append(image_id)
        self._held[image_id].n_jobs += 1

    def release(self, image_id: str, n_jobs: int) -> None:
        """Unregister observations of an image; after the last one it is dropped."""
        held = self._held.get(image_id)
        if held is not None:
            held.n_jobs -= n_jobs
            if held.n_jobs <= 0:
                del self._held[image_id]

    def picture_of(self, image_id: str) -> AnyPicture | None:
        """The image, once it is here."""
        held = self._held.get(image_id)
        return held.picture if held is not None else None

    def next_to_load(self) -> str | None:
        """The next image to load."""
        while self._to_load:
            image_id = self._to_load.popleft()
            if image_id in self._held:
                self._take(image_id)
                return image_id
        return None

    def clear(self) -> None:
        """Drop everything."""
        self._held.clear()
        self._to_load.clear()

    def loaded(self, image_id: str, picture: Picture) -> bool:
        """Add a loaded image; False where no observation waits for it any more."""
        if image_id not in self._held:
            return False
        self._held[image_id].picture = picture
        return True

    def _take(self, image_id: str) -> None:
        held = self._held[image_id]
        if held.picture is None or held.picture.held is None:
            held.held = memory.BUDGET.held(held.n_bytes)
