"""Room for pixels in this process: what a run paints is decoded when there is room for it, and not before.

A picture is small on its way and large in memory (8,000 x 8,000 pixels in a file of some kilobytes), so counting
pictures bounds nothing. One room a process, since memory is the process's. Who decodes for a run waits for it; whoever
only shows or copies a stored picture does not. What Pillow needs besides while it decodes and encodes has a room of its
own, in which nobody waits for anything but its own end.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from salva.core.image import AnyPicture, Picture

MOST_BYTES = 2**30
"""Five pictures of the largest size that is read, or 340 of a million pixels."""
_RGB = 3
DECODING, ENCODING = 17, 25
"""Bytes a pixel beyond its three, as measured: transparent PNG to pixels, noise to lossless WebP."""


class PixelRoom:
    """How many bytes of pictures there are, and may be; for many threads."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes, self.n_bytes = most_bytes, 0
        self.most_seen = 0
        """The most there has been at once."""
        self._n_waiting = 0
        self._change = threading.Condition()

    @property
    def is_crowded(self) -> bool:
        """Whether nothing more should come in: it is full, or somebody waits already."""
        return self._n_waiting > 0 or self.n_bytes >= self.most_bytes

    def add(self, n_bytes: int) -> None:
        """So many bytes are there, or gone where they are negative."""
        with self._change:
            self._add(n_bytes)

    def add_in_turn(self, n_bytes: int) -> None:
        """Wait until there is room for so many more; alone, anything has room."""
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
    """What somebody has taken of the room, so that all of it is given back in the end."""

    def __init__(self) -> None:
        self._room, self._n_bytes = ROOM, 0
        self._is_closed = False
        self._lock = threading.Lock()

    @property
    def is_crowded(self) -> bool:
        """Whether nothing more should come in."""
        return self._room.is_crowded

    def add(self, n_bytes: int) -> None:
        """So many bytes more, or fewer; what was given back already is not given back again."""
        with self._lock:
            if self._is_closed:
                # Whoever brings a picture now brings it to nobody.
                return
            n_bytes = max(n_bytes, -self._n_bytes)
            self._n_bytes += n_bytes
        self._room.add(n_bytes)

    def close(self) -> None:
        """Give everything back, and take nothing any more; safe to call twice."""
        self.add(-self._n_bytes)
        self._is_closed = True


class DecodingCall:
    """One call of a component that may decode pictures; it waits for room before the first of them."""

    def __init__(self) -> None:
        self._room, self._n_bytes = ROOM, 0
        self._waited_s = 0.0
        self._waits_since: float | None = None

    def waited_s(self) -> float:
        """How long it has waited for room so far."""
        since = self._waits_since
        return self._waited_s + (time.monotonic() - since if since is not None else 0.0)

    def take(self, n_pixels: int) -> None:
        """Have room for another picture."""
        if self._n_bytes:
            # It must not wait for itself.
            self._room.add(_RGB * n_pixels)
        else:
            self._waits_since = time.monotonic()
            self._room.add_in_turn(_RGB * n_pixels)
            self._waited_s, self._waits_since = self.waited_s(), None
        self._n_bytes += _RGB * n_pixels

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """While this thread makes the call."""
        _calls.current = self
        try:
            yield
        finally:
            _calls.current = None
            self._room.add(-self._n_bytes)
            self._n_bytes = 0


class _Calls(threading.local):
    current: DecodingCall | None = None


_calls = _Calls()


def take_room(n_pixels: int) -> None:
    """Before a picture is decoded: where that happens in a run, wait until there is room for it."""
    if _calls.current is not None:
        _calls.current.take(n_pixels)


@contextmanager
def working(n_bytes: int) -> Iterator[None]:
    """While a picture is decoded or encoded, which takes so much besides."""
    _WORKSHOP.add_in_turn(n_bytes)
    try:
        yield
    finally:
        _WORKSHOP.add(-n_bytes)


def bytes_of(picture: AnyPicture) -> int:
    """How much of the memory a picture takes."""
    return len(picture.webp or b"") + (len(picture.rgb) if isinstance(picture, Picture) else 0)


def bytes_of_size(width: int, height: int) -> int:
    """How much a picture of this size will take when it is loaded."""
    return _RGB * width * height
