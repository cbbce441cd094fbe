"""Runs whose pictures are on an S3 server or in another folder: every reader of pictures, outages, strangers."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from in_process import Done, salva
from s3_server import BUCKET, s3_server

import salva as api
from salva.core.verdict import Verdict
from salva.engine.progress import SilentProgress
from salva.errors import BackendError, StoreError, UsageError
from salva.runs.pipeline import execute
from salva.runs.verify import verify
from salva.store.images import allow_images_at
from salva.store.sqlite import open_run
from salva.testing.fakes import CALLS
from salva.testing.specs import fake_spec

ADDRESS = f"s3://{BUCKET}/runs/1"
RUN = ("run", "metalogic", "--model", "painter", "--size", "8", "--reader", "none", "--no-progress")
FAULTS = ("--set", "model.faults=entity-omission:0.5")
QUIET = SilentProgress()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("elsewhere")
    with s3_server():
        for more in (("--images", ADDRESS, "--out", "away"), ("--out", "home")):
            done = salva(*RUN, *FAULTS, *more, cwd=folder)
            assert done.returncode == 0, done.stderr
        yield folder


def told(folder: Path, *command: str, **variables: str) -> Done:
    return salva(*command, cwd=folder, **variables)


def test_pictures_are_there_and_nowhere_else(folder: Path) -> None:
    assert not (folder / "away/images").exists()
    files = [name for name in fsspec.filesystem("s3").find(f"{BUCKET}/runs/1") if name.endswith(".webp")]
    assert len(files) == len([*(folder / "home/images").glob("*/*.webp")]) > 8
    run_file = json.loads((folder / "away/run.json").read_text())
    assert run_file.pop("images") == ADDRESS
    assert run_file == json.loads((folder / "home/run.json").read_text())
    everything = b"".join(path.read_bytes() for path in (folder / "away").rglob("*") if path.is_file())
    assert b"testing-secret" not in everything
    assert b"testing-id" not in everything


@pytest.mark.parametrize(
    "command",
    [
        ("report", "--format", "html", "-o", "page.html"),
        ("report", "--format", "pdf", "-o", "page.pdf"),
        ("export", "--as", "counterexamples", "-o", "examples"),
        ("export", "--as", "sft", "-o", "sft"),
        ("verify",),
        ("rejudge", "--judge", "scene"),
    ],
    ids=lambda command: "-".join(command[:3]),
)
def test_every_reader_of_pictures_finds_them_once_they_are_named(folder: Path, command: tuple[str, ...]) -> None:
    away = Path(shutil.copytree(folder / "away", folder / "copy"))
    try:
        if command[0] != "judge":
            refused = told(folder, command[0], "copy", *command[1:])
            assert refused.returncode == 2
            assert refused.codes == ["images-not-named"]
            assert f"--images {ADDRESS}" in refused.stderr
        done = told(folder, command[0], "copy", *command[1:], "--images", ADDRESS)
        assert done.returncode == 0, done.stderr
        by_variable = told(folder, command[0], "copy", *command[1:], SALVA_IMAGES=f"s3://{BUCKET}")
        assert by_variable.returncode == 0 or "already" in by_variable.stderr, by_variable.stderr
    finally:
        shutil.rmtree(away)
        for made in ("examples", "sft"):
            shutil.rmtree(folder / made, ignore_errors=True)


def test_where_a_picture_is_is_said_without_asking(folder: Path) -> None:
    assert told(folder, "report", "away", "--format", "junit", "-o", "x.xml").returncode == 0
    assert f"image: {ADDRESS}/" in (folder / "x.xml").read_text()
    paths = api.open_run(folder / "away").images["path"]
    assert all(path.startswith(f"{ADDRESS}/") for path in paths)


def test_numbers_need_no_pictures(folder: Path) -> None:
    for run in ("away", "home"):
        assert told(folder, "report", run, "--format", "json", "-o", f"{run}.json").returncode == 0
    away, home = (json.loads((folder / f"{run}.json").read_text()) for run in ("away", "home"))
    assert away == {**home, "run": "away"}


def test_the_same_command_must_name_the_place_again_and_then_paints_nothing(folder: Path) -> None:
    assert told(folder, *RUN, *FAULTS, "--out", "away").returncode == 2
    again = told(folder, *RUN, *FAULTS, "--out", "away", "--images", ADDRESS)
    assert again.returncode == 0, again.stderr
    other = told(folder, *RUN, *FAULTS, "--out", "away", "--images", f"s3://{BUCKET}/runs/2")
    assert other.returncode == 2
    local = told(folder, *RUN, *FAULTS, "--size", "9", "--out", "home", "--images", ADDRESS)
    assert local.returncode == 2


def test_shards_that_share_a_place_are_merged_without_asking_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for index in (1, 2):
        done = told(
            folder, *RUN, *FAULTS, "--shard", f"{index}/2", "--out", f"s{index}", "--images", f"{ADDRESS}/shared"
        )
        assert done.returncode == 0, done.stderr
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    done = told(folder, "merge", "s1", "s2", "--out", "merged")
    assert done.returncode == 0, done.stderr
    monkeypatch.undo()
    checked = told(folder, "verify", "merged", "--images", f"{ADDRESS}/shared")
    assert "everything matches" in checked.stdout, checked.stdout + checked.stderr


def test_a_strangers_run_contacts_nobody(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{listener.getsockname()[1]}")
        for command in (("report", "away"), ("verify", "away"), ("export", "away", "--as", "sft", "-o", "x")):
            assert told(folder, *command).returncode == 2
        told(folder, "report", "away", "--format", "json", "-o", "x.json")
        told(folder, "rejudge", "away")
        told(folder, "merge", "away", "--out", "alone")
        told(folder, *RUN, *FAULTS, "--out", "away")
        with pytest.raises(TimeoutError):
            listener.accept()


def test_an_address_with_a_key_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    done = salva(*RUN, "--images", "s3://me:pass-word-of-mine@bucket/x", cwd=tmp_path)
    assert done.returncode == 2
    assert "pass-word-of-mine" not in done.stderr
    assert not (tmp_path / "runs").exists()


# Outages, with fakes and fsspec's memory


@pytest.fixture
def memory() -> Iterator[Any]:
    allow_images_at("memory://pictures")
    files = fsspec.filesystem("memory")
    yield files
    files.store.clear()


def verdicts(directory: Path) -> list[Verdict]:
    with open_run(directory) as store:
        return list(store.verdicts())


def run(directory: Path, images_at: str = "memory://pictures") -> Any:
    CALLS.clear()
    return execute(fake_spec(20, {"omits": 0.3}), directory, QUIET, images_at=images_at)


def test_a_storage_that_goes_away_ends_the_run_and_the_same_command_finishes_it(
    tmp_path: Path, memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "whole", "")
    put, n_put = type(memory).pipe_file, 0

    def failing(self: Any, path: str, value: bytes, **settings: Any) -> Any:
        nonlocal n_put
        n_put += 1
        if n_put > 12:
            raise TimeoutError("too slow")
        return put(self, path, value, **settings)

    with monkeypatch.context() as patch:
        patch.setattr(type(memory), "pipe_file", failing)
        with pytest.raises(BackendError, match=r"\[disk-error\]"):
            run(tmp_path / "away")
    assert verify(tmp_path / "away", QUIET).problems == ()
    with open_run(tmp_path / "away") as store:
        n_before = store.n_images()
    run(tmp_path / "away")
    assert CALLS["render"] <= 40 - n_before
    assert verdicts(tmp_path / "away") == verdicts(tmp_path / "whole")
    assert verify(tmp_path / "away", QUIET).problems == ()


def test_a_file_that_was_half_written_is_written_anew(
    tmp_path: Path, memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = type(memory).pipe_file

    def tearing(self: Any, path: str, value: bytes, **settings: Any) -> Any:
        put(self, path, value[: len(value) // 2] if path.endswith(".webp") else value, **settings)
        if path.endswith(".webp"):
            raise ConnectionResetError("cut off")

    with monkeypatch.context() as patch:
        patch.setattr(type(memory), "pipe_file", tearing)
        with pytest.raises(BackendError, match="cut off"):
            run(tmp_path / "away")
    assert any(name.endswith(".webp") for name in memory.find("/pictures"))
    run(tmp_path / "away")
    assert verify(tmp_path / "away", QUIET).problems == ()


def test_a_picture_that_was_deleted_there_is_painted_again(tmp_path: Path, memory: Any) -> None:
    run(tmp_path / "away")
    before = verdicts(tmp_path / "away")
    lost = next(name for name in memory.find("/pictures") if name.endswith(".webp"))
    memory.rm(lost)
    problems = verify(tmp_path / "away", QUIET).problems
    assert len(problems) == 1
    assert "[disk-error]" in problems[0]
    with open_run(tmp_path / "away") as store, pytest.raises(StoreError, match=r"\[disk-error\]"):
        store.blobs.read("".join(lost.removesuffix(".webp").split("/")[-2:]))
    run(tmp_path / "away")
    assert CALLS["render"] == 1
    assert verdicts(tmp_path / "away") == before


def test_nothing_is_painted_where_nothing_can_be_written(
    tmp_path: Path, memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("Access Denied")

    with monkeypatch.context() as patch:
        patch.setattr(type(memory), "pipe_file", refuse)
        with pytest.raises(BackendError, match=r"Denied.*\[disk-error\]"):
            run(tmp_path / "away")
    assert CALLS["render"] == 0


def test_one_run_keeps_its_pictures_in_one_place(tmp_path: Path, memory: Any) -> None:
    run(tmp_path / "away")
    with pytest.raises(UsageError, match=r"\[images-elsewhere\]"):
        run(tmp_path / "away", "memory://pictures/others")


def test_pictures_of_a_command_are_not_kept_in_memory(tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = salva("run", "metalogic", "--model", "painter", "--size", "20", "--images", "memory://x", "--out", str(out))
    assert (done.returncode, out.exists()) == (2, False)
    assert "[images-in-memory]" in done.stderr
