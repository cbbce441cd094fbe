"""Memory limit for pixels: images of a run are only decoded when there is room.

A file of some kilobytes may decode to 8,000 x 8,000 pixels, so counting images limits nothing. There is one limit per
process. Decoding for a run waits for room; showing or copying a stored image does not. The working memory of Pillow has
a limit of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from salva.core.image import AnyPicture, Picture

MOST_BYTES = 2**30
"""Five images of the largest size that is read, or 340 of a million pixels."""
_RGB = 3
DECODING, ENCODING = 17, 25
"""Bytes a pixel beyond its three, as measured: transparent PNG to pixels, noise to lossless WebP."""


class PixelRoom:
    """Counts the bytes of images against a limit; thread-safe."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes, self.n_bytes = most_bytes, 0
        self.most_seen = 0
        """The maximum so far."""
        self._n_waiting = 0
        self._change = threading.Condition()

    @property
    def is_crowded(self) -> bool:
        """Whether it is full, or a thread is waiting."""
        return self._n_waiting > 0 or self.n_bytes >= self.most_bytes

    def add(self, n_bytes: int) -> None:
        """Add bytes; a negative number removes them."""
        with self._change:
            self._add(n_bytes)

    def add_in_turn(self, n_bytes: int) -> None:
        """Wait for room, then add bytes; if nothing else is there, any number fits."""
        with self._change:
            self._n_waiting += 1
            try:
                while self.n_bytes > 0 and self.n_bytes + n_bytes > self.most_bytes:
                    self._change.wait()
            finally:
                self._n_waiting -= 1
            self._add(n_bytes)

    def _add(self, n_bytes: int) -> None:
        self.n_bytes += n_bytes
        self.most_seen = max(self.most_seen, self.n_bytes)
        if n_bytes < 0:
            self._change.notify_all()


ROOM = PixelRoom()
"""The room of this process."""
_WORKSHOP = PixelRoom()


class RoomTaken:
    """The bytes of one holder, so that all of them are released in the end."""

    def __init__(self) -> None:
        self._room, self._n_bytes = ROOM, 0
        self._is_closed = False
        self._lock = threading.Lock()

    @property
    def is_crowded(self) -> bool:
        """Whether the room is full."""
        return self._room.is_crowded

    def add(self, n_bytes: int) -> None:
        """Add bytes; a negative number removes at most those that are held."""
        with self._lock:
            if self._is_closed:
                return
            n_bytes = max(n_bytes, -self._n_bytes)
            self._n_bytes += n_bytes
        self._room.add(n_bytes)

    def close(self) -> None:
        """Release everything and ignore further calls; safe to call twice."""
        self.add(-self._n_bytes)
        self._is_closed = True


class DecodingCall:
    """A call of a component that may decode images; it waits for room before the first one."""

    def __init__(self) -> None:
        self._room, self._n_bytes = ROOM, 0
        self._waited_s = 0.0
        self._waits_since: float | None = None

    def waited_s(self) -> float:
        """How long it has waited for room so far."""
        since = self._waits_since
        return self._waited_s + (time.monotonic() - since if since is not None else 0.0)

    def take(self, n_pixels: int) -> None:
        """Take room for another image."""
        if self._n_bytes:
            # It must not wait for its own images.
            self._room.add(_RGB * n_pixels)
        else:
            self._waits_since = time.monotonic()
            self._room.add_in_turn(_RGB * n_pixels)
            self._waited_s, self._waits_since = self.waited_s(), None
        self._n_bytes += _RGB * n_pixels

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Mark the call as that of this thread."""
        _calls.current = self
        try:
            yield
        finally:
            _calls.current = None
            self._room.add(-self._n_bytes)
            self._n_bytes = 0


class _ThreadCalls(threading.local):
    current: DecodingCall | None = None


_calls = _ThreadCalls()


def take_room(n_pixels: int) -> None:
    """Before an image is decoded in a run: wait for room."""
    if _calls.current is not None:
        _calls.current.take(n_pixels)


@contextmanager
def working(n_bytes: int) -> Iterator[None]:
    """Reserve working memory while an image is decoded or encoded."""
    _WORKSHOP.add_in_turn(n_bytes)
    try:
        yield
    finally:
        _WORKSHOP.add(-n_bytes)


def bytes_of(picture: AnyPicture) -> int:
    """The memory that an image takes."""
    return len(picture.webp or b"") + (len(picture.rgb) if isinstance(picture, Picture) else 0)


def bytes_of_size(width: int, height: int) -> int:
    """The memory that an image of this size takes when loaded."""
    return _RGB * width * height
