"""One byte budget for the process: answers of endpoints, pixels, and what is being unpacked or encoded.

Calls reserve before they send a request, and what they make stays counted until it is gone. Nobody waits for what waits
for him: work on pixels, observing, and growth each have one place beyond the limit, and none of them waits for a later
one of "begin, grow, observe, work". Knows no HTTP and no images.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
import time
from bisect import insort
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from functools import partial
from pathlib import Path

MIB = 2**20
SMALLEST_SHARE = 8 * MIB
"""What a call of an endpoint reserves at least."""
COPIES = 4
"""Of an answer in JSON while it is read: its bytes, its text, what is parsed, and what that is decoded to."""
_CHECK_S = 0.5
_MMAP_THRESHOLD = -3
"""Of glibc's malloc.h."""


class Stage(IntEnum):
    """What is waited for."""

    BEGIN = 0
    """To send a request for an image."""
    GROW = 1
    """For more than was reserved: a large answer, pixels."""
    OBSERVE = 2
    """To ask an observer, which frees an image in the end."""
    WORK = 3
    """To decode or encode, which waits for nobody."""


def largest_answer() -> int:
    """The most bytes of one answer."""
    return _from_environment("SALVA_ANSWER_MIB", 64) * MIB


def _from_environment(name: str, usual: int) -> int:
    try:
        return max(1, int(os.environ.get(name, usual)))
    except ValueError:
        return usual


