"""Images to files and back: lossless WebP, written before anything points at it.

Runs in worker threads; the only place of the engine that knows which image format is stored.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

from salva.core.image import AnyPicture, Picture
from salva.engine.transfer import as_file
from salva.errors import StoreError
from salva.imaging.files import ImageError, decode_picture
from salva.messages import message
from salva.store.blobs import digest_of
from salva.store.images import ImageStore
from salva.store.records import StoredImage


class ImageFiles:
    """The image files of a run, for several threads at once."""

    def __init__(self, blobs: ImageStore) -> None:
        self._blobs = blobs
        self._turns = [threading.Lock() for _ in range(64)]

    def save(self, pictures: Sequence[AnyPicture]) -> list[StoredImage]:
        """Store images; when this returns, their files are whole and on disk."""
        return [self._save(picture) for picture in pictures]

    def load(self, image_id: str) -> Picture:
        """A stored image, checked against its id; with its file, since its observer may be elsewhere."""
        try:
            webp = self._blobs.read(image_id)
            picture = replace(decode_picture(webp, formats=("WEBP",)), webp=webp)
        except ImageError as error:
            raise self._damaged(image_id, error.why) from error
        if picture.image_id() != image_id:
            raise self._damaged(image_id, "its pixels are not those of its name")
        return picture

    def stored(self, image_id: str) -> StoredImage:
        """The row of an image whose file is there, checked against its id."""
        picture = self.load(image_id)
        assert picture.webp is not None, "what is loaded brings its file"
        return _row(image_id, picture, picture.webp)

    def _damaged(self, image_id: str, why: str) -> StoreError:
        return StoreError(message("image-file-damaged", path=self._blobs.place_of(image_id), why=why))

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
        return _row(image_id, picture, data)

    def _kept_or_replaced(self, image_id: str, data: bytes) -> bytes:
        try:
            present = self._blobs.read(image_id)
            if present != data:
                self.load(image_id)
        except StoreError:
            self._blobs.write(image_id, data)
            return data
        return present


def _row(image_id: str, picture: AnyPicture, data: bytes) -> StoredImage:
    return StoredImage(
        image_id=image_id, width=picture.width, height=picture.height, digest=digest_of(data), n_bytes=len(data)
    )
