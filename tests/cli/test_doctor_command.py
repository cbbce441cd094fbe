"""`salva doctor` as people use it."""

from __future__ import annotations

from pathlib import Path

import pytest
from in_process import salva

from salva.errors import MissingExtraError, install_line


def test_everything_is_shown_but_no_key(tmp_path: Path) -> None:
    done = salva("doctor", cwd=tmp_path, OPENAI_API_KEY="sk-planted-4711")
    assert done.returncode == 0, done.stderr
    sections = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert sections == ["versions", "extras", "devices", "keys", "files", "disk"]
    assert "sk-planted-4711" not in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == [], "an examination leaves nothing behind"


@pytest.mark.parametrize(
    ("came_from", "line"),
    [
        (None, "pip install 'salva[torch]'"),
        ('{"url": "https://example.org/salva.whl"}', "pip install 'salva[torch]'"),
        ('{"url": "file:///src/my%20salva", "dir_info": {}}', "pip install 'salva[torch]'"),
        ('{"url": "file:///src/my%20salva", "dir_info": {"editable": true}}', "pip install -e '/src/my salva[torch]'"),
        ("not json", "pip install 'salva[torch]'"),
    ],
)
def test_the_install_line_is_true_for_a_clone_and_for_a_release(
    came_from: str | None, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed:
        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return came_from

    monkeypatch.setattr("importlib.metadata.distribution", lambda _: Installed())
    assert install_line("torch") == line
    assert str(MissingExtraError("x", "torch")).endswith(f"{line} [extra-missing]")
