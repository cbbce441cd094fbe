"""Numbers as text."""

from __future__ import annotations

from typing import Any

import pytest

from salva.charts.formats import cell_text, figure_text
from salva.core.table import Cell, KeyFigure


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.11538461538461539, "0.1154"),
        (0.5, "0.5"),
        (12.0, "12"),
        (1234.5678, "1235"),
        (113736.0, "113,736"),
        (-0.000123456, "-0.0001235"),
        (7, "7"),
        ("a cat", "a cat"),
    ],
)
def test_a_cell_has_four_digits_and_no_exponent(value: Cell, text: str) -> None:
    assert cell_text("kappa", value) == text


def test_shares_are_percentages() -> None:
    assert cell_text("failure_rate", 0.125) == "12.5 %"


@pytest.mark.parametrize(
    ("parts", "texts"),
    [
        ({"value": 0.125, "low": 0.1, "high": 0.2, "note": "of 80"}, ("12.5 %", "95 %: 10.0 to 20.0 %; of 80")),
        ({"value": 0.125}, ("12.5 %", "")),
        ({"value": None, "note": "none decided"}, ("–", "none decided")),
    ],
)
def test_key_figures_with_interval_and_note(parts: dict[str, Any], texts: tuple[str, str]) -> None:
    assert figure_text(KeyFigure(title="wrong", is_share=True, **parts)) == texts
