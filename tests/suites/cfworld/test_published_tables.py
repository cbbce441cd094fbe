"""PRR, RRR, gains and ratios against the paper's own tables, and what these say of its section 5.4."""

from __future__ import annotations

import itertools
import math

import pytest
from suites.cfworld.published import TABLE_2, TABLE_3, rows

from salva.suites.cfworld.scoring import retention, share_kept

CELLS = [
    (names[0], judge, name, after, before, printed)
    for names, numbers in rows(TABLE_2)
    for judge, (l1, l2, l3, prr, rrr) in (("qwen", numbers[:5]), ("gemini", numbers[5:]))
    for name, after, before, printed in (("PRR", l2, l1, prr), ("RRR", l3, l2, rrr))
]
HALF = 0.005


def test_all_fourteen_models_and_both_judges_are_here() -> None:
    assert len(CELLS) == 56


@pytest.mark.parametrize(("model", "judge", "name", "after", "before", "printed"), CELLS)
def test_a_cell_of_table_2_follows_from_its_printed_means(
    model: str, judge: str, name: str, after: float, before: float, printed: float
) -> None:
    """The means are rounded themselves: any ratio that they allow must reach what is printed."""
    corners = [
        retention(after + a, before + b) for a, b in itertools.product((-HALF, 0.0, HALF), repeat=2) if before + b > 0
    ]
    values = [value for value in corners if value is not None]
    assert min(values) - HALF <= printed <= max(values) + HALF, (model, judge, name)


def test_the_formulas_of_the_repository_fit_no_cell() -> None:
    """Its README has S_L2 / S_L1 and S_L3 / S_L2 times S_L3."""
    for model, judge, name, after, before, printed in CELLS:
        told = after / before if name == "PRR" else after * after / before
        assert abs(told - printed) > 2 * HALF, (model, judge, name)


def test_a_mean_of_zero_has_no_ratio() -> None:
    assert retention(0.5, 0.0) is None
    assert share_kept(0.5, 0.0) is None
    assert retention(0.36, 0.81) == pytest.approx(0.4)


def test_table_3_says_its_own_gains() -> None:
    for names, (*_, l2, denorm, gain) in rows(TABLE_3):
        assert denorm - l2 == pytest.approx(gain, abs=HALF), names


def test_table_3_holds_the_l2_of_table_2_under_the_first_judge() -> None:
    """The column is gated there, and the de-nominalised one is not."""
    by_model = {names[0]: numbers for names, numbers in rows(TABLE_2)}
    for names, numbers in rows(TABLE_3):
        assert numbers[4] == by_model[names[0]][1], names


def test_section_5_4_against_its_tables() -> None:
    table = [(names, numbers) for names, numbers in rows(TABLE_3)]
    fact_rule, fact_pair = [n[0] for _, n in table], [n[2] for _, n in table]
    assert min(fact_pair) == 0.92, "'>0.92' is at least 0.92"
    assert max(fact_rule) == 0.61, "'<0.61' is at most 0.61"
    kept_pair = [share_kept(n[3], n[2]) or 0.0 for _, n in table]
    kept_rule = [share_kept(n[1], n[0]) or 0.0 for _, n in table]
    assert min(kept_pair) > 0.81, "attribute scores keep over 0.81: borne out"
    assert min(kept_rule) == pytest.approx(0.37, abs=HALF), "down to 0.37: borne out, by Janus-Pro-7B alone"
    assert sum(kept > 0.81 for kept in kept_rule) == 7, "most models keep as much of rules as of attributes"
    gains = {names[0]: (names[1], n[6]) for names, n in table}
    diffusion = sorted(gain for kind, gain in gains.values() if kind == "Diff")
    unified = sorted(gain for kind, gain in gains.values() if kind == "Unif")
    assert diffusion == [0.01, 0.02, 0.05, 0.09], "'+0.05 to +0.09' leaves out half of the diffusion models"
    assert unified == [0.01, 0.01, 0.02, 0.02, 0.03, 0.05], "'at most 0.02' leaves out OmniGen2 and Show-o2"
    assert math.isclose(gains["Show-o2"][1], gains["Z-image"][1]), "a unified model gains what a diffusion model does"


def test_section_4_2_against_its_table() -> None:
    by_model = {names[0]: numbers for names, numbers in rows(TABLE_2)}
    plain, thinking, flux = (by_model[name] for name in ("BAGEL", "BAGEL-CoT", "FLUX.2-dev"))
    more = [round(100 * (thinking[i] / plain[i] - 1)) for i in (2, 7)]
    assert more == [71, 73], "'only a marginal boost' at L3, by either judge"
    assert all(thinking[i] > plain[i] for i in (0, 1, 5, 6)), "and at the levels that need no deduction"
    assert all(thinking[i] > flux[i] for i in (1, 2)), "'consistently outperformed by FLUX.2-dev': not so"


def test_more_of_section_4_2_against_its_table() -> None:
    by_model = {names[0]: numbers for names, numbers in rows(TABLE_2)[:10]}
    assert all(n[2] < n[1] and n[7] < n[6] for n in by_model.values()), "L3 is below L2 everywhere: borne out"
    above = [name for name, n in by_model.items() if n[4] > n[3]]
    assert above == ["Janus-Pro-7B", "Qwen-Image"], "'the consistent drop in RRR': not by the first judge"
    first, second = ((0, 3), (5, 8))
    qwen = by_model["Qwen-Image"]
    better = {
        judge: [name for name, n in by_model.items() if n[judge[0]] < qwen[judge[0]] and n[judge[1]] > qwen[judge[1]]]
        for judge in (first, second)
    }
    assert better[first] == ["SANA 1.5", "Z-image", "FLUX.2-dev"]
    assert better[second] == [], "'lower PRRs than models with weaker L1': for none of them by the second judge"


def test_not_every_model_drops_from_factual_to_counterfactual_rules() -> None:
    kept = {names[0]: numbers[:2] for names, numbers in rows(TABLE_3)}
    assert [name for name, (fact, cf) in kept.items() if cf >= fact] == ["Qwen-Image"], "'universal' (section 1)"


def test_table_4_is_not_of_150_pictures() -> None:
    """A share of 150 pictures is a whole number of them; of five printed to a tenth of a percent one is."""
    printed = (74.2, 82.5, 94.0, 86.1, 78.3)
    of_150 = {round(100 * n / 150, 1) for n in range(151)}
    assert [accuracy for accuracy in printed if accuracy in of_150] == [94.0]
