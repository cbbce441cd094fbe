"""Files are written whole or not at all; what is no file stays what it is, and links are not followed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from salva.errors import StoreError, UsageError
from salva.files.outfiles import write_text, writing


def test_a_pipe_is_refused_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UsageError) as caught:
        write_text(pipe, "hello")
    assert caught.value.code == "file-unwritable"
    assert stat.S_ISFIFO(pipe.stat().st_mode), "as /dev/null must stay the device it is"


def test_a_name_that_no_file_can_have_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="File name too long") as caught:
        write_text(tmp_path / ("x" * 300), "hello")
    assert caught.value.code == "file-unwritable"


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("old")
    (tmp_path / "index.html").symlink_to(tmp_path / "precious.txt")
    write_text(tmp_path / "index.html", "new")
    assert not (tmp_path / "index.html").is_symlink()
    assert (tmp_path / "precious.txt").read_text() == "old", "a stranger's run cannot have other files overwritten"


def test_what_breaks_off_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("old")
    with pytest.raises(TypeError), writing(tmp_path / "page.html") as file:
        file.writelines([b"half", None])  # type: ignore[list-item]  # what breaks off
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_text() == "old"
    with pytest.raises(StoreError, match="Is a directory"):
        write_text(tmp_path, "text")
