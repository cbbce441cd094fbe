"""From names, flags and settings to a specification: models and judges that have names of their own."""

from __future__ import annotations

import pytest
from msgspec import structs

from salva.core.case import Case, Prompt
from salva.core.command import command_for
from salva.core.run_spec import RunSpec
from salva.errors import UsageError
from salva.runs.plans import make_plan, spec_again

ASK = RunSpec.of(
    suite="metalogic", models=("calm=painter", "wild=painter"), settings={"wild.faults": "entity-omission:0.5"}
)


def test_a_name_stands_in_tables_and_reaches_its_own_options_alone() -> None:
    calm, wild = make_plan(ASK).models
    assert (calm.label, wild.label) == ("calm", "wild")
    assert not calm.options.faults
    assert wild.options.faults


def test_a_name_is_no_part_of_any_key() -> None:
    plain = make_plan(RunSpec.of("metalogic", models=("painter",))).models[0]
    named = make_plan(ASK).models[0]
    assert named.identity() == plain.identity()


def test_what_is_set_for_a_role_reaches_all_of_it_and_a_name_wins() -> None:
    settings = {"model.faults": "entity-omission:0.5", "wild.faults": "entity-omission:0.9"}
    calm, wild = make_plan(structs.replace(ASK, settings=settings)).models
    assert calm.options.faults != wild.options.faults


def test_a_run_with_names_is_asked_again_with_them() -> None:
    spec = make_plan(structs.replace(ASK, settings={**ASK.settings, "calm.group": "open"}))
    asked = spec.run_spec()
    assert asked.redacted() == asked
    again = make_plan(spec_again(asked), asked)
    assert again.run_spec().models == asked.models
    assert spec.choice()["model"] == ["calm=painter", "wild=painter"]
    assert [model.group for model in asked.models] == ["open", ""]


def test_a_group_changes_nothing_a_run_is_known_by() -> None:
    grouped = make_plan(structs.replace(ASK, settings={**ASK.settings, "calm.group": "open"}))
    assert grouped.choice() == make_plan(ASK).choice()
    assert grouped.models[0].identity() == make_plan(ASK).models[0].identity()


def test_the_command_for_a_case_says_the_name() -> None:
    case = Case(
        case_id="c", suite="metalogic", category="x", prompts=(Prompt(role="a", text="a cat"),), checks=("truth",)
    )
    spec = make_plan(ASK)
    command = command_for(case, "wild", spec.run_spec().without_defaults(spec.defaults))
    assert "--model wild=painter" in command
    assert "--set wild.faults=entity-omission:0.5" in command


@pytest.mark.parametrize(
    ("models", "settings", "code"),
    [
        (("judge=painter",), {}, "name-invalid"),
        (("a=b=painter",), {}, "name-invalid"),
        (("a=painter", "a=pocket"), {}, "component-twice"),
        (("a=painter", "b=painter"), {}, "component-twice"),
        (("a=painter",), {"b.faults": "x"}, "setting-unknown"),
        (("a=painter",), {"run.prefligt": "off"}, "option-unknown"),
        (("a=painter",), {"run.preflight": "no"}, "option-invalid"),
        (("a=painter",), {"judge.threshold": "0.5"}, "role-empty"),
        (("none",), {}, "model-missing"),
    ],
)
def test_a_name_or_setting_that_cannot_be_is_refused(
    models: tuple[str, ...], settings: dict[str, str], code: str
) -> None:
    with pytest.raises(UsageError) as refused:
        make_plan(RunSpec.of("metalogic", models=models, settings=settings))
    assert refused.value.code == code
