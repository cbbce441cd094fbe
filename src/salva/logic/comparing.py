"""What differs between two scenes, as far as the formulas of a pair speak of it: numbers, then orders.

Two scenes and what formulas say come in, differences go out. Whether a difference is a fault, and whose, others say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from salva.core.scene import Scene
from salva.logic.formula import Formula, entities, largest_counts
from salva.logic.orders import AxisOrder, OrderDifference, axis_orders, order_differences


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparable:
    """What of two scenes formulas speak of."""

    entities: tuple[str, ...] = ()
    """All of them, sorted."""
    orders: tuple[AxisOrder, ...] = ()
    caps: Mapping[str, int] = field(default_factory=dict)
    """The largest number any of the formulas allows of an entity."""


def comparable(formulas: Sequence[Formula]) -> Comparable:
    """What some formulas speak of."""
    caps: dict[str, int] = {}
    for formula in formulas:
        for entity, n in largest_counts(formula).items():
            caps[entity] = max(n, caps.get(entity, 0))
    names = sorted({name for formula in formulas for name in entities(formula)})
    return Comparable(entities=tuple(names), orders=axis_orders(formulas), caps=caps)


def counts_of(scene: Scene, labels: Iterable[str] | None) -> dict[str, int]:
    """How many things of each label there are; labels None counts all that were seen."""
    counts = Counter(thing.label for thing in scene.things)
    return dict(counts) if labels is None else {label: counts[label] for label in labels}


def number_differences(
    a: Scene, b: Scene, what: Comparable, *, counts: str, all_labels: bool = False
) -> tuple[str, ...]:
    """The labels of which one scene has more than the other, of those that the formulas name or of all.

    With counts at-least it does not tell numbers apart above the largest one the formulas state.
    """
    labels = None if all_labels else what.entities
    counts_a, counts_b = counts_of(a, labels), counts_of(b, labels)
    if counts_a == counts_b:
        return ()
    differing = []
    for label in sorted(counts_a.keys() | counts_b.keys()):
        n_a, n_b = counts_a.get(label, 0), counts_b.get(label, 0)
        if counts == "at-least" and label in what.caps:
            n_a, n_b = min(n_a, what.caps[label]), min(n_b, what.caps[label])
        if n_a != n_b:
            differing.append(label)
    return tuple(differing)


def compare_orders(
    a: Scene, b: Scene, what: Comparable, *, counts: str, all_labels: bool = False
) -> tuple[OrderDifference, ...]:
    """Where two scenes with the same numbers differ in their order, on every axis the formulas speak of."""
    merge_runs = counts == "at-least"
    return tuple(
        difference
        for order in what.orders
        for difference in order_differences(a, b, order, all_labels=all_labels, merge_runs=merge_runs)
    )


def shows_same(a: Scene, b: Scene, what: Comparable, *, counts: str, all_labels: bool = False) -> bool:
    """Whether two scenes differ neither in numbers nor in orders."""
    if number_differences(a, b, what, counts=counts, all_labels=all_labels):
        return False
    # An order of different things has no meaning, so it is compared only when the numbers agree.
    return not compare_orders(a, b, what, counts=counts, all_labels=all_labels)
