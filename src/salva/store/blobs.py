"""Image files by hash: bytes in, bytes out.

A file appears under its name only when it is whole and on disk, so a name that exists can be
trusted after a crash. Knows nothing of formats or rows.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from salva.errors import StoreError
from salva.messages import message

IMAGES = "images"
_TEMPORARY = "."
"""How the name of a file begins that is not whole yet. It stands beside its final place: renaming within
a directory is twice as fast here as moving out of one that all threads share."""

_LARGEST = 2**30
"""Bytes; no image that can be decoded takes as many."""
_LARGEST_BESIDE = 64 << 20
"""Bytes of a file beside the images; a run.json of thousands of components takes a hundredth."""
_IMAGE_ID = re.compile(r"[0-9A-Za-z]{2,128}", re.ASCII)
"""Hashes have no dots and no slashes: an id that is read from a row becomes a path inside the run, or none."""

_ADVICE = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free some space and run the same command again"),
    **dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), "make the directory writable, or name another --out"),
    errno.ENOENT: "the run directory may have been moved",
    errno.ENOTDIR: "name another --out",
}


def store_error(path: Path, error: OSError) -> StoreError:
    """The error of the tree for a disk that did not do as told."""
    advice = _ADVICE.get(error.errno or 0, "mend it and run the same command again")
    return StoreError(message("disk-error", path=str(path), why=error.strerror or error, advice=advice))


def digest_of(data: bytes) -> str:
    """The digest a file is verified against."""
    return hashlib.sha256(data).hexdigest()


def _read_regular(path: Path, largest: int) -> bytes | None:
    """The bytes of a file; None for what is none, such as a pipe or a device without an end, or is larger."""
    # Without waiting: what stands there may be no file but a pipe that nobody writes to.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        found = os.fstat(file.fileno())
        return file.read(found.st_size) if stat.S_ISREG(found.st_mode) and found.st_size <= largest else None


def read_beside(path: Path) -> bytes:
    """The bytes of a file beside the images; StoreError for a pipe, a device or a file that is too large."""
    data = _read_regular(path, _LARGEST_BESIDE)
    if data is None:
        raise StoreError(message("store-damaged", path=str(path), why="it is no file of at most 64 MiB"))
    return data


def check_image_id(image_id: object, owner: str) -> None:
    """Refuse an id that could lead elsewhere; owner: whoever names it."""
    if not isinstance(image_id, str) or not _IMAGE_ID.fullmatch(image_id):
        raise StoreError(message("store-damaged", path=owner, why=f"{str(image_id)[:80]!r} is no image's id"))


class Blobs:
    """The image files of one run directory, or of another folder; safe to use from several threads."""

    def __init__(self, directory: Path, root: Path | None = None) -> None:
        self.root = root or directory / IMAGES
        self._root = str(self.root)
        self._owner = str(directory)
        self._serial = itertools.count()
        self._made: set[str] = set()

    def path_of(self, image_id: str) -> Path:
        """Where an image's file is or will be; StoreError for an id that could lead elsewhere."""
        return Path(self.place_of(image_id))

    def place_of(self, image_id: str) -> str:
        """The same as text; asked for every image, and putting paths together takes longer than looking there."""
        check_image_id(image_id, self._owner)
        return f"{self._root}/{image_id[:2]}/{image_id[2:]}.webp"

    def has(self, image_id: str) -> bool:
        """Whether there is a file of that name."""
        return self._size_of(image_id) is not None

    def lost(self, sizes: Iterable[tuple[str, int]]) -> Iterator[str]:
        """Those that have no file of their size."""
        return (image_id for image_id, n_bytes in sizes if self._size_of(image_id) != n_bytes)

    def _size_of(self, image_id: str) -> int | None:
        path = self.place_of(image_id)
        try:
            found = os.stat(path)
            return found.st_size if stat.S_ISREG(found.st_mode) else None
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            # Whether it is there nobody knows; an image that counts as lost would be generated again.
            raise store_error(Path(path), error) from error

    def read(self, image_id: str) -> bytes:
        """The bytes of a stored file."""
        path = self.path_of(image_id)
        try:
            data = _read_regular(path, _LARGEST)
        except OSError as error:
            raise store_error(path, error) from error
        if data is None:
            raise StoreError(message("image-file-damaged", path=str(path), why="it is no image file"))
        return data

    def write(self, image_id: str, data: bytes) -> None:
        """Store a file; when this returns, it is on disk and whole."""
        path = self.place_of(image_id)
        temporary = f"{os.path.dirname(path)}/{_TEMPORARY}{os.getpid()}-{next(self._serial)}"
        try:
            self._make_folder(image_id[:2])
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            try:
                _write_all(handle, data)
                os.fsync(handle)
            finally:
                os.close(handle)
            os.rename(temporary, path)
        except OSError as error:
            _remove(temporary)
            raise store_error(Path(path), error) from error

    def prepare(self) -> None:
        """Remove what a killed process left half-written; only for the holder of the run lock."""
        for left in self.root.glob(f"*/{_TEMPORARY}*"):
            _remove(str(left))

    def _make_folder(self, name: str) -> None:
        if name not in self._made:
            (self.root / name).mkdir(parents=True, exist_ok=True)
            self._made.add(name)


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        # Already gone, or the disk that just failed us fails again: the first error is the one to report.
        return
