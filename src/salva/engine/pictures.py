"""Pictures to files and back: lossless WebP, written before anything points at it.

Runs in worker threads; the only place of the engine that knows which image format is stored.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

from salva.core.image import AnyPicture, Picture
from salva.engine.parcels import as_file
from salva.errors import StoreError
from salva.imaging.files import decode_picture
from salva.store.blobs import digest_of
from salva.store.images import ImageStore
from salva.store.records import StoredImage


class ImageFiles:
    """The image files of a run, for several threads at once."""

    def __init__(self, blobs: ImageStore) -> None:
        self._blobs = blobs
        self._turns = [threading.Lock() for _ in range(64)]

    def save(self, pictures: Sequence[AnyPicture]) -> list[StoredImage]:
        """Store pictures; when this returns, their files are whole and on disk."""
        return [self._save(picture) for picture in pictures]

    def load(self, image_id: str) -> Picture:
        """A stored picture, checked against its id; it brings its file, since whoever looks may be elsewhere."""
        try:
            webp = self._blobs.read(image_id)
            picture = replace(decode_picture(webp, formats=("WEBP",)), webp=webp)
        except ValueError as error:
            raise StoreError(f"{self._blobs.place_of(image_id)!r} is damaged ({error})") from error
        if picture.image_id() != image_id:
            raise StoreError(f"{self._blobs.place_of(image_id)!r} is damaged: its pixels are not those of its name")
        return picture

    def _save(self, picture: AnyPicture) -> StoredImage:
        file = as_file(picture)
        image_id, data = file.image_id, file.webp
        # Two wordings may give the very same pixels at the same time: one writes, the other finds it written,
        # so that the row's digest is always that of the file.
        with self._turns[int(image_id[:2], 16) % len(self._turns)]:
            if self._blobs.has(image_id):
                data = self._kept_or_replaced(image_id, data)
            else:
                self._blobs.write(image_id, data)
        return StoredImage(
            image_id=image_id,
            width=picture.width,
            height=picture.height,
            digest=digest_of(data),
            n_bytes=len(data),
        )

    def _kept_or_replaced(self, image_id: str, data: bytes) -> bytes:
        present = self._blobs.read(image_id)
        if present != data:
            try:
                self.load(image_id)
            except StoreError:
                self._blobs.write(image_id, data)
            else:
                return present
        return data
