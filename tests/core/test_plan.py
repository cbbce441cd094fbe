"""What will run: identities that change with whatever can change an outcome, and with nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

from salva.core.about import About
from salva.core.fingerprint import fingerprint
from salva.core.options import NoOptions, endpoint_label, option
from salva.core.plan import Around, Binding, Plan
from salva.core.run_spec import ComponentSpec, RunSpec
from salva.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    side: int = option(256, "Pixels.")
    steps: int = option(20, "Steps.")
    threads: int = option(1, "Not keyed.", keyed=False)
    prompt: str = option("", "A file.", pinned=lambda path: path)
    base_url: str = option("", "An address.", reaches="endpoint")
    endpoint: str = endpoint_label()


class Model:
    """Model: for tests."""

    version = "3"
    about = About(is_remote=True)
    Options = ModelOptions
    told: ClassVar[list[int]] = []

    def __init__(self, options: ModelOptions) -> None:
        self.options = options

    def expect(self, n: int) -> None:
        self.told.append(n)


class FormulaModel(Model):
    about = About(sees_formula=True)


class Outer:
    """Model: around another."""

    version = "7"

    def __init__(self, options: object, inner: Any) -> None:
        self.options, self.inner = options, inner


class Quiet:
    version = "1"

    def __init__(self, options: object) -> None:
        pass


def binding(role: str = "model", label: str = "m", options: Any = None, **changes: Any) -> Binding:
    return Binding(
        **{"role": role, "label": label, "component": Model, "options": options or ModelOptions(), **changes}
    )


def quiet(role: str, label: str) -> Binding:
    return binding(role, label, NoOptions(), component=Quiet)


def test_an_identity_is_all_that_can_change_an_outcome() -> None:
    assert binding(weights="w").identity() == {
        "name": "m",
        "options": {"side": 256, "steps": 20, "base_url": "", "endpoint": ""},
        "version": "3",
        "weights": "w",
    }
    same = binding(options=ModelOptions(threads=8, prompt="other place"), n_expected=7, group="g")
    assert same.identity() == binding().identity()
    assert binding(options=ModelOptions(side=512)).identity() != binding().identity()
    assert binding(label="alias", typed="m").identity() == binding().identity()
    assert binding(stored_identity={"name": "old"}).identity() == {"name": "old"}


def test_the_address_in_use_stands_for_the_options_that_name_one() -> None:
    by_flag = binding(options=ModelOptions(base_url="http://host:1/v1"), address="http://host:1/v1")
    by_environment = binding(address="http://host:1/v1")
    assert by_flag.identity() == by_environment.identity()
    assert by_flag.identity()["endpoint"] == "http://host:1/v1"
    assert by_flag.identity()["options"] == {"side": 256, "steps": 20}


def test_what_is_built_hears_how_much_it_will_be_asked() -> None:
    Model.told.clear()
    assert binding(options=ModelOptions(side=8)).build().options.side == 8
    binding(n_expected=12).build()
    assert Model.told == [12]
    assert isinstance(quiet("suite", "s").build(), Quiet)
    assert binding().about.is_remote


def test_a_binding_is_listed_with_its_keyed_options() -> None:
    spec = binding(label="alias", typed="m", group="g").spec()
    assert (spec.role, spec.name, spec.typed, spec.group) == ("model", "alias", "m", "g")
    assert spec.options["side"] == 256
    assert "threads" not in spec.options


def test_a_component_around_another_is_both() -> None:
    inner = binding()
    around = Around(Outer, inner)
    assert around.version == "7 around 3"
    assert around.about == inner.about
    assert around.Options is NoOptions
    assert around.weights(NoOptions()) == fingerprint(inner.identity())
    assert around.weights(NoOptions()) != Around(Outer, binding(options=ModelOptions(side=8))).weights(NoOptions())
    built = around("options")
    assert (built.options, built.inner.options) == ("options", inner.options)
    assert (around.__doc__, around.__name__) == (Outer.__doc__, "Outer")  # type: ignore[attr-defined]  # as of a class
    with pytest.raises(UsageError) as refused:
        Around(Outer, binding(component=FormulaModel))
    assert refused.value.code == "wrap-needs-text"


PLAN = Plan(
    spec=RunSpec(size="6", seed=3, settings={"model.side": "512"}, shard="2/3"),
    suite=quiet("suite", "metalogic"),
    models=(binding(options=ModelOptions(side=512)), binding(label="other/a b", typed="")),
    detector=quiet("detector", "d"),
    reader=None,
    judges=(quiet("judge", "j1"), quiet("judge", "j2")),
    checks=(quiet("check", "truth"),),
)


def test_components_stand_in_the_order_of_their_work() -> None:
    assert [b.label for b in PLAN.observers()] == ["d", "j1", "j2"]
    assert [b.label for b in PLAN.bindings()] == ["metalogic", "m", "other/a b", "d", "j1", "j2", "truth"]
    full = replace(PLAN, reader=quiet("reader", "r"), embedder=quiet("embedder", "e"))
    assert [b.label for b in full.observers()] == ["d", "r", "e", "j1", "j2"]


def test_a_plan_knows_its_share() -> None:
    assert PLAN.shard is not None
    assert (PLAN.shard.index, PLAN.shard.n) == (2, 3)
    assert PLAN.asking(shard="").shard is None
    assert PLAN.asking(shard="").spec.seed == 3


def test_what_was_asked_has_every_component_and_no_setting() -> None:
    spec = PLAN.run_spec()
    assert spec.suite == ComponentSpec(role="suite", name="metalogic")
    assert [model.options["side"] for model in spec.models] == [512, 256]
    assert [observer.name for observer in spec.observers] == ["d", "j1", "j2"]
    assert [check.name for check in spec.checks] == ["truth"]
    assert (spec.settings, spec.size) == ({}, "6")


def test_a_choice_is_what_is_not_the_default() -> None:
    choice = PLAN.choice()
    assert choice["model.side"] == 512
    assert not {"model.steps", "model.threads", "detector.side"} & choice.keys()
    assert PLAN.defaults("model", "m")["side"] == 256
    assert PLAN.defaults("model", "unknown") == PLAN.defaults("judge", "m") == {}
    alias = replace(PLAN, models=(binding(label="alias", typed="m"),))
    assert alias.defaults("model", "m")["steps"] == 20
    assert alias.defaults("model", "alias") == {}


def test_every_component_but_the_checks_is_changed() -> None:
    full = replace(PLAN, reader=quiet("reader", "r"), embedder=quiet("embedder", "e"))
    changed = full.with_each(lambda one: replace(one, label=one.label.upper()))
    labels = [b.label for b in changed.bindings()]
    assert labels == ["METALOGIC", "M", "OTHER/A B", "D", "R", "E", "J1", "J2", "truth"]
    assert PLAN.with_each(lambda one: one) == PLAN


def test_a_directory_is_named_by_what_was_asked() -> None:
    name = PLAN.directory_name()
    assert name == f"metalogic-m+other-a-b-6-shard-2-of-3-{fingerprint(PLAN.choice())[:8]}"
    assert PLAN.asking(shard="").directory_name().startswith("metalogic-m+other-a-b-6-")
    assert "shard" not in PLAN.asking(shard="").directory_name()
    assert PLAN.asking(seed=4).directory_name() != name
    long = replace(PLAN, models=(binding(label="x" * 99),))
    assert f"-{'x' * 60}-6-" in long.directory_name()
