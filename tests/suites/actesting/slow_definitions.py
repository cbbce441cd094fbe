"""The paper's and its program's rules a second time: over plain lists, step by step, sharing no line with salva's own.

A picture is a list of (class, score) and a list of (place, predicate, place), both the strongest first.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Plain:
    """What a scene graph model says of one picture."""

    boxes: list[tuple[str, float]]
    relations: list[tuple[int, str, int]]


@dataclass
class Change:
    """A mutation as the published files write it."""

    operator: str
    old: str = ""
    new: str = ""
    """What was changed for what."""
    lost: str = ""
    lost_triples: tuple[tuple[str, str, str], ...] = ()
    gained: str = ""
    gained_predicate: str = ""
    classes: tuple[str, ...] = ()
    """Of the mutant's caption."""


def slow_paper(change: Change, seed: Plain, mutant: Plain, threshold: float, top: int) -> tuple[bool, bool]:
    """Equations 7 to 14, by looking for a name that should not be where it is."""
    things, predicates = [], []
    for picture in (seed, mutant):
        counts = [i for i, (_, score) in enumerate(picture.boxes) if score >= threshold]
        things.append(sorted({picture.boxes[i][0] for i in counts}))
        among = [r for r in picture.relations if r[0] in counts and r[2] in counts]
        predicates.append(sorted({r[1] for r in among[:top]}))
    (s, a), (rs, ra) = things, predicates
    if change.operator == "ec":
        both = [x for x in s if x in a]
        without_old = [x for x in s if x != change.old]
        without_new = [x for x in a if x != change.new]
        return not (both == without_old == without_new), not ([x for x in rs if x in ra] == rs == ra)
    if change.operator == "er-r":
        return [x for x in s if x in a] != a, [x for x in rs if x in ra] != ra
    if change.operator == "er-a":
        return [x for x in s if x in a] != s, [x for x in rs if x in ra] != rs
    if change.operator == "ss":
        return s != a, rs != ra
    # Two operators: try every picture that could lie between.
    between = [[x for x in s if x != change.old], sorted([*(x for x in s if x != change.old), change.new])]
    fitting = [x for x in between if not _ec_wrong(s, x, change)]
    if change.operator == "ec+er-r":
        return not any(all(y in x for y in a) for x in fitting), not all(y in rs for y in ra)
    return not any(all(y in a for y in x) for x in fitting), not all(y in ra for y in rs)


def _ec_wrong(s: list[str], x: list[str], change: Change) -> bool:
    both = [name for name in s if name in x]
    return not (both == [n for n in s if n != change.old] == [n for n in sorted(set(x)) if n != change.new])


def slow_released(change: Change, seed: Plain, mutant: Plain) -> tuple[bool, bool]:
    """What the program reports of one picture."""
    tables = []
    for picture in (seed, mutant):
        labels = [name for name, _ in picture.boxes[:20]]
        triples = [(labels[s], p, labels[o]) for s, p, o in picture.relations if max(s, o) < 20]
        tables.append((labels, triples[: 10 if change.operator == "ec" else 20]))
    (seed_labels, before), (labels, now) = tables
    entity = relation = False
    if "ec" in change.operator.split("+") and change.new not in labels:
        entity = True
    if "er-r" in change.operator:
        if change.lost in labels or not all(name in labels for name in change.classes):
            entity = True
        if all(t in now for t in change.lost_triples) or any(p not in [q for _, q, _ in before] for _, p, _ in now):
            relation = True
    elif "er-a" in change.operator:
        if change.gained not in labels:
            entity = True
        found = [p for _, p, _ in now]
        relation = change.gained_predicate not in found or any(p not in found for _, p, _ in before)
    elif change.operator == "ec":
        relation = any(p not in [q for _, q, _ in now] for _, p, _ in before)
    else:
        entity = any(name not in seed_labels for name in change.classes)
        relation = any(p not in [q for _, q, _ in before] for _, p, _ in now)
    return entity, relation
