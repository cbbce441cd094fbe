"""Numbers as text."""

from __future__ import annotations

import pytest

from salva.charts.formats import cell_text, heading, metric_text
from salva.core.metric import MetricValue, not_measured
from salva.core.table import Cell


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


def test_ends_have_one_name_and_only_those_of_shares_are_percentages() -> None:
    for column, text in (("reweighted_lower", "0.5"), ("bound_low", "50.0 %")):
        assert (heading(column).endswith(" low"), cell_text(column, 0.5)) == (True, text)


def test_shares_are_percentages() -> None:
    assert cell_text("failure_rate", 0.125) == "12.5 %"


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (MetricValue(value=0.125, low=0.1, high=0.2, is_share=True), ("12.5 %", "10.0 to 20.0 %")),
        (MetricValue(value=-0.125, low=-0.2, high=0.1, is_difference=True), ("-12.5 points", "-20.0 to +10.0 points")),
        (MetricValue(value=0.125, low=-0.1, high=0.2), ("0.125", "-0.100 to 0.200")),
        (MetricValue(value=3.0), ("3", "–")),
        (MetricValue(value=0.125, is_share=True), ("12.5 %", "–")),
        (not_measured("no judge"), ("not measured", "–")),
    ],
)
def test_a_metric_is_printed_with_its_interval(metric: MetricValue, text: tuple[str, str]) -> None:
    assert metric_text(metric) == text
