"""A whole run as one file, and back.

Nothing is compressed: images are already, and what is not compressed cannot grow without end. What is read must come
under the very names, in the very order and with the digests that the archive's own list and database call for; nothing
else is written anywhere.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import secrets
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, ClassVar, Literal

import msgspec

from salva.core.exchange import COPIES_FOLDER, ExportCount, ReadIn
from salva.core.options import NoOptions
from salva.errors import StoreError, UsageError
from salva.files.outfiles import write_bytes, writing
from salva.messages import message
from salva.store.blobs import IMAGES, check_image_id, digest_of, read_beside, store_error
from salva.store.connection import write_copy
from salva.store.images import IMAGES_AT
from salva.store.reading import DATABASE, RunReader
from salva.store.reviews import REVIEWS, read_reviews
from salva.store.runfile import RUN_FILE, read_run_file, store_run_file
from salva.store.seal import SEAL
from salva.store.sqlite import open_run

_LIST = "archive.json"
_MAY_STAND = re.compile(
    rf"{RUN_FILE}|{re.escape(DATABASE)}|{REVIEWS}|{SEAL}|import-problems\.csv|{COPIES_FOLDER}/[^/\x00]+"
)
_BLOCK = tarfile.BLOCKSIZE
_CHUNK = 1 << 20
_MOST_LIST_BYTES = 1 << 20


class _ArchiveFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is not an image, as the archive's list has it."""

    name: str
    n_bytes: int
    sha256: str


class _List(msgspec.Struct, frozen=True, kw_only=True):
    """The archive's first file: what follows it."""

    format: Literal["salva-archive"]
    version: Literal[1]
    files: tuple[_ArchiveFile, ...]
    """All but the images."""
    n_images: int


class ArchiveExport:
    """A file: the whole run, to be moved or kept; `salva import --as archive` makes it a run again."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        """Nothing can be chosen."""

    def write_run(self, directory: Path, out: Path) -> ExportCount:
        """OUT, with the databases as they are at one moment, also while the run goes on."""
        with ExitStack() as stack:
            store = stack.enter_context(open_run(directory))
            try:
                out.parent.mkdir(parents=True, exist_ok=True)
                still = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=out.parent, prefix=".salva-")))
            except OSError as error:
                raise store_error(out.parent, error) from error
            # Read before the rows are: a text of run.json that the database has not seen would look edited.
            files = {RUN_FILE: directory / RUN_FILE}
            if not files[RUN_FILE].is_file():
                raise UsageError(message("run-missing", path=str(directory), file=RUN_FILE))
            write_bytes(still / RUN_FILE, read_beside(files[RUN_FILE]))
            read_run_file(directory)  # a damaged one is an error now, not when the archive is opened elsewhere
            store.write_snapshot(still / DATABASE)
            files |= {RUN_FILE: still / RUN_FILE, DATABASE: still / DATABASE}
            if (directory / REVIEWS).is_file():
                _copy_database(directory / REVIEWS, still / REVIEWS)
                files[REVIEWS] = still / REVIEWS
            copies = sorted(path for path in (directory / COPIES_FOLDER).glob("*") if path.is_file())
            others = [path for path in (directory / "import-problems.csv", directory / SEAL, *copies) if path.is_file()]
            files |= {path.relative_to(directory).as_posix(): path for path in others}
            rows = stack.enter_context(open_run(still))
            file = stack.enter_context(writing(out))
            _write(file, files, rows, store)
            return ExportCount(n=rows.n_images(), what="images and all rows")


class ArchiveImport:
    """A file that `salva export --as archive` wrote."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        """Nothing can be chosen."""

    def read_run(self, files: Sequence[Path], out: Path) -> ReadIn:
        """The run OUT, equal to the one that was exported, or no OUT at all."""
        if len(files) != 1:
            raise UsageError(message("files-duplicate", what="one run", files=", ".join(map(str, files))))
        source = files[0]
        try:
            file = source.open("rb")
        except OSError as error:
            raise UsageError(message("file-unreadable", path=str(source), why=error.strerror)) from error
        with file, _made_whole(out) as stage:
            _unpack(_Tar(file, source), stage)
            _drop_images_elsewhere(stage)
            read_reviews(stage)
            with open_run(stage) as store:
                counts = {"cases": store.n_cases(), "images": store.n_images()}
            content = read_run_file(stage)
        assert content is not None
        models = tuple(model.name for model in content.spec.models)
        return ReadIn(suite=content.spec.suite.name, models=models, cases=(), verdicts=(), counts=counts)


# Writing


def _write(file: IO[bytes], files: Mapping[str, Path], rows: RunReader, store: RunReader) -> None:
    entries = [
        _ArchiveFile(name=name, n_bytes=path.stat().st_size, sha256=_sha256(path)) for name, path in files.items()
    ]
    listed = _List(format="salva-archive", version=1, files=tuple(entries), n_images=rows.n_images())
    text = msgspec.json.format(msgspec.json.encode(listed), indent=1) + b"\n"
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar:
        _add(tar, _LIST, io.BytesIO(text), len(text))
        for name, path in files.items():
            with path.open("rb") as source:
                _add(tar, name, source, path.stat().st_size)
        for image in rows.images():
            data = store.blobs.read(image.image_id)
            if digest_of(data) != image.digest:
                raise StoreError(message("image-damaged", path=store.image_place(image.image_id)))
            _add(tar, _image_name(image.image_id), io.BytesIO(data), len(data))


def _add(tar: tarfile.TarFile, name: str, source: IO[bytes], n_bytes: int) -> None:
    """A file without time, owner or anything else that differs from machine to machine."""
    info = tarfile.TarInfo(name)
    info.size = n_bytes
    if len(info.tobuf(tarfile.GNU_FORMAT)) != _BLOCK:
        raise UsageError(message("archive-name", name=name))
    tar.addfile(info, source)


def _image_name(image_id: str) -> str:
    check_image_id(image_id, "the archive's database")
    return f"{IMAGES}/{image_id[:2]}/{image_id[2:]}.webp"


def _copy_database(source: Path, out: Path) -> None:
    try:
        connection = sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)
        try:
            write_copy(connection, source, out)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise StoreError(message("file-unreadable", path=str(source), why=error)) from error


# Reading


class _Tar:
    """An archive read from its beginning to its end, one header and one file at a time."""

    def __init__(self, file: IO[bytes], source: Path) -> None:
        self._file, self._source = file, source

    def invalid(self, what: str) -> UsageError:
        return UsageError(message("archive-invalid", path=str(self._source), why=what))

    def next(self) -> tuple[str, int] | None:
        """Name and size of the file that follows; None at the end."""
        block = self._file.read(_BLOCK)
        if block == bytes(_BLOCK):
            return None
        try:
            # One block alone: what would have a header go on in others, as long as it likes, is no plain file.
            info = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        except (tarfile.HeaderError, UnicodeDecodeError) as error:
            raise self.invalid(str(error) or "it ends in the middle") from error
        if info.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or info.size < 0:
            raise self.invalid(f"{info.name[:80]!r} is no plain file")
        return info.name, info.size

    def read(self, n_bytes: int) -> bytes:
        """At most so many bytes of the file that follows."""
        data = self._file.read(n_bytes)
        if not data:
            raise self.invalid("it ends in the middle")
        return data

    def skip_padding(self, n_bytes: int) -> None:
        """Go on to the header behind a file of this size."""
        self._file.read(-n_bytes % _BLOCK)

    def copy(self, entry: _ArchiveFile, path: Path) -> None:
        """The next file to its place; it must have the entry's name, size and digest."""
        if self.next() != (entry.name, entry.n_bytes):
            raise self.invalid(f"{entry.name!r} of {entry.n_bytes} bytes is missing")
        digest, left = hashlib.sha256(), entry.n_bytes
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as out:
            while left:
                data = self.read(min(left, _CHUNK))
                digest.update(data)
                out.write(data)
                left -= len(data)
        self.skip_padding(entry.n_bytes)
        if digest.hexdigest() != entry.sha256:
            raise self.invalid(f"{entry.name!r} does not have its digest")


