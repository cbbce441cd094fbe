"""Assets: all there, all as recorded; a missing or damaged one says how to repair it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from salva.assets import files
from salva.errors import PluginError


@pytest.fixture
def copied_assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    digest = files.asset_digest("sprites/index.json")
    (tmp_path / "sprites").mkdir()
    (tmp_path / "sprites" / "index.json").write_bytes(files.read_asset("sprites/index.json"))
    (tmp_path / "checksums.json").write_text(json.dumps({"sprites/index.json": digest, "gone.onnx": digest}))
    monkeypatch.setattr(files, "_ROOT", tmp_path)
    files._checksums.cache_clear()
    yield tmp_path
    files._checksums.cache_clear()


def test_every_recorded_asset_is_there_and_unchanged() -> None:
    for name in files._checksums():
        files.read_asset(name)


def test_every_sprite_is_recorded() -> None:
    root = files.asset_path("checksums.json").parent
    drawn = {str(path.relative_to(root)) for path in (root / "sprites").rglob("*") if path.is_file()}
    assert drawn <= set(files._checksums())


def test_missing_asset_names_the_file_and_the_repair(copied_assets: Path) -> None:
    with pytest.raises(PluginError, match=r"'gone.onnx'.*--force-reinstall salva"):
        files.read_asset("gone.onnx")


def test_damaged_asset_names_the_file_and_the_repair(copied_assets: Path) -> None:
    path = copied_assets / "sprites" / "index.json"
    path.write_bytes(path.read_bytes()[:-1] + b" ")
    with pytest.raises(PluginError, match=r"'sprites/index.json'.*--force-reinstall salva"):
        files.read_asset("sprites/index.json")


def test_unrecorded_asset_is_refused(copied_assets: Path) -> None:
    (copied_assets / "stranger.bin").write_bytes(b"x")
    with pytest.raises(PluginError, match=r"\[asset-damaged\]"):
        files.read_asset("stranger.bin")


@pytest.mark.parametrize("content", ["not json", ""])
def test_damaged_checksum_table_is_said_plainly(copied_assets: Path, content: str) -> None:
    (copied_assets / "checksums.json").write_text(content)
    with pytest.raises(PluginError, match=r"checksums.json.*damaged"):
        files.read_asset("sprites/index.json")


def test_folder_digest_changes_with_any_file_in_it(copied_assets: Path) -> None:
    before = files.folder_digest("sprites")
    (copied_assets / "checksums.json").write_text(json.dumps({"sprites/index.json": "0" * 64}))
    files._checksums.cache_clear()
    assert files.folder_digest("sprites") != before
