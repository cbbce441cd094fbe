"""Things put into groups, in order of first appearance."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")


def grouped(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """Items under their keys."""
    groups: dict[Key, list[Item]] = {}
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return groups


def group_by(items: Iterable[Item], key: Callable[[Item], Key | None]) -> dict[Key, list[Item]]:
    """Items by their key; those without a key are skipped."""
    return grouped((found, item) for item in items if (found := key(item)) is not None)


def group_by_each(items: Iterable[Item], keys: Callable[[Item], Iterable[Key]]) -> dict[Key, list[Item]]:
    """Items by each of their keys; one with several is in several groups."""
    return grouped((key, item) for item in items for key in keys(item))
