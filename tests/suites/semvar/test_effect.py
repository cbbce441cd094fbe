"""The SemVarBench formulas against the paper's own examples and a second, exact reckoning."""

from __future__ import annotations

from fractions import Fraction
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salva.stats.means import group_mean, share_above
from salva.suites.semvar.effect import (
    ASPECTS,
    PAIRS,
    QUADRANTS,
    aspect_of,
    effect,
    quadrants,
    seed_variation,
)
from salva.suites.semvar.texts import edit_distance

Scores = dict[tuple[str, str], float]

HUNDREDTHS = st.fixed_dictionaries({pair: st.integers(0, 100) for pair in PAIRS})


def by_name(a: float, pv: float, pi: float, pv_a: float, a_pv: float, pi_a: float, a_pi: float) -> Scores:
    """In the order in which the paper prints a case: matched pairs, then mismatched ones."""
    values = {("a", "a"): a, ("pv", "pv"): pv, ("pi", "pi"): pi}
    return {**values, ("pv", "a"): pv_a, ("a", "pv"): a_pv, ("pi", "a"): pi_a, ("a", "pi"): a_pi}


@pytest.mark.parametrize(
    ("scores", "alignment", "gamma_w", "gamma_wo", "kappa"),
    [
        ((0.98, 0.95, 0.98, 0.45, 0.55, 0.98, 0.95), 0.97, 0.93, 0.03, 0.90),
        ((0.96, 0.82, 1.00, 0.35, 0.65, 1.00, 1.00), 0.93, 0.78, 0.04, 0.74),
        ((0.93, 0.95, 0.98, 0.55, 0.59, 0.95, 0.98), 0.95, 0.74, 0.08, 0.66),
        ((0.65, 0.45, 1.00, 0.35, 0.45, 0.30, 0.95), 0.70, 0.30, 1.00, -0.70),
    ],
)
def test_the_papers_printed_cases_come_out(
    scores: tuple[float, ...], alignment: float, gamma_w: float, gamma_wo: float, kappa: float
) -> None:
    found = effect(by_name(*scores))
    shown = tuple(round(value, 2) for value in (found.alignment, found.gamma_w, found.gamma_wo, found.kappa))
    assert shown == (alignment, gamma_w, gamma_wo, kappa)


@given(HUNDREDTHS)
def test_every_figure_agrees_with_exact_fractions(points: dict[tuple[str, str], int]) -> None:
    s = {f"{text}|{image}": Fraction(n, 100) for (text, image), n in points.items()}
    found = effect({pair: n / 100 for pair, n in points.items()})
    gamma_w = abs(s["a|pv"] - s["a|a"]) + abs(s["pv|pv"] - s["pv|a"])
    gamma_wo = abs(s["a|pi"] - s["a|a"]) + abs(s["pi|pi"] - s["pi|a"])
    wanted = ((s["a|a"] + s["pv|pv"] + s["pi|pi"]) / 3, gamma_w, gamma_wo, gamma_w - gamma_wo)
    for value, exact in zip((found.alignment, found.gamma_w, found.gamma_wo, found.kappa), wanted, strict=True):
        assert isclose(value, float(exact), rel_tol=0, abs_tol=1e-12)


def test_quadrants_follow_the_equations_and_not_the_names_of_appendix_a() -> None:
    assert quadrants(1.0, 0.0) == (1, 3)
    assert quadrants(0.0, 1.0) == (4, 2)
    assert quadrants(0.5, 0.5) == (4, 3)
    assert "image stays" in QUADRANTS[3]
    assert "image changes" in QUADRANTS[2]


@pytest.mark.parametrize(("points", "kappa"), [((75, 52, 18, 41, 21, 58, 50), 0), ((30, 91, 69, 46, 66, 66, 2), 0.5)])
def test_rounding_moves_no_case_over_a_threshold(points: tuple[int, ...], kappa: float) -> None:
    # In hundredths the two kappas are exactly 0 and 50; in binary fractions they come out a hair above.
    assert effect(by_name(*(n / 100 for n in points))).kappa == kappa


@given(st.lists(HUNDREDTHS, min_size=2, max_size=4), st.sampled_from(["pv", "pi"]))
def test_seed_noise_is_gamma_with_the_anchor_painted_again(
    points: list[dict[tuple[str, str], int]], permuted: str
) -> None:
    repeats = [{pair: n / 100 for pair, n in one.items()} for one in points]
    steps = [
        # Equation 1, with the picture of another seed in the place of the permutation's.
        abs(Fraction(j["a", "a"] - i["a", "a"], 100)) + abs(Fraction(j[permuted, "a"] - i[permuted, "a"], 100))
        for n, i in enumerate(points)
        for j in points[n + 1 :]
    ]
    assert isclose(seed_variation(repeats, permuted), float(sum(steps) / len(steps)), abs_tol=1e-12)


def test_a_value_of_two_groups_counts_in_both() -> None:
    assert group_mean([1.0, 0.0, 0.5], [("color",), ("color", "size"), ("size",)]) == pytest.approx((0.5 + 0.25) / 2)
    assert share_above([0.2, 0.21, 0.6, -1.0], 0.2) == 0.5


@given(st.text("abc d", max_size=12), st.text("abc d", max_size=12))
def test_edit_distance_is_that_of_the_table_filled_cell_by_cell(one: str, other: str) -> None:
    table = [[i + j for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i, x in enumerate(one, 1):
        for j, y in enumerate(other, 1):
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (x != y))
    assert edit_distance(one, other) == table[-1][-1]


def test_twenty_categories_in_three_aspects() -> None:
    assert [len(categories) for categories in ASPECTS.values()] == [6, 4, 10]
    assert aspect_of("size") == "attribute-comparison"
    assert aspect_of("loudness") == "other"
