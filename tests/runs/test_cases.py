"""The plan: which cases a run is made of, and the keys of its work."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from salva.core.about import About
from salva.core.case import Case, Prompt
from salva.core.options import NoOptions
from salva.core.protocols import Query, RenderRequest
from salva.core.run_spec import RunSpec
from salva.engine.actors import Actor, requests_of
from salva.errors import PluginError, UsageError
from salva.runs.cases import planned_cases, remarks
from salva.runs.plans import make_plan
from salva.suites.metalogic.suite import MetaLogic
from salva.testing.fakes import FakeDetector, FakeGenerator, FakeSame, FakeSuite
from salva.testing.specs import bound, fake_spec


def ids(n: int = 60, **changes: Any) -> list[str]:
    return [case.case_id for case in planned_cases(fake_spec(n, **changes))]


def test_a_named_size_is_what_the_suite_says() -> None:
    assert len(ids(size="quick")) == 2
    assert len(ids(size="full")) == 60


def test_a_number_is_balanced_over_categories_and_nested() -> None:
    spec = fake_spec(60, size="12")
    chosen = list(planned_cases(spec))
    assert Counter(case.category for case in chosen) == dict.fromkeys(
        ("cat", "dog", "apple", "banana", "cow", "horse"), 2
    )
    every = ids()
    for smaller, larger in ((1, 7), (7, 12), (12, 31), (31, 60)):
        assert set(ids(size=str(smaller))) < set(ids(size=str(larger)))
    assert [i for i in every if i in set(ids(size="12"))] == ids(size="12"), "the suite's order is kept"


class _Telling(FakeSame):
    def remarks(self, size: str) -> list[str]:
        return [f"told of size {size}"]


def test_checks_have_remarks_as_the_suite_has_each_once() -> None:
    checks = (bound("check", _Telling, "one"), bound("check", _Telling, "two"), bound("check", FakeSame, "silent"))
    assert remarks(dataclasses.replace(fake_spec(10), checks=checks)) == ["told of size full"]


def test_a_sample_depends_on_the_seed_alone() -> None:
    assert ids(size="7") == ids(size="7")
    assert ids(size="7") != ids(size="7", seed=1)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"size": "61"}, "[option-invalid]"),
        ({"size": "huge"}, "[option-invalid]"),
        ({"size": "0"}, "--size is '0'"),
        ({"size": "²"}, "--size is '²'"),
        ({"only": (("law", "x"),)}, "[label-unknown]"),
        ({"only": (("first", "cta"),)}, "Known: apple, banana, cat, cow, dog, horse. [label-value-unknown]"),
        ({"only": (("first", "cat"), ("second", "cat"))}, "[labels-match-nothing]"),
        ({"size": "11", "only": (("first", "cat"),)}, "[option-invalid]"),
    ],
)
def test_what_cannot_be_planned_says_what_could(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        ids(**changes)
    assert told in str(caught.value)


def test_only_keeps_cases_with_every_label() -> None:
    chosen = list(planned_cases(fake_spec(60, only=(("first", "cat"),))))
    assert len(chosen) == 10
    assert {case.labels["first"] for case in chosen} == {"cat"}


class BrokenSuite:
    version: ClassVar[str] = "1"
    sizes: ClassVar[tuple[str, ...]] = ("full",)

    def __init__(self, options: NoOptions) -> None: ...

    def cases(self, size: str) -> Iterator[Case]:
        yield from FakeSuite(FakeSuite.Options()).cases("quick")
        raise KeyError("entities")


@pytest.mark.parametrize("size", ["full", "1"])
def test_a_suite_that_breaks_off_is_its_authors_business(size: str) -> None:
    with pytest.raises(PluginError, match="the suite 'brokensuite' broke off: KeyError: 'entities'"):
        list(planned_cases(fake_spec(suite=bound("suite", BrokenSuite), size=size)))


def test_every_wording_of_a_case_gets_the_same_seed_and_every_repeat_another() -> None:
    case = next(planned_cases(fake_spec()))
    requests = requests_of(case, 3, run_seed=5)
    assert [(r.repeat, r.prompt.role) for r in requests] == [(k, role) for k in range(3) for role in "ab"]
    assert len({r.seed for r in requests}) == 3
    assert requests[0].seed == requests[1].seed


def request(text: str = "cat", formula: str | None = "cat", seed: int = 1, repeat: int = 0) -> RenderRequest:
    return RenderRequest(prompt=Prompt(role="a", text=text, formula=formula), seed=seed, repeat=repeat)


def test_a_render_key_changes_with_everything_that_can_change_the_picture_and_nothing_else() -> None:
    actor = Actor.of(bound("model", FakeGenerator))
    key = actor.render_key(request())
    others = [request("dog"), request(formula="dog"), request(seed=2), request(repeat=1)]
    assert len({key, *(actor.render_key(other) for other in others)}) == 5
    assert Actor.of(bound("model", FakeGenerator, omits=0.5)).render_key(request()) != key
    assert Actor.of(bound("model", FakeGenerator, batch=7)).render_key(request()) == key, "batch size is not keyed"

    class Reader(FakeGenerator):
        about = About(sees_formula=False)

    blind = Actor.of(bound("model", Reader))
    assert blind.render_key(request()) == blind.render_key(request(formula="dog"))


def test_a_look_key_leaves_out_labels_nobody_sees() -> None:
    class Grounded(FakeDetector):
        about = About(takes_labels=True)

    query, other = Query(role="detector", labels=("cat",)), Query(role="detector", labels=("dog",))
    for component, is_same in ((FakeDetector, True), (Grounded, False)):
        actor = Actor.of(bound("detector", component))
        keys = [actor.observation_key("1" * 40, actor.keyed_query(q), {}) for q in (query, other)]
        assert (keys[0] == keys[1]) is is_same
        assert actor.observation_key("1" * 40, query, {"reader": "k"}) != actor.observation_key("1" * 40, query, {})


def test_one_name_in_two_roles_is_two_components() -> None:
    assert (
        Actor.of(bound("detector", FakeDetector)).component_id != Actor.of(bound("reader", FakeDetector)).component_id
    )


def test_a_sample_is_spread_over_all_categories_and_nested() -> None:
    def drawn(n: int) -> list[Case]:
        return list(planned_cases(make_plan(RunSpec.of(suite="metalogic", size=str(n)))))

    def n_of(cases: list[Case]) -> tuple[int, set[int]]:
        counts = Counter(case.category for case in cases)
        return len(counts), set(counts.values())

    assert [n_of(drawn(n)) for n in (12, 21, 63, 70)] == [(12, {1}), (21, {1}), (21, {3}), (21, {3, 4})]
    ids = [{case.case_id for case in drawn(n)} for n in (12, 21, 63, 70)]
    assert ids[0] < ids[1] < ids[2] < ids[3], "nested"


def test_without_a_size_it_is_quick_or_the_first_that_a_suite_has(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_plan(RunSpec.of(suite="metalogic", models=("painter",))).spec.size == "quick"
    monkeypatch.setattr(MetaLogic, "sizes", ("some", "all"))
    assert make_plan(RunSpec.of(suite="metalogic", models=("painter",))).spec.size == "some"
    with pytest.raises(UsageError) as refused:
        make_plan(RunSpec.of(suite="metalogic", models=("painter",), size="quick"))
    assert refused.value.code == "option-invalid"
