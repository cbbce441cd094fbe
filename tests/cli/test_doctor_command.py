"""`salva doctor` as people use it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def doctor(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from salva.cli.main import main; main()", "doctor", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **variables},
    )


def test_everything_is_shown_but_no_key(tmp_path: Path) -> None:
    done = doctor("metalogic", "--size", "4", cwd=tmp_path, OPENAI_API_KEY="sk-planted-4711")
    assert done.returncode == 0, done.stderr
    sections = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert sections == ["versions", "extras", "devices", "keys", "files", "disk"]
    assert "sk-planted-4711" not in done.stdout + done.stderr
    assert "metalogic 4" in done.stdout
    assert list(tmp_path.iterdir()) == [], "an examination leaves nothing behind"


def test_a_suite_that_does_not_exist_is_a_usage_error(tmp_path: Path) -> None:
    done = doctor("metalogik", cwd=tmp_path)
    assert done.returncode == 2
    assert "Did you mean 'metalogic'?" in done.stderr
