"""run.json: what is written is read again, and what is damaged is an error with its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from core.test_run_spec import SPEC, part
from msgspec import structs

from salva.core.fingerprint import Json
from salva.core.run_file import FORMAT, Imported, ImportedFile, Judging, ResolvedComponent, RunFile, new_run_file
from salva.core.run_spec import RunSpec
from salva.errors import StoreError
from salva.store.runfile import read_run_file, write_run_file

FILE = new_run_file(
    SPEC,
    choice={"suite": "metalogic", "model": ["painter"]},
    components=(
        ResolvedComponent(role="suite", identity={"name": "metalogic", "version": "1"}),
        ResolvedComponent(role="model", identity={"name": "painter", "version": "1"}, component_id="abc"),
    ),
    environment={"python": "3.11"},
    resumed_in=({"python": "3.12"},),
    judging=Judging(spec=structs.replace(SPEC, check=""), deciding=("pocket", "rapidocr")),
)
RATED = RunSpec(suite=part("suite", "ratings"), size="imported", imported="ratings")
IMPORTED = new_run_file(
    RATED,
    imported=Imported(
        form="ratings",
        files=(ImportedFile(name="a.csv", sha256="12", kept="1-a.csv"), ImportedFile(name="b.csv", sha256="34")),
        n_problems=2,
        about={"columns": {"item": ["image"]}},
    ),
    judging=Judging(spec=RATED, deciding=("ann",)),
)


@pytest.mark.parametrize("content", [FILE, IMPORTED, new_run_file(SPEC)])
def test_what_is_written_is_read_again(tmp_path: Path, content: RunFile) -> None:
    write_run_file(tmp_path, content)
    assert read_run_file(tmp_path) == content
    before = (tmp_path / "run.json").stat()
    write_run_file(tmp_path, content)
    assert (tmp_path / "run.json").stat().st_ino == before.st_ino, "the same is not written again"


def put(value: Any, *keys: str | int) -> Callable[[Any], None]:
    def change(content: Any) -> None:
        *above, last = keys
        for key in above:
            content = content[key]
        content[last] = value

    return change


@pytest.mark.parametrize(
    ("damage", "place"),
    [
        *((put(None, "spec", name), f"spec.{name}") for name in RunSpec.__struct_fields__),
        (put([], "spec"), "spec"),
        (put(True, "spec", "repeats"), "spec.repeats"),
        (put("yes", "spec", "control"), "spec.control"),
        (put([3], "spec", "models"), r"spec.models\[0\]"),
        (put([{"name": "x"}], "spec", "checks"), r"spec.checks\[0\]"),
        (put(1, "spec", "repeat"), "spec"),
        (put(3, "components", 0, "identity"), r"components\[0\].identity"),
        (put("x", "judging"), "judging"),
        (put({"form": "ratings"}, "imported"), "imported"),
        (put(["x"], "resumed_in"), r"resumed_in\[0\]"),
        (put(1, "more"), "as a whole"),
    ],
)
def test_a_damaged_file_is_an_error_with_its_place(tmp_path: Path, damage: Callable[[Any], None], place: str) -> None:
    content = msgspec.to_builtins(FILE)
    damage(content)
    (tmp_path / "run.json").write_text(json.dumps(content))
    with pytest.raises(StoreError, match=f"run.json', {place}: ") as refused:
        read_run_file(tmp_path)
    assert refused.value.code == "file-invalid"


@pytest.mark.parametrize("text", ["[]", "3", "{", "", "\xff", '{"format": NaN}'])
def test_what_is_no_object_is_an_error_too(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(StoreError) as refused:
        read_run_file(tmp_path)
    assert refused.value.code == "file-invalid"


@pytest.mark.parametrize("found", [None, 3, FORMAT + 1, str(FORMAT)])
def test_a_file_of_another_format_is_refused(tmp_path: Path, found: Json) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"format": found, "what": "other"}))
    with pytest.raises(StoreError) as refused:
        read_run_file(tmp_path)
    assert refused.value.code == "run-format"


def test_no_secret_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_API_KEY", "sk-planted-123")
    spec = structs.replace(SPEC, models=(part("model", "x", address="https://me:sk-planted-123@host"),))
    write_run_file(tmp_path, new_run_file(spec, choice=spec.choice()))
    assert "sk-planted-123" not in (tmp_path / "run.json").read_text()
    stored = read_run_file(tmp_path)
    assert stored is not None
    assert stored.spec == spec.redacted()


def test_run_json_is_text_that_any_program_reads(tmp_path: Path) -> None:
    spec = structs.replace(SPEC, size="é")
    write_run_file(tmp_path, new_run_file(spec))
    text = (tmp_path / "run.json").read_text(encoding="ascii")
    assert text.endswith("}\n")
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True) + "\n"
    with pytest.raises(ValueError, match="JSON"):
        write_run_file(tmp_path, new_run_file(spec, environment={"load": float("nan")}))
