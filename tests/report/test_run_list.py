"""The runs of a folder: each with its rate and state, and whatever is no run named in its place."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from report.fake_runs import small_run, store_run

from salva.errors import UsageError
from salva.report.run_list import DAMAGED, NO_RUN, UNFINISHED, list_runs
from salva.report.summary import summarise_run
from salva.store.sqlite import open_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two runs, one of two models, and what else may lie beside them."""
    runs = tmp_path / "runs"
    store_run(runs / "one", *small_run())
    records, images = small_run(("first", "second"))
    store_run(runs / "two", records, images)
    with open_run(runs / "two", "write") as store:
        store.set_whole()
        store.flush()
    for age, name in enumerate(("two", "one")):
        os.utime(runs / name / "salva.db", (1_700_000_000 - age, 1_700_000_000 - age))
    return runs


def test_every_model_of_every_run_has_a_line_newest_first(folder: Path) -> None:
    lines = list(list_runs(folder))
    assert [(line.directory.name, line.model) for line in lines] == [
        ("two", "first"),
        ("two", "second"),
        ("one", lines[2].model),
    ]
    models = summarise_run(folder / "two").by_model.values()
    assert [line.failure_rate for line in lines[:2]] == [model.failure_rate for model in models]
    assert [(line.low, line.high) for line in lines[:2]] == [model.interval for model in models]
    assert [line.trust for line in lines[:2]] == [model.trust.status for model in models]
    assert lines[0].results["total"] == 16
    assert [line.state for line in lines] == ["complete", "complete", UNFINISHED]
    assert lines[0].date is not None
    assert lines[0].date.isoformat() == "2023-11-14T22:13:20+00:00"


def test_a_run_itself_is_a_folder_of_one(folder: Path) -> None:
    assert {line.directory for line in list_runs(folder / "two")} == {folder / "two"}


def test_what_is_no_run_is_named_and_ends_nothing(folder: Path) -> None:
    (folder / "junk").mkdir()
    (folder / ".hidden").mkdir()
    (folder / "notes.txt").write_text("not mine")
    (folder / "torn").mkdir()
    (folder / "torn" / "salva.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 200)
    (folder / "edited").mkdir()
    (folder / "edited" / "salva.db").write_bytes((folder / "one" / "salva.db").read_bytes())
    (folder / "edited" / "run.json").write_text("[1, 2")
    (folder / "later").mkdir()
    (folder / "later" / "salva.db").write_bytes((folder / "one" / "salva.db").read_bytes())
    told = json.loads((folder / "one" / "run.json").read_text())
    (folder / "later" / "run.json").write_text(json.dumps({**told, "format": 99}))
    (folder / "endless").mkdir()
    (folder / "endless" / "salva.db").symlink_to(folder / "endless" / "salva.db")
    states = {line.directory.name: line for line in list_runs(folder)}
    assert set(states) == {"one", "two", "junk", "torn", "edited", "later", "endless"}
    for name, state, why in (
        ("junk", NO_RUN, "no salva.db"),
        ("torn", DAMAGED, "not a database"),
        ("edited", DAMAGED, "run.json"),
        ("later", DAMAGED, "format 99"),
        ("endless", NO_RUN, "no salva.db"),
    ):
        assert states[name].state == state
        assert why in states[name].problem


def test_a_row_that_breaks_its_reader_is_damage_and_ends_nothing(folder: Path) -> None:
    with open_run(folder / "one", "write") as store:
        for _ in store.rows("UPDATE cases SET record = '{}'"):
            pass
        store.flush()
    by_name = {line.directory.name: line for line in list_runs(folder)}
    assert by_name["one"].state == DAMAGED
    assert by_name["two"].state == "complete"


def test_nothing_that_a_run_names_is_contacted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records, images = small_run()
    model = structs.replace(records.asked.models[0], name="openai/x", options={"base_url": "http://127.0.0.1:9/v1"})
    store_run(folder / "foreign", replace(records, asked=structs.replace(records.asked, models=(model,))), images)

    def refuse(*_: object) -> None:
        raise AssertionError("a stranger's run is data")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert "foreign" in {line.directory.name for line in list_runs(folder)}


def test_no_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\[file-missing\]"):
        list(list_runs(tmp_path / "none"))
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match=r"\[file-missing\]"):
        list(list_runs(tmp_path / "file"))
