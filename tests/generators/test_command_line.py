"""A program as generator: it is asked line by line, its failures are told, and it never outlives the run."""

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
from salva.generators.command_line import CommandLine
from salva.runs.pipeline import execute
from salva.testing.fakes import written_in
from salva.testing.specs import bound, fake_spec

PROGRAM = """
import json, os, sys, time
from salva.imaging.files import encode_picture
from salva.testing.fakes import painted
open(sys.argv[1] + "/pids", "a").write(f"{os.getpid()}\\n")
print("loading ...", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    words = [word.strip() for word in asked["prompt"].split(",")]
    if "die" in words:
        print("no more paint", file=sys.stderr, flush=True)
        os._exit(7)
    if "hang" in words:
        time.sleep(60)
    answer = {"id": asked["id"], "path": f"{sys.argv[1]}/{asked['id']}.png"}
    if "refuse" in words:
        answer = {"id": asked["id"], "refused": "not that"}
    elif "fail" in words:
        answer = {"id": asked["id"], "error": "no brush"}
    elif "html" in words:
        open(answer["path"], "w").write("<html>")
    elif "lie" not in words:
        open(answer["path"], "wb").write(encode_picture(painted(words, str(asked["seed"]))))
    print(json.dumps(answer), flush=True)
"""


@contextmanager
def program(folder: Path, **options: float) -> Iterator[CommandLine]:
    (folder / "paint.py").write_text(PROGRAM)
    command = f"{sys.executable} {folder / 'paint.py'} {folder}"
    model = CommandLine(CommandLine.Options(program=command, **options))  # type: ignore[arg-type]  # options by name
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


def test_one_program_paints_everything(tmp_path: Path) -> None:
    with program(tmp_path) as model:
        outcomes = [*model.render(requests("cat, dog", "cow")), *model.render(requests("horse"))]
        assert all(isinstance(outcome, Rendered) for outcome in outcomes), outcomes
        seen = [written_in(outcome.picture) for outcome in outcomes if isinstance(outcome, Rendered)]
        assert seen == [(["cat", "dog"], "0"), (["cow"], "1"), (["horse"], "0")]
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
    """Whether nobody alive holds a lock, or soon."""
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
def test_what_a_program_started_ends_with_it(tmp_path: Path, ends: bool) -> None:
    model = CommandLine(CommandLine.Options(program=left_behind(tmp_path, ends=ends), timeout_s=1))
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


def test_a_program_that_nobody_closes_ends_with_its_model(tmp_path: Path) -> None:
    model = CommandLine(CommandLine.Options(program=left_behind(tmp_path)))
    model._running()
    wait_for(tmp_path / "locked")
    del model
    gc.collect()
    assert is_free(tmp_path / "lock")


def test_a_program_that_nobody_closes_ends_with_python(tmp_path: Path) -> None:
    script = f"""
import os, time
from salva.generators.command_line import CommandLine
model = CommandLine(CommandLine.Options(program={left_behind(tmp_path)!r}))
model._running()
while not os.path.exists({str(tmp_path / "locked")!r}):
    time.sleep(0.02)
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
    assert is_free(tmp_path / "lock")


def test_a_program_that_reads_nothing_is_stopped_by_its_timeout(tmp_path: Path) -> None:
    command = f'{sys.executable} -S -c "import time; time.sleep(600)"'
    model = CommandLine(CommandLine.Options(program=command, timeout_s=1))
    outcomes = model.render(requests(*["cat " * 50_000] * 8))
    assert {type(outcome) for outcome in outcomes} == {UnusableError}
    assert "1 s" in str(outcomes[0])


def test_what_goes_wrong_costs_its_own_element(tmp_path: Path) -> None:
    with program(tmp_path) as model:
        outcomes = model.render(requests("cat", "refuse", "fail", "html", "lie", "dog"))
    kinds = [type(outcome) for outcome in outcomes]
    assert kinds == [Rendered, RefusedError, BackendError, BackendError, BackendError, Rendered]
    failures = [outcome for outcome in outcomes if isinstance(outcome, BackendError)]
    codes = [failure.code for failure in failures]
    assert codes == ["prompt-refused", "generation-failed", "file-unreadable", "file-unreadable"]
    for failure, reason in zip(failures, ("not that", "no brush", "<html>", "No such file"), strict=True):
        assert reason in str(failure)


def test_a_program_that_dies_is_quoted_and_started_again(tmp_path: Path) -> None:
    with program(tmp_path) as model:
        first, second, third = model.render(requests("cat", "die", "dog"))
        assert isinstance(first, Rendered)
        for lost in (second, third):
            assert isinstance(lost, BackendError)
            assert lost.is_retryable
            assert lost.code == "generation-failed"
            assert "exit code 7" in str(lost)
            assert "no more paint" in str(lost)
        (again,) = model.render(requests("dog"))
        assert isinstance(again, Rendered)


def test_a_program_that_dies_before_its_first_picture_stops_the_run(tmp_path: Path) -> None:
    with program(tmp_path) as model:
        (outcome,) = model.render(requests("die"))
        assert isinstance(outcome, UnusableError)
        assert "no more paint" in str(outcome)


def test_a_program_that_hangs_is_killed_and_started_again_unless_it_gave_no_picture(tmp_path: Path) -> None:
    with program(tmp_path, timeout_s=3) as model:
        painted, hung = model.render(requests("cat", "hang"))
        assert isinstance(painted, Rendered)
        assert type(hung) is BackendError
        assert "3 s" in str(hung)
        (again,) = model.render(requests("hang"))
        assert type(again) is UnusableError
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2
    assert not any(is_alive(pid) for pid in pids)


@pytest.mark.parametrize(("command", "told"), [("/no/such/program", "No such file"), ("false", "exit code 1")])
def test_a_program_that_cannot_be_run(command: str, told: str) -> None:
    model = CommandLine(CommandLine.Options(program=command))
    (outcome,) = model.render(requests("cat"))
    model.close()
    assert isinstance(outcome, UnusableError)
    assert told in str(outcome)


def test_a_whole_run_ends_its_program(tmp_path: Path) -> None:
    (tmp_path / "paint.py").write_text(PROGRAM)
    command = f"{sys.executable} {tmp_path / 'paint.py'} {tmp_path}"
    spec = fake_spec(5, models=(bound("model", CommandLine, f"command/{command}", program=command),))
    summary = execute(spec, tmp_path / "run", SilentProgress())
    assert summary.outcomes == {"PASS": 5}
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 1
    assert not is_alive(pids[0])
