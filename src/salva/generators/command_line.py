"""Generator: a program of the user's that reads prompts and writes image files.

It is started once and gets one JSON object a line: {"id", "prompt", "seed", "repeat"}. For each it prints one line, in
any order: {"id", "path"}, or {"id", "error"}, or {"id", "refused"} with a reason. Other lines and standard error appear
in error messages. It should end when its input ends; otherwise it is killed together with its child processes.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any, ClassVar

from salva.core.about import Habits
from salva.core.options import option
from salva.core.protocols import Rendered, RenderRequest
from salva.core.secrets import cut
from salva.errors import BackendError, RefusedError, SalvaError, UnusableError, invalid_option
from salva.imaging.files import ImageError, decode_picture
from salva.messages import Message, message

_N_LOG_LINES = 20
_LONGEST_LINE = 2**20
_LONGEST_LOG = 2000
_PATIENCE_S = 2.0


class CommandLine:
    """A program that reads prompts as JSON lines and answers with paths of images."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """Which program, and how long it may take."""

        program: str = option("", "The program with its arguments, quoted as in a shell.", target=True)
        batch: int = option(8, "Prompts at once.", keyed=False)
        timeout_s: float = option(600.0, "Time limit of the next image.", keyed=False)

    version: ClassVar[str] = "1"

    def __init__(self, options: Options) -> None:
        self.options = options
        self.habits = Habits(batch_size=options.batch, depth=1)
        try:
            self._command = shlex.split(options.program)
        except ValueError as error:
            wanted = f"quoted as in a shell ({error})"
            raise invalid_option("model.program", options.program, wanted) from error
        self._child: _Child | None = None
        self._end: weakref.finalize[[], CommandLine] | None = None
        self._lock = threading.Lock()
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
                body = {"prompt": request.prompt.text, "seed": request.seed, "repeat": request.repeat}
                child.send(self._n_requests, body)
            outcomes: dict[int, Rendered | SalvaError] = {}
            while waiting:
                answer = child.receive(self.options.timeout_s)
                if answer is None:
                    outcomes |= dict.fromkeys(waiting.values(), self._stopped(child))
                    break
                outcomes[waiting.pop(answer["id"])] = self._outcome(answer)
            return [outcomes[index] for index in range(len(requests))]

    def close(self) -> None:
        """End the program."""
        self._child = None
        if self._end is not None:
            self._end()

    def _running(self) -> _Child:
        if self._child is None:
            try:
                self._child = _Child(self._command)
            except (OSError, ValueError, IndexError) as error:
                raise UnusableError(self._failed(f"it cannot be started ({error})")) from error
            # Called once: by close, when this object is collected, or when Python ends.
            self._end = weakref.finalize(self, self._child.close)
        return self._child

    def _stopped(self, child: _Child) -> SalvaError:
        """The error of requests without an answer; the next call starts the program again."""
        code = child.exit_code()
        is_hanging = code is None
        if is_hanging:
            child.kill()
        self.close()
        why = f"no answer within {self.options.timeout_s:g} s" if is_hanging else f"it ended with exit code {code}"
        problem = self._failed(f"{why}; {child.last_output()}")
        # A program that hangs or ends before its first image will do so again.
        return BackendError(problem, is_retryable=not is_hanging) if child.n_answers else UnusableError(problem)

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


class _Child:
    """The running program. Threads hold its streams, so that waiting for it can time out."""

    def __init__(self, command: list[str]) -> None:
        # In its own process group, so that its child processes are killed with it.
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
        self._requests: SimpleQueue[str | None] = SimpleQueue()
        self._answers: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._unanswered: set[int] = set()
        self._log: deque[str] = deque(maxlen=_N_LOG_LINES)
        self._writer, self._reader, self._logger = (
            threading.Thread(target=run, args=(stream,), daemon=True)
            for run, stream in (
                (self._write_requests, self._process.stdin),
                (self._read_answers, self._process.stdout),
                (self._read_log, self._process.stderr),
            )
        )
        for thread in (self._writer, self._reader, self._logger):
            thread.start()

    def send(self, number: int, body: dict[str, Any]) -> None:
        """Write one line to its input; if it has ended, `receive` notices."""
        self._unanswered.add(number)
        self._requests.put(json.dumps({"id": number} | body, ensure_ascii=False) + "\n")

    def receive(self, timeout_s: float) -> dict[str, Any] | None:
        """The next answer to a request; None if the program ended or the time is over."""
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
        while self._process.poll() is None and not self._reader.is_alive() and time.monotonic() < deadline:
            time.sleep(0.01)
        return self._process.poll()

    def last_output(self) -> str:
        """The end of its other output."""
        self._logger.join(0.2)
        return "its last output: " + " | ".join(self._log)[-600:] if self._log else "no other output"

    def kill(self) -> None:
        """Kill its process group, even if only child processes are left."""
        # macOS refuses to signal a group of ended processes.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Close its input, wait for its end, then kill what is left of its process group."""
        self._requests.put(None)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE_S)
        self.kill()
        self._process.wait()
        # Only this long, because a process that left the group may still hold a stream.
        for thread in (self._writer, self._reader, self._logger):
            thread.join(_PATIENCE_S)

    def _write_requests(self, stream: IO[str]) -> None:
        with suppress(OSError, ValueError), stream:
            while line := self._requests.get():
                stream.write(line)
                stream.flush()

    def _read_answers(self, stream: IO[str]) -> None:
        for line in _lines(stream):
            answer = _parse(line)
            if answer is None:
                self._log.append(line[:_LONGEST_LOG])
            elif answer["id"] in self._unanswered:
                # Only answers to requests are stored, so that a program that never stops writing fills no memory.
                self._unanswered.discard(answer["id"])
                self._answers.put(answer)
        self._answers.put(None)

    def _read_log(self, stream: IO[str]) -> None:
        self._log.extend(line[:_LONGEST_LOG] for line in _lines(stream))


def _lines(stream: IO[str]) -> Iterator[str]:
    """The lines of a stream; very long ones in pieces."""
    with suppress(ValueError), stream:
        while line := stream.readline(_LONGEST_LINE):
            yield line.rstrip()


def _parse(line: str) -> dict[str, Any] | None:
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) and isinstance(parsed.get("id"), int) else None
