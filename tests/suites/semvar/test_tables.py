"""SemVarBench's tables: every figure against a reckoning of its own, and both ways of averaging named."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import isclose, sqrt
from statistics import fmean

import pytest
from suites.semvar.scored_triples import CASES, CATEGORIES, NAMES, measured, rows, value, verdict

from salva.core.metric import HIGHER, LOWER
from salva.core.run_spec import ComponentSpec, RunSpec
from salva.core.source import RunRecords
from salva.core.table import Cell
from salva.core.verdict import Outcome, Verdict
from salva.report.summary import Summary, summarise_records
from salva.suites.semvar.tables import SemVarTables


def is_same(value: Cell, wanted: float) -> bool:
    return isinstance(value, int | float) and isclose(value, wanted, rel_tol=0, abs_tol=1e-12)


def interval(values: dict[str, list[float]], t: float) -> tuple[float, float]:
    """Student's interval of the mean over clusters of values: each cluster's sum of deviations is one observation."""
    everything = [one for group in values.values() for one in group]
    centre, g = fmean(everything), len(values)
    sums = [sum(one - centre for one in group) / len(everything) for group in values.values()]
    half = t * sqrt(sum(one**2 for one in sums) * g / (g - 1))
    return centre - half, centre + half


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


def test_judges_stand_side_by_side_and_the_metrics_are_the_deciding_ones() -> None:
    verdicts = [verdict(i, judge="first") for i in range(20)] + [verdict(i, judge="second") for i in range(60)]
    found = measured(verdicts)
    effects = rows(found, "semantic effect")
    assert [(row["judge"], row["n"]) for row in effects if row["mean"] == "by sample"] == [
        ("first", 20),
        ("second", 60),
    ]
    assert found.metrics["kappa"].n == 60, "where the deciding judge has no verdict, another one's makes the result"
    deciding = [*verdicts[:20], *verdicts[40:]]
    assert is_same(value(found, "kappa"), fmean(one.scores["kappa"] for one in deciding))
    by_category = rows(found, "semantic effect by category")
    assert {row["judge"] for row in by_category} == {"first", "second"}


def test_a_judge_under_two_detectors_is_one_judge_with_one_verdict_a_triple() -> None:
    verdicts = [verdict(i, judge=f"{detector}+gpt") for detector in ("pocket", "other") for i in range(20)]
    found = measured(verdicts)
    (row,) = [row for row in rows(found, "semantic effect") if row["mean"] == "by sample"]
    assert (row["judge"], row["n"]) == ("gpt", 20)
    assert is_same(row["kappa"], fmean(one.scores["kappa"] for one in verdicts[:20]))


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


def test_the_paper_s_four_figures_are_metrics() -> None:
    verdicts = [verdict(i) for i in range(60)]
    found = measured(verdicts)
    assert list(found.metrics) == ["kappa", "alignment", "gamma_w", "gamma_wo"]
    assert {name: metric.better for name, metric in found.metrics.items()} == dict(SemVarTables.about.metrics)
    assert SemVarTables.about.metrics == {"kappa": HIGHER, "alignment": HIGHER, "gamma_w": HIGHER, "gamma_wo": LOWER}
    by_sample, by_category = rows(found, "semantic effect")
    for name, metric in found.metrics.items():
        assert is_same(metric.value, fmean(one.scores[name] for one in verdicts))
        assert metric.n == 60
        assert f"by category {by_category[name]:.3f}" in metric.reason
    assert found.metrics["kappa"].interval == (by_sample["kappa_from"], by_sample["kappa_to"])
    published = {name: metric.published for name, metric in found.metrics.items()}
    assert published == {"kappa": 0.20, "alignment": 0.81, "gamma_w": 0.49, "gamma_wo": 0.28}, "CogView-3-Plus, GPT-4o"


def test_the_paper_s_figures_are_not_held_against_triples_that_are_not_its_own() -> None:
    formulas = [replace(prompt, formula="cat") for prompt in CASES[0].prompts]
    cases = [replace(CASES[0], prompts=tuple(formulas)), *CASES[1:]]
    assert measured([verdict(0)], cases).metrics["kappa"].published is None
    assert measured([verdict(1)], cases).metrics["kappa"].published is not None


def test_the_interval_of_a_mean_is_over_clusters_or_triples_whichever_is_wider() -> None:
    verdicts = [verdict(i) for i in range(60)]
    alignment = measured(verdicts).metrics["alignment"]
    by_cluster: dict[str, list[float]] = defaultdict(list)
    for i, one in enumerate(verdicts):
        by_cluster[CASES[i].cluster].append(one.scores["alignment"])
    by_case = {one.case_id: [one.scores["alignment"]] for one in verdicts}
    wanted = [interval(by_cluster, t=2.446912), interval(by_case, t=2.000995)]  # Student's, 6 and 59 degrees
    assert alignment.interval == pytest.approx(max(wanted, key=lambda ends: ends[1] - ends[0]), abs=1e-6)


def test_few_clusters_give_no_interval_and_none_leaves_its_range() -> None:
    one_each = [verdict(i) for i in range(5)]
    assert measured(one_each[:4]).metrics["kappa"].interval is None, "four templates"
    assert measured([verdict(i) for i in (0, 7, 14, 21, 28, 35)]).metrics["kappa"].interval is None, "one template"
    extremes = [replace(one, scores={**one.scores, "kappa": 2.0 * (-1) ** i}) for i, one in enumerate(one_each)]
    ends = [replace(one, scores={**one.scores, "alignment": float(i % 2)}) for i, one in enumerate(one_each)]
    assert measured(extremes).metrics["kappa"].interval == (-2.0, 2.0)
    assert measured(ends).metrics["alignment"].interval == (0.0, 1.0)


def test_scores_that_are_all_the_same_have_no_interval() -> None:
    flat = {"kappa": 0.0, "alignment": 0.5, "gamma_w": 0.0, "gamma_wo": 0.0}
    found = measured([replace(verdict(i), scores={**verdict(i).scores, **flat}) for i in range(12)])
    assert (found.metrics["kappa"].value, found.metrics["kappa"].interval) == (0.0, None)


def test_with_several_judges_the_metrics_are_by_the_one_that_makes_the_results() -> None:
    """One judge could not read much: the failure rate follows it, so kappa must too."""
    unread = [replace(verdict(i, judge="a"), outcome=Outcome.UNDECIDED, scores={}) for i in range(20, 60)]
    first = [*(verdict(i, judge="a") for i in range(20)), *unread]
    found = measured([*first, *(verdict(i, judge="pocket+b") for i in range(60))])
    assert found.metrics["kappa"].n == 20
    only_b = [replace(one, outcome=Outcome.UNDECIDED, scores={}) for one in first]
    found = measured([*only_b, *(verdict(i, judge="pocket+b") for i in range(60))])
    assert found.metrics["kappa"].value is None
    assert [row["judge"] for row in rows(found, "semantic effect")] == ["b", "b"]


def test_models_stand_side_by_side_in_the_shape_of_the_published_tables() -> None:
    models = {name: [verdict(i, judge=judge) for i in range(60) for judge in "pq"] for name in ("one", "two")}
    models = {name: [replace(one, model=name) for one in given] for name, given in models.items()}
    models["two"] = [one for one in models["two"] if one.observers == ("p",)]
    summary = summarised(models)
    _, table_2, table_9_10 = summary.joined_tables()
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
    assert not summarised({"one": models["one"]}).joined_tables()


def summarised(models: Mapping[str, Sequence[Verdict]]) -> Summary:
    """A run of these models."""
    asked = RunSpec(
        suite=ComponentSpec(role="suite", name="semvar"),
        models=tuple(ComponentSpec(role="model", name=name) for name in models),
    )
    verdicts = tuple(one for given in models.values() for one in given)
    primaries = {case.case_id: case.check for case in CASES}
    return summarise_records(RunRecords(cases=tuple(CASES), verdicts=verdicts, primaries=primaries, asked=asked))


def test_errors_are_counted_by_image() -> None:
    verdicts = [verdict(i) for i in range(60)]
    (row,) = rows(measured(verdicts), "relation errors")
    assert row["error"] == "reversed-role"
    assert row["image_pv"] == sum(one.outcome is Outcome.FAIL for one in verdicts)
    assert row["image_a"] == row["case"] == 0


def test_what_is_undecided_enters_no_figure() -> None:
    undecided = replace(verdict(59), outcome=Outcome.UNDECIDED)
    other = replace(verdict(58), check="truth")
    found = measured([*(verdict(i) for i in range(58)), undecided, other])
    assert found.metrics["kappa"].n == 58


def test_without_verdicts_the_texts_are_still_described() -> None:
    found = measured([])
    edits, to_check = (one.name for one in found.tables)
    assert "Table 14" in edits
    assert to_check == "triples to check"
    assert {metric.value for metric in found.metrics.values()} == {None}
    assert all(metric.reason for metric in found.metrics.values())
    assert found.charts == ()


@pytest.mark.parametrize("size", [1, 2])
def test_a_handful_of_verdicts_is_enough(size: int) -> None:
    found = measured([verdict(i) for i in range(size)])
    assert found.metrics["kappa"].n == size
    assert len(found.charts) == 4
