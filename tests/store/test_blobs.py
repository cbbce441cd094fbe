"""An image file is under its name only when it is whole."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from salva.errors import StoreError
from salva.store.blobs import Blobs

IMAGE_ID = "ab" + "c" * 38


def test_a_file_is_stored_under_its_id_and_read_back(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    blobs.write(IMAGE_ID, b"pixels")
    assert blobs.path_of(IMAGE_ID) == tmp_path / "images" / "ab" / f"{'c' * 38}.webp"
    assert blobs.read(IMAGE_ID) == b"pixels"


def test_a_write_that_fails_leaves_no_file_and_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    blobs = Blobs(tmp_path)
    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(StoreError, match=r"\[disk-error\]"):
        blobs.write(IMAGE_ID, b"pixels")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_file_that_the_disk_does_not_answer_for_does_not_count_as_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = Blobs(tmp_path)
    assert list(blobs.lost([(IMAGE_ID, 6)])) == [IMAGE_ID]
    blobs.write(IMAGE_ID, b"pixels")
    assert list(blobs.lost([(IMAGE_ID, 6)])) == []
    assert list(blobs.lost([(IMAGE_ID, 7)])) == [IMAGE_ID], "somebody else's file"

    def no_answer(path: str) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", no_answer)
        with pytest.raises(StoreError, match=r"\[disk-error\]"):
            list(blobs.lost([(IMAGE_ID, 6)]))


def test_the_name_appears_only_after_the_bytes_are_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = Blobs(tmp_path)
    steps = []

    def told(name: str) -> Callable[..., None]:
        real: Callable[..., None] = getattr(os, name)

        def call(*args: object) -> None:
            steps.append(name)
            real(*args)

        return call

    for name in ("fsync", "rename"):
        monkeypatch.setattr(os, name, told(name))
    blobs.write(IMAGE_ID, b"pixels")
    assert steps == ["fsync", "rename"]


def test_what_a_killed_process_left_half_written_is_swept_away(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    blobs.write(IMAGE_ID, b"pixels")
    left_over = tmp_path / "images" / "ab" / ".123-0"
    left_over.write_bytes(b"pix")
    blobs.prepare()
    assert not left_over.exists()
    assert blobs.read(IMAGE_ID) == b"pixels"


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=f"{'c' * 38}.webp"):
        Blobs(tmp_path).read(IMAGE_ID)


@pytest.mark.parametrize("image_id", ["", "a", "a.b", "a/b", "../ab", "ä" * 4, "a" * 129, 7, None])
def test_an_id_that_could_lead_elsewhere_is_refused(tmp_path: Path, image_id: object) -> None:
    with pytest.raises(StoreError) as refused:
        Blobs(tmp_path).path_of(image_id)  # type: ignore[arg-type]  # as a damaged row may have it
    assert refused.value.code == "store-damaged"
    assert Blobs(tmp_path).path_of("a" * 128)


def test_what_is_no_plain_file_is_no_image(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    path = blobs.path_of(IMAGE_ID)
    assert not blobs.has(IMAGE_ID)
    path.parent.parent.mkdir()
    path.parent.write_text("a file where a folder should be")
    assert not blobs.has(IMAGE_ID)
    path.parent.unlink()
    path.parent.mkdir()
    os.mkfifo(path)
    assert not blobs.has(IMAGE_ID)
    with pytest.raises(StoreError) as refused:
        blobs.read(IMAGE_ID)
    assert refused.value.code == "image-file-damaged"
    path.unlink()
    blobs.write(IMAGE_ID, b"")
    assert blobs.has(IMAGE_ID)
    assert blobs.read(IMAGE_ID) == b""


def test_files_of_another_size_are_lost(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path, tmp_path / "elsewhere")
    for image_id in ("cd34", "ab99", "ab12"):
        blobs.write(image_id, image_id.encode())
    (tmp_path / "elsewhere" / "ab" / ".1-0").write_bytes(b"half")
    (tmp_path / "elsewhere" / "notes.txt").write_text("no folder")
    assert list(blobs.lost([("ab12", 4), ("ab99", 5), ("ef56", 4)])) == ["ab99", "ef56"]
    blobs.prepare()
    assert sorted(path.name for path in (tmp_path / "elsewhere" / "ab").iterdir()) == ["12.webp", "99.webp"]


def test_a_large_file_is_written_whatever_the_disk_takes_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, bytes(data[:3])))
    Blobs(tmp_path).write(IMAGE_ID, b"0123456789")
    assert Blobs(tmp_path).read(IMAGE_ID) == b"0123456789"
