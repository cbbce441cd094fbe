"""Which scenes are right, against a slow second opinion, and what must hold for any formula and scene.

SALVA_PROVE multiplies how much is tried; `make prove` sets it.
"""

from __future__ import annotations

import os
import random

import pytest
from logic.slow_truth import NAMES, SlowTruth, axis, leaves, random_formula, random_scene

from salva.core.scene import Scene, Thing
from salva.logic.formula import Atom, Formula, Or, Related
from salva.logic.notation import parse, to_notation
from salva.logic.rewrite import rewrites
from salva.logic.satisfaction import explain, satisfies
from salva.logic.worlds import World, worlds

EFFORT = int(os.environ.get("SALVA_PROVE", "1"))


def at(*things: tuple[str, float]) -> Scene:
    return Scene(things=tuple(Thing(label=name, box=(x - 0.05, 0.45, x + 0.05, 0.55)) for name, x in things))


@pytest.mark.parametrize("seed", range(4))
def test_the_quick_answer_is_the_slow_one(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(500 * EFFORT):
        f, scene = random_formula(rng, rng.randint(1, 4)), random_scene(rng, 3)
        reading = rng.choice(("exact", "at-least"))
        beside = random_formula(rng, 2) if rng.random() < 0.3 else None
        right = SlowTruth(f, beside, reading).is_right(scene)
        assert satisfies(f, scene, reading, beside=beside) is right, (to_notation(f), reading, scene)
        if beside is None and worlds(f, reading, limit=1):
            assert (explain(f, scene, reading) == ()) is right


def test_every_law_keeps_the_truth_of_every_scene() -> None:
    rng = random.Random(7)
    for _ in range(60 * EFFORT):
        f = random_formula(rng, rng.randint(1, 4))
        scenes = [random_scene(rng, 4) for _ in range(6)]
        for rewrite in list(rewrites(f))[:6]:
            g = rewrite.formula
            for scene in scenes:
                one, other = satisfies(f, scene, beside=g), satisfies(g, scene, beside=f)
                assert one is other, (to_notation(f), to_notation(g), scene)


def test_what_is_right_stays_right_beside_an_alternative_about_something_else() -> None:
    rng = random.Random(9)
    for _ in range(150 * EFFORT):
        f, q = random_formula(rng, 3, ("cat", "dog")), random_formula(rng, 2, ("bird", "cow"))
        either = Or(f, q)
        for scene in (random_scene(rng, 3, ("cat", "dog", "bird")) for _ in range(6)):
            if satisfies(f, scene, beside=either):
                assert satisfies(either, scene, beside=f), (to_notation(either), scene)


def test_putting_each_thing_in_its_third_paints_every_world() -> None:
    rng = random.Random(11)
    for _ in range(150 * EFFORT):
        f = random_formula(rng, rng.randint(1, 4))
        if not any(isinstance(leaf, Related) for leaf in leaves(f)):
            for world in worlds(f, limit=12):
                assert satisfies(f, painted(f, world)), (to_notation(f), world)


def painted(f: Formula, world: World) -> Scene:
    named: dict[tuple[str, int], set[int]] = {}
    for leaf in leaves(f):
        if isinstance(leaf, Atom) and leaf.place:
            named.setdefault((leaf.entity, axis(leaf.place)), set()).add(NAMES[leaf.place])
    rank = {"left": 0, "top": 0, "middle": 1, "right": 2, "bottom": 2}
    things = []
    for number, thing in enumerate(world.things):
        where = []
        for which, place in enumerate((thing.x, thing.y)):
            free = {0, 1, 2} - named.get((thing.entity, which), set())
            third = 1 if place is None else min(free) if place == "elsewhere" else rank[place]
            where.append((third + 0.5) / 3 + 0.01 * number - 0.03)
        x, y = where
        colour = "green" if thing.colour == "other" else thing.colour
        things.append(Thing(label=thing.entity, box=(x - 0.01, y - 0.01, x + 0.01, y + 0.01), colour=colour))
    return Scene(things=tuple(things))


@pytest.mark.parametrize(
    ("formula", "scene", "is_right"),
    [
        # A plain conjunction goes by the order of centres, in whichever half both stand.
        ("cat@left & dog@right", at(("cat", 0.6), ("dog", 0.8)), True),
        ("cat@left & dog@right", at(("cat", 0.8), ("dog", 0.6)), False),
        ("cat@left & dog@right", at(("cat", 0.5), ("dog", 0.5)), False),
        # One that is said alone goes by halves.
        ("cat@right | dog@left", at(("cat", 0.7), ("dog", 0.9)), True),
        ("cat@right | dog@left", at(("cat", 0.3), ("dog", 0.9)), False),
        ("(cat@left & dog@right) | bird", at(("cat", 0.6), ("dog", 0.8)), True),
        ("(cat@left & dog@right) | bird", at(("cat", 0.8), ("dog", 0.6)), False),
        ("cat & !cat@left & !cat@right", at(("cat", 0.5)), True),
        ("cat & !cat@left & !cat@right", at(("cat", 0.2)), False),
        ("cat@left & 2 cat & dog@right", at(("cat", 0.1), ("cat", 0.9), ("dog", 0.6)), True),
        ("!cat@left & cat", at(("cat", 0.9)), True),
        ("!cat@left & cat", at(("cat", 0.1)), False),
    ],
)
def test_places(formula: str, scene: Scene, is_right: bool) -> None:
    assert satisfies(parse(formula), scene) is is_right


def test_with_all_three_places_named_nothing_is_elsewhere() -> None:
    f = parse("cat & !cat@left & !cat@x-middle & !cat@right")
    assert worlds(f) == ()


def test_no_world_is_printed_that_nobody_can_paint() -> None:
    # A cat that is neither on the left nor in the middle is on the right, and cannot stand left of a dog on the left.
    assert worlds(parse("left_of(cat, dog) & !cat@left & !cat@x-middle & dog@left")) == ()
