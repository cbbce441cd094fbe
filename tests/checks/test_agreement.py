"""The two relations and the logic core agree with each other on every MetaLogic category."""

from __future__ import annotations

import pytest
from checks.planted import At, judge, pair, row, things
from hypothesis import given
from hypothesis import strategies as st
from strategies import plain_formulas

from salva.checks.same_scene import SameScene, SameSceneOptions
from salva.checks.scenes import SceneOptions
from salva.checks.truth import Truth
from salva.core.case import Case
from salva.core.observation import Detections
from salva.core.verdict import ENTITY_DUPLICATION, ENTITY_OMISSION, Outcome
from salva.logic.equivalence import is_contradictory
from salva.logic.formula import Formula, entities
from salva.logic.notation import parse, to_notation
from salva.logic.worlds import World, worlds
from salva.suites.metalogic.suite import MetaLogic, MetaLogicOptions

SUITE = MetaLogic(MetaLogicOptions())
OWN = {case.category: case for case in reversed(list(SUITE.cases("beyond")))}
CASES = [*SUITE.cases("quick"), *OWN.values()]
DETERMINATE = [case for case in CASES if case.determinate]

SAME = SameScene(SameSceneOptions(indeterminate="same-scene"))
TRUTH = Truth(SceneOptions())

ALONG = {None: 0.5, "left": 0.15, "top": 0.15, "middle": 0.5, "right": 0.85, "bottom": 0.85, "elsewhere": 0.2}


def worlds_of(case: Case) -> tuple[World, ...]:
    return worlds(parse(case.prompts[0].formula or ""))


def painted(world: World) -> list[At]:
    """The things of a world, each at its place and apart from the others."""
    return [
        (
            thing.entity,
            ALONG[thing.x] + (0.02 if thing.y else 0.03) * i,
            ALONG[thing.y] + (0.0 if thing.y else 0.03) * i,
        )
        for i, thing in enumerate(world.things)
    ]


def is_paintable(world: World) -> bool:
    """Beside a thing at one end, "elsewhere" is the other end, which the De Morgan templates name as well."""
    places = {place for thing in world.things for place in (thing.x, thing.y)}
    return "elsewhere" not in places or len({thing.entity for thing in world.things}) == 1


def seen(world: World) -> Detections:
    return things(*painted(world))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.category)
def test_every_world_of_a_prompt_holds(case: Case) -> None:
    ends = {"de-morgan-x", "de-morgan-y"}
    paintable = [w for w in worlds_of(case) if case.category not in ends or is_paintable(w)]
    assert paintable
    for one in paintable:
        for other in paintable:
            concluded = judge(TRUTH, case, seen(one), seen(other))
            assert concluded.outcome is Outcome.PASS, (case.case_id, painted(one), painted(other), concluded)


@pytest.mark.parametrize("case", DETERMINATE, ids=lambda case: case.category)
def test_one_thing_less_or_more_breaks_both_relations(case: Case) -> None:
    (world,) = worlds_of(case)
    right = painted(world)
    for i, (label, x, y) in enumerate(right):
        for wrong, error in (
            (right[:i] + right[i + 1 :], ENTITY_OMISSION),
            ([*right, (label, x + 0.01, y + 0.12)], ENTITY_DUPLICATION),
        ):
            for check in (SAME, TRUTH):
                concluded = judge(check, case, things(*right), things(*wrong))
                assert concluded.failure_types[-1] == error
                assert {(f.role, f.entity) for f in concluded.failures if f.failure_type == error} == {("b", label)}


PLACED = st.lists(
    st.tuples(
        st.sampled_from(["cat", "dog", "apple"]),
        st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]),
        st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]),
    ),
    min_size=1,
    max_size=4,
    unique=True,
)


@given(a=PLACED, b=PLACED, case=st.sampled_from(DETERMINATE))
def test_two_right_images_of_a_determinate_pair_are_the_same(a: list[At], b: list[At], case: Case) -> None:
    scores = judge(TRUTH, case, things(*a), things(*b)).scores
    same = judge(SAME, case, things(*a), things(*b)).outcome is Outcome.PASS
    if scores["right_a"] and scores["right_b"]:
        assert same
    if same:
        assert scores["right_a"] == scores["right_b"]
        assert scores["both_wrong"] == 1 - scores["right_a"]


@given(
    labels=st.permutations(["cat", "dog", "apple"]),
    at=st.permutations([0.1, 0.25, 0.5, 0.6, 0.95]),
    case=st.sampled_from([case for case in DETERMINATE if case.labels.get("modifier") in {"x", "y"}]),
)
def test_for_placed_things_same_is_what_both_get_right_or_wrong(labels: list[str], at: list[float], case: Case) -> None:
    right = seen(worlds_of(case)[0])
    other = things(*((label, x, x) for label, x in zip(labels, at, strict=False) if label in case.labels["entities"]))
    concluded = judge(TRUTH, case, right, other)
    assert concluded.scores["right_a"] == 1.0
    assert (judge(SAME, case, right, other).outcome is Outcome.PASS) == (concluded.scores["right_b"] == 1.0)


@given(formula=plain_formulas(), data=st.data())
def test_any_formulas_worlds_hold_and_no_other_scene_does(formula: Formula, data: st.DataObject) -> None:
    case = pair(to_notation(formula))
    assert TRUTH.applies(case) is not is_contradictory(formula)
    counts = data.draw(st.fixed_dictionaries({entity: st.integers(0, 3) for entity in ("cat", "dog", "apple")}))
    labels = [label for label, n in counts.items() for _ in range(n)]
    scene = row(*labels)
    if TRUTH.applies(case):
        named = {label: n for label, n in counts.items() if label in entities(formula)}
        is_world = any(
            all(sum(thing.entity == label for thing in world.things) == n for label, n in named.items())
            for world in worlds(formula)
        )
        assert (judge(TRUTH, case, scene, scene).outcome is Outcome.PASS) is is_world
