"""Pictures to files and back: lossless WebP, written before anything points at it.

Runs in worker threads; the only place of the engine that knows an image format.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Sequence

from salva.core.image import Picture
from salva.errors import StoreError
from salva.store.blobs import Blobs, digest_of
from salva.store.records import StoredImage


def encode_webp(picture: Picture) -> bytes:
    """The lossless file of a picture."""
    from PIL import Image

    buffer = io.BytesIO()
    image = Image.frombuffer("RGB", (picture.width, picture.height), picture.rgb, "raw", "RGB", 0, 1)
    # Method 0, quality 0 only set how hard the encoder tries; the pixels are exact either way.
    image.save(buffer, "WEBP", lossless=True, method=0, quality=0)
    return buffer.getvalue()


def decode_webp(data: bytes) -> Picture:
    """The pixels of a file; ValueError when it is none."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=["WEBP"]) as image:
            rgb = image.convert("RGB")
            return Picture(rgb=rgb.tobytes(), width=rgb.width, height=rgb.height)
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"not a readable WebP file: {error}") from error


class Album:
    """The image files of a run, for several threads at once."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._turns = [threading.Lock() for _ in range(64)]

    def save(self, pictures: Sequence[Picture]) -> list[StoredImage]:
        """Store pictures; when this returns, their files are whole and on disk."""
        return [self._save(picture) for picture in pictures]

    def load(self, image_id: str) -> Picture:
        """A stored picture, checked against its id."""
        try:
            picture = decode_webp(self._blobs.read(image_id))
        except ValueError as error:
            raise StoreError(f"{str(self._blobs.path_of(image_id))!r} is damaged ({error})") from error
        if picture.image_id() != image_id:
            raise StoreError(f"{str(self._blobs.path_of(image_id))!r} is damaged: its pixels are not those of its name")
        return picture

    def _save(self, picture: Picture) -> StoredImage:
        image_id = picture.image_id()
        # Two wordings may give the very same pixels at the same time: one writes, the other finds it written,
        # so that the row's digest is always that of the file.
        with self._turns[int(image_id[:2], 16) % len(self._turns)]:
            data = picture.webp if picture.webp is not None else encode_webp(picture)
            if self._blobs.path_of(image_id).exists():
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
