"""Image files through fsspec: bytes in, bytes out.

On an object store a put is atomic, so a name that exists is whole; elsewhere a writer that was killed may leave half a
file, which no row names, and which is written again when its image is generated again. A file that is not there is a
StoreError; a storage that is away or refuses is a BackendError, since the run's own disk is well.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar

from salva.core.foreign_errors import describe_error, translate_errors
from salva.core.secrets import redact
from salva.errors import BackendError, MissingExtraError, SalvaError, StoreError, invalid_option
from salva.messages import message
from salva.store.images import place_at

_FLAT = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "oci", "memory"}
"""Where folders need not be made, and where making one could make a bucket."""
_SETTINGS = {
    "s3": {"config_kwargs": {"connect_timeout": 10, "read_timeout": 60, "retries": {"max_attempts": 3}}},
}
"""By protocol, how long its servers are waited for."""
_ADVICE = "check the address, your credentials and the network"
_TRIAL = ".salva"
_T = TypeVar("_T")


class RemoteBlobs:
    """The image files of one run in a folder somewhere else; safe to use from several threads."""

    def __init__(self, address: str) -> None:
        self._address = address
        protocol = address.partition("://")[0]
        try:
            import fsspec
        except ImportError as error:
            raise MissingExtraError(f"--images {protocol}://...", "storage") from error
        try:
            # Another process may write there too: what was listed once is not taken for what is there.
            settings: dict[str, Any] = {"use_listings_cache": False, **_SETTINGS.get(protocol, {})}
            self._files, self._root = fsspec.core.url_to_fs(address, **settings)
        except ImportError as error:
            if protocol in ("s3", "s3a"):
                raise MissingExtraError(f"--images {protocol}://...", "storage") from error
            raise invalid_option("--images", address, error) from error
        except ValueError as error:
            raise invalid_option("--images", address, redact(str(error))) from error
        self._is_flat = protocol in _FLAT

    def place_of(self, image_id: str) -> str:
        """Where an image's file is or will be, for messages."""
        return place_at(self._address, image_id)

    def has(self, image_id: str) -> bool:
        """Whether there is a file of that name."""
        path = self._path_of(image_id)
        return self._done(path, lambda: bool(self._files.exists(path)))

    def read(self, image_id: str) -> bytes:
        """The bytes of a stored file."""
        path = self._path_of(image_id)
        return self._done(path, lambda: bytes(self._files.cat_file(path)))

    def write(self, image_id: str, data: bytes) -> None:
        """Store a file; when this returns, it is there and whole."""
        self._put(self._path_of(image_id), data)

    def lost(self, sizes: Iterable[tuple[str, int]]) -> Iterator[str]:
        """Those that have no file of their size; one listing, however many they are."""
        present: dict[str, int | None] | None = None
        for image_id, n_bytes in sizes:
            present = dict(self._listed()) if present is None else present
            # Some storages list no sizes; there a file that is there is taken for whole.
            if image_id not in present or present[image_id] not in (n_bytes, None):
                yield image_id

    def _listed(self) -> Iterator[tuple[str, int | None]]:
        for name, size in self._done(self._root, lambda: sorted(self._found().items())):
            folder, file = posixpath.split(name)
            stem, suffix = posixpath.splitext(file)
            if suffix == ".webp":
                yield posixpath.basename(folder) + stem, size

    def prepare(self) -> None:
        """Write a small file, so that a wrong key or bucket costs no image."""
        self._put(f"{self._root}/{_TRIAL}", b"salva keeps the images of a run here\n")

    def _found(self) -> dict[str, int | None]:
        try:
            return {name: about.get("size") for name, about in self._files.find(self._root, detail=True).items()}
        except FileNotFoundError:
            return {}

    def _put(self, path: str, data: bytes) -> None:
        def put() -> None:
            if not self._is_flat:
                self._files.makedirs(posixpath.dirname(path), exist_ok=True)
            self._files.pipe_file(path, data)

        self._done(path, put)

    def _path_of(self, image_id: str) -> str:
        return place_at(self._root, image_id)

    def _done(self, path: str, act: Callable[[], _T]) -> _T:
        # The kits of storages share no branch of exceptions.
        with translate_errors(partial(self._translated, path)):
            return act()

    def _translated(self, path: str, error: Exception) -> SalvaError:
        where = f"{self._address.partition('://')[0]}://{path.lstrip('/')}"
        problem = message("disk-error", path=where, why=describe_error(error), advice=_ADVICE)
        if isinstance(error, FileNotFoundError):
            return StoreError(problem)
        return BackendError(problem, is_retryable=True)
