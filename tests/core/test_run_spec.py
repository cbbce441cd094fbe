"""run.json: what is written is read again, and what is damaged is an error with its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from salva.core.fingerprint import Json
from salva.core.run_file import FORMAT, Imported, ImportedFile, Judging, ResolvedComponent, RunFile, new_run_file
from salva.core.run_spec import ComponentSpec, RunSpec, split_name, split_settings
from salva.errors import StoreError, UsageError
from salva.store.runfile import read_run_file, write_run_file


def part(role: str, name: str, **options: Json) -> ComponentSpec:
    return ComponentSpec(role=role, name=name, options=options)


SPEC = RunSpec(
    suite=part("suite", "metalogic", entities=["cat", "dog"]),
    models=(part("model", "painter", faults="", side=256), part("model", "openai/x", model="x")),
    observers=(part("detector", "pocket", floor=0.04), part("judge", "a:b"), part("judge", "scene")),
    checks=(part("check", "same-scene", counts="exact"), part("check", "truth", counts="exact")),
    check="truth",
    size="6",
    repeats=2,
    seed=3,
    control=True,
    only=(("law", "de-morgan"),),
)
FILE = new_run_file(
    SPEC,
    choice={"suite": "metalogic", "model": ["painter"]},
    components=(
        ResolvedComponent(role="suite", identity={"name": "metalogic", "version": "1"}),
        ResolvedComponent(role="model", identity={"name": "painter", "version": "1"}, component_id="abc"),
    ),
    environment={"python": "3.11"},
    resumed_in=({"python": "3.12"},),
    judging=Judging(spec=structs.replace(SPEC, check=""), leading={"truth": "pocket"}),
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
    judging=Judging(spec=RATED, leading={"r": "ann"}),
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


def test_a_choice_has_no_defaults_and_an_option_of_checks_once() -> None:
    defaults: dict[str, dict[str, Json]] = {
        "pocket": {"floor": 0.04},
        "painter": {"faults": "", "side": 512},
        "truth": {"counts": "at-least"},
    }
    chosen = SPEC.without_defaults(lambda _, name: defaults.get(name, {}))
    assert chosen.choice() == {
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
    quiet = SPEC.without_defaults(lambda *_: {"counts": "exact"})
    assert quiet.checks == ()
    assert "check.counts" not in quiet.choice()


def test_one_component_with_another_option_is_named() -> None:
    checks = (part("check", "same-scene", counts="exact"), part("check", "truth", counts="at-least"))
    choice = structs.replace(SPEC, checks=checks).choice()
    assert (choice["check.counts"], choice["check.counts of truth"]) == ("exact", "at-least")


def test_a_specification_is_read_from_flags() -> None:
    spec = RunSpec.of(
        "metalogic",
        models=["painter", "strict=openai/gpt-4"],
        detector="pocket",
        judges=["scene", "j=openai/gpt"],
        only=["law=de-morgan", "modifier=a=b"],
        counts="at-least",
        settings={"model.side": "8"},
        seed=3,
    )
    assert spec.suite == ComponentSpec(role="suite", name="metalogic")
    assert [(model.name, model.typed) for model in spec.models] == [("painter", ""), ("strict", "openai/gpt-4")]
    assert [(observer.role, observer.name) for observer in spec.observers] == [
        *(("detector", "pocket"), ("judge", "scene"), ("judge", "j"))
    ]
    assert spec.only == (("law", "de-morgan"), ("modifier", "a=b"))
    assert spec.settings == {"check.counts": "at-least", "model.side": "8"}
    assert spec.seed == 3
    assert RunSpec.of("scene").settings == {}
    readers = RunSpec.of("scene", reader="rapidocr", embedder="clip/x").observers
    assert [observer.role for observer in readers] == ["reader", "embedder"]


def test_a_component_has_names_for_users_registry_and_settings() -> None:
    plain, alias = ComponentSpec.parse("judge", "openai/a/b", {"x": 1}), ComponentSpec.parse("judge", "j=openai/a/b")
    for spec in (plain, alias):
        assert (spec.full_name, spec.registered_name, spec.target) == ("openai/a/b", "openai", "a/b")
    assert (plain.text, plain.prefix, plain.options) == ("openai/a/b", "judge", {"x": 1})
    assert (alias.text, alias.prefix, alias.options) == ("j=openai/a/b", "j", {})


def test_observers_of_a_role_are_replaced() -> None:
    changed = SPEC.with_observers("judge", ["x", "y=z"])
    assert changed.named("judge") == ("x", "y=z")
    assert changed.named("detector") == ("pocket",)
    assert [component.role for component in SPEC.components()] == [
        *("suite", "model", "model", "detector", "judge", "judge", "check", "check")
    ]


def test_models_are_shown_together_as_another_says() -> None:
    other = structs.replace(SPEC, models=(structs.replace(SPEC.models[0], group="g"),))
    assert [model.group for model in SPEC.with_groups_of(other).models] == ["g", ""]
    assert [model.group for model in other.with_groups_of(SPEC).models] == [""]
    own = structs.replace(SPEC, models=(structs.replace(SPEC.models[1], group="own"),))
    assert own.with_groups_of(other).models == own.models


def test_shards_and_imports_are_chosen_too() -> None:
    assert not {"shard", "imported"} & SPEC.choice().keys()
    choice = structs.replace(SPEC, shard="1/2", imported="ratings").choice()
    assert (choice["shard"], choice["imported"]) == ("1/2", "ratings")


@pytest.mark.parametrize(
    ("text", "name"),
    [("a", ("", "a")), ("x=y", ("x", "y")), ("x.1-b=y/z=3", ("x.1-b", "y/z=3")), ("-x=y", ("", "-x=y"))],
)
def test_a_name_stands_before_an_equals_sign(text: str, name: tuple[str, str]) -> None:
    assert split_name(text) == name


@pytest.mark.parametrize("text", ["model=y", "metric=y", "a=b=c", "a=b=c/d"])
def test_some_names_cannot_be_given(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        split_name(text)
    assert refused.value.code == "name-invalid"


@pytest.mark.parametrize(
    ("pairs", "code"),
    [(["a"], "setting-invalid"), (["=b"], "setting-invalid"), (["a=1", "b=1", "a=1"], "setting-twice")],
)
def test_a_setting_is_a_key_and_a_value_once(pairs: list[str], code: str) -> None:
    with pytest.raises(UsageError) as refused:
        split_settings(pairs)
    assert refused.value.code == code
    assert split_settings(["a=", "b=c=d"]) == {"a": "", "b": "c=d"}
