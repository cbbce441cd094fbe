"""A whole run as one file, and back.

Nothing is compressed: images are already, and what is not compressed cannot grow without end. What is read must come
under the very names, in the very order and with the digests that the archive's own list and database call for; nothing
else is written anywhere.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar

from msgspec import structs

from salva.core.exchange import COPIES_FOLDER, ExportCount, ReadIn
from salva.core.options import NoOptions
from salva.errors import StoreError, UsageError
from salva.files.outfiles import write_bytes, writing
from salva.messages import message
from salva.store.blobs import IMAGES, check_image_id, digest_of, store_error
from salva.store.connection import write_copy
from salva.store.images import IMAGES_AT
from salva.store.reading import DATABASE, RunReader
from salva.store.records import StoredImage
from salva.store.runfile import RUN_FILE, read_run_file, store_run_file
from salva.store.sqlite import open_run

_LIST = "archive.json"
_FORMAT = {"format": "salva-archive", "version": 1}
_REVIEWS = "review.db"
_MAY_STAND = re.compile(rf"{RUN_FILE}|{re.escape(DATABASE)}|{_REVIEWS}|import-problems\.csv|{COPIES_FOLDER}/[^/\x00]+")
_SCHEMA_COOKIE = 40
"""Where a SQLite file counts in four bytes how often its schema was written, which every copy is once more."""
_BLOCK = tarfile.BLOCKSIZE
_CHUNK = 1 << 20
_MOST_LIST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A file that is not an image, as the archive's list has it."""

    name: str
    n_bytes: int
    sha256: str


class ArchiveExport:
    """A file: the whole run, to be moved or kept; `salva import --as archive` makes it a run again."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        """Nothing can be chosen."""

    def write_run(self, directory: Path, out: Path) -> ExportCount:
        """OUT, with the databases as they are at one moment, also while the run goes on."""
        with ExitStack() as stack:
            store = stack.enter_context(open_run(directory))
            _make_parent(out)
            still = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=out.parent, prefix=".salva-")))
            # Read before the rows are: a text of run.json that the database has not seen would look edited.
            files = {RUN_FILE: directory / RUN_FILE}
            if not files[RUN_FILE].is_file():
                raise UsageError(message("run-missing", path=str(directory), file=RUN_FILE))
            write_bytes(still / RUN_FILE, files[RUN_FILE].read_bytes())
            read_run_file(directory)  # a damaged one is an error now, not when the archive is opened elsewhere
            store.write_snapshot(still / DATABASE)
            _uncount(still / DATABASE)
            files |= {RUN_FILE: still / RUN_FILE, DATABASE: still / DATABASE}
            if (directory / _REVIEWS).is_file():
                _copy_database(directory / _REVIEWS, still / _REVIEWS)
                _uncount(still / _REVIEWS)
                files[_REVIEWS] = still / _REVIEWS
            copies = sorted(path for path in (directory / COPIES_FOLDER).glob("*") if path.is_file())
            others = [path for path in (directory / "import-problems.csv", *copies) if path.is_file()]
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
            raise UsageError(message("archive-several", n=len(files)))
        source = files[0]
        with _opened(source) as file:
            _make_parent(out)
            _check_room(source, out.parent)
            with _made_whole(out) as stage:
                _unpack(_Tar(file, source), stage)
                _settle_images(stage)
                with open_run(stage) as store:
                    counts = {"cases": store.n_cases(), "images": store.n_images()}
                content = read_run_file(stage)
        assert content is not None
        models = tuple(model.name for model in content.spec.models)
        return ReadIn(suite=content.spec.suite.name, models=models, cases=(), verdicts=(), counts=counts)


# Writing


def _write(file: IO[bytes], files: Mapping[str, Path], rows: RunReader, store: RunReader) -> None:
    entries = [_Entry(name=name, n_bytes=path.stat().st_size, sha256=_sha256(path)) for name, path in files.items()]
    listed = [{"name": entry.name, "n_bytes": entry.n_bytes, "sha256": entry.sha256} for entry in entries]
    text = json.dumps({**_FORMAT, "files": listed, "n_images": rows.n_images()}, indent=1) + "\n"
    _put(file, _LIST, text.encode())
    for entry in entries:
        file.write(_header(entry.name, entry.n_bytes))
        with files[entry.name].open("rb") as source:
            shutil.copyfileobj(source, file, _CHUNK)
        file.write(_padding(entry.n_bytes))
    for image in _ordered(rows):
        data = store.blobs.read(image.image_id)
        if digest_of(data) != image.digest:
            raise StoreError(message("image-damaged", path=str(store.blobs.place_of(image.image_id))))
        _put(file, _image_name(image.image_id), data)
    file.write(bytes(2 * _BLOCK))


def _put(file: IO[bytes], name: str, data: bytes) -> None:
    file.write(_header(name, len(data)))
    file.write(data)
    file.write(_padding(len(data)))


def _header(name: str, n_bytes: int) -> bytes:
    """One block, without time, owner or anything else that differs from machine to machine."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = n_bytes, 0o644
    header = info.tobuf(tarfile.GNU_FORMAT)
    if len(header) != _BLOCK:
        raise UsageError(message("archive-name", name=name))
    return header


def _padding(n_bytes: int) -> bytes:
    return bytes(-n_bytes % _BLOCK)


def _ordered(rows: RunReader) -> Iterator[StoredImage]:
    """Every image by its id: the table has no other order."""
    return rows.images()


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


