"""A number with its noun, as people write it: 1 pair, 1,200 pairs."""

from __future__ import annotations


def quantity(n: int, several: str, one: str = "") -> str:
    """So many of a thing; `one`: what a single one is called, where that is not `several` less its s."""
    if n != 1:
        return f"{n:,} {several}"
    return f"1 {one or (several[:-3] + 'y' if several.endswith('ies') else several.removesuffix('s'))}"
