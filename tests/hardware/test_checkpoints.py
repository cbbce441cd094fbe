"""Checkpoints in folders: pinned by content, refused when they are not whole or not safe."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from salva.errors import UsageError
from salva.hardware import checkpoints
from salva.hardware.background_imports import BACKGROUND_IMPORTS
from salva.hardware.cache import recall
from salva.hardware.checkpoints import TOPIC, check_weights, digest_of_files, locate


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _safetensors(path: Path, content: bytes = b"\0" * 64) -> Path:
    header = json.dumps(
        {"weight": {"dtype": "U8", "shape": [len(content)], "data_offsets": [0, len(content)]}}
    ).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + content)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "model"
    place.mkdir()
    (place / "config.json").write_text("{}")
    _safetensors(place / "model.safetensors")
    return place


def test_a_pin_is_about_content_and_not_about_where_it_lies(folder: Path, tmp_path: Path) -> None:
    pinned = digest_of_files(folder.iterdir(), folder)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(folder, elsewhere)
    os.utime(elsewhere / "model.safetensors", (1, 1))
    assert digest_of_files(elsewhere.iterdir(), elsewhere) == pinned
    _safetensors(elsewhere / "model.safetensors", b"\0" * 63 + b"\1")
    assert digest_of_files(elsewhere.iterdir(), elsewhere) != pinned


@pytest.mark.parametrize("kind", ["a link to nowhere", "a folder"])
def test_a_file_that_cannot_be_read_is_named(folder: Path, kind: str) -> None:
    odd = folder / "tokenizer.json"
    odd.mkdir() if kind == "a folder" else odd.symlink_to("nowhere")
    with pytest.raises(UsageError, match=r"tokenizer\.json'.*\[file-unreadable\]"):
        digest_of_files(folder.iterdir(), folder)


def test_a_large_file_is_read_once_until_it_changes(folder: Path) -> None:
    path = _safetensors(folder / "model.safetensors", b"\0" * 2**21)
    pinned = digest_of_files([path], folder)
    stat = path.stat()
    key = f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns}"
    assert recall(TOPIC, key)
    # The same name, size and time but other content: only a digest that was remembered can still be the old one.
    _safetensors(path, b"\1" * 2**21)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert digest_of_files([path], folder) == pinned
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert digest_of_files([path], folder) != pinned


def test_whole_weights_pass(folder: Path) -> None:
    check_weights("detr/x", folder)


def test_a_file_that_was_cut_off_is_named_with_what_is_missing(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(UsageError, match=r"model.safetensors'.*\[checkpoint-invalid\]"):
        check_weights("detr/x", folder)


@pytest.mark.parametrize("content", [b"", b"\0\1", b"<html>not found</html>", b"\x08\0\0\0\0\0\0\0[1, 2, 3"])
def test_a_file_that_is_something_else_is_named(folder: Path, content: bytes) -> None:
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(UsageError, match=r"model.safetensors'.*\[checkpoint-invalid\]"):
        check_weights("detr/x", folder)


def test_a_missing_part_of_several_is_named(folder: Path) -> None:
    parts = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    (folder / "model.safetensors").rename(folder / parts["a"])
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": parts}))
    with pytest.raises(UsageError, match=r" 1 of 2 .* 'model-00002.*\[checkpoint-invalid\]"):
        check_weights("detr/x", folder)


def test_a_pickle_is_refused_with_the_reason_and_the_way_out(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(UsageError, match=r"pytorch_model.bin'.* pickle.*\[checkpoint-invalid\]"):
        check_weights("detr/x", folder)


def test_a_folder_without_weights_is_told(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with pytest.raises(UsageError, match="holds no weights"):
        check_weights("detr/x", folder)


def test_a_folder_is_found_and_needs_no_hub(folder: Path) -> None:
    found = locate("detr/x", str(folder))
    assert (found.folder, found.commit) == (folder, None)


def test_what_is_no_checkpoint_is_told(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'/no/such/folder'.*\[checkpoint-invalid\]"):
        locate("detr/x", "/no/such/folder")
    with pytest.raises(UsageError, match=r"config.json'.*\[checkpoint-invalid\]"):
        locate("detr/x", str(folder / "config.json"))
    with pytest.raises(UsageError, match=r"has no config.json"):
        locate("detr/x", str(tmp_path))


def test_the_libraries_that_load_weights_are_imported_while_weights_are_hashed_for_the_first_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    monkeypatch.setattr(checkpoints, "_LARGE", 2**21)
    monkeypatch.setattr(BACKGROUND_IMPORTS, "begin", lambda *works: begun.extend(work.args[0] for work in works))
    for name, n_bytes in (("model.safetensors", 2**21), ("small.safetensors", 2**10), ("words.txt", 2**21)):
        (tmp_path / name).write_bytes(bytes(n_bytes))
    files = [path for path in tmp_path.iterdir() if path.is_file()]
    digest_of_files(files, tmp_path)
    assert begun == ["torch", "transformers"], "for large weights alone"
    digest_of_files(files, tmp_path)
    assert len(begun) == 2, "not where their digest is known: the run may be finished, and load nothing"


@pytest.mark.parametrize("n_bytes", [0, 1, 6, 7, 8, 700])
def test_a_file_has_the_same_digest_however_it_is_cut(
    n_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "weights"
    path.write_bytes(bytes(i % 251 for i in range(n_bytes)))
    monkeypatch.setattr(checkpoints, "_PIECE", 7)
    assert checkpoints._sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest()
