"""Pictures to files and back in processes of their own, where a model works on a GPU in this one.

Such a model takes the interpreter anew for every step of every word it writes, and threads that encode, hash and write
files take it from it a dozen times a picture. A scribe is a process that does all of that; what is left here is to hand
it the pixels of several pictures at once and to read one line. Whatever a scribe cannot do, because it was killed,
because the disk is full or because a picture is too large for it, the thread that asked does itself, so that errors are
those of ImageFiles and nothing depends on scribes but speed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from queue import LifoQueue
from typing import Any

from salva.core.image import AnyPicture, Picture, PictureFile
from salva.engine.pictures import ImageFiles
from salva.errors import StoreError
from salva.hardware.cores import n_cores
from salva.hardware.devices import is_gpu_at_work
from salva.imaging.room import DECODING, ENCODING, bytes_of, working
from salva.store.blobs import Blobs
from salva.store.images import ImageStore
from salva.store.records import StoredImage

MOST_SCRIBES = 12
_FEWEST_CORES = 4
_SHARE = 2**24
"""Bytes of the shared memory that belong to one scribe: 21 pictures of 512 x 512, or one of 5.6 million pixels."""
_MOST_PIXELS = _SHARE // 3
_N_LIVES = 3
"""How often a scribe is started before the threads do without it."""
_PATIENCE_S = 2.0
_PROGRAM = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from salva.engine.scribes import serve; serve()"
"""Not `-m`: what this process can import, from wherever it was told to, its scribes can; and nothing else is run."""


class Scribes:
    """The image files of a run, for several threads at once: as ImageFiles, by scribes where that pays."""

    def __init__(self, blobs: ImageStore) -> None:
        self._scribes: tuple[_Scribe, ...] = ()
        self._idle: LifoQueue[_Scribe] = LifoQueue()
        """Those that worked last first, so that no more are started than are of use."""
        memory = None
        # Only a plain folder is one that another process can write to by itself.
        if type(blobs) is Blobs and _can_start() and (n_scribes := min(MOST_SCRIBES, n_cores() * 3 // 4)):
            memory = os.memfd_create("salva")
            # Not sooner: a thread that is late must not write into whatever has the number next.
            weakref.finalize(self, os.close, memory)
            root = blobs.root.absolute()
            self._scribes = tuple(_Scribe(root, memory, number * _SHARE) for number in range(n_scribes))
        for scribe in self._scribes:
            self._idle.put(scribe)
        self._files = ImageFiles(blobs, turns=memory)

    def save(self, pictures: Sequence[AnyPicture]) -> list[StoredImage]:
        """Store pictures; when this returns, their files are whole and on disk."""
        if not self._are_of_use():
            return self._files.save(pictures)
        stored: list[StoredImage] = []
        for portion in _portions(pictures):
            answer = None
            if (n_bytes := sum(map(bytes_of, portion))) <= _SHARE:
                n_besides = max(ENCODING * picture.width * picture.height for picture in portion)
                with self._one() as scribe, working(n_bytes + n_besides):
                    answer = scribe.save(portion)
            stored += answer or self._files.save(portion)
        return stored

    def load(self, image_id: str) -> Picture:
        """A stored picture, checked against its id; it brings its file."""
        picture = None
        if self._are_of_use():
            with self._one() as scribe, working(DECODING * _MOST_PIXELS):
                picture = scribe.load(image_id)
        return picture or self._files.load(image_id)

    def close(self) -> None:
        """Let the scribes go; safe to call twice."""
        for scribe in self._scribes:
            scribe.dismiss()
        deadline = time.monotonic() + _PATIENCE_S
        for scribe in self._scribes:
            scribe.end(deadline)

    def _are_of_use(self) -> bool:
        return bool(self._scribes) and is_gpu_at_work()

    @contextmanager
    def _one(self) -> Iterator[_Scribe]:
        scribe = self._idle.get()
        try:
            yield scribe
        finally:
            self._idle.put(scribe)


class _Scribe:
    """One process and its share of the memory, for one thread at a time; it is started when it is first asked."""

    def __init__(self, root: Path, memory: int, start: int) -> None:
        self._root, self._memory, self._start = root, memory, start
        self._n_lives = _N_LIVES
        self._process: subprocess.Popen[bytes] | None = None

    def save(self, pictures: Sequence[AnyPicture]) -> list[StoredImage] | None:
        """Pictures stored; None where they are not."""
        parts = [part for picture in pictures for part in _parts(picture)]
        answer = self._ask({"save": [_described(picture) for picture in pictures]}, parts)
        return answer and [StoredImage(**image) for image in answer]

    def load(self, image_id: str) -> Picture | None:
        """A stored picture; None where it is not there, or too large."""
        if (answer := self._ask({"load": image_id})) is None:
            return None
        (picture,) = _received([answer], self._memory, self._start)
        assert isinstance(picture, Picture)
        return picture

    def dismiss(self) -> None:
        """Have it end when it has done what it is at, and never start again."""
        self._n_lives = 0
        if self._process is not None and self._process.stdin is not None:
            # What it was not told because it is gone already need not be told any more.
            with suppress(OSError):
                self._process.stdin.close()

    def end(self, deadline: float) -> None:
        """See it gone, by force after the deadline."""
        process, self._process = self._process, None
        if process is None:
            return
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            # One that the disk keeps waiting does not die at once.
            with suppress(subprocess.TimeoutExpired):
                process.wait(_PATIENCE_S)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _ask(self, order: dict[str, Any], parts: Sequence[bytes] = ()) -> Any:
        """What it answers; None where it cannot do it or is gone."""
        try:
            process = self._process or self._started()
            if process is None:
                return None
            assert process.stdin is not None
            assert process.stdout is not None
            # All at once and without holding the interpreter, which a copy into mapped memory does.
            if parts and os.pwritev(self._memory, parts, self._start) < sum(map(len, parts)):
                return None
            process.stdin.write(json.dumps(order).encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except (OSError, ValueError):
            # It was killed, or dismissed, or the system has no room for one more.
            answer = b""
        if not answer.endswith(b"\n"):
            self.end(deadline=0)
            return None
        return json.loads(answer)

    def _started(self) -> subprocess.Popen[bytes] | None:
        if self._n_lives < 1:
            return None
        self._n_lives -= 1
        where = json.dumps([str(self._root), self._memory, self._start])
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, json.dumps([*map(str, sys.path)]), where],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(self._memory,),
            # Ctrl-C is for the run to heed, which still has pictures written then.
            start_new_session=True,
        )
        return self._process


def serve() -> None:
    """What a scribe does until whoever started it is gone: an order a line, an answer a line."""
    root, memory, start = json.loads(sys.argv[2])
    files = ImageFiles(Blobs(Path(root).parent, Path(root)), turns=memory, max_pixels=_MOST_PIXELS)
    for line in sys.stdin.buffer:
        try:
            answer = _done(files, json.loads(line), memory, start)
        except StoreError:
            # Whoever asked tries it again and hears why.
            answer = None
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _done(files: ImageFiles, order: dict[str, Any], memory: int, start: int) -> object:
    if "save" in order:
        return [asdict(image) for image in files.save(_received(order["save"], memory, start))]
    picture = files.load(order["load"])
    is_there = bytes_of(picture) <= _SHARE and os.pwritev(memory, _parts(picture), start) == bytes_of(picture)
    return _described(picture) if is_there else None


def _can_start() -> bool:
    # Where Python is part of another program, starting that again would start no Python.
    is_python = bool(sys.executable) and not hasattr(sys, "frozen")
    return is_python and hasattr(os, "memfd_create") and n_cores() >= _FEWEST_CORES


def _portions(pictures: Sequence[AnyPicture]) -> Iterator[list[AnyPicture]]:
    """As many pictures at once as a scribe's share of the memory holds; one that it does not hold is alone."""
    portion: list[AnyPicture] = []
    n_bytes = 0
    for picture in pictures:
        if portion and n_bytes + bytes_of(picture) > _SHARE:
            yield portion
            portion, n_bytes = [], 0
        portion.append(picture)
        n_bytes += bytes_of(picture)
    if portion:
        yield portion


