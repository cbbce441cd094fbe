"""Generator: a program of the user's that reads prompts and writes image files.

It is started once and gets one JSON object a line: {"id", "prompt", "seed", "repeat"}. For each it prints one
line, in any order: {"id", "path"}, or {"id", "error"}, or {"id", "refused"} with a reason. Other lines and standard
error are kept for messages. It should end when its input ends; otherwise it is killed.
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
from salva.core.secrets import cut
from salva.errors import BackendError, RefusedError, SalvaError, UnusableError, UsageError
from salva.imaging.files import ImageError, decode_picture
from salva.messages import Message, message

N_HANGS = 3
"""The run stops after so many timeouts in a row."""
_N_LOG_LINES = 20
_PATIENCE_S = 2.0


class CommandLine:
    """A program that reads prompts as JSON lines and answers with paths of images."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """Which program, and how long it may take."""

        program: str = option("", "The program with its arguments, quoted as in a shell.", target=True)
        batch: int = option(8, "How many prompts it gets at once.", keyed=False)
        timeout_s: float = option(600.0, "Timeout for the next image.", keyed=False)

    version: ClassVar[str] = "1"

    def __init__(self, options: Options) -> None:
        self.options = options
        self.habits = Habits(batch_size=options.batch, depth=1)
        try:
            self._command = shlex.split(options.program)
        except ValueError as error:
            wanted = f"quoted as in a shell ({error})"
            raise UsageError(
                message("option-invalid", name="model.program", value=options.program, wanted=wanted)
            ) from error
        self._child: _Child | None = None
        self._lock = threading.Lock()
        self._n_hangs = 0
        self._n_requests = 0

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One image or error per request."""
        with self._lock:
            try:
                child = self._running()
            except UnusableError as error:
                return [error] * len(requests)
            waiting = {}
            for index, request in enumerate(requests):
                self._n_requests += 1
                waiting[self._n_requests] = index
                child.send(
                    {
                        "id": self._n_requests,
                        "prompt": request.prompt.text,
                        "seed": request.seed,
                        "repeat": request.repeat,
                    }
                )
            outcomes: list[Rendered | SalvaError | None] = [None] * len(requests)
            n_unexpected = 0
            while waiting:
                answer = child.receive(self.options.timeout_s)
                index = -1 if answer is None else waiting.pop(_identifier(answer), -1)
                n_unexpected += index < 0
                if answer is None or n_unexpected > _MOST_ANSWERS:
                    failure = self._stopped(child)
                    return [outcome or failure for outcome in outcomes]
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
                raise UnusableError(self._failed(f"it cannot be started ({error})")) from error
        return self._child

    def _stopped(self, child: _Child) -> SalvaError:
        """The error of requests without an answer; the next call starts the program again."""
        code = child.exit_code()
        self._child = None
        child.close(0.0 if code is None else _PATIENCE_S)
        if code is None:
            self._n_hangs += 1
            problem = self._failed(f"no answer within {self.options.timeout_s:g} s; {child.last_output()}")
            return UnusableError(problem) if self._n_hangs >= N_HANGS else BackendError(problem, is_retryable=False)
        problem = self._failed(f"it ended with exit code {code}; {child.last_output()}")
        # A program that ends before its first image will do so again.
        return BackendError(problem, is_retryable=True) if child.n_answers else UnusableError(problem)

    def _outcome(self, answer: dict[str, Any]) -> Rendered | SalvaError:
        if answer.get("refused"):
            return RefusedError(message("prompt-refused", model=repr(self.options.program), why=answer["refused"]))
        path = answer.get("path")
        if answer.get("error"):
            problem = self._failed(answer["error"])
        elif not isinstance(path, str):
            problem = message("image-missing", model=repr(self.options.program), answer=cut(answer, 200))
        else:
            try:
                return Rendered(picture=decode_picture(Path(path).read_bytes()), provenance={"file": path})
            except OSError as error:
                problem = message("file-unreadable", path=path, why=error.strerror or error)
            except ImageError as error:
                problem = message("file-unreadable", path=path, why=f"it is {error.why}")
        return BackendError(problem, is_retryable=False)

    def _failed(self, why: object) -> Message:
        return message("generation-failed", model=repr(self.options.program), why=why)


_LONGEST_LINE = 2**20
_MOST_ANSWERS = 10_000
"""A program that writes a longer line or so many unexpected answers is stopped."""
_LONGEST_LOG = 2000


class _Child:
    """The running program; threads read its output, so that waiting for it can time out."""

    def __init__(self, command: list[str]) -> None:
        # In its own process group, so that its children are killed with it.
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

    def send(self, request: dict[str, Any]) -> None:
        """Write one line to the program; if it has ended, `receive` notices."""
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):
            self._process.stdin.write(json.dumps(request, ensure_ascii=False) + "\n")
            self._process.stdin.flush()

    def receive(self, timeout_s: float) -> dict[str, Any] | None:
        """The next answer; None if the program ended or the time is over."""
        try:
            answer = self._answers.get(timeout=timeout_s)
        except Empty:
            return None
        self.n_answers += answer is not None
        return answer

    def exit_code(self) -> int | None:
        """The exit code; None while it runs."""
        deadline = time.monotonic() + _PATIENCE_S
        # After the end of its output a program may need a moment to exit.
        while self._process.poll() is None and not self._readers[0].is_alive() and time.monotonic() < deadline:
            time.sleep(0.01)
        return self._process.poll()

    def last_output(self) -> str:
        """The end of its output besides answers."""
        self._readers[1].join(0.2)
        return "its last output: " + " | ".join(self._log)[-600:] if self._log else "no other output"

    def close(self, patience_s: float = _PATIENCE_S) -> None:
        """Close its input, then end the program."""
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
                    self._log.append("stopped: too much output")
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
