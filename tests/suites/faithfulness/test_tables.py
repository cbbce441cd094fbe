"""Faithfulness tables: means that say how many they average, scales that are named, charts that can be drawn."""

from __future__ import annotations

from dataclasses import replace

import pytest
from judged import judged

from salva.core.case import Case, Prompt
from salva.core.chart import ChartKind
from salva.core.judgements import RunCheck
from salva.core.metric import MetricValue
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.table import Cell, Table
from salva.core.verdict import Failure, Outcome, Verdict
from salva.stats.pair_scores import mean, pair_scores
from salva.suites.faithfulness.tables import FaithfulnessTables


def _case(pair: str, law: str, dimension: str, number: str, check: str = "same-answers") -> Case:
    return Case(
        case_id=f"faithfulness-{pair}",
        suite="faithfulness",
        category=f"{law}-{dimension}",
        prompts=(Prompt(role="a", text=f"{pair} one way"), Prompt(role="b", text=f"{pair} another way")),
        checks=(check,),
        labels={"law": law, "dimension": dimension, "category_id": number, "pair_id": pair},
    )


def _verdict(case: Case, a: float, b: float, outcome: Outcome = Outcome.PASS, **scores: float) -> Verdict:
    failures = (Failure(failure_type="presence-differs", role="", message=f"what {case.case_id} got wrong"),)
    return Verdict(
        case_id=case.case_id,
        repeat=0,
        arm="pair",
        model="m",
        check=case.check,
        observers=("pocket", "clip/x", "scene"),
        outcome=outcome,
        failures=failures if outcome is Outcome.FAIL else (),
        scores={**pair_scores("faith", a, b), "dsg_mean": a, **scores} if outcome in ("PASS", "FAIL") else scores,
    )


def _measured(verdicts: list[tuple[Case, Verdict]], **options: str) -> Measured:
    cases = [case for case, _ in verdicts]
    checks = {"same-answers": RunCheck(compares=True, options=options), "must-differ": RunCheck(compares=True)}
    return FaithfulnessTables(NoOptions()).measure(judged(cases, [verdict for _, verdict in verdicts], checks))


def _table(measured: Measured, name: str) -> Table:
    return next(table for table in measured.tables if table.name == name)


def _rows(measured: Measured, name: str, key: str) -> dict[Cell, dict[str, Cell]]:
    table = _table(measured, name)
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return {row[key]: row for row in rows}


COMM = [_case(f"c{i}", "commutative", "conjunctive", "1") for i in range(3)]
ASSOC = _case("s1", "associative", "vertical", "7")
RUN = [
    (COMM[0], _verdict(COMM[0], 1.0, 1.0)),
    (COMM[1], _verdict(COMM[1], 1.0, 0.5, Outcome.FAIL)),
    (COMM[2], _verdict(COMM[2], 0, 0, Outcome.UNDECIDED)),
    (ASSOC, _verdict(ASSOC, 0.25, 0.75, Outcome.FAIL)),
]


def test_a_mean_says_how_many_it_averaged_and_how_many_it_left_out() -> None:
    rows = _rows(_measured(RUN), "faithfulness by category", "category_id")
    row = rows["1"]
    assert (row["n_pairs"], row["n_left_out"]) == (2, 1)
    assert (row["mean_faith_A"], row["mean_faith_B"], row["mean_faith"]) == (1.0, 0.75, 0.875)
    assert row["mean_faith_stability"] == 0.75
    assert row["stability_from"] is None, "few clusters say little about the mean of others"


def test_a_mean_has_an_interval_from_five_clusters_on() -> None:
    def metric(n_clusters: int, name: str, **scores: float) -> MetricValue:
        cases = [_case(f"c{i}", "commutative", "conjunctive", "1") for i in range(6)]
        cases = [replace(case, cluster=str(min(i, n_clusters - 1))) for i, case in enumerate(cases)]
        run = [(case, _verdict(case, 1.0, i / 5, Outcome.PASS, **scores)) for i, case in enumerate(cases)]
        return _measured(run).metrics[name]

    for name in ("faith_mean", "faith_stability", "clip_stability"):
        assert metric(4, name, clip_stability=0.9).interval is None
    known = metric(5, "faith_mean")
    assert known.low is not None
    assert known.high is not None
    assert 0 <= known.low < 0.75 < known.high <= 1
    assert metric(5, "clip_mean", clip_mean=30.0).interval is None, "without any spread nothing is known"