def _unpack(tar: _Tar, stage: Path) -> None:
    listed = _listed(tar)
    for entry in listed.files:
        tar.copy(entry, stage / entry.name)
    if read_run_file(stage) is None or not (stage / DATABASE).is_file():
        raise tar.invalid(f"it lacks {RUN_FILE} or {DATABASE}")
    with open_run(stage) as rows:
        if rows.n_images() != listed.n_images:
            raise tar.invalid("its list and its database disagree about images")
        for image in rows.images():
            entry = _ArchiveFile(name=_image_name(image.image_id), n_bytes=image.n_bytes, sha256=image.digest)
            tar.copy(entry, stage / entry.name)
    if tar.next() is not None:
        raise tar.invalid("it holds unlisted files")


def _listed(tar: _Tar) -> _List:
    """What must follow."""
    first = tar.next()
    if first is None or first[0] != _LIST or first[1] > _MOST_LIST_BYTES:
        raise tar.invalid(f"it does not begin with {_LIST}")
    try:
        listed = msgspec.json.decode(tar.read(first[1]), type=_List)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise tar.invalid(f"its {_LIST} cannot be read") from error
    tar.skip_padding(first[1])
    for entry in listed.files:
        if not _MAY_STAND.fullmatch(entry.name) or ".." in entry.name.split("/") or entry.n_bytes < 0:
            raise tar.invalid(f"{entry.name[:80]!r} is no file of a run")
    return listed


def _drop_images_elsewhere(stage: Path) -> None:
    """Images that were elsewhere are in the run's own directory now."""
    with open_run(stage) as store:
        if not store.images_at():
            return
    content = read_run_file(stage)
    with open_run(stage, "write") as store:
        store.drop_meta(IMAGES_AT)
        if content is not None:
            store_run_file(store, msgspec.structs.replace(content, images=""))


@contextmanager
def _made_whole(out: Path) -> Iterator[Path]:
    """A folder to fill, which becomes OUT when all went well and is gone otherwise."""
    stage = out.parent / f".{out.name[:40]}-{secrets.token_hex(4)}"
    try:
        stage.mkdir(parents=True)
        yield stage
        # Once for all files: one call for each would take longer than writing them.
        os.sync()
        if out.exists():
            out.rmdir()
        stage.rename(out)
    except OSError as error:
        raise store_error(out, error) from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
