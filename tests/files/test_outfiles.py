"""Files are written whole or not at all, and what is no file stays what it is."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from salva.errors import StoreError
from salva.files.outfiles import write_text, writing


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[str] = []
    listener = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    listener.start()
    write_text(pipe, "hello")
    listener.join()
    assert heard == ["hello"]
    assert stat.S_ISFIFO(pipe.stat().st_mode), "as /dev/null must stay the device it is"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_what_breaks_off_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("old")
    with pytest.raises(TypeError), writing(tmp_path / "page.html") as file:
        file.writelines([b"half", None])  # type: ignore[list-item]  # what breaks off
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_text() == "old"
    with pytest.raises(StoreError, match="Is a directory"):
        write_text(tmp_path, "text")
