"""SemVarEffect of people: by rater, and of their mean scores as of one rater."""

from __future__ import annotations

from pathlib import Path

import pytest
from review.rating_rows import TEXTS, Rows, imported, write

from salva.core.table import Cell, Table
from salva.review.run_agreement import reviewed_agreement, run_agreement

NAME = "semvar by rater (as Table 11)"
SCORES = {
    "ann": {"a a": 90, "pv pv": 80, "pi pi": 90, "a pv": 40, "pv a": 30, "a pi": 80, "pi a": 70},
    "bob": {"a a": 40, "pv pv": 30, "pi pi": 50, "a pv": 60, "pv a": 50, "a pi": 40, "pi a": 50},
}
"""Of 100, by rater and by the roles of text and image."""


def rows(scores: dict[str, dict[str, int]] = SCORES, case_id: str = "semvar-1", model: str = "sd") -> Rows:
    return [
        {
            "case_id": case_id,
            "model": model,
            "category": "color",
            "text": TEXTS[pair.split()[0]],
            "text_role": pair.split()[0],
            "image_role": pair.split()[1],
            "rater": who,
            "objects": number // 2,
            "relations": number - number // 2,
        }
        for who, given in scores.items()
        for pair, number in given.items()
    ]


def figures(tables: list[Table]) -> dict[tuple[Cell, Cell], dict[str, Cell]]:
    """Rows of Table 11 by model and rater; the raters' mean has no name."""
    (table,) = (one for one in tables if one.name == NAME)
    named = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return {(row["model"], row["rater"] if row["rater"] in SCORES else ""): row for row in named}


def test_a_panel_is_rated_as_one_rater_beside_each_rater(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", rows())
    imported(tmp_path / "run", path)
    found = figures(reviewed_agreement(tmp_path / "run")[0])
    # By hand, of 100. ann: |40 - 90| + |80 - 30|, less |80 - 90| + |90 - 70|. bob: 20 + 20, less 0 + 0.
    # Their means: |50 - 65| + |55 - 40|, less |60 - 65| + |70 - 60|, which is not the mean of .70 and .40.
    wanted = {"ann": (1.0, 0.3, 0.7, 260 / 300), "bob": (0.4, 0.0, 0.4, 0.4), "": (0.3, 0.15, 0.15, 190 / 300)}
    assert list(found) == [("sd", who) for who in wanted]
    for who, (gamma_w, gamma_wo, kappa, alignment) in wanted.items():
        row = found["sd", who]
        assert [row[name] for name in ("gamma_w", "gamma_wo", "kappa", "alignment", "n")] == [
            pytest.approx(number) for number in (gamma_w, gamma_wo, kappa, alignment, 1)
        ]
    assert figures(run_agreement(tmp_path / "run", [path])[0]) == found


def test_models_stand_apart_and_a_case_with_a_gap_counts_for_those_who_rated_it_whole(tmp_path: Path) -> None:
    gap = {
        who: {pair: number for pair, number in SCORES[who].items() if (who, pair) != ("bob", "a a")} for who in SCORES
    }
    more = [*rows(), *rows(gap, "semvar-2"), *rows(model="xl"), *rows({"ann": SCORES["ann"]}, "semvar-3", "xl")]
    imported(tmp_path / "run", write(tmp_path / "r.csv", more))
    found = figures(reviewed_agreement(tmp_path / "run")[0])
    assert {key: row["n"] for key, row in found.items()} == {
        ("sd", "ann"): 2,
        ("sd", "bob"): 1,
        ("sd", ""): 2,
        ("xl", "ann"): 2,
        ("xl", "bob"): 1,
        ("xl", ""): 2,
    }
    # In semvar-2 ann alone has S(a, a): |50 - 90| + 15, less |60 - 90| + 10.
    assert found["sd", ""]["kappa"] == pytest.approx((0.15 + (0.55 - 0.40)) / 2)
    assert found["xl", ""]["kappa"] == pytest.approx((0.15 + 0.7) / 2)
