"""How long the logic core takes to decide, from cold, and to hold a scene against a formula, warm.

Prints one table; every decision is made on formulas not seen before in this process, every scene is new to its formula,
and times are those of the processor, so that another program beside it changes little.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial

from salva.core.scene import Scene, Thing
from salva.logic.equivalence import are_equivalent, is_determinate
from salva.logic.notation import parse
from salva.logic.satisfaction import discrepancies, satisfies

NAMES = ["cat", "dog", "apple", "banana", "cow", "horse", "sheep", "bird", "car", "bus", "boat", "chair"]


WARM = (
    ("cat@right & (dog@left & apple@middle | apple@middle & dog@left)", {"cat": 1, "dog": 1, "apple": 1}, "0.1"),
    ("cat@right | dog@left", {"cat": 1, "dog": 1}, "0.1"),
    ("12 cat@left | 12 cat@right", {"cat": 12}, "0.1"),
    ("4 cat@left & 4 cat@middle & 4 cat@right", {"cat": 12}, "0.1"),
    ("6 cat@left & 6 dog@right", {"cat": 6, "dog": 6}, "0.1"),
    ("3 red cat@left & 3 blue cat@right & 3 dog@top & 3 dog@bottom", {"cat": 6, "dog": 6}, "0.1"),
)
"""Formulas that are known already, and how many things of each a scene has that was never seen."""


def scattered(rng: random.Random, things: dict[str, int]) -> Scene:
    """A scene with so many things anywhere."""
    placed = []
    for label, n in things.items():
        for _ in range(n):
            x, y = rng.random() * 0.9, rng.random() * 0.9
            placed.append(Thing(label=label, box=(x, y, x + 0.1, y + 0.1), colour=rng.choice(("red", "blue"))))
    return Scene(things=tuple(placed))


def tree(rng: random.Random, names: list[str], counts: int) -> str:
    """A random formula that mentions every name once."""
    if len(names) == 1:
        return f"{rng.randint(1, counts)} {names[0]}"
    k = rng.randrange(1, len(names))
    parts = (tree(rng, names[:k], counts), tree(rng, names[k:], counts))
    return f"{rng.choice(('', '!'))}({parts[0]} {rng.choice('&|')} {parts[1]})"


def median_ms(work: Sequence[Callable[[], object]]) -> float:
    """The middle time of a piece of work."""
    times = []
    for one in work:
        start = time.process_time()
        one()
        times.append(time.process_time() - start)
    return statistics.median(times) * 1000


def main() -> None:
    """Measure and print."""
    rng = random.Random(1)
    rows = []
    for n_entities, counts, wanted in ((2, 1, "1"), (3, 1, "1"), (3, 10, "1"), (12, 1, "1,000"), (12, 10, "1,000")):
        texts = [tree(rng, rng.sample(NAMES, n_entities), counts) for _ in range(200)]
        pairs = [(parse(text), parse(f"!!({text})")) for text in dict.fromkeys(texts)]
        what = f"{n_entities} entities, counts to {counts}"
        rows.append((f"equivalent? {what}", median_ms([partial(are_equivalent, *pair) for pair in pairs]), wanted))
        rows.append((f"determinate? {what}", median_ms([partial(is_determinate, one) for one, _ in pairs]), wanted))
    for notation, things, wanted in WARM:
        formula = parse(notation)
        scenes = [scattered(rng, things) for _ in range(520)]
        for scene in scenes[:20]:
            satisfies(formula, scene)
        work = [partial(satisfies, formula, scene) for scene in scenes[20:]]
        rows.append((f"new scene, {sum(things.values())} things, {notation}", median_ms(work), wanted))
    formula = parse(WARM[0][0])
    scenes = [scattered(rng, WARM[0][1]) for _ in range(500)]
    explained = [partial(discrepancies, formula, scene) for scene in scenes]
    rows.append(("what is wrong with it, new scene, 3 things", median_ms(explained), ""))
    print(f"{'what':<96} {'median ms':>10} {'wanted under':>13}")
    for what, ms, wanted in rows:
        print(f"{what:<96} {ms:>10.3f} {wanted:>13}")


if __name__ == "__main__":
    main()
