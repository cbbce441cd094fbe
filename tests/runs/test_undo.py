"""A run that is refused before it began leaves the directory as it was; whatever was done or is not ours stays."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import in_process
import pytest
from PIL import Image

import salva
from salva.core.observation import Answer
from salva.core.protocols import Query
from salva.engine import guard as guarding
from salva.errors import BackendError, LockedError, UsageError
from salva.runs.undo import undo_if_refused
from salva.store.lock import RunLock
from salva.store.records import Status, StoredComponent, StoredObservation
from salva.store.sqlite import open_run

FLAGS: dict[str, Any] = {"size": 2, "reader": "none", "detector": "pocket"}


def white(prompt: str, seed: int) -> Image.Image:
    return Image.new("RGB", (64, 64), "white")


def test_the_corrected_command_finds_its_directory_free(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "run"
    with pytest.raises(UsageError, match=r"\[file-missing\]"):
        salva.run_suite("metalogic", f"folder/{tmp_path / 'none'}", out=out, **FLAGS)
    assert list(tmp_path.iterdir()) == []
    run = salva.run_suite("metalogic", white, version=1, out=out, **FLAGS)
    assert len(run.verdicts) > 0


def test_a_directory_that_was_there_stays(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\[file-missing\]"):
        salva.run_suite("metalogic", f"folder/{tmp_path / 'none'}", out=tmp_path, **FLAGS)
    assert tmp_path.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_what_was_painted_stays_whatever_ends_the_run(tmp_path: Path) -> None:
    n_painted = 0

    def breaks(prompt: str, seed: int) -> Image.Image:
        nonlocal n_painted
        n_painted += 1
        if n_painted > 2:
            raise UsageError("no more")
        return white(prompt, seed)

    with pytest.raises(UsageError, match="no more"):
        salva.run_suite("metalogic", breaks, version=1, out=tmp_path / "run", **FLAGS)
    assert len(list((tmp_path / "run" / "images").rglob("*.webp"))) >= 1


def test_an_earlier_run_is_never_taken_back(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", "write"):
        pass
    with pytest.raises(UsageError), undo_if_refused(tmp_path / "run"):
        raise UsageError("asked differently")
    assert (tmp_path / "run" / "salva.db").is_file()


@pytest.mark.parametrize("role", ["model", "judge"])
def test_an_endpoint_that_nobody_reaches_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    pytest.importorskip("openai", reason="endpoints need the api extra")
    monkeypatch.setattr(guarding, "FIRST_DELAY_S", 0.001)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-4711")
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        where = f"{role}.base_url=http://127.0.0.1:{nobody.getsockname()[1]}/v1"
        model = ("--model", "painter") if role == "judge" else ("--detector", "pocket", "--reader", "none")
        done = in_process.salva(
            *("run", "metalogic", "--size", "4", "--no-progress", "--out", str(tmp_path / "deep" / "run")),
            *(*model, f"--{role}", "openai/away", "--set", where),
            *(("--check", "right-answers") if role == "judge" else ()),
        )
    assert (done.returncode, "cannot be reached" in done.stderr) == (2, True), done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("note", ["spent_in_vain", "preflight_stopped"])
def test_what_was_paid_for_in_vain_or_found_out_stays(tmp_path: Path, note: str) -> None:
    with pytest.raises(BackendError):
        begin(tmp_path / "run", BackendError("down"), noting=note)
    with open_run(tmp_path / "run") as store:
        assert note in store.meta()


@pytest.mark.parametrize(("status", "stays"), [(Status.DONE, True), (Status.REFUSED, True), (Status.ERROR, False)])
def test_an_answer_of_an_endpoint_stays_and_none_does_not(tmp_path: Path, status: Status, stays: bool) -> None:
    seen = Answer(text="yes", scores={}) if status is Status.DONE else None
    query = Query(role="judge", text="a cat?")
    look = StoredObservation(
        component_id="c", image_id="1" * 40, query=query, given={}, status=status, observation=seen
    )
    with pytest.raises(UsageError):
        begin(tmp_path / "run", UsageError("no"), look=look)
    assert (tmp_path / "run").exists() == stays


def begin(
    directory: Path, error: BaseException, *more: str, noting: str = "", look: StoredObservation | None = None
) -> None:
    """A run that is begun and ends with an error; more: files that somebody else puts there meanwhile."""
    judge = StoredComponent(
        component_id="c", role="judge", label="j", is_formula_seen=False, identity={"endpoint": "e"}
    )
    with undo_if_refused(directory):
        with open_run(directory, "write") as store:
            if noting:
                store.set_meta(noting, {"c": {"cost_usd": 0.04}})
            if look:
                store.put_component(judge)
                store.put_observation(look)
        for name in more:
            (directory / name).write_text("mine")
        raise error


@pytest.mark.parametrize("error", [LockedError("taken"), KeyboardInterrupt()])
def test_others_at_work_and_ctrl_c_take_nothing_back(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)):
        begin(tmp_path / "run", error)
    assert (tmp_path / "run" / "salva.db").is_file()


def test_what_another_process_holds_is_left_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def taken(_: Path) -> RunLock:
        raise LockedError("taken meanwhile")

    monkeypatch.setattr("salva.runs.undo.RunLock", taken)
    with pytest.raises(BackendError):
        begin(tmp_path / "run", BackendError("down"))
    assert (tmp_path / "run" / "salva.db").is_file()


def test_what_is_not_ours_is_left_with_its_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        begin(tmp_path / "run", UsageError("no"), "notes.txt")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["notes.txt"]