def test_laws_dimensions_and_metrics() -> None:
    measured = _measured(RUN)
    assert list(_rows(measured, "faithfulness by law", "law")) == ["commutative", "associative"]
    assert list(_rows(measured, "faithfulness by dimension", "dimension")) == ["conjunctive", "vertical"]
    stability = measured.metrics["faith_stability"]
    assert (stability.n, stability.better, stability.is_share) == (3, "higher", True)
    assert stability.value == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert stability.reason.endswith("1 have no score")
    assert list(measured.metrics) == list(FaithfulnessTables.about.metrics)


def test_the_worst_categories_come_first_with_prompts_and_answers() -> None:
    table = _table(_measured(RUN), "worst categories")
    assert [row[0] for row in table.rows] == ["associative-vertical", "commutative-conjunctive"]
    worst = dict(zip(table.columns, table.rows[0], strict=True))
    assert worst["prompt a"] == "s1 one way"
    assert worst["answers"] == "what faithfulness-s1 got wrong"


def test_contrasts_stand_apart_from_the_laws() -> None:
    contrast = _case("x1", "contrast", "conjunctive", "21", "must-differ")
    measured = _measured([*RUN, (contrast, _verdict(contrast, 1.0, 0.0, Outcome.FAIL))])
    assert measured.metrics["faith_mean"].n == 3
    contrasts = measured.metrics["contrast_rate"]
    assert (contrasts.value, contrasts.n, contrasts.better) == (1.0, 1, "lower")
    assert _rows(measured, "faithfulness by dimension", "dimension")["conjunctive"]["n_pairs"] == 2


def test_clip_scores_name_their_scale_and_their_embedder() -> None:
    clip = {**pair_scores("clip", 30.0, 40.0, divide_by=100), "image_similarity": 90.0}
    run = [(COMM[0], _verdict(COMM[0], 1.0, 1.0, Outcome.PASS, **clip)), RUN[1]]
    row = _rows(_measured(run), "CLIP by category", "category_id")["1"]
    assert (row["n_pairs"], row["n_left_out"], row["mean_clip_mean"], row["mean_clip_stability"]) == (1, 1, 35.0, 0.9)
    note = _table(_measured(run), "CLIP by category").note
    assert "pocket+clip/x+scene" in note
    assert "percent" in note
    note = _table(_measured(run, clip_scale="clipscore", clip_stability="published"), "CLIP by category").note
    assert "clipscore" in note
    assert "published" in note
    assert "CLIP by category" not in {table.name for table in _measured(RUN).tables}


def test_bars_and_heat_maps_are_drawn_from_the_tables() -> None:
    charts = {chart.name: chart for chart in _measured(RUN).charts}
    assert sorted(charts) == sorted(
        f"{measure}-{name}"
        for measure in ("stability", "faithfulness")
        for name in ("by-category", "by-law", "by-dimension", "law-by-dimension")
    )
    assert charts["stability-law-by-dimension"].kind is ChartKind.HEAT_MAP
    assert [row[0] for row in charts["faithfulness-by-category"].table.rows] == [
        "commutative conjunctive",
        "associative vertical",
    ]


def test_nothing_judged_measures_nothing() -> None:
    measured = _measured([])
    assert measured.tables == ()
    assert measured.charts == ()
    assert {metric.value for metric in measured.metrics.values()} == {None}
    assert all(metric.reason for metric in measured.metrics.values())


def test_the_mean_keeps_digits_that_a_plain_sum_loses() -> None:
    assert mean([0.1] * 10) == 0.1
    assert sum([0.1] * 10) / 10 != 0.1
    with pytest.raises(ValueError, match="no values"):
        mean([])
