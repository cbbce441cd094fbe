"""How far a run has come, told to a person.

The flow only says what started and what was done; what is drawn, and whether, is decided here.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from salva.core.printable import printable
from salva.core.secrets import redact

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

_LINE_S = 30.0
"""How long a log is left alone between two lines."""
_EARLY = 0.02
"""Before so much of every stage is done, nobody knows how long all of it takes."""
_QUIET_S = 2.0
"""How long nothing is said of what is waited for."""


class Progress(Protocol):
    """What a run tells about itself while it works."""

    def start(self, stage: str, total: int | None) -> None:
        """A stage begins; told again, its total is corrected."""

    def advance(self, stage: str, n: int = 1) -> None:
        """So many more are done."""

    def finish(self, stage: str) -> None:
        """A stage is over."""

    def note(self, text: str) -> None:
        """Something a person should know, once."""


class SilentProgress:
    """Says nothing but notes, and those only when told where."""

    def start(self, stage: str, total: int | None) -> None:
        """Nothing to draw."""

    def advance(self, stage: str, n: int = 1) -> None:
        """Nothing to draw."""

    def finish(self, stage: str) -> None:
        """Nothing to draw."""

    def note(self, text: str) -> None:
        """Notes go to standard error even when nothing is drawn, because they say what was left out."""
        _print_line(text)


class LineProgress(SilentProgress):
    """A line now and then, for logs and pipes that nobody watches; none for what is over before the first."""

    def __init__(self) -> None:
        self._done: dict[str, int] = {}
        self._totals: dict[str, int | None] = {}
        self._began_at = self._reported_at = time.monotonic()
        self._lock = threading.Lock()

    def start(self, stage: str, total: int | None) -> None:
        """Count a stage, or correct its total."""
        with self._lock:
            if not self._totals:
                self._began_at = self._reported_at = time.monotonic()
            self._totals[stage] = total
            self._done.setdefault(stage, 0)

    def advance(self, stage: str, n: int = 1) -> None:
        """So many more; told when it is time for a line."""
        with self._lock:
            self._done[stage] = self._done.get(stage, 0) + n
            if time.monotonic() - self._reported_at >= _LINE_S:
                self._reported_at = time.monotonic()
                self.note(self._line())

    def finish(self, stage: str) -> None:
        """One stage less."""
        with self._lock:
            self._totals.pop(stage, None)
            self._done.pop(stage, None)

    def _line(self) -> str:
        parts = [
            f"{stage} {self._done[stage]:,} of {_total(total, self._done[stage])}"
            for stage, total in self._totals.items()
        ]
        elapsed = time.monotonic() - self._began_at
        # The stage that has furthest to go says when all is over.
        done = min((self._done[stage] / total for stage, total in self._totals.items() if total), default=0.0)
        ending = f"; about {_duration(elapsed * (1 / done - 1))} left" if _EARLY <= done <= 1 else ""
        return f"{', '.join(parts)} after {_duration(elapsed)}{ending}"


class RichProgress:
    """Bars with the time left, on standard error."""

    def __init__(self) -> None:
        self._bars: Bars | None = None
        self._tasks: dict[str, TaskID] = {}

    def start(self, stage: str, total: int | None) -> None:
        """A bar for the stage, or its total corrected."""
        bars = self._open()
        if stage in self._tasks:
            bars.update(self._tasks[stage], total=total)
        else:
            self._tasks[stage] = bars.add_task(stage, total=total)

    def advance(self, stage: str, n: int = 1) -> None:
        """So many more."""
        if self._bars is not None and stage in self._tasks:
            self._bars.advance(self._tasks[stage], n)

    def finish(self, stage: str) -> None:
        """The bar stays where it is; after the last one the terminal is given back."""
        self._tasks.pop(stage, None)
        if not self._tasks and self._bars is not None:
            self._bars.stop()
            self._bars = None

    def note(self, text: str) -> None:
        """A line above the bars."""
        if self._bars is not None:
            self._bars.console.print(f"salva: {printable(redact(text))}", markup=False, highlight=False)
        else:
            _print_line(text)

    def _open(self) -> Bars:
        if self._bars is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._bars = Progress(
                TextColumn("{task.description:>10}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(compact=True),
                console=Console(stderr=True),
            )
            self._bars.start()
        return self._bars


@contextmanager
def note_if_slow(note: Callable[[str], None], doing: str, what: str) -> Iterator[None]:
    """A note on what is waited for, where that takes long enough for a person to wonder."""
    timer = threading.Timer(_QUIET_S, note, [f"{doing} {what} ..."])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _print_line(text: str) -> None:
    print(f"salva: {printable(redact(text))}", file=sys.stderr)


def make_progress(*, quiet: bool = False) -> Progress:
    """Bars on a terminal, lines where there is none, silence when asked for."""
    if quiet:
        return SilentProgress()
    return RichProgress() if sys.stderr.isatty() else LineProgress()


def _total(total: int | None, n_done: int) -> str:
    # Answers may lead to further questions.
    return "?" if total is None else f"{total:,}" if n_done <= total else f"more than {total:,}"


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"
