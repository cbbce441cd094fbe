"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from salva.core.quantity import quantity


@pytest.mark.parametrize(
    ("n", "several", "one", "said"),
    [
        (0, "pairs", "", "0 pairs"),
        (1, "pairs", "", "1 pair"),
        (1, "more rows", "", "1 more row"),
        (1, "categories", "", "1 category"),
        (1, "rows have", "row has", "1 row has"),
        (2, "rows have", "row has", "2 rows have"),
        (12345, "cases", "", "12,345 cases"),
    ],
)
def test_one_is_one(n: int, several: str, one: str, said: str) -> None:
    assert quantity(n, several, one) == said
