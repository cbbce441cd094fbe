"""SemVarBench's tables: every figure against a reckoning of its own, and both ways of averaging named."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from math import isclose
from statistics import fmean

import pytest
from suites.semvar.scored_triples import CASES, CATEGORIES, NAMES, measured, rows, verdict

from salva.core.table import Cell
from salva.core.verdict import Outcome
from salva.report.markdown import to_markdown
from salva.report.summary import summarise


def is_same(value: Cell, wanted: float) -> bool:
    return isinstance(value, int | float) and isclose(value, wanted, rel_tol=0, abs_tol=1e-12)


def test_both_averages_are_given_and_named() -> None:
    verdicts = [verdict(i) for i in range(60)]
    by_sample, by_category = rows(measured(verdicts), "semantic effect")
    assert (by_sample["mean"], by_category["mean"]) == ("by sample", "by category")
    assert (by_sample["n"], by_category["n"]) == (60, 4)
    for name in ("alignment", "gamma_w", "gamma_wo", "kappa"):
        groups = defaultdict(list)
        for i, one in enumerate(verdicts):
            for category in CATEGORIES[i % len(CATEGORIES)].split(","):
                groups[category].append(one.scores[name])
        assert is_same(by_sample[name], fmean(one.scores[name] for one in verdicts))
        assert is_same(by_category[name], fmean(fmean(group) for group in groups.values()))
        assert by_sample[name] != by_category[name]
    for row in (by_sample, by_category):
        low, kappa, high = row["kappa_from"], row["kappa"], row["kappa_to"]
        assert isinstance(low, float)
        assert isinstance(kappa, float)
        assert isinstance(high, float)
        assert low < kappa < high


def test_a_triple_of_two_categories_counts_in_both_and_in_both_aspects() -> None:
    verdicts = [verdict(i) for i in range(60)]
    found = measured(verdicts)
    by_category = {str(row["category"]): row for row in rows(found, "semantic effect by category")}
    assert {name: row["n"] for name, row in by_category.items()} == {
        "action": 20,
        "color": 30,
        "size": 20,
        "unlabelled": 10,
    }
    in_color = [one.scores["kappa"] for i, one in enumerate(verdicts) if "color" in CATEGORIES[i % 6]]
    assert is_same(by_category["color"]["kappa"], fmean(in_color))
    by_aspect = {str(row["aspect"]): row for row in rows(found, "semantic effect by aspect")}
    value = by_aspect["attribute-value"]
    assert value["n"] == 30
    assert is_same(value["kappa_by_category"], fmean(in_color))
    assert is_same(value["share_above_0.2"], sum(kappa > 0.2 for kappa in in_color) / 30)
    assert is_same(value["share_above_0.5"], sum(kappa > 0.5 for kappa in in_color) / 30)


def test_quadrants_count_every_triple_twice() -> None:
    verdicts = [verdict(i) for i in range(60)]
    found = measured(verdicts)
    counts = {row["quadrant"]: row["n"] for row in rows(found, "quadrants")}
    assert counts[1] == sum(one.scores["gamma_w"] > 0.5 for one in verdicts)
    assert counts[2] == sum(one.scores["gamma_wo"] > 0.5 for one in verdicts)
    assert counts[3] == 60 - sum(one.scores["gamma_wo"] > 0.5 for one in verdicts)
    assert counts[4] == 60 - sum(one.scores["gamma_w"] > 0.5 for one in verdicts)


def test_judges_stand_side_by_side_and_the_numbers_are_the_busier_ones() -> None:
    verdicts = [verdict(i, judge="first") for i in range(20)] + [verdict(i, judge="second") for i in range(60)]
    found = measured(verdicts)
    effects = rows(found, "semantic effect")
    assert [(row["judge"], row["n"]) for row in effects if row["mean"] == "by sample"] == [
        ("first", 20),
        ("second", 60),
    ]
    assert found.numbers["n_scored"] == 60
    second = fmean(one.scores["kappa"] for one in verdicts[20:])
    assert is_same(found.numbers["kappa"], second)
    by_category = rows(found, "semantic effect by category")
    assert {row["judge"] for row in by_category} == {"first", "second"}


def test_matched_scores_stand_apart_over_repeats() -> None:
    verdicts = [verdict(i, repeat) for i in range(60) for repeat in range(3)]
    found = rows(measured(verdicts), "matched scores")
    assert [row["images"] for row in found] == ["repeat 1", "repeat 2", "repeat 3", "all"]
    second = [one.scores for one in verdicts if one.repeat == 1]
    a, pv, pi = (fmean(scores[name] for scores in second) for name in NAMES[:3])
    for name, wanted in {
        "s_a": a,
        "s_pv": pv,
        "s_pi": pi,
        "mean_a_pv": (a + pv) / 2,
        "mean_a_pi": (a + pi) / 2,
    }.items():
        assert is_same(found[1][name], wanted)
    assert [row["images"] for row in rows(measured(verdicts[::3]), "matched scores")] == ["all"]


def test_the_noise_floor_is_the_anchor_under_another_seed() -> None:
    verdicts = [verdict(i, repeat) for i in range(60) for repeat in range(3)]
    found = {row["figure"]: row for row in rows(measured(verdicts), "seed noise")}
    for figure, other in (("gamma_w", "s_pv_a"), ("gamma_wo", "s_pi_a")):
        floors = []
        for i in range(60):
            own = [one.scores for one in verdicts if one.case_id == f"semvar-{i}"]
            steps = [abs(x["s_a_a"] - y["s_a_a"]) + abs(x[other] - y[other]) for x, y in combinations(own, 2)]
            floors.append(fmean(steps))
        gamma = fmean(one.scores[figure] for one in verdicts)
        assert is_same(found[figure]["gamma"], gamma)
        assert is_same(found[figure]["same_prompt_other_seed"], fmean(floors))
        assert is_same(found[figure]["above_noise"], gamma - fmean(floors))
    assert not [one for one in measured(verdicts[::3]).tables if one.name == "seed noise"]


def test_the_figures_the_suite_is_known_by_come_with_intervals() -> None:
    found = measured([verdict(i) for i in range(60)])
    kappa, *others = found.key_figures
    assert kappa.title == "Kappa"
    assert kappa.value == found.numbers["kappa"]
    assert (kappa.low, kappa.high) == (found.numbers["kappa_low"], found.numbers["kappa_high"])
    assert f"{found.numbers['kappa_by_category']:.3f}" in kappa.note
    assert len(others) == 3


def test_scores_that_are_all_the_same_have_no_interval_and_it_is_said() -> None:
    flat = {"kappa": 0.0, "alignment": 0.5, "gamma_w": 0.0, "gamma_wo": 0.0}
    made = [verdict(i) for i in range(12)]
    kappa, *_ = measured([replace(one, scores={**one.scores, **flat}) for one in made]).key_figures
    assert (kappa.value, kappa.low, kappa.high) == (0.0, None, None)
    assert kappa.note != measured(made).key_figures[0].note


def test_with_several_judges_the_figures_at_the_top_are_by_the_one_of_the_rate() -> None:
    """One judge could not read much: the failure rate still follows it, so kappa must, and must say so."""
    unread = [replace(verdict(i, judge="a"), outcome=Outcome.UNDECIDED, scores={}) for i in range(20, 60)]
    first = [*(verdict(i, judge="a") for i in range(20)), *unread]
    found = measured([*first, *(verdict(i, judge="pocket+b") for i in range(60))])
    assert found.numbers["n_scored"] == 20
    assert "over 20 verdicts by a," in found.key_figures[0].note
    assert " by a" not in measured(first).key_figures[0].note, "of one judge nothing need be said"
    only_b = [replace(one, outcome=Outcome.UNDECIDED, scores={}) for one in first]
    found = measured([*only_b, *(verdict(i, judge="pocket+b") for i in range(60))])
    assert found.numbers["n_scored"] == 60


def test_models_stand_side_by_side_in_the_shape_of_the_published_tables() -> None:
    models = {name: [verdict(i, judge=judge) for i in range(60) for judge in "pq"] for name in ("one", "two")}
    models = {name: [replace(one, model=name) for one in given] for name, given in models.items()}
    models["two"] = [one for one in models["two"] if one.observers == ("p",)]
    summary = summarise(CASES, [one for given in models.values() for one in given])
    table_2, table_9_10 = summary.joined_tables()
    assert "Table 2" in table_2.name
    rows_2 = [dict(zip(table_2.columns, row, strict=True)) for row in table_2.rows]
    assert [(row["model"], row["mean"]) for row in rows_2] == [
        *(("one", "by sample"), ("one", "by category"), ("two", "by sample"), ("two", "by category")),
    ]
    assert rows_2[0]["kappa (q)"] is not None
    assert rows_2[2]["kappa (q)"] is None, "nobody asked q about the second model"
    assert rows_2[2]["alignment (p)"] == rows_2[0]["alignment (p)"]
    columns = ("model", "judge", "action", "size", "color", "unlabelled", "all relation", "all attribute-comparison")
    assert table_9_10.columns == (*columns, "all attribute-value", "avg by sample", "avg by category")
    assert [row[:2] for row in table_9_10.rows] == [("one", "p"), ("one", "q"), ("two", "p")]
    row = dict(zip(table_9_10.columns, table_9_10.rows[1], strict=True))
    kappas = {one.case_id: one.scores["kappa"] for one in models["one"] if one.observers == ("q",)}
    by_category = defaultdict(list)
    for i, kappa in enumerate(kappas.values()):
        for name in CATEGORIES[i % len(CATEGORIES)].split(","):
            by_category[name].append(kappa)
    for name, values in by_category.items():
        assert is_same(row[name], fmean(values))
    assert is_same(row["avg by sample"], fmean(kappas.values()))
    assert is_same(row["avg by category"], fmean(fmean(values) for values in by_category.values()))
    assert not summarise(CASES, models["one"]).joined_tables()
    for text in (to_markdown(summary), json.dumps(summary.to_json()["tables"])):
        assert "Tables 9 and 10" in text
        assert table_9_10.name in text


def test_errors_are_counted_by_picture() -> None:
    verdicts = [verdict(i) for i in range(60)]
    (row,) = rows(measured(verdicts), "relation errors")
    assert row["error"] == "reversed-role"
    assert row["image_pv"] == sum(one.outcome is Outcome.FAIL for one in verdicts)
    assert row["image_a"] == row["case"] == 0


def test_what_nobody_could_decide_enters_no_figure() -> None:
    undecided = replace(verdict(59), outcome=Outcome.UNDECIDED)
    other = replace(verdict(58), check="truth")
    found = measured([*(verdict(i) for i in range(58)), undecided, other])
    assert found.numbers["n_scored"] == 58


def test_without_verdicts_the_texts_are_still_described() -> None:
    found = measured([])
    edits, to_check = (one.name for one in found.tables)
    assert "Table 14" in edits
    assert to_check == "triples to check"
    assert found.numbers == {}
    assert found.charts == ()


@pytest.mark.parametrize("size", [1, 2])
def test_a_handful_of_verdicts_is_enough(size: int) -> None:
    found = measured([verdict(i) for i in range(size)])
    assert found.numbers["n_scored"] == size
    assert len(found.charts) == 4
