"""Kills and signals at random moments against a counting endpoint: nothing answered is lost or paid for twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from backends.endpoints import serving
from flow.test_nothing_lost import Painter, painted
from in_process import salva

from salva.core.verdict import Verdict
from salva.errors import LockedError
from salva.store.sqlite import open_run

N_CASES = 60
PREFIX = "import os, signal, sys; {before}; os.execv(sys.executable, [sys.executable, '-m', 'salva', *sys.argv[1:]])"
HEED = "[signal.signal(n, signal.SIG_DFL) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]"


STARTED: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A key, and no process that outlives its test."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-4711")
    yield
    while STARTED:
        with STARTED.pop() as process:
            if process.poll() is None:
                process.kill()


def start(directory: Path, url: str, before: str = HEED) -> subprocess.Popen[str]:
    """The command in a group of its own, as a shell starts it."""
    command = [sys.executable, "-c", PREFIX.format(before=before), *asked_of(directory, url)]
    STARTED.append(
        subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, process_group=0)
    )
    return STARTED[-1]


def asked_of(directory: Path, url: str) -> list[str]:
    settings = (
        f"model.base_url={url}/v1",
        "model.price_usd=0",
        "model.send_seed=true",
        "model.max_at_once=8",
        "run.preflight=off",
    )
    asked = ["run", "metalogic", "--size", str(N_CASES), "--model", "openai/m", "--detector", "pocket"]
    asked += ["--reader", "none", "--no-progress", "--out", str(directory)]
    return asked + [word for setting in settings for word in ("--set", setting)]


def rows(directory: Path) -> list[Verdict]:
    with open_run(directory) as store:
        return list(store.verdicts())


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def is_free(directory: Path) -> bool:
    """Whether nobody writes to a run any more."""
    try:
        open_run(directory, "write").close()
    except LockedError:
        return False
    return True


def child_of(process: subprocess.Popen[str]) -> int:
    return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


def twice(number: int) -> Callable[[subprocess.Popen[str]], None]:
    def send(process: subprocess.Popen[str]) -> None:
        process.send_signal(number)
        time.sleep(0.6)
        process.send_signal(number)

    return send


ENDS: dict[str, Callable[[subprocess.Popen[str]], None]] = {
    "kill the parent": lambda process: process.kill(),
    "TERM to the group": lambda process: os.killpg(process.pid, signal.SIGTERM),
    "kill the child": lambda process: os.kill(child_of(process), signal.SIGKILL),
    "HUP twice": twice(signal.SIGHUP),
    "Ctrl-C": lambda process: os.killpg(process.pid, signal.SIGINT),
}


@pytest.mark.skipif(sys.platform != "linux", reason="finds a child in /proc")
def test_ends_at_random_moments_lose_nothing_and_pay_for_nothing_twice(tmp_path: Path) -> None:
    rng = random.Random(7)
    painter, at_kills = Painter(), 0
    with serving(painter) as server:
        for n, (how, end) in enumerate(ENDS.items(), 1):
            painter.delay_s = 0.3
            process = start(tmp_path / "run", server.url)
            seen = painter.answered.total()
            wait_for(lambda seen=seen: painter.answered.total() > seen)  # type: ignore[misc]
            time.sleep(rng.uniform(0, 0.2))
            end(process)
            _, errors = process.communicate(timeout=20)
            assert process.returncode == {"kill the parent": -9, "kill the child": 3}.get(how, 130), (how, errors)
            assert "Traceback" not in errors
            wait_for(lambda: is_free(tmp_path / "run"))
            time.sleep(0.5)  # the endpoint goes on with what it was asked before a kill
            missing = painter.answered - Counter(painted(tmp_path / "run"))
            if process.returncode != 130:
                at_kills = missing.total()
            assert missing.total() <= at_kills, (n, how, errors)
            painter.delay_s = 0.0
        painter.delay_s = 0.0
        process = start(tmp_path / "run", server.url)
        _, errors = process.communicate(timeout=60)
        n_twice = sum(n - 1 for n in painter.answered.values())
        whole = salva(*asked_of(tmp_path / "whole", server.url))
    assert process.returncode == whole.returncode == 3, (errors, whole.stderr)
    assert n_twice <= at_kills
    assert rows(tmp_path / "run") == rows(tmp_path / "whole")


def test_what_takes_too_long_is_given_up_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SALVA_STOP_SECONDS", "1")
    painter = Painter(delay_s=0.02)
    with serving(painter) as server:
        process = start(tmp_path / "run", server.url)
        wait_for(lambda: painter.answered.total() >= 20)
        painter.delay_s = 600.0
        time.sleep(0.5)
        n_answered, began = painter.answered.total(), time.monotonic()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, "[given-up]" in errors) == (130, True), errors
    assert time.monotonic() - began < 6
    assert len(painted(tmp_path / "run")) == n_answered


def test_what_is_ignored_from_the_start_stays_ignored(tmp_path: Path) -> None:
    painter = Painter(delay_s=0.02)
    ignore = "[signal.signal(n, signal.SIG_IGN) for n in (signal.SIGINT, signal.SIGHUP)]"
    with serving(painter) as server:
        process = start(tmp_path / "run", server.url, ignore)
        wait_for(lambda: painter.answered.total() >= 5)
        for number in (signal.SIGINT, signal.SIGHUP):
            os.killpg(process.pid, number)
        n_answered = painter.answered.total()
        wait_for(lambda: painter.answered.total() > n_answered + 30)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 130


INTERRUPTED_IMPORT = """
import os, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill({whom}, {number})

sys.meta_path.insert(0, Interrupts())
sys.argv = ["salva", "doctor"]
from salva.entry import main
{before_main}
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("whom", ["os.getpid()", "os.getppid()"])
@pytest.mark.parametrize("module", ["salva.cli.main", "salva.cli.doctor_command"])
def test_a_signal_during_an_import_is_quiet(number: signal.Signals, whom: str, module: str) -> None:
    assert end_of(INTERRUPTED_IMPORT.format(module=module, whom=whom, number=int(number), before_main="")) == (130, "")


def test_ctrl_c_is_quiet_before_anything_has_run() -> None:
    early = "os.kill(os.getpid(), 2)"
    assert end_of(INTERRUPTED_IMPORT.format(module="", whom="0", number=2, before_main=early)) == (130, "")


def end_of(code: str) -> tuple[int, str]:
    """How Python ends, and what it says but for the one word."""
    command = [sys.executable, "-c", PREFIX.replace("'-m', 'salva', *sys.argv[1:]", "'-c', sys.argv[1]"), code]
    command[2] = command[2].format(before=HEED)
    done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    return done.returncode, done.stderr.replace("interrupted", "").strip()
