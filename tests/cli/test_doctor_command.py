"""`salva doctor` as people use it."""

from __future__ import annotations

from pathlib import Path

from in_process import salva


def test_everything_is_shown_but_no_key(tmp_path: Path) -> None:
    done = salva("doctor", "metalogic", "--size", "4", cwd=tmp_path, OPENAI_API_KEY="sk-planted-4711")
    assert done.returncode == 0, done.stderr
    sections = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert sections == ["versions", "extras", "devices", "keys", "files", "disk"]
    assert "sk-planted-4711" not in done.stdout + done.stderr
    assert "metalogic 4" in done.stdout
    assert list(tmp_path.iterdir()) == [], "an examination leaves nothing behind"


def test_a_suite_that_does_not_exist_is_a_usage_error(tmp_path: Path) -> None:
    done = salva("doctor", "metalogik", cwd=tmp_path)
    assert done.returncode == 2
    assert "Did you mean 'metalogic'?" in done.stderr
