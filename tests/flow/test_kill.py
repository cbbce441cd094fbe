"""kill -9 and Ctrl-C at any instant: nothing is lost, doubled or torn, and the same command finishes the run."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from salva.core.verdict import Verdict
from salva.engine.progress import SilentProgress
from salva.runs.verify import verify
from salva.store.sqlite import open_run

SCRIPT = Path(__file__).with_name("fake_run.py")
N_CASES = 240
OPTIONS = {"omits": 0.3, "refuses": 0.05, "delay_s": 0.002}
N_KILLS = 10


def start(directory: Path, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(SCRIPT), str(directory), str(N_CASES), json.dumps({**OPTIONS, **options})]
    # A shell that starts us in the background has Ctrl-C ignored, and children inherit that.
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=_heed_ctrl_c)


def _heed_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def finish(directory: Path) -> str:
    process = start(directory)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    return output.splitlines()[-1]


def rows(directory: Path) -> list[Verdict]:
    with open_run(directory) as store:
        return list(store.verdicts())


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    directory = tmp_path_factory.mktemp("whole") / "run"
    finish(directory)
    return rows(directory)


def test_kill_at_random_moments_then_the_same_verdicts(tmp_path: Path, uninterrupted: list[Verdict]) -> None:
    rng = random.Random(2)
    acknowledged: dict[str, str] = {}
    n_killed = 0
    for _ in range(N_KILLS):
        process = start(tmp_path / "run")
        assert process.stdout is not None
        wanted = rng.choice(["start", "generating", "judging"])
        if wanted != "start":
            for line in process.stdout:
                if line.strip() == wanted:
                    break
        time.sleep(rng.uniform(0, 0.3 if wanted != "start" else 0.6))
        process.kill()
        process.stdout.close()
        n_killed += process.wait() == -signal.SIGKILL
        if not (tmp_path / "run" / "salva.db").exists():
            continue
        report = verify(tmp_path / "run", SilentProgress())
        assert report.problems == ()
        with open_run(tmp_path / "run") as store:
            kept = {key: str(render.image_id) for key, render in store.renders()}
        assert acknowledged.items() <= kept.items(), "an acknowledged row was lost or changed"
        acknowledged = kept
    assert n_killed >= 5, "the run is too quick for this test; make it longer"
    finish(tmp_path / "run")
    assert rows(tmp_path / "run") == uninterrupted
    assert verify(tmp_path / "run", SilentProgress()).problems == ()


def test_a_picture_is_painted_once_though_the_run_was_killed(tmp_path: Path, uninterrupted: list[Verdict]) -> None:
    process = start(tmp_path / "run", delay_s=0.02)
    assert process.stdout is not None
    n_judged = 0
    while n_judged < 40:  # the first groups of rows are committed by then
        n_judged += process.stdout.readline().strip() == "judging"
    process.kill()
    process.stdout.close()
    process.wait()
    with open_run(tmp_path / "run") as store:
        n_before = len(list(store.renders()))
    assert 0 < n_before < 4 * N_CASES
    finish(tmp_path / "run")
    connection_rows = _attempts(tmp_path / "run")
    assert set(connection_rows) == {1}
    assert len(connection_rows) == 4 * N_CASES


def test_ctrl_c_commits_releases_the_lock_and_resumes(tmp_path: Path, uninterrupted: list[Verdict]) -> None:
    process = start(tmp_path / "run", delay_s=0.05)
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == "generating":
            break
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output.splitlines()[-1] == "interrupted"
    open_run(tmp_path / "run", "write").close()
    assert not (tmp_path / "run" / "salva.db-wal").exists(), "the log is folded into the database"
    with open_run(tmp_path / "run") as store:
        assert next(store.renders(), None) is not None
    finish(tmp_path / "run")
    assert rows(tmp_path / "run") == uninterrupted


def test_a_second_process_on_the_same_run_is_refused_and_harms_nothing(
    tmp_path: Path, uninterrupted: list[Verdict]
) -> None:
    first = start(tmp_path / "run", delay_s=0.02)
    assert first.stdout is not None
    first.stdout.readline()
    second = start(tmp_path / "run")
    output, _ = second.communicate(timeout=30)
    assert second.returncode == 2
    assert f"LockedError: Process {first.pid} writes to" in output
    first.communicate(timeout=120)
    assert first.returncode == 0
    assert rows(tmp_path / "run") == uninterrupted


def _attempts(directory: Path) -> list[int]:
    import sqlite3

    connection = sqlite3.connect(directory / "salva.db")
    attempts = [row[0] for row in connection.execute("SELECT attempts FROM renders")]
    connection.close()
    return attempts


def test_ctrl_c_at_any_moment_of_the_command_is_heeded_or_the_run_is_whole(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "salva", "run", "metalogic", "--size", "4", "--reader", "none", "--no-progress"]
    command += ["--set", "model.steps=1"]

    def run(directory: Path, interrupted_after_s: float | None = None) -> tuple[int, str]:
        process = subprocess.Popen(
            [*command, "--out", str(directory)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=_heed_ctrl_c,
        )
        if interrupted_after_s is not None:
            time.sleep(interrupted_after_s)
            process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=120)
        return process.returncode, output

    started = time.monotonic()
    code, output = run(tmp_path / "whole")
    took_s = time.monotonic() - started
    assert code == 0, output
    # Python itself is interrupted otherwise while it starts, before there is a command.
    for part in (5, 8, 10):
        directory = tmp_path / str(part)
        code, output = run(directory, took_s * part / 12)
        # Python ends itself by the signal where it came while code was made from text; a shell calls both 130.
        assert code in (0, 130, -signal.SIGINT), output
        assert "Traceback" not in output
        if code == 0:
            assert rows(directory) == rows(tmp_path / "whole")
    code, output = run(tmp_path / "8")
    assert (code, rows(tmp_path / "8")) == (0, rows(tmp_path / "whole")), output
