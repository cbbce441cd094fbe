"""run.json as one record: what is written is read again, and what is damaged is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from salva.core.asked import Asked, AskedComponent
from salva.core.fingerprint import Json
from salva.core.run_json import FORMAT, Imported, ImportedFile, Judged, Resolved, RunFile
from salva.errors import StoreError
from salva.store.runfile import read_run_file, write_run_file


def part(role: str, name: str, **options: Json) -> AskedComponent:
    return AskedComponent(role=role, name=name, options=options)


ASKED = Asked(
    suite=part("suite", "metalogic", entities=["cat", "dog"]),
    models=(part("model", "painter", faults="", side=256), part("model", "openai/x", model="x")),
    observers=(part("detector", "pocket", threshold=0.4), part("judge", "a:b"), part("judge", "scene")),
    checks=(part("check", "same-scene", counts="exact"), part("check", "truth", counts="exact")),
    headline="truth",
    size="6",
    repeats=2,
    seed=3,
    control=True,
    only=(("law", "de-morgan"),),
)
FILE = RunFile(
    asked=ASKED,
    choice={"suite": "metalogic", "model": ["painter"]},
    components=(
        Resolved(role="suite", identity={"name": "metalogic", "version": "1"}),
        Resolved(role="model", identity={"name": "painter", "version": "1"}, component_id="abc"),
        Resolved(role="detector", identity={"name": "pocket", "version": "1"}),
        Resolved(role="check", identity={"name": "truth", "version": "1"}),
    ),
    environment={"python": "3.11"},
    resumed_in=({"python": "3.12"},),
    judged=Judged(asked=replace(ASKED, headline="", observers=ASKED.observers[:1]), leading={"truth": "pocket"}),
)
RATED = Asked(suite=part("suite", "ratings"), size="imported", imported="ratings")
IMPORTED = RunFile(
    asked=RATED,
    imported=Imported(
        form="ratings",
        files=(ImportedFile(name="a.csv", sha256="12", kept="1-a.csv"), ImportedFile(name="b.csv", sha256="34")),
        n_problems=2,
        about={"columns": {"item": ["image"]}},
    ),
    judged=Judged(
        asked=Asked(suite=part("suite", "ratings"), size="imported", imported="ratings"), leading={"r": "ann"}
    ),
)


@pytest.mark.parametrize("content", [FILE, IMPORTED, RunFile(asked=ASKED)])
def test_what_is_written_is_read_again(tmp_path: Path, content: RunFile) -> None:
    write_run_file(tmp_path, content)
    assert read_run_file(tmp_path) == content
    assert json.loads((tmp_path / "run.json").read_text())["format"] == FORMAT
    before = (tmp_path / "run.json").stat()
    write_run_file(tmp_path, content)
    assert (tmp_path / "run.json").stat().st_ino == before.st_ino, "the same is not written again"


def test_only_what_is_judged_otherwise_is_written_so() -> None:
    judged = FILE.to_json()["judged"]
    assert judged == {
        "headline": "",
        "observers": {"detector:pocket": {"name": "pocket", "options": {"threshold": 0.4}}},
    } | {"leading": {"truth": "pocket"}}
    assert IMPORTED.to_json()["judged"] == {"leading": {"r": "ann"}}
    assert RunFile(asked=ASKED).judged_as() == Judged(asked=ASKED)


def drop(*keys: str) -> Callable[[Any], None]:
    def change(content: Any) -> None:
        *above, last = keys
        for key in above:
            content = content[key]
        del content[last]

    return change


def put(value: Json, *keys: str) -> Callable[[Any], None]:
    def change(content: Any) -> None:
        *above, last = keys
        for key in above:
            content = content[key]
        content[last] = value

    return change


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        *((drop("asked", key), f"'{key}' is missing") for key in sorted(ASKED.to_json())),
        *((put(None, "asked", key), f"'{key}' is null") for key in sorted(ASKED.to_json())),
        (drop("asked"), "'asked' is missing"),
        (put([], "asked"), r"'asked' is \[\], where an object was expected"),
        (put(True, "asked", "repeats"), "'repeats' is true, where a whole number"),
        (put("yes", "asked", "control"), "'control' is \"yes\", where true or false"),
        (put([3], "asked", "models"), "a model is 3, where an object"),
        (put([{"name": "x"}], "asked", "checks"), "'options' is missing"),
        (put({"name": 3, "options": {}}, "asked", "suite"), "'name' is 3, where a text"),
        (put([["law"]], "asked", "only"), "'only' holds"),
        (put("x", "choice"), "'choice' is \"x\""),
        (put([], "components"), r"'components' is \[\]"),
        (put({"models": []}, "components"), "'suite' is missing"),
        (put("x", "judged"), "'judged' is \"x\""),
        (put({"checks": 3}, "judged"), "'checks' is 3"),
        (put({"as": "ratings"}, "imported"), "'files' is missing"),
        (put(["x"], "resumed_in"), "'resumed_in' is \"x\", where an object"),
    ],
)
def test_a_damaged_file_is_named_and_what_is_wrong_with_it(
    tmp_path: Path, damage: Callable[[Any], None], named: str
) -> None:
    content = FILE.to_json()
    damage(content)
    (tmp_path / "run.json").write_text(json.dumps(content))
    with pytest.raises(
        StoreError, match=rf"run\.json' is not the file salva wrote \(.*{named}.*restore it from a copy"
    ):
        read_run_file(tmp_path)


@pytest.mark.parametrize("text", ["[]", "3", "{", "", "\xff"])
def test_what_is_no_object_is_named_too(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(StoreError, match="is not the file salva wrote"):
        read_run_file(tmp_path)


@pytest.mark.parametrize("found", [None, 3, FORMAT + 1, str(FORMAT)])
def test_a_file_of_another_format_is_refused(tmp_path: Path, found: Json) -> None:
    (tmp_path / "run.json").write_text(json.dumps(FILE.to_json() | {"format": found}))
    with pytest.raises(StoreError) as refused:
        read_run_file(tmp_path)
    assert refused.value.code == "run-format"


def test_no_secret_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_API_KEY", "sk-planted-123")
    asked = replace(ASKED, models=(part("model", "x", address="https://me:sk-planted-123@host"),))
    write_run_file(tmp_path, RunFile(asked=asked, choice=asked.words()))
    assert "sk-planted-123" not in (tmp_path / "run.json").read_text()
    stored = read_run_file(tmp_path)
    assert stored is not None
    assert stored.asked == asked.redacted()


def test_a_choice_has_no_defaults_and_says_an_option_of_relations_once() -> None:
    defaults: dict[str, dict[str, Json]] = {
        "pocket": {"threshold": 0.4},
        "painter": {"faults": "", "side": 512},
        "truth": {"counts": "at-least"},
    }
    chosen = ASKED.chosen(lambda _, name: defaults.get(name, {}))
    assert chosen.words() == {
        "suite": "metalogic",
        "suite.entities": ["cat", "dog"],
        "model": ["painter", "openai/x"],
        "model.side": 256,
        "model.model": "x",
        "detector": ["pocket"],
        "judge": ["a:b", "scene"],
        "check": "truth",
        "check.counts": "exact",
        "size": "6",
        "repeats": 2,
        "seed": 3,
        "control": True,
        "only": [["law", "de-morgan"]],
    }
    quiet = ASKED.chosen(lambda *_: {"counts": "exact"})
    assert quiet.checks == ()
    assert "check.counts" not in quiet.words()
