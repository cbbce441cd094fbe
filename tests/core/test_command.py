"""The line that paints a case again must be one that a shell takes."""

from __future__ import annotations

import shlex

from msgspec import structs
from report.fake_runs import make_case

from salva.cli.run_command import command as run_command
from salva.component_facts import widened
from salva.core.command import command_for, words_of
from salva.core.fingerprint import Json
from salva.core.run_spec import NOTHING, ComponentSpec, RunSpec


def model(name: str, **options: Json) -> ComponentSpec:
    return ComponentSpec(role="model", name=name, options=options)


def check(name: str) -> ComponentSpec:
    return ComponentSpec(role="check", name=name, options={"counts": "at-least"})


ASKED = RunSpec(
    suite=ComponentSpec(role="suite", name="metalogic", options={"brackets": False}),
    models=(model("painter", faults="entity-omission:0.3", side=256), model("other", x=1)),
    observers=(ComponentSpec(role="detector", name="pocket"),),
    checks=(check("same-scene"), check("truth")),
    size="120",
    repeats=2,
    seed=3,
    control=True,
)


def test_defaults_are_left_out_and_choices_kept() -> None:
    case = make_case(labels={"law": "commutative", "entities": "cat,teddy bear"})
    words = shlex.split(command_for(case, "painter", widened(ASKED)))
    assert words[:5] == ["salva", "run", "metalogic", "--model", "painter"]
    assert words[5:9] == ["--detector", "pocket", "--reader", "none"]
    assert words[9:16] == ["--size", "full", "--repeats", "2", "--seed", "3", "--control"]
    assert words[16:20] == ["--only", "law=commutative", "--only", "entities=cat,teddy bear"]
    assert words[20:] == ["--set", "model.faults=entity-omission:0.3", "--set", "check.counts=at-least"]


def test_what_follows_a_slash_is_not_repeated_and_unknown_plugins_do_no_harm() -> None:
    asked = structs.replace(
        ASKED, models=(model("nonesuch/a b", path="a b", on=True, of=["x", "y"]), model("openai/z", model="z"))
    )
    words = shlex.split(command_for(make_case(suite="mine"), "nonesuch/a b", widened(asked)))
    assert words[:5] == ["salva", "run", "mine", "--model", "nonesuch/a b"]
    assert "model.on=true" in words
    assert "model.of=x,y" in words
    assert "model.model=z" not in shlex.split(command_for(make_case(), "openai/z", widened(asked)))


def test_hostile_labels_stay_one_word() -> None:
    case = make_case(labels={"law": "x; rm -rf ~ $(id) `id`\n'\""})
    command = command_for(case, "painter", RunSpec(size="quick"))
    assert shlex.split(command)[-1] == "law=x; rm -rf ~ $(id) `id`\n'\""


def test_there_is_no_command_where_nothing_is_known_or_others_painted() -> None:
    assert command_for(make_case(), "painter", NOTHING) == ""
    assert command_for(make_case(), "painter", structs.replace(ASKED, imported="ratings")) == ""


def test_whatever_was_asked_is_in_the_line() -> None:
    asked = RunSpec(
        check="truth", size="6", repeats=2, seed=3, control=True, only=(("law", "x"),), preflight=False, contrast=False
    )
    assert words_of(asked)[3:] == [
        *("--check", "truth", "--size", "6", "--repeats", "2", "--seed", "3", "--control"),
        *("--only", "law=x", "--set", "run.preflight=off", "--set", "run.contrast=off"),
    ]
    assert words_of(NOTHING) == ["salva", "run", "", "--repeats", "1", "--seed", "0"]
    flags = {option for parameter in run_command.params for option in parameter.opts}
    assert {word for word in words_of(asked) if word.startswith("--")} <= flags


def test_of_several_models_the_one_is_named_that_has_no_options() -> None:
    words = shlex.split(command_for(make_case(), "third", widened(ASKED)))
    assert words[:5] == ["salva", "run", "metalogic", "--model", "third"]
    handed = structs.replace(ASKED, models=(ComponentSpec(role="model", name="mine", typed="python/mine"),))
    assert command_for(make_case(), "mine", handed) == ""
