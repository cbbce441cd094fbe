"""A program as generator: its answers, its failures, and that it never outlives the run."""

from __future__ import annotations

import fcntl
import gc
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from salva.core.case import Prompt
from salva.core.protocols import Rendered, RenderRequest
from salva.engine.progress import SilentProgress
from salva.errors import BackendError, RefusedError, UnusableError
from salva.generators import command_line
from salva.generators.command_line import CommandLine
from salva.runs.pipeline import execute
from salva.testing.fakes import written_in
from salva.testing.specs import bound, fake_spec

PROGRAM = """
import json, os, struct, sys, time, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(words, note):  # the pixels of salva.testing.fakes.painted; importing salva would take longer than the test
    text = json.dumps([words, note]).encode()
    rows = -(-(3 + len(text)) // 48)
    rgb = (len(text).to_bytes(3, "big") + text).ljust(48 * rows, bytes(1))
    lines = b"".join(bytes(1) + rgb[48 * i : 48 * i + 48] for i in range(rows))
    head = struct.pack(">IIBBBBB", 16, rows, 8, 2, 0, 0, 0)
    start = bytes([137]) + b"PNG" + bytes([13, 10, 26, 10])
    return start + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
open(sys.argv[1] + "/pids", "a").write(f"{os.getpid()}\\n")
print("loading ...", flush=True)
for line in sys.stdin:
    request = json.loads(line)
    words = [word.strip() for word in request["prompt"].split(",")]
    if "exit" in words:
        print("no more memory", file=sys.stderr, flush=True)
        os._exit(7)
    if "hang" in words:
        time.sleep(60)
    answer = {"id": request["id"], "path": f"{sys.argv[1]}/{request['id']}.png"}
    if "refuse" in words:
        answer = {"id": request["id"], "refused": "policy"}
    elif "fail" in words:
        answer = {"id": request["id"], "error": "no model"}
    elif "html" in words:
        open(answer["path"], "w").write("<html>")
    elif "no file" not in words:
        open(answer["path"], "wb").write(png(words, str(request["seed"])))
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "_PATIENCE_S", 0.1)


def command(folder: Path) -> str:
    (folder / "program.py").write_text(PROGRAM)
    return f"{sys.executable} -S {folder / 'program.py'} {folder}"


@contextmanager
def program(folder: Path, **options: float) -> Iterator[CommandLine]:
    options_ = CommandLine.Options(program=command(folder), **options)  # type: ignore[arg-type]  # options by name
    model = CommandLine(options_)
    try:
        yield model
    finally:
        model.close()


def requests(*texts: str) -> list[RenderRequest]:
    return [RenderRequest(prompt=Prompt(role="a", text=text), seed=i) for i, text in enumerate(texts)]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_one_program_generates_every_image(tmp_path: Path) -> None:
    with program(tmp_path) as model:
        outcomes = [*model.render(requests("cat, dog", "cow")), *model.render(requests("horse"))]
        assert all(isinstance(outcome, Rendered) for outcome in outcomes), outcomes
        contents = [written_in(outcome.picture) for outcome in outcomes if isinstance(outcome, Rendered)]
        assert contents == [(["cat", "dog"], "0"), (["cow"], "1"), (["horse"], "0")]
        (pid,) = map(int, (tmp_path / "pids").read_text().split())
        assert is_alive(pid)
    assert not is_alive(pid)


LEFT_BEHIND = """
import fcntl, subprocess, sys, time
if sys.argv[2] == "child":
    lock = open(sys.argv[1] + "/lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    print("locked", flush=True)
    time.sleep(600)
child = subprocess.Popen([sys.executable, *sys.argv[:2], "child"], stdout=subprocess.PIPE, text=True)
child.stdout.readline()
open(sys.argv[1] + "/locked", "w").close()
for line in sys.stdin:
    pass
while sys.argv[2] == "stays":
    time.sleep(600)
"""
"""A program that gives no image and has a child; it ends with its input, or not even then."""


def left_behind(folder: Path, *, ends: bool = False) -> str:
    (folder / "left_behind.py").write_text(LEFT_BEHIND)
    return f"{sys.executable} {folder / 'left_behind.py'} {folder} {'ends' if ends else 'stays'}"


def is_free(lock: Path, wait_s: float = 10) -> bool:
    """Whether a lock is free, at the latest after a while."""
    deadline = time.monotonic() + wait_s
    with lock.open("w") as file:
        while time.monotonic() < deadline:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.05)
            else:
                return True
    return False


@pytest.mark.parametrize("ends", [True, False])
def test_child_processes_end_with_the_program(tmp_path: Path, ends: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "_PATIENCE_S", 20 if ends else 0.1)
    model = CommandLine(CommandLine.Options(program=left_behind(tmp_path, ends=ends)))
    child = model._running()
    wait_for(tmp_path / "locked")
    assert not is_free(tmp_path / "lock", wait_s=0.2)
    model.close()
    assert child.exit_code() == (0 if ends else -9)
    assert is_free(tmp_path / "lock")


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.usefixtures("impatient")
def test_the_program_ends_when_the_model_is_collected(tmp_path: Path) -> None:
    model = CommandLine(CommandLine.Options(program=left_behind(tmp_path)))
    model._running()
    wait_for(tmp_path / "locked")
    del model
    gc.collect()
    assert is_free(tmp_path / "lock")


def test_the_program_ends_when_python_ends(tmp_path: Path) -> None:
    script = f"""
import os, time
from salva.generators import command_line
from salva.generators.command_line import CommandLine
command_line._PATIENCE_S = 0.1
model = CommandLine(CommandLine.Options(program={left_behind(tmp_path)!r}))
model._running()
while not os.path.exists({str(tmp_path / "locked")!r}):
    time.sleep(0.02)
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
    assert is_free(tmp_path / "lock")


@pytest.mark.usefixtures("impatient")
def test_a_program_that_does_not_read_its_input_times_out() -> None:
    sleeping = f'{sys.executable} -S -c "import time; time.sleep(600)"'
    model = CommandLine(CommandLine.Options(program=sleeping, timeout_s=0.4))
    outcomes = model.render(requests(*["cat " * 50_000] * 8))
    assert {type(outcome) for outcome in outcomes} == {UnusableError}
    assert "0.4 s" in str(outcomes[0])


def test_an_error_concerns_its_own_request_only(tmp_path: Path) -> None:
    with program(tmp_path) as model:
        outcomes = model.render(requests("cat", "refuse", "fail", "html", "no file", "dog"))
    kinds = [type(outcome) for outcome in outcomes]
    assert kinds == [Rendered, RefusedError, BackendError, BackendError, BackendError, Rendered]
    failures = [outcome for outcome in outcomes if isinstance(outcome, BackendError)]
    codes = [failure.code for failure in failures]
    assert codes == ["prompt-refused", "generation-failed", "file-unreadable", "file-unreadable"]
    for failure, reason in zip(failures, ("policy", "no model", "<html>", "No such file"), strict=True):
        assert reason in str(failure)


def test_a_program_that_exits_is_quoted_and_restarted(tmp_path: Path) -> None:
    with program(tmp_path) as model:
        first, *others = model.render(requests("cat", "exit", "dog"))
        assert isinstance(first, Rendered)
        for other in others:
            assert isinstance(other, BackendError)
            assert other.is_retryable
            assert other.code == "generation-failed"
            assert "exit code 7" in str(other)
            assert "no more memory" in str(other)
        (again,) = model.render(requests("dog"))
        assert isinstance(again, Rendered)


def test_a_program_that_exits_before_its_first_image_is_unusable(tmp_path: Path) -> None:
    with program(tmp_path) as model:
        (outcome,) = model.render(requests("exit"))
        assert isinstance(outcome, UnusableError)
        assert "no more memory" in str(outcome)


def test_a_program_that_hangs_is_killed_and_restarted_only_after_an_image(tmp_path: Path) -> None:
    with program(tmp_path, timeout_s=1) as model:
        generated, hanging = model.render(requests("cat", "hang"))
        assert isinstance(generated, Rendered)
        assert type(hanging) is BackendError
        assert "1 s" in str(hanging)
        (again,) = model.render(requests("hang"))
        assert type(again) is UnusableError
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2
    assert not any(is_alive(pid) for pid in pids)


@pytest.mark.parametrize(("name", "reason"), [("/no/such/program", "No such file"), ("false", "exit code 1")])
def test_a_program_that_cannot_start_is_unusable(name: str, reason: str) -> None:
    model = CommandLine(CommandLine.Options(program=name))
    (outcome,) = model.render(requests("cat"))
    model.close()
    assert isinstance(outcome, UnusableError)
    assert reason in str(outcome)


def test_a_run_ends_its_program(tmp_path: Path) -> None:
    line = command(tmp_path)
    spec = fake_spec(5, models=(bound("model", CommandLine, f"command/{line}", program=line),))
    summary = execute(spec, tmp_path / "run", SilentProgress())
    assert summary.outcomes == {"PASS": 5}
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 1
    assert not is_alive(pids[0])
