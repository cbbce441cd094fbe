"""How long the logic core takes to decide, from cold, and to hold a scene against a formula, warm.

Prints one table; every decision is made on formulas not seen before in this process.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable

from salva.core.scene import Scene, Thing
from salva.logic.equivalence import are_equivalent, is_determinate
from salva.logic.notation import parse
from salva.logic.satisfaction import explain, satisfies

NAMES = ["cat", "dog", "apple", "banana", "cow", "horse", "sheep", "bird", "car", "bus", "boat", "chair"]


def tree(rng: random.Random, names: list[str], counts: int) -> str:
    """A random formula that mentions every name once."""
    if len(names) == 1:
        return f"{rng.randint(1, counts)} {names[0]}"
    k = rng.randrange(1, len(names))
    parts = (tree(rng, names[:k], counts), tree(rng, names[k:], counts))
    return f"{rng.choice(('', '!'))}({parts[0]} {rng.choice('&|')} {parts[1]})"


def median_ms(work: list[Callable[[], object]]) -> float:
    """The middle time of a piece of work."""
    times = []
    for one in work:
        start = time.perf_counter()
        one()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def main() -> None:
    """Measure and print."""
    rng = random.Random(1)
    rows = []
    for n_entities, counts, wanted in ((2, 1, "1"), (3, 1, "1"), (3, 10, "1"), (12, 1, "1,000"), (12, 10, "1,000")):
        texts = [tree(rng, rng.sample(NAMES, n_entities), counts) for _ in range(200)]
        pairs = [(parse(text), parse(f"!!({text})")) for text in dict.fromkeys(texts)]
        what = f"{n_entities} entities, counts to {counts}"
        rows.append((f"equivalent? {what}", median_ms([lambda p=p: are_equivalent(*p) for p in pairs]), wanted))
        rows.append((f"determinate? {what}", median_ms([lambda p=p: is_determinate(p[0]) for p in pairs]), wanted))
    formula = parse("cat@right & (dog@left & apple@middle | apple@middle & dog@left)")
    scene = Scene(
        things=tuple(
            Thing(label=label, box=(x, 0.4, x + 0.1, 0.5)) for label, x in (("cat", 0.2), ("dog", 0.8), ("apple", 0.5))
        )
    )
    satisfies(formula, scene)
    rows.append(("scene against formula, warm", median_ms([lambda: satisfies(formula, scene)] * 500), ""))
    rows.append(("explanation, warm", median_ms([lambda: explain(formula, scene)] * 500), ""))
    print(f"{'what':<46} {'median ms':>10} {'wanted under':>13}")
    for what, ms, wanted in rows:
        print(f"{what:<46} {ms:>10.3f} {wanted:>13}")


if __name__ == "__main__":
    main()
