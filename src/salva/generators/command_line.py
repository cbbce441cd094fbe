"""Generator: a program of yours that reads prompts and writes pictures.

It is started once and gets one JSON object a line: {"id", "prompt", "seed", "repeat"}. For each it prints one
line, in any order: {"id", "path"}, or {"id", "error"}, or {"id", "refused"} with a reason. Other lines and all of
standard error are kept for messages. It ends when its input ends, and is killed when it does not.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any, ClassVar

from salva.core.about import Habits
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.errors import BackendError, RefusedError, SalvaError, UnusableError, UsageError
from salva.imaging.files import decode_picture

N_HANGS = 3
"""So many times in a row without an answer, and the program counts as dead."""
_N_LOG_LINES = 20
_PATIENCE_S = 2.0


class CommandLine:
    """A program that reads prompts as JSON lines and answers with paths of pictures."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """Which program, and how long it may take."""

        program: str = option("", "The program with its arguments, quoted as in a shell.", target=True)
        batch: int = option(8, "How many prompts it is handed at once.", keyed=False)
        timeout_s: float = option(600.0, "When to give up waiting for the next picture.", keyed=False)

    version: ClassVar[str] = "1"

    def __init__(self, options: Options) -> None:
        self.options = options
        self.habits = Habits(batch_size=options.batch, depth=1)
        try:
            self._command = shlex.split(options.program)
        except ValueError as error:
            raise UsageError(f"command/{options.program}: {error}") from error
        self._child: _Child | None = None
        self._lock = threading.Lock()
        self._n_hangs = 0
        self._n_asked = 0

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One picture or error per request."""
        with self._lock:
            try:
                child = self._running()
            except UnusableError as error:
                return [error] * len(requests)
            waiting = {}
            for index, request in enumerate(requests):
                self._n_asked += 1
                waiting[self._n_asked] = index
                child.ask(
                    {
                        "id": self._n_asked,
                        "prompt": request.prompt.text,
                        "seed": request.seed,
                        "repeat": request.repeat,
                    }
                )
            outcomes: list[Rendered | SalvaError | None] = [None] * len(requests)
            n_strays = 0
            while waiting:
                answer = child.answer(self.options.timeout_s)
                index = -1 if answer is None else waiting.pop(_identifier(answer), -1)
                n_strays += index < 0
                if answer is None or n_strays > _MOST_ANSWERS:
                    lost = self._lost(child)
                    return [outcome or lost for outcome in outcomes]
                if index >= 0:
                    outcomes[index] = self._outcome(answer)
            self._n_hangs = 0
            return [outcome for outcome in outcomes if outcome is not None]

    def close(self) -> None:
        """End the program."""
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def _running(self) -> _Child:
        if self._child is None:
            try:
                self._child = _Child(self._command)
            except (OSError, ValueError, IndexError) as error:
                raise UnusableError(f"{self.options.program!r} cannot be started: {error}") from error
        return self._child

    def _lost(self, child: _Child) -> SalvaError:
        """The error of requests that got no answer; the next call starts the program anew."""
        code = child.code()
        self._child = None
        child.close(0.0 if code is None else _PATIENCE_S)
        if code is None:
            self._n_hangs += 1
            message = f"{self.options.program!r} gave no picture within {self.options.timeout_s:g} s{child.said()}"
            return UnusableError(message) if self._n_hangs >= N_HANGS else BackendError(message, is_retryable=False)
        message = f"{self.options.program!r} ended with exit code {code}{child.said()}"
        # A program that ends before it has painted anything will do so again.
        return BackendError(message, is_retryable=True) if child.n_answers else UnusableError(message)

    def _outcome(self, answer: dict[str, Any]) -> Rendered | SalvaError:
        if answer.get("refused"):
            return RefusedError(f"{self.options.program!r} refused: {answer['refused']}")
        if answer.get("error"):
            return BackendError(f"{self.options.program!r} failed: {answer['error']}", is_retryable=False)
        path = answer.get("path")
        if not isinstance(path, str):
            return BackendError(f"{self.options.program!r} answered {answer!r}; a path was expected", False)
        try:
            return Rendered(picture=decode_picture(Path(path).read_bytes()), provenance={"file": path})
        except OSError as error:
            message = f"{self.options.program!r} named {path!r}, which cannot be read: {error.strerror or error}"
        except ValueError as error:
            message = f"{self.options.program!r} named {path!r}, which is {error}"
        return BackendError(message, is_retryable=False)


_LONGEST_LINE = 2**20
_MOST_ANSWERS = 10_000
"""A program that writes a longer line, or more answers than anybody asked for, is stopped."""
_LONGEST_LOG = 2000


class _Child:
    """The program at work; its output is read by threads, so that waiting for it can end."""

    def __init__(self, command: list[str]) -> None:
        # A group of its own, so that whatever it starts ends with it.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        self.n_answers = 0
        self._answers: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._log: deque[str] = deque(maxlen=_N_LOG_LINES)
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._readers = [
            threading.Thread(target=self._read_answers, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._read_log, args=(self._process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def ask(self, question: dict[str, Any]) -> None:
        """One line to the program; one that is gone is noticed when its answer is waited for."""
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):
            self._process.stdin.write(json.dumps(question, ensure_ascii=False) + "\n")
            self._process.stdin.flush()

    def answer(self, timeout_s: float) -> dict[str, Any] | None:
        """The next answer; None when the program is gone or silent for too long."""
        try:
            answer = self._answers.get(timeout=timeout_s)
        except Empty:
            return None
        self.n_answers += answer is not None
        return answer

    def code(self) -> int | None:
        """The exit code; None while it runs."""
        deadline = time.monotonic() + _PATIENCE_S
        # Its output has ended or it hangs; an ending program gets a moment to have an exit code.
        while self._process.poll() is None and not self._readers[0].is_alive() and time.monotonic() < deadline:
            time.sleep(0.01)
        return self._process.poll()

    def said(self) -> str:
        """The end of what it said beside its answers."""
        self._readers[1].join(0.2)
        return ": " + " | ".join(self._log)[-600:] if self._log else ", and said nothing"

    def close(self, patience_s: float = _PATIENCE_S) -> None:
        """End its input, then the program."""
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):
            self._process.stdin.close()
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for reader in self._readers:
            reader.join(_PATIENCE_S)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _read_answers(self, lines: IO[str]) -> None:
        with suppress(ValueError):
            while line := lines.readline(_LONGEST_LINE):
                if len(line) == _LONGEST_LINE or self._answers.qsize() > _MOST_ANSWERS:
                    self._log.append("it writes without end, so it was stopped")
                    with suppress(ProcessLookupError):
                        os.killpg(self._process.pid, signal.SIGKILL)
                    break
                answer = _parsed(line)
                if answer is None:
                    self._log.append(line.rstrip()[:_LONGEST_LOG])
                else:
                    self._answers.put(answer)
        self._answers.put(None)

    def _read_log(self, lines: IO[str]) -> None:
        with suppress(ValueError):
            while line := lines.readline(_LONGEST_LINE):
                self._log.append(line.rstrip()[:_LONGEST_LOG])


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) and "id" in parsed else None


def _identifier(answer: dict[str, Any]) -> int:
    identifier = answer["id"]
    return identifier if isinstance(identifier, int) else -1