def _parts(picture: AnyPicture) -> list[bytes]:
    """What a picture is made of, as it lies in the memory: pixels, file, or both."""
    rgb = [picture.rgb] if isinstance(picture, Picture) else []
    return rgb + ([picture.webp] if picture.webp is not None else [])


def _described(picture: AnyPicture) -> dict[str, Any]:
    n_webp = None if picture.webp is None else len(picture.webp)
    image_id = picture.image_id if isinstance(picture, PictureFile) else None
    return {"width": picture.width, "height": picture.height, "n_webp": n_webp, "image_id": image_id}


def _received(described: Sequence[dict[str, Any]], memory: int, start: int) -> Iterator[AnyPicture]:
    """The pictures that lie in the memory; each is read when its turn comes."""
    for told in described:
        size, image_id, n_webp = {"width": told["width"], "height": told["height"]}, told["image_id"], told["n_webp"]
        rgb = b"" if image_id else os.pread(memory, 3 * told["width"] * told["height"], start)
        webp = None if n_webp is None else os.pread(memory, n_webp, start + len(rgb))
        start += len(rgb) + len(webp or b"")
        if image_id:
            yield PictureFile(image_id=image_id, webp=webp or b"", **size)
        else:
            yield Picture(rgb=rgb, webp=webp, **size)
