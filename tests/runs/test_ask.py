"""From names, flags and settings to a specification: models and judges that have names of their own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from salva.core.asked import Asked
from salva.core.case import Case, Prompt
from salva.core.command import command_for
from salva.errors import UsageError
from salva.runs.ask import Ask, ask_again, make_spec

ASK = Ask(suite="metalogic", models=("calm=painter", "wild=painter"), settings={"wild.faults": "entity-omission:0.5"})


def test_a_name_stands_in_tables_and_reaches_its_own_options_alone() -> None:
    calm, wild = make_spec(ASK).models
    assert (calm.label, wild.label) == ("calm", "wild")
    assert not calm.options.faults
    assert wild.options.faults


def test_a_name_is_no_part_of_any_key() -> None:
    plain = make_spec(replace(ASK, models=("painter",), settings={})).models[0]
    named = make_spec(ASK).models[0]
    assert named.identity() == plain.identity()


def test_what_is_set_for_a_role_reaches_all_of_it_and_a_name_wins() -> None:
    settings = {"model.faults": "entity-omission:0.5", "wild.faults": "entity-omission:0.9"}
    calm, wild = make_spec(replace(ASK, settings=settings)).models
    assert calm.options.faults != wild.options.faults


def test_a_run_with_names_is_asked_again_with_them() -> None:
    spec = make_spec(replace(ASK, settings={**ASK.settings, "calm.group": "open"}))
    asked = spec.asked()
    assert Asked.from_json(asked.to_json()) == asked
    again = make_spec(ask_again(asked), asked)
    assert again.asked().models == asked.models
    assert spec.choice()["model"] == ["calm=painter", "wild=painter"]
    assert [model.group for model in asked.models] == ["open", ""]


def test_a_group_changes_nothing_a_run_is_known_by() -> None:
    grouped = make_spec(replace(ASK, settings={**ASK.settings, "calm.group": "open"}))
    assert grouped.choice() == make_spec(ASK).choice()
    assert grouped.models[0].identity() == make_spec(ASK).models[0].identity()


def test_the_command_for_a_case_says_the_name() -> None:
    case = Case(
        case_id="c", suite="metalogic", category="x", prompts=(Prompt(role="a", text="a cat"),), check="truth"
    )
    spec = make_spec(ASK)
    command = command_for(case, "wild", spec.asked().chosen(spec.defaults))
    assert "--model wild=painter" in command
    assert "--set wild.faults=entity-omission:0.5" in command


@pytest.mark.parametrize(
    ("models", "settings", "told"),
    [
        (("judge=painter",), {}, "no role's"),
        (("a=painter", "a=pocket"), {}, "named twice"),
        (("a=painter", "b=painter"), {}, "the same model with the same options"),
        (("a=painter",), {"b.faults": "x"}, "NAME.OPTION with a"),
        (("a=painter",), {"a.fautls": "x"}, "did you mean|Did you mean"),
        (("a=b=painter",), {}, "one alone"),
    ],
)
def test_a_name_that_cannot_be_is_refused(models: tuple[str, ...], settings: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        make_spec(replace(ASK, models=models, settings=settings))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, []),
        ({"check.threshold": "0.5"}, ["unless --set judge.threshold=0.5"]),
        ({"check.threshold": "0.5", "judge.threshold": "0.5"}, []),
        ({"check.doubt": "0.6"}, ["check.doubt has no say in what the judge 'scene' answers"]),
    ],
)
def test_what_relations_are_told_and_a_judge_of_boxes_does_not_hear_is_said(
    settings: dict[str, str], said: list[str]
) -> None:
    ask = Ask(suite="faithfulness", models=("painter",), judges=("scene",), settings=settings)
    notes = make_spec(ask).notes
    assert len(notes) == len(said)
    assert all(part in note for part, note in zip(said, notes, strict=True))
