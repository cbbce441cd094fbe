"""CF-World's tables from the scores of verdicts: ratios of means, groups without a score, and garbage."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from judged import judged
from suites.cfworld.graded import group

from salva.charts.drawing import draw_chart
from salva.charts.scene import Dots, Mark
from salva.core.case import Case, Prompt
from salva.core.judgements import Effort, RunCheck
from salva.core.metric import HIGHER, MetricValue
from salva.core.options import NoOptions
from salva.core.protocols import Measured
from salva.core.table import Cell, Table
from salva.core.verdict import Outcome, Verdict
from salva.stats.root_ratios import root_ratio_interval
from salva.suites.cfworld.tables import CfWorldTables


def verdict(case: Case, scores: Mapping[str, float], judge: str = "judge", outcome: str = "PASS") -> Verdict:
    return Verdict(
        case_id=case.case_id,
        repeat=0,
        arm="pair",
        model="m",
        check=case.check,
        observers=(judge,),
        outcome=Outcome(outcome),
        scores=dict(scores),
        images={"l1": f"{case.case_id}-1"},
        reason="x" if outcome in ("ERROR", "UNDECIDED") else "",
    )


def gated(l1: float, l2: float, l3: float) -> dict[str, float]:
    is_open = l1 >= 0.5
    raw = {"s_l1": l1, "s_l2": l2, "s_l3": l3}
    return {**raw, "gated_l2": l2 if is_open else 0.0, "gated_l3": l3 if is_open else 0.0}


def measured_of(
    cases: Sequence[Case], verdicts: Sequence[Verdict], options: Mapping[str, str] | None = None, **others: Any
) -> Measured:
    checks = {name: RunCheck(needs=("judge",), options=options or {}) for name in ("levels", "retention")}
    return CfWorldTables(NoOptions()).measure(judged(cases, verdicts, checks, **others))


def measured(
    scores: Sequence[Mapping[str, float]], group_name: str = "", outcome: str = "PASS", **options: str
) -> Measured:
    cases = [group(f"g{i}", discipline="optics" if i % 2 else "geography") for i in range(len(scores))]
    verdicts = [verdict(case, given, outcome=outcome) for case, given in zip(cases, scores, strict=True)]
    return measured_of(cases, verdicts, options, group=group_name)


def table(result: Measured, name: str) -> Table:
    return next(t for t in result.tables if t.name.startswith(name))


def cells(result: Measured, name: str) -> list[dict[str, Cell]]:
    found = table(result, name)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def test_ratios_are_of_means_over_groups_scored_at_both_levels() -> None:
    scores = [gated(0.9, 0.6, 0.3), gated(0.4, 0.9, 0.9), gated(0.8, 0.2, 0.1)]
    metrics = measured([*scores, {"s_l1": 1.0}, {"s_l1": 0.9, "s_l2": 0.5, "gated_l2": 0.5}]).metrics
    l1, l2 = (0.9 + 0.4 + 0.8 + 0.9) / 4, (0.6 + 0.0 + 0.2 + 0.5) / 4
    assert metrics["prr"].value == pytest.approx(l2 / math.sqrt(l1)), "a group scored at L1 alone is left out"
    assert metrics["rrr"].value == pytest.approx((0.4 / 3) / math.sqrt(0.8 / 3)), "one without L3 is left out here"
    assert (metrics["prr"].n, metrics["rrr"].n) == (4, 3)
    assert metrics["s_l1"].value == pytest.approx((0.9 + 0.4 + 0.8 + 1.0 + 0.9) / 5)
    assert metrics["s_l2"].value == pytest.approx(1.3 / 4)


def test_a_group_counts_as_one_however_many_of_its_repeats_are_scored() -> None:
    first, second = group("first"), group("second")
    verdicts = [replace(verdict(first, gated(0.9, level, 0.5)), repeat=i) for i, level in enumerate((0.2, 0.4))]
    verdicts.append(verdict(second, gated(0.5, 0.9, 0.5)))
    metrics = measured_of([first, second], verdicts).metrics
    assert metrics["prr"].value == pytest.approx((0.3 + 0.9) / 2 / math.sqrt(0.7))
    assert metrics["prr"].n == 2


def test_the_published_figures_are_metrics() -> None:
    scores = [gated(0.6 + i / 40, i / 10, i / 12) for i in range(10)]
    metrics = measured(scores).metrics
    assert list(metrics) == ["prr", "rrr", "s_l1", "s_l2", "s_l3"]
    assert {metric.better for metric in metrics.values()} == {HIGHER}
    assert metrics.keys() <= CfWorldTables.about.metrics.keys()
    assert not any(metric.published for metric in metrics.values())
    by_the_program = measured(scores, mean="questions", missing="zero").metrics
    published = {name: metric.published for name, metric in by_the_program.items()}
    assert published == {"prr": 0.79, "rrr": 0.77, "s_l1": 0.93, "s_l2": 0.76, "s_l3": 0.67}, "Nano Banana Pro, Gemini"


def test_of_several_judges_the_deciding_one_s_figures_are_the_metrics() -> None:
    cases = [group(f"g{i}") for i in range(9)]
    verdicts = [verdict(case, gated(0.9, 0.8, 0.7), "second") for case in cases]
    verdicts += [verdict(case, gated(0.8, 0.4, 0.2), "first") for case in cases]
    found = measured_of(cases, verdicts, deciding=("first",))
    assert found.metrics["s_l1"].value == pytest.approx(0.8)
    assert [row["judge"] for row in cells(found, "models and judges")] == ["first", "second"]


def test_a_run_of_probes_alone_says_nothing_of_levels() -> None:
    probes = [replace(group(f"r{i}"), checks=("retention",), labels={"part": "rule"}) for i in range(3)]
    found = measured_of(probes, [verdict(probe, {"fact": 0.8, "cf": 0.4}) for probe in probes])
    assert list(found.metrics) == ["rule_kept"]
    assert found.metrics["rule_kept"].better == HIGHER
    unscored = measured_of([group("g")], []).metrics
    assert {metric.value for metric in unscored.values()} == {None}
    assert all(metric.reason for metric in unscored.values())


def test_the_fall_from_level_to_level_is_drawn() -> None:
    result = measured([gated(0.9, 0.6, 0.3), gated(0.7, 0.4, 0.1)])
    chart = next(chart for chart in result.charts if chart.name == "cfworld-levels")
    (line,) = [part for part in draw_chart(chart, 520.0).parts if isinstance(part, Mark)]
    (dots, _) = [shape.points for shape in line.parts if isinstance(shape, Dots)]
    heights = [y for _, y in dots]
    assert len(dots) == 3
    assert heights == sorted(heights), "a score that falls is a line that falls"


def test_what_failed_counts_as_far_as_it_was_seen() -> None:
    seen = {"s_l1": 1.0, "s_l2": 1.0, "gated_l2": 1.0, "missing_l3": 1.0}
    result = measured([seen] * 3, outcome="ERROR")
    assert result.metrics["prr"].value == 1.0
    assert result.metrics["rrr"].value is None
    (missing,) = cells(result, "without a score")
    assert (missing["level"], missing["n"], missing["of"]) == ("l3", 3, 3)


def test_over_a_mean_of_zero_there_is_no_ratio_and_a_reason() -> None:
    result = measured([gated(0.9, 0.0, 0.0)] * 6)
    assert result.metrics["prr"].value == 0.0
    assert result.metrics["rrr"].value is None
    assert "0" in result.metrics["rrr"].reason


def test_intervals_are_over_groups() -> None:
    rng = random.Random(1)
    scores = [gated(0.4 + 0.6 * rng.random(), rng.random(), rng.random()) for _ in range(60)]
    metrics = measured(scores).metrics
    for name, before, after in (("prr", "s_l1", "gated_l2"), ("rrr", "gated_l2", "gated_l3")):
        wanted = root_ratio_interval([one[before] for one in scores], [one[after] for one in scores])
        assert wanted is not None
        assert metrics[name].interval == pytest.approx((wanted.low, wanted.high))
    for name in ("s_l1", "s_l2", "s_l3"):
        low, value, high = metrics[name].low, metrics[name].value, metrics[name].high
        assert low is not None
        assert value is not None
        assert high is not None
        assert 0 < low < value < high < 1
    few = measured([gated(0.9, 0.5, 0.5)] * 7).metrics
    assert {metric.interval for metric in few.values()} == {None}, "seven groups are too few"


def test_the_gate_is_shown_with_its_neighbours() -> None:
    result = measured([gated(0.45, 1.0, 1.0), gated(0.55, 1.0, 1.0), gated(0.9, 1.0, 1.0), gated(0.1, 1.0, 1.0)])
    rows = {row["gate_at"]: row for row in cells(result, "the gate")}
    assert (rows[0.5]["n_open"], rows[0.5]["n_shut"], rows[0.5]["n_near"]) == (2, 2, 2)
    assert rows[0.375]["n_open"] == 3
    assert isinstance(rows[0.0]["PRR"], float)
    assert isinstance(rows[0.625]["PRR"], float)
    assert rows[0.0]["PRR"] > rows[0.625]["PRR"]


def test_one_rubric_counts_what_was_not_graded_behind_a_shut_gate_as_zero() -> None:
    opened = {**gated(0.9, 0.8, 0.8), "s_l1_alike": 0.8}
    shut = {**gated(0.2, 0.9, 0.9), "s_l1_alike": 0.2}
    asked, skipped = (
        cells(measured([opened, {k: v for k, v in shut.items() if k not in left_out}]), "models and judges")[0]
        for left_out in ((), ("s_l2", "s_l3"))
    )
    assert asked["PRR one rubric"] == skipped["PRR one rubric"] == pytest.approx(0.4 / math.sqrt(0.5))
    missing = {k: v for k, v in shut.items() if k not in ("s_l2", "gated_l2")}
    (row,) = cells(measured([opened, missing]), "models and judges")
    assert row["PRR one rubric"] == pytest.approx(0.8 / math.sqrt(0.8)), "a picture that is missing is no zero"


def test_the_columns_of_a_probe_give_its_ratio() -> None:
    cases = [replace(group(f"r{i}"), checks=("retention",), labels={"part": "rule"}) for i in range(3)]
    given = ({"fact": 0.8, "cf": 0.4}, {"fact": 0.4, "cf": 0.2}, {"fact": 0.0})
    verdicts = [verdict(case, scores) for case, scores in zip(cases, given, strict=True)]
    (row,) = cells(measured_of(cases, verdicts), "probes")
    assert (row["n"], row["Fact"], row["CF"], row["kept"]) == (2, *map(pytest.approx, (0.6, 0.3, 0.5)))


@pytest.mark.parametrize(
    ("scores", "value", "reason"),
    [
        ([1.0] * 6, 1.0, "(fact1 1.00, cf1 1.00)"),
        ([0.02, 0.04] * 3, 1.0, "CF 0.03 / Fact 0.03"),
        ([0.0] * 6, None, "(fact1 0.00, cf1 0.00)"),
        ([0.0] * 4, None, "Fact is 0"),
        ([], None, "no probe has both scores"),
    ],
)
def test_what_is_kept_of_nothing_or_by_a_constant_judge_has_a_reason(
    scores: list[float], value: float | None, reason: str
) -> None:
    prompts = tuple(Prompt(role=role, text=f"Draw {role}.") for role in ("fact1", "cf1"))
    cases, verdicts = [], []
    for i, score in enumerate(scores or [0.0]):
        case = replace(group(f"r{i}"), checks=("retention",), labels={"part": "rule"}, prompts=prompts)
        given = {"fact": score, "cf": score, "s_fact1": score, "s_cf1": score} if scores else {"fact": 0.5}
        cases.append(case)
        verdicts.append(verdict(case, given))
    kept: MetricValue = measured_of(cases, verdicts).metrics["rule_kept"]
    assert kept.value == value
    assert reason in kept.reason
    assert ("[judge-constant]" in kept.reason) == reason.startswith("(")


def reasons(result: Measured) -> list[str]:
    return [metric.reason for metric in result.metrics.values()]


@pytest.mark.parametrize("levels", [(1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (1.0, 0.4, 0.4)])
def test_a_judge_with_one_score_a_level_is_named(levels: tuple[float, float, float]) -> None:
    """PRR 1 from a judge that always says 1 looks perfect; so does a judge that goes by the level alone."""
    result = measured([gated(*levels)] * 8)
    assert sum("[judge-constant]" in reason for reason in reasons(result)) == 1


def test_a_judge_that_changes_its_answers_is_named() -> None:
    def warned(n_flipped: float, n_groups: int = 6) -> list[str]:
        twice = {"judge_repeated": 1.0, "judge_flipped": n_flipped}
        result = measured([{**gated(1.0, 0.5 + i / 100, 0.4), **twice} for i in range(n_groups)])
        return [reason for reason in reasons(result) if "[judge-unsteady]" in reason]

    assert len(warned(1.0)) == 1
    assert not warned(0.5), "half of them is not enough"
    assert not warned(1.0, n_groups=4), "of four, nothing"


def test_a_judge_that_scores_one_image_otherwise_is_not_named() -> None:
    result = measured([*[gated(1.0, 1.0, 1.0)] * 7, gated(1.0, 1.0, 0.5)])
    assert not any("[judge-constant]" in reason for reason in reasons(result))
    few = measured([gated(1.0, 1.0, 1.0)] * 4)
    assert not any("[judge-constant]" in reason for reason in reasons(few)), "of four, nothing"


def test_hours_are_shown_where_they_were_recorded() -> None:
    case = group("g0")
    effort = Effort(seconds=5400.0, n_images=3, where="2 cores, here")
    result = measured_of([case], [verdict(case, gated(0.9, 0.5, 0.5))], effort=effort)
    row = cells(result, "compute")[-1]
    assert (row["hours"], row["images"], row["machine"]) == (1.5, 3, "2 cores, here")
    assert "the whole run" not in {row["module"] for row in cells(measured([gated(0.9, 0.5, 0.5)]), "compute")}


@pytest.mark.parametrize(("rubrics", "given"), [("one", True), ("levels", False)])
def test_one_rubric_for_all_levels_is_one_rubric_for_all_levels(rubrics: str, given: bool) -> None:
    (row,) = cells(measured([gated(0.9, 0.6, 0.3)] * 6, rubrics=rubrics), "models and judges")
    assert row["PRR one rubric"] == (row["PRR"] if given else None)


def test_denominalisation_is_under_one_gate_and_as_published() -> None:
    scores = [{**gated(0.9, 0.4, 0.4), "s_denorm": 0.5, "gated_denorm": 0.5} for _ in range(5)]
    scores += [{**gated(0.2, 0.4, 0.4), "s_denorm": 0.5, "gated_denorm": 0.0} for _ in range(5)]
    gains = {str(row["gate"]): row["gain"] for row in cells(measured(scores), "de-nominalisation")}
    assert gains.pop("none") == pytest.approx(0.1)
    assert gains.pop("one for both") == pytest.approx(0.05)
    ((gate, gain),) = gains.items()
    assert gate.startswith("L2 alone")
    assert gain == pytest.approx(0.3), "what the gate takes from L2 alone is no gain"


def test_models_are_named_with_their_group() -> None:
    (row,) = cells(measured([gated(0.9, 0.5, 0.5)] * 3, "open"), "models and judges")
    assert (row["model"], row["group"]) == ("m", "open")
    assert table(measured([gated(0.9, 0.5, 0.5)]), "models and judges").averaged_by == "group"


def test_the_branches_of_physics_are_also_counted_together() -> None:
    names = ("Optics", "Classical_Mechanics", "Biology")
    cases = [group(f"g{i}", discipline=names[i % 3]) for i in range(6)]
    given = {"Optics": 0.9, "Classical_Mechanics": 0.5, "Biology": 0.1}
    result = measured_of(cases, [verdict(case, gated(1.0, given[case.category], 0.1)) for case in cases])
    by_discipline = {row["discipline"]: row for row in cells(result, "scores by discipline")}
    assert by_discipline["physics, 2 branches"]["PRR"] == pytest.approx(0.7)
    assert by_discipline["physics, 2 branches"]["n"] == 4
    assert {row["field"] for row in cells(result, "groups by discipline")} == {"physics", "Biology"}
    alone = measured([gated(1.0, 0.5, 0.1)] * 4)
    assert not any(str(row["discipline"]).startswith("physics") for row in cells(alone, "scores by discipline"))
