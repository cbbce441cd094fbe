"""The line that paints a case again must be one that a shell takes."""

from __future__ import annotations

import shlex

from report.fake_runs import make_case

from salva.core.fingerprint import Json
from salva.engine.command import command_for


def test_defaults_are_left_out_and_choices_kept() -> None:
    asked: dict[str, Json] = {
        "suite": {"name": "metalogic", "options": {"brackets": False}},
        "models": [
            {"name": "painter", "options": {"faults": "entity-omission:0.3", "side": 256}},
            {"name": "other", "options": {"x": 1}},
        ],
        "observers": {"detector:pocket": {"name": "pocket", "options": {}}},
        "relations": [{"name": name, "options": {"reading": "at-least"}} for name in ("same-scene", "truth")],
        "size": "120",
        "repeats": 2,
        "seed": 3,
        "control": True,
    }
    case = make_case(labels={"law": "commutative", "entities": "cat,teddy bear"})
    words = shlex.split(command_for(case, "painter", asked))
    assert words[:5] == ["salva", "run", "metalogic", "--model", "painter"]
    assert words[5:9] == ["--detector", "pocket", "--reader", "none"]
    assert words[9:16] == ["--size", "full", "--repeats", "2", "--seed", "3", "--control"]
    assert words[16:20] == ["--only", "law=commutative", "--only", "entities=cat,teddy bear"]
    assert words[20:] == ["--set", "model.faults=entity-omission:0.3", "--set", "relation.reading=at-least"]


def test_what_follows_a_slash_is_not_repeated_and_unknown_plugins_do_no_harm() -> None:
    asked: dict[str, Json] = {
        "models": [{"name": "nonesuch/a b", "options": {"path": "a b", "on": True, "of": ["x", "y"]}}]
    }
    command = command_for(make_case(suite="mine"), "nonesuch/a b", asked)
    words = shlex.split(command)
    assert words[:5] == ["salva", "run", "mine", "--model", "nonesuch/a b"]
    assert "model.on=true" in words
    assert "model.of=x,y" in words


def test_hostile_labels_stay_one_word() -> None:
    case = make_case(labels={"law": "x; rm -rf ~ $(id) `id`\n'\""})
    assert shlex.split(command_for(case, "painter", {}))[-1] == "law=x; rm -rf ~ $(id) `id`\n'\""
