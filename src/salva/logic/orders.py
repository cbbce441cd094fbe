"""The order of centroids.

Formulas say which things are ordered on which axis; two scenes come in, the orders in which they
differ go out. Pure. Equal centroids share a rank, which is no order; things with one label are
alike, so an order is the sequence of labels and never says which cat is which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

from salva.core.scene import Scene
from salva.logic.formula import Formula, Related, atoms, axis_of

AXIS_OF_RELATION = {"left_of": "x", "right_of": "x", "above": "y", "below": "y", "on": "y"}

_Points = list[tuple[float, str]]
_HALF = (0.5,)
_THIRDS = (1 / 3, 2 / 3)
_LINE = "|"
"""A line across the image, in a sequence of labels; no entity is called so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisOrder:
    """Which things' order on one axis the prompts decide."""

    axis: str
    labels: frozenset[str]
    """Everything that is placed on this axis or related along it."""
    related: tuple[frozenset[str], ...]
    """Pairs of entities related along the axis."""
    placed: tuple[frozenset[str], ...]
    """Pairs of entities put at different places; the order within other pairs is free."""
    places: Mapping[str, frozenset[str]]
    """The places named for an entity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderDifference:
    """Things that stand in one order in the first scene and in another in the second."""

    axis: str
    labels: frozenset[str]
    orders: tuple[str, str]
    """For people: "cat, dog" in the first scene, "dog, cat" in the second."""


def axis_orders(formulas: Iterable[Formula]) -> tuple[AxisOrder, ...]:
    """The axes the formulas speak of, with what they put in order there."""
    leaves = [leaf for formula in formulas for leaf in atoms(formula)]
    orders = []
    for axis in "xy":
        places: dict[str, set[str]] = {}
        related = set()
        for leaf in leaves:
            if isinstance(leaf, Related):
                if AXIS_OF_RELATION.get(leaf.relation) == axis:
                    related.add(frozenset((leaf.first, leaf.second)))
            elif leaf.place is not None and axis_of(leaf.place) == axis:
                places.setdefault(leaf.entity, set()).add(leaf.place)
        if places or related:
            placed = [frozenset(pair) for pair in combinations(places, 2) if len(places[pair[0]] | places[pair[1]]) > 1]
            order = AxisOrder(
                axis=axis,
                labels=frozenset(places).union(*related),
                related=tuple(sorted(related, key=sorted)),
                placed=tuple(placed),
                places={entity: frozenset(named) for entity, named in places.items()},
            )
            orders.append(order)
    return tuple(orders)


def order_differences(
    a: Scene, b: Scene, order: AxisOrder, *, all_labels: bool = False, merge_runs: bool = False
) -> tuple[OrderDifference, ...]:
    """Where two scenes with the same labels differ in their order on one axis.

    Compared are the pairs that the prompts put in order (all_labels: everything), and a placed thing without such a
    partner by the half, or for the middle the third, it lies in. merge_runs takes neighbours with one label for one
    thing, for a reading that does not count them.
    """
    keep = None if all_labels else order.labels
    points_a, points_b = (_points(scene, order.axis, keep) for scene in (a, b))
    present = {label for _, label in points_a}
    found = []
    for labels, lines in _comparisons(order, present, all_labels):
        first, second = (_sequence(points, labels, lines, merge_runs) for points in (points_a, points_b))
        if first != second:
            orders = (_in_words(first), _in_words(second))
            found.append(OrderDifference(axis=order.axis, labels=labels, orders=orders))
    return tuple(found)


def _comparisons(
    order: AxisOrder, present: set[str], all_labels: bool
) -> list[tuple[frozenset[str], tuple[float, ...]]]:
    """Which labels to compare together, and the lines across the image to compare them with."""
    pairs = [pair for pair in (*order.placed, *order.related) if pair <= present]
    has_partner = frozenset().union(*(pair for pair in order.placed if pair <= present))
    alone = [
        (frozenset((label,)), _THIRDS if "middle" in next(iter(named)) else _HALF)
        for label, named in order.places.items()
        if label not in has_partner and len(named) == 1
    ]
    return [*((pair, ()) for pair in ([frozenset(present)] if all_labels else pairs)), *alone]


def _points(scene: Scene, axis: str, keep: frozenset[str] | None) -> _Points:
    return [(t.x if axis == "x" else t.y, t.label) for t in scene.things if keep is None or t.label in keep]


def _sequence(
    points: _Points, labels: frozenset[str], lines: tuple[float, ...], merge_runs: bool
) -> Sequence[tuple[str, ...]]:
    """The labels from first to last; different ones with equal centroids share a rank."""
    chosen = sorted([point for point in points if point[1] in labels] + [(line, _LINE) for line in lines])
    sequence: list[tuple[str, ...]] = []
    for _, tied in groupby(chosen, key=lambda point: point[0]):
        names = tuple(label for _, label in tied)
        sequence += [(name,) for name in names] if len(set(names)) == 1 else [names]
    return [names for names, _ in groupby(sequence)] if merge_runs else sequence


def _in_words(sequence: Sequence[tuple[str, ...]]) -> str:
    return ", ".join(" level with ".join(names) for names in sequence).replace(_LINE, "the line")
