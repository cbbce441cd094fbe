"""A slow second opinion on which scenes are right: lists every dealing, every set and every world.

Written from the rule alone; imports nothing that decides anything, only the shape of formulas and scenes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations, product

from salva.core.scene import Scene, Thing
from salva.logic.formula import And, Atom, Formula, Not, Or, Related, Side

NAMES = {"left": 0, "x-middle": 1, "right": 2, "top": 0, "y-middle": 1, "bottom": 2}
RELATIONS = ("left_of", "right_of", "above", "below", "left_of", "above", "on", "next_to", "near", "larger_than")
ELSE = -1
Kind = tuple[str, str | None, int | None, int | None]
"""Entity, colour ("other" for none of the named), rank on x and on y (ELSE elsewhere, None not spoken of)."""
Stated = dict[tuple[str | None, str | None], int]


def leaves(f: Formula) -> list[Atom | Related]:
    if isinstance(f, Atom | Related):
        return [f]
    return leaves(f.part) if isinstance(f, Not) else leaves(f.left) + leaves(f.right)


def rank_of(kind: Kind, which: int) -> int | None:
    """Its rank on an axis, ELSE for elsewhere, None where none is spoken of."""
    return kind[3] if which else kind[2]


def axis(place: str) -> int:
    return 0 if place in ("left", "x-middle", "right") else 1


def asserted(f: Formula, is_denied: bool = False) -> list[Atom | Related]:
    """The leaves under an even number of denials; relations whether or not."""
    if isinstance(f, Atom | Related):
        return [f] if isinstance(f, Related) or not is_denied else []
    if isinstance(f, Not):
        return asserted(f.part, not is_denied)
    return asserted(f.left, is_denied) + asserted(f.right, is_denied)


def stated(said: Sequence[Atom | Related], entity: str) -> Stated:
    numbers: Stated = {}
    for leaf in said:
        if isinstance(leaf, Atom) and leaf.entity == entity:
            key = (leaf.colour, leaf.place)
            numbers[key] = max(numbers.get(key, 0), leaf.count)
        elif isinstance(leaf, Related):
            for name, side in ((leaf.first, leaf.first_side), (leaf.second, leaf.second_side)):
                if name == entity:
                    numbers[side.colour, None] = max(numbers.get((side.colour, None), 0), side.count)
    return numbers


def matches(kind: Kind, colour: str | None, place: str | None) -> bool:
    if colour is not None and kind[1] != colour:
        return False
    return place is None or rank_of(kind, axis(place)) == NAMES[place]


def most(f: Formula, entity: str, colour: str | None, place: str | None) -> int:
    """The largest number said of anything inside, or the largest sum of what is asserted and lies apart."""

    def inside(numbers: Stated) -> Stated:
        return {k: n for k, n in numbers.items() if colour in (None, k[0]) and place in (None, k[1])}

    def apart(a: tuple[str | None, str | None], b: tuple[str | None, str | None]) -> bool:
        if a[0] and b[0] and a[0] != b[0]:
            return True
        return bool(a[1] and b[1] and a[1] != b[1] and axis(a[1]) == axis(b[1]))

    best = max(inside(stated(leaves(f), entity)).values(), default=0)
    numbers = inside(stated(asserted(f), entity))
    for size in range(2, len(numbers) + 1):
        for chosen in combinations(numbers, size):
            if all(apart(a, b) for a, b in combinations(chosen, 2)):
                best = max(best, sum(numbers[k] for k in chosen))
    return best


class SlowTruth:
    """One formula, alone or beside another, under one rule of counting."""

    def __init__(self, f: Formula, beside: Formula | None, counts: str) -> None:
        self.f, self.others, self.counts = f, [f] + ([beside] if beside else []), counts
        mentioned = [leaf for g in self.others for leaf in leaves(g)]
        self.entities = sorted(
            {e for leaf in mentioned for e in ((leaf.entity,) if isinstance(leaf, Atom) else (leaf.first, leaf.second))}
        )
        self.relations = sorted({leaf for leaf in mentioned if isinstance(leaf, Related)}, key=str)
        self.colours: dict[str, set[str]] = {e: set() for e in self.entities}
        self.places: dict[str, tuple[set[int], set[int]]] = {e: (set(), set()) for e in self.entities}
        for leaf in mentioned:
            if isinstance(leaf, Related):
                for name, side in ((leaf.first, leaf.first_side), (leaf.second, leaf.second_side)):
                    self.colours[name] |= {side.colour} if side.colour else set()
            else:
                if leaf.colour:
                    self.colours[leaf.entity].add(leaf.colour)
                if leaf.place:
                    self.places[leaf.entity][axis(leaf.place)].add(NAMES[leaf.place])

    def is_right(self, scene: Scene) -> bool:
        things = [t for t in scene.things if t.label in self.entities]
        facts = {r: holds(r, things) for r in self.relations}
        return any(
            self.is_world(kinds, facts) and any(self.fits(things, kinds, s) for s in self.smallest(kinds, facts))
            for kinds in product(*(self.open_kinds(t) for t in things))
        )

    def open_kinds(self, thing: Thing) -> Iterator[Kind]:
        colour: str | None = None
        if self.colours[thing.label]:
            colour = thing.colour if thing.colour in self.colours[thing.label] else "other"
        options: list[list[int | None]] = []
        for which, at in enumerate((thing.x, thing.y)):
            named = self.places[thing.label][which]
            options.append([None] if not named else [*named, *([] if third(at) in named else [ELSE])])
        for x, y in product(*options):
            yield thing.label, colour, x, y

    def is_world(self, kinds: Sequence[Kind], facts: dict[Related, bool]) -> bool:
        return self.is_exact(kinds) and self.evaluate(self.f, kinds, facts) and self.can_be_painted(kinds, facts)

    def is_exact(self, kinds: Sequence[Kind]) -> bool:
        if self.counts != "exact":
            return True
        for entity in self.entities:
            own = stated(leaves(self.f), entity)
            rest = [g for g in self.others[1:] if stated(leaves(g), entity)]
            limits = {}
            for numbers in (own, *(stated(leaves(g), entity) for g in rest)):
                for key in (*numbers, (None, None)):
                    is_own = own and (key in own or key == (None, None))
                    use = self.f if is_own or not rest else rest[0]
                    limits[key] = most(use, entity, *key)
            for (colour, place), limit in limits.items():
                if sum(k[0] == entity and matches(k, colour, place) for k in kinds) > limit:
                    return False
        return True

    def evaluate(self, f: Formula, kinds: Sequence[Kind], facts: dict[Related, bool]) -> bool:
        if isinstance(f, Atom):
            return sum(k[0] == f.entity and matches(k, f.colour, f.place) for k in kinds) >= f.count
        if isinstance(f, Related):
            return facts[f]
        if isinstance(f, Not):
            return not self.evaluate(f.part, kinds, facts)
        both = (self.evaluate(f.left, kinds, facts), self.evaluate(f.right, kinds, facts))
        return all(both) if isinstance(f, And) else any(both)

    def can_be_painted(self, kinds: Sequence[Kind], facts: dict[Related, bool]) -> bool:
        """Whether things in the thirds of their places can stand in just these relations."""
        return all(self.line(kinds, facts, which) is not None for which in (0, 1))

    def line(self, kinds: Sequence[Kind], facts: dict[Related, bool], which: int) -> tuple[int, ...] | None:
        """Places on an axis at which the things stand in just these relations; None where there are none."""
        words = ("above", "below") if which else ("left_of", "right_of")
        # What is on something is above it; what is not on it may be anywhere.
        wanted = [(r, v) for r, v in facts.items() if r.relation in words or (which and v and r.relation == "on")]
        lines = self.lines(kinds, which)
        if not wanted:
            return next(lines)
        return next((line for line in lines if all(lined_up(r, kinds, line) == v for r, v in wanted)), None)

    def lines(self, kinds: Sequence[Kind], which: int) -> Iterator[tuple[int, ...]]:
        """Every order of the things on an axis, each in a third it may be in; equal numbers are equal centres."""
        options = []
        for kind in kinds:
            rank, named = rank_of(kind, which), self.places[kind[0]][which]
            thirds = {0, 1, 2} if rank is None else {0, 1, 2} - named if rank == ELSE else {rank}
            options.append([10 * t + step for t in thirds for step in range(len(kinds))])
        return product(*options)

    def smallest(self, kinds: Sequence[Kind], facts: dict[Related, bool]) -> list[frozenset[int]]:
        placed = [i for i, k in enumerate(kinds) if any(v is not None and v != ELSE for v in k[2:])]
        enough: list[frozenset[int]] = []
        for size in range(len(placed) + 1):
            for chosen in map(frozenset, combinations(placed, size)):
                if not any(s <= chosen for s in enough) and self.is_enough(kinds, facts, placed, chosen):
                    enough.append(chosen)
        return enough

    def is_enough(
        self, kinds: Sequence[Kind], facts: dict[Related, bool], placed: list[int], chosen: frozenset[int]
    ) -> bool:
        options = [self.anywhere(k) if i in placed and i not in chosen else [k] for i, k in enumerate(kinds)]
        return all(self.is_world(other, facts) for other in product(*options) if self.can_be_painted(other, facts))

    def anywhere(self, kind: Kind) -> list[Kind]:
        ways: list[list[int | None]] = []
        for named in self.places[kind[0]]:
            ways.append([None] if not named else [*named, *([] if len(named) == 3 else [ELSE])])
        return [(kind[0], kind[1], x, y) for x, y in product(*ways)]

    def fits(self, things: Sequence[Thing], kinds: Sequence[Kind], chosen: frozenset[int]) -> bool:
        for which in (0, 1):
            at = [(t.x, t.y)[which] for t in things]
            ranks = {i: rank_of(kind, which) for i, kind in enumerate(kinds)}
            ranked = {i: rank for i, rank in ranks.items() if rank is not None and rank != ELSE}
            for i, rank in ranked.items():
                company = [j for j, other in ranked.items() if j in chosen and other != rank]
                if i in chosen and company:
                    if not all((at[i] < at[j]) if rank < ranked[j] else (at[i] > at[j]) for j in company):
                        return False
                elif not is_at(at[i], rank):
                    return False
        return True


def third(at: float) -> int:
    return 0 if at < 1 / 3 else 2 if at > 2 / 3 else 1


def is_at(at: float, rank: int) -> bool:
    return (at < 0.5, third(at) == 1, at > 0.5)[rank]


def holds(relation: Related, things: Sequence[Thing]) -> bool:
    """Whether so many of the one each stand so to so many of the other."""
    first, second = (
        [thing for thing in things if thing.label == name and side.colour in (None, thing.colour)]
        for name, side in ((relation.first, relation.first_side), (relation.second, relation.second_side))
    )
    n_so = sum(sum(stands(relation.relation, a, b) for b in second) >= relation.second_side.count for a in first)
    return n_so >= relation.first_side.count


def stands(relation: str, a: Thing, b: Thing) -> bool:
    """Whether one thing stands so to another; lengths in sides of the picture."""
    if relation in ("right_of", "below", "smaller_than"):
        return stands({"right_of": "left_of", "below": "above", "smaller_than": "larger_than"}[relation], b, a)
    if relation == "left_of":
        return a.x < b.x
    if relation == "above":
        return a.y < b.y
    if relation == "larger_than":
        return longer_side(a) > longer_side(b) + 1e-9
    is_on = [rests(a, b), rests(b, a)]
    if relation == "on":
        return is_on[0]
    (left_a, top_a, right_a, bottom_a), (left_b, top_b, right_b, bottom_b) = a.box, b.box
    across, down = max(left_b - right_a, left_a - right_b, 0), max(top_b - bottom_a, top_a - bottom_b, 0)
    return (relation == "near" or not any(is_on)) and (across**2 + down**2) ** 0.5 <= 0.25 + 1e-9


def longer_side(thing: Thing) -> float:
    left, top, right, bottom = thing.box
    return max(right - left, bottom - top)


def rests(a: Thing, b: Thing) -> bool:
    """A's lower edge is at most a twentieth above b's upper edge, and half of the narrower is over the other."""
    (left_a, _, right_a, bottom_a), (left_b, top_b, right_b, _) = a.box, b.box
    shared = min(right_a, right_b) - max(left_a, left_b)
    half = min(right_a - left_a, right_b - left_b) / 2
    return a.y < b.y and shared > 0 and shared >= half - 1e-9 and top_b <= bottom_a + 0.05 + 1e-9


def lined_up(relation: Related, kinds: Sequence[Kind], line: Sequence[int]) -> bool:
    is_less = relation.relation in ("left_of", "above", "on")
    first, second = (
        [at for at, kind in zip(line, kinds, strict=True) if kind[0] == name and side.colour in (None, kind[1])]
        for name, side in ((relation.first, relation.first_side), (relation.second, relation.second_side))
    )
    n_so = sum(sum(a < b if is_less else a > b for b in second) >= relation.second_side.count for a in first)
    return n_so >= relation.first_side.count


COLOURS = ("red", "red", "blue", "green", None)
"""What things of a scene may look like: formulas speak of red alone, and of some things nobody can tell."""


def random_formula(rng: random.Random, n_leaves: int, names: Sequence[str] = ("cat", "dog", "bird")) -> Formula:
    """A formula of counts, colours, places and orders."""
    if n_leaves == 1:
        if rng.random() < 0.15:
            return random_relation(rng, names)
        place = rng.choice((None, "left", "right", "left", "right", "x-middle", "top", "bottom"))
        count = rng.choice((1, 1, 1, 2))
        return Atom(rng.choice(names), count=count, colour=rng.choice((None, None, None, "red")), place=place)
    n_left = rng.randint(1, n_leaves - 1)
    left, right = random_formula(rng, n_left, names), random_formula(rng, n_leaves - n_left, names)
    whole: Formula = (And if rng.random() < 0.55 else Or)(left, right)
    return Not(whole) if rng.random() < 0.2 else whole


def random_relation(rng: random.Random, names: Sequence[str]) -> Related:
    """A relation, half of them with a number or a colour."""
    (first, second), relation = rng.sample(names, 2), rng.choice(RELATIONS)
    if rng.random() < 0.5:
        return Related(relation, first, second)
    if rng.random() < 0.2:
        return Related(relation, first, first, Side(1, "red"), Side(1, "blue"))
    one, other = (Side(rng.choice((1, 1, 2)), rng.choice((None, None, "red"))) for _ in range(2))
    return Related(relation, first, second, one, other)


def random_scene(rng: random.Random, most_things: int, names: Sequence[str] = ("cat", "dog", "bird")) -> Scene:
    """Things on a grid with equal centres, on the lines between thirds and halves as well."""
    grid = (0.1, 0.2, 0.3, 1 / 3, 0.4, 0.45, 0.5, 0.55, 0.6, 2 / 3, 0.7, 0.8, 0.9)
    things = []
    for _ in range(rng.randint(0, most_things)):
        x, y = rng.choice(grid), rng.choice(grid)
        wide, high = rng.choice((0.05, 0.05, 0.15)), rng.choice((0.05, 0.05, 0.1))
        box = (x - wide, y - high, x + wide, y + high)
        things.append(Thing(label=rng.choice(names), box=box, colour=rng.choice(COLOURS)))
    return Scene(things=tuple(things))