def default_budget() -> int:
    """SALVA_MEMORY_MIB, else 1 GiB, or a quarter of the memory that the process may use if that is less."""
    usual = min([2**30, *(limit // 4 for limit in _memory_limits())])
    return _from_environment("SALVA_MEMORY_MIB", usual // MIB) * MIB


def _memory_limits(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> Iterator[int]:
    """The machine's memory, and what the control groups of the process allow."""
    with suppress(ValueError, OSError, AttributeError):
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        groups = [line.rpartition(":")[2].strip("/") for line in own.read_text().splitlines()]
    except OSError:
        groups = []
    folders = {parent for group in ("", *groups) for parent in (Path(group), *Path(group).parents)}
    for file in (root / "memory.max", root / "memory/memory.limit_in_bytes"):
        for folder in folders:
            try:
                yield int((file.parent / folder / file.name).read_text())
            except (OSError, ValueError):
                continue


class MemoryBudget:
    """Grants bytes and takes them back; thread-safe."""

    def __init__(self, most_bytes: int | None = None) -> None:
        self.most_bytes = default_budget() if most_bytes is None else most_bytes
        # The largest share is always free for whoever is first among those that need more than they reserved.
        self._usual_bytes = self.most_bytes - min(COPIES * largest_answer(), self.most_bytes // 2)
        self.n_bytes = self.most_seen = self._n_held = 0
        self._waiting: dict[Stage, list[_Waiter]] = {stage: [] for stage in Stage}
        self._beyond: dict[Stage, Reservation] = {}
        """Who may pass the limit, of each stage."""
        # Reentrant, since what is held may be collected in the middle of anything.
        self._lock = threading.RLock()
        self._is_granting = self._is_changed = False

    @property
    def is_crowded(self) -> bool:
        """Whether no more images should come than those under way."""
        return bool(self._waiting[Stage.GROW]) or 2 * self._n_held >= self._usual_bytes

    @property
    def largest_share(self) -> int:
        """What a call reserves at most."""
        return self._usual_bytes // 2

    def held(self, n_bytes: int) -> Held:
        """Count what is there already, without waiting."""
        return Held(Reservation(self), n_bytes)

    @contextmanager
    def working(self, n_bytes: int) -> Iterator[None]:
        """Memory for the time of decoding or encoding."""
        work = Reservation(self)
        work.take(n_bytes, Stage.WORK)
        try:
            yield
        finally:
            self.give_back(work, n_bytes)

    def give_back(self, of: Reservation, n_bytes: int, *, was_held: bool = False) -> None:
        """Bytes are free again; once all of a reservation are, so is its place beyond the limit."""
        with self._lock:
            self.n_bytes -= n_bytes
            self._n_held -= n_bytes * was_held
            of.n_bytes -= n_bytes
            if of.n_bytes == 0:
                self._beyond = {stage: owner for stage, owner in self._beyond.items() if owner is not of}
            self._grant()

    def count(self, of: Reservation, n_bytes: int, *, n_held: int = 0) -> None:
        """Take bytes without asking; n_held: how many are those of images."""
        with self._lock:
            self.n_bytes += n_bytes
            self._n_held += n_held
            of.n_bytes += n_bytes
            self.most_seen = max(self.most_seen, self.n_bytes)

    def wait(self, of: Reservation, n_bytes: int, stage: Stage, stopping: threading.Event | None) -> bool:
        """Wait for room and take it; False when everything stops."""
        waiter = _Waiter(of, n_bytes)
        with self._lock:
            insort(self._waiting[stage], waiter, key=lambda other: other.of.age)
            self._grant()
        is_taken = False
        try:
            while not waiter.wait(_CHECK_S if stopping else -1):
                if stopping and stopping.is_set():
                    return False
            is_taken = True
            return True
        finally:
            if not is_taken and not self._withdraw(waiter, stage):
                self.give_back(of, n_bytes)

    def _withdraw(self, waiter: _Waiter, stage: Stage) -> bool:
        """Take back a wish; False where it was granted meanwhile."""
        with self._lock:
            if waiter not in self._waiting[stage]:
                return False
            self._waiting[stage].remove(waiter)
            self._grant()
            return True

    def _grant(self) -> None:
        self._is_changed = True
        if self._is_granting:
            return
        self._is_granting = True
        while self._is_changed:
            self._is_changed = False
            for stage in reversed(Stage):
                self._grant_to(self._waiting[stage], stage)
        self._is_granting = False

    def _grant_to(self, waiting: list[_Waiter], stage: Stage) -> None:
        # Whoever has begun goes first, and before all others whoever is beyond the limit already.
        is_turn = stage is not Stage.BEGIN or not any(self._waiting[later] for later in Stage if later > stage)
        while waiting and is_turn:
            owner = self._beyond.get(stage)
            waiter = next((waiter for waiter in waiting if waiter.of is owner), waiting[0])
            if not self._has_room(waiter, stage):
                return
            waiting.remove(waiter)
            self.count(waiter.of, waiter.n_bytes)
            waiter.give()

    def _has_room(self, waiter: _Waiter, stage: Stage) -> bool:
        limit = self.most_bytes if stage is Stage.WORK else self._usual_bytes
        if self.n_bytes + waiter.n_bytes <= limit:
            return True
        if stage is Stage.BEGIN:
            return self.n_bytes == 0
        return self._beyond.setdefault(stage, waiter.of) is waiter.of


class _Waiter:
    def __init__(self, of: Reservation, n_bytes: int) -> None:
        self.of, self.n_bytes = of, n_bytes
        # Not an event: giving may happen while this very thread is inside its wait, collecting.
        self._turn = threading.Lock()
        self._turn.acquire()
        self.give, self.wait = self._turn.release, partial(self._turn.acquire, True)


class Held:
    """Bytes that are counted for as long as somebody refers to this."""

    __slots__ = ("_n_bytes", "_of")

    def __init__(self, of: Reservation, n_bytes: int, *, is_taken: bool = False) -> None:
        self._of, self._n_bytes = of, n_bytes
        of.budget.count(of, 0 if is_taken else n_bytes, n_held=n_bytes)

    def __del__(self) -> None:
        self._of.budget.give_back(self._of, self._n_bytes, was_held=True)

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        # What is sent to another process is not held there.
        return type(None), ()


_ages = itertools.count()


class Reservation:
    """What one call of a component holds: its share until it ends, its images until they are gone."""

    def __init__(
        self,
        budget: MemoryBudget | None = None,
        *,
        is_observing: bool = False,
        stopping: threading.Event | None = None,
    ) -> None:
        self.budget = budget or BUDGET
        self.age = next(_ages)
        self.n_bytes = 0
        """All that it holds."""
        self.largest = 0
        """The most that an answer took."""
        self._is_observing, self._stopping = is_observing, stopping
        self._n_share = 0
        self._waited_s, self._waits_since = 0.0, 0.0

    def waited_s(self) -> float:
        """How long it has waited for room so far."""
        since = self._waits_since
        return self._waited_s + (time.monotonic() - since if since else 0.0)

    def take(self, n_bytes: int, stage: Stage, stopping: threading.Event | None = None) -> bool:
        """Wait for room; False when everything stops."""
        self._waits_since = time.monotonic()
        try:
            return self.budget.wait(self, n_bytes, stage, stopping)
        finally:
            self._waited_s, self._waits_since = self.waited_s(), 0.0

    def begin(self, n_bytes: int) -> bool:
        """Reserve a share before a request is sent; False when everything stops."""
        n_bytes = min(max(n_bytes, SMALLEST_SHARE), self.budget.largest_share)
        if not self.take(n_bytes, Stage.OBSERVE if self._is_observing else Stage.BEGIN, self._stopping):
            return False
        self._n_share = n_bytes
        return True

    def answer(self, n_bytes: int) -> None:
        """So much of an answer is here, with its copies; more than the share is waited for."""
        self.largest = max(self.largest, n_bytes)
        if n_bytes > self._n_share:
            more = max(n_bytes, min(2 * self._n_share, COPIES * largest_answer())) - self._n_share
            self.take(more, Stage.OBSERVE if self._is_observing else Stage.GROW)
            self._n_share += more

    def pixels(self, n_bytes: int) -> Held:
        """Room for an image, held until it is gone."""
        self.take(n_bytes, Stage.OBSERVE if self._is_observing else Stage.GROW)
        return Held(self, n_bytes, is_taken=True)

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """While this thread makes the call."""
        _threads.reservation = self
        try:
            yield
        finally:
            _threads.reservation = None
            self.budget.give_back(self, self._n_share)
            self._n_share = 0


def return_at_once() -> None:
    """Have large blocks go back to the system when they are free.

    glibc keeps up to 64 MiB for each of many groups of threads otherwise, which no budget counts.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, MIB)


class _Threads(threading.local):
    reservation: Reservation | None = None


_threads = _Threads()
BUDGET = MemoryBudget()
"""That of this process."""


def take_answer(n_bytes: int) -> None:
    """So much of an answer is about to be here, with its copies; in a run, wait for room."""
    if _threads.reservation is not None:
        _threads.reservation.answer(n_bytes)


def take_pixels(n_bytes: int) -> Held | None:
    """Before an image is decoded: in a run, wait for room, and have it counted as long as the image is there."""
    return _threads.reservation.pixels(n_bytes) if _threads.reservation is not None else None
