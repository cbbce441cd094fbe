"""Pictures survive the disk bit by bit, and a file is only what its name says."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import pytest

from salva.core.image import Picture
from salva.engine.image_files import ImageFiles
from salva.errors import StoreError
from salva.imaging.files import decode_picture, encode_picture
from salva.store.blobs import Blobs, digest_of
from salva.store.records import StoredImage


def noise(seed: int, width: int = 17, height: int = 9) -> Picture:
    return Picture(rgb=random.Random(seed).randbytes(3 * width * height), width=width, height=height)


class SlowBlobs(Blobs):
    """A disk slow enough for everyone to be writing at once."""

    def write(self, image_id: str, data: bytes) -> None:
        time.sleep(random.uniform(0, 0.02))
        super().write(image_id, data)


@pytest.mark.parametrize("size", [(1, 1), (17, 9), (256, 256)])
def test_pixels_come_back_exactly(tmp_path: Path, size: tuple[int, int]) -> None:
    picture = noise(1, *size)
    assert decode_picture(encode_picture(picture, "WEBP")) == picture
    files = ImageFiles(Blobs(tmp_path))
    (stored,) = files.save([picture])
    assert (stored.width, stored.height) == size
    assert files.load(stored.image_id) == picture
    assert stored.digest == digest_of(Blobs(tmp_path).read(stored.image_id))


def test_a_file_that_is_not_what_its_name_says_is_refused(tmp_path: Path) -> None:
    files, blobs = ImageFiles(Blobs(tmp_path)), Blobs(tmp_path)
    one, other = files.save([noise(1), noise(2)])
    blobs.write(one.image_id, blobs.read(other.image_id))
    with pytest.raises(StoreError, match=r"\[image-file-damaged\]"):
        files.load(one.image_id)
    blobs.write(one.image_id, b"RIFFnonsense")
    with pytest.raises(StoreError, match=r"\[image-file-damaged\]"):
        files.load(one.image_id)
    files.save([noise(1)])
    assert files.load(one.image_id) == noise(1), "painting it again repairs the file"


def test_equal_pictures_from_many_threads_make_one_file_whose_digest_is_right(tmp_path: Path) -> None:
    picture = noise(3)
    encoded = encode_picture(picture, "WEBP")
    # The same pixels from two encoders: whichever file wins, every row must name its digest.
    import io

    from PIL import Image

    buffer = io.BytesIO()
    image = Image.frombytes("RGB", (picture.width, picture.height), picture.rgb)
    image.save(buffer, "WEBP", lossless=True, method=6, quality=100)
    other = Picture(rgb=picture.rgb, width=picture.width, height=picture.height, webp=buffer.getvalue())
    assert other.webp != encoded
    files = ImageFiles(SlowBlobs(tmp_path))
    stored: list[StoredImage] = []
    threads = [
        threading.Thread(target=lambda p=p: stored.extend(files.save([p]))) for p in (picture, other) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    digests = {image.digest for image in stored}
    assert digests == {digest_of(Blobs(tmp_path).read(picture.image_id()))}