def _uncount(copy: Path) -> None:
    """Take out of a fresh copy how often its database was copied: an archive of an archive has the same bytes."""
    if copy.stat().st_size:  # a database without a table may have no header either
        with copy.open("r+b") as file:
            file.seek(_SCHEMA_COOKIE)
            file.write((1).to_bytes(4, "big"))


# Reading


class _Tar:
    """An archive read from its beginning to its end, one header and one file at a time."""

    def __init__(self, file: IO[bytes], source: Path) -> None:
        self._file, self._source = file, source

    def wrong(self, what: str) -> UsageError:
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
            raise self.wrong(str(error) or "it ends in the middle") from error
        if info.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or info.size < 0:
            raise self.wrong(f"{info.name[:80]!r} is no plain file")
        return info.name, info.size

    def expect(self, name: str, n_bytes: int) -> None:
        """Refuse anything but this file of this size."""
        follows = self.next()
        if follows != (name, n_bytes):
            there = f"{follows[0][:80]!r} of {follows[1]} bytes" if follows else "its end"
            raise self.wrong(f"{name!r} of {n_bytes} bytes should follow, and there is {there}")

    def read(self, n_bytes: int) -> bytes:
        """A small file whole."""
        data = self._file.read(n_bytes)
        if len(data) != n_bytes or self._file.read(len(_padding(n_bytes))) != _padding(n_bytes):
            raise self.wrong("it ends in the middle")
        return data

    def copy(self, path: Path, entry: _Entry) -> None:
        """A file of any size to its place, held against its digest."""
        digest, left = hashlib.sha256(), entry.n_bytes
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as out:
            while left:
                data = self._file.read(min(left, _CHUNK))
                if not data:
                    raise self.wrong("it ends in the middle")
                digest.update(data)
                out.write(data)
                left -= len(data)
        self._file.read(len(_padding(entry.n_bytes)))
        if digest.hexdigest() != entry.sha256:
            raise self.wrong(f"{entry.name!r} does not have its digest")


def _unpack(tar: _Tar, stage: Path) -> None:
    entries, n_images = _listed(tar)
    for entry in entries:
        tar.expect(entry.name, entry.n_bytes)
        tar.copy(stage / entry.name, entry)
    if read_run_file(stage) is None or not (stage / DATABASE).is_file():
        raise tar.wrong(f"it lacks {RUN_FILE} or {DATABASE}")
    with open_run(stage) as rows:
        if rows.n_images() != n_images:
            raise tar.wrong(f"its list says {n_images} images and its database {rows.n_images()}")
        for image in _ordered(rows):
            tar.expect(_image_name(image.image_id), image.n_bytes)
            entry = _Entry(name=_image_name(image.image_id), n_bytes=image.n_bytes, sha256=image.digest)
            tar.copy(stage / entry.name, entry)
    if tar.next() is not None:
        raise tar.wrong("it holds more than its list says")


def _listed(tar: _Tar) -> tuple[list[_Entry], int]:
    """What else than images must follow, and how many images."""
    first = tar.next()
    if first is None or first[0] != _LIST or first[1] > _MOST_LIST_BYTES:
        raise tar.wrong(f"it does not begin with {_LIST}")
    try:
        listed = json.loads(tar.read(first[1]))
        if {name: listed.get(name) for name in _FORMAT} != _FORMAT:
            raise tar.wrong(f"it is of version {listed.get('version')!r}, and this salva reads {_FORMAT['version']}")
        entries = [
            _Entry(name=str(part["name"]), n_bytes=int(part["n_bytes"]), sha256=str(part["sha256"]))
            for part in listed["files"]
        ]
        n_images = int(listed["n_images"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise tar.wrong(f"its {_LIST} cannot be read") from error
    for entry in entries:
        if not _MAY_STAND.fullmatch(entry.name) or ".." in entry.name.split("/") or entry.n_bytes < 0:
            raise tar.wrong(f"its list names {entry.name[:80]!r}, which is no file of a run")
    return entries, n_images


def _settle_images(stage: Path) -> None:
    """Images that were elsewhere are in the run's own directory now."""
    with open_run(stage) as store:
        if not store.images_at():
            return
    content = read_run_file(stage)
    with open_run(stage, "write") as store:
        store.drop_meta(IMAGES_AT)
        if content is not None:
            store_run_file(store, structs.replace(content, images=""))


@contextmanager
def _made_whole(out: Path) -> Iterator[Path]:
    """A folder to fill, which becomes OUT when all went well and is gone otherwise."""
    stage = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name[:40]}-"))
    try:
        yield stage
        # Once for all files: one call for each would take longer than writing them.
        os.sync()
        stage.chmod(0o777 & ~_umask())
        if out.exists():
            out.rmdir()
        stage.rename(out)
    except OSError as error:
        raise store_error(out, error) from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _check_room(source: Path, folder: Path) -> None:
    n_bytes, free = source.stat().st_size, shutil.disk_usage(folder).free
    if n_bytes > free:
        raise StoreError(message("disk-full", path=str(folder)))


@contextmanager
def _opened(source: Path) -> Iterator[IO[bytes]]:
    try:
        file = source.open("rb")
    except OSError as error:
        raise UsageError(message("file-unreadable", path=str(source), why=error.strerror)) from error
    with file:
        yield file


def _make_parent(out: Path) -> None:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise store_error(out.parent, error) from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
