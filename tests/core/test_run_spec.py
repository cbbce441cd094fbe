"""What was asked of a run: from flags, and in the words of the command line."""

from __future__ import annotations

import pytest
from msgspec import structs

from salva.core.fingerprint import Json
from salva.core.run_spec import ComponentSpec, RunSpec, split_name, split_settings
from salva.errors import UsageError


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
        "published": False,
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
