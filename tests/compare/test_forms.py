"""A comparison as JSON, Markdown and text: the contract's keys, and strangers' words that stay words."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from math import ceil
from pathlib import Path

import pytest
from compare.fake_entrants import Breaks, cases, number, store, store_kappas
from report.hostile import BREAKOUT, EVERYTHING, IMAGE

from salva.compare.comparing import ComparedRuns, compare_runs
from salva.compare.forms import comparison_json, comparison_markdown, comparison_text
from salva.compare.margin import Demands
from salva.compare.tables import candidates_table, tables_of
from salva.compare.words import (
    changed_text,
    detecting_text,
    ends_text,
    figure_texts,
    flips_text,
    margin_text,
    metric_text,
    sentence_of,
    step_text,
)
from salva.core.case import Case
from salva.results.gate import WITH_UNDECIDED

CONTRACT = (
    *("pairs", "difference", "interval", "interval_entities", "decision", "gate", "detectable", "by_category"),
    "flipped",
)
Make = Callable[..., ComparedRuns]


def below(n: int) -> Breaks:
    return lambda case, _: number(case) < n


some, more, never = below(3), below(7), below(0)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> ComparedRuns:
    folder = tmp_path_factory.mktemp("two")
    runs = [store(folder / "v1", {"old": some}), store(folder / "v2", {"new": more})]
    return compare_runs(runs, Demands(fail_if_worse=0.05))


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> ComparedRuns:
    folder = tmp_path_factory.mktemp("three")
    return compare_runs([store(folder / "all", {"old": some, "new": more, "best": never})])


def test_two_have_the_keys_of_the_contract(two: ComparedRuns) -> None:
    made = comparison_json(two)
    assert set(CONTRACT) <= made.keys()
    assert (made["pairs"], made["decision"], made["rule"]) == (40, "worse", "primary")
    assert made["difference"] == pytest.approx(0.4)
    by_category, flipped, gate = made["by_category"], made["flipped"], made["gate"]
    assert isinstance(by_category, dict)
    assert list(by_category) == ["commutative-and", "commutative-x", "associative-and", "associative-x"]
    assert isinstance(flipped, list)
    assert len(flipped) == 16
    assert isinstance(gate, dict)
    assert (gate["decision"], gate["limit"]) == ("failed", 0.05)
    assert isinstance(made["comparisons"], list)
    (only,) = made["comparisons"]
    assert isinstance(only, dict)
    assert only == {key: made[key] for key in only}
    # What is printed can be read again, and holds no number that is none.
    assert json.loads(json.dumps(made, allow_nan=False)) == made


def test_several_candidates_have_no_figures_of_one(three: ComparedRuns) -> None:
    made = comparison_json(three)
    assert all(made[key] is None for key in CONTRACT)
    assert isinstance(made["comparisons"], list)
    assert len(made["comparisons"]) == 2
    assert [row[0] for row in candidates_table(three).rows] == ["old", "best", "new"]
    assert [row[-1] for row in candidates_table(three).rows] == ["baseline", "better", "worse"]


def test_the_sentence_has_the_baseline_first_and_the_difference(two: ComparedRuns) -> None:
    (one,) = two.comparisons
    assert one.interval is not None
    low, high = (round(100 * end) for end in one.interval)
    assert sentence_of(one) == f"old fails 30 %, new 70 %: +40 points, 95 % CI +{low} to +{high}: worse"
    assert flips_text(one) == "16 pairs flipped: 16 got worse, 0 better"
    assert changed_text(one) == "more in commutative (6 -> 14 of 20), associative (6 -> 14 of 20)"


def test_what_decides_nothing_says_what_would(tmp_path: Path) -> None:
    runs = [store(tmp_path / "v1", {"old": some}), store(tmp_path / "v2", {"new": below(4)})]
    (one,) = compare_runs(runs).comparisons
    figure = one.figure
    # n (t + 0.842)^2 V / margin^2 at V = (half / t)^2, to two digits.
    needed = ceil(figure.n_pairs * ((figure.t + 0.842) * figure.half_width / figure.t / 0.05) ** 2)
    assert 100 < needed < 1000
    assert detecting_text(one) == f"about {round(needed, -1)} pairs would detect 5 points"
    assert sentence_of(one).endswith(f": inconclusive; {detecting_text(one)}")
    (tiny,) = compare_runs(runs, Demands(margin=0.001)).comparisons
    assert detecting_text(tiny) == "more than 20,000 pairs would detect 0.1 points"
    # A gate has its own number of pairs.
    (gated,) = compare_runs(runs, Demands(fail_if_worse=0.05)).comparisons
    assert (gated.decision, detecting_text(gated)) == ("inconclusive", "")
    # So many pairs detect a difference of 20 points; this one lies too near to them.
    (enough,) = compare_runs(runs, Demands(margin=0.2)).comparisons
    assert (enough.decision, detecting_text(enough)) == ("inconclusive", "")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.05, "+5 points"), (-0.126, "-13 points"), (0.0, "0 points"), (0.004, "+0.4 points"), (-0.0001, "0 points")],
)
def test_points_of_shares_are_whole(two: ComparedRuns, value: float, text: str) -> None:
    figure = two.comparisons[0].figure
    assert step_text(figure, value) == text
    assert step_text(replace(figure, is_share=False), value) == f"{value + 0.0:+.3f}"
    assert ends_text(figure, (-0.131, 0.234)) == "-13 to +23"


@pytest.mark.parametrize(
    ("baseline", "candidate", "texts"),
    [
        (0.65, 0.7, ("65 %", "70 %", "+5 points")),
        (0.576, 0.554, ("57.6 %", "55.4 %", "-2.2 points")),
        (0.5, None, ("50 %", "–", "–")),
    ],
)
def test_rates_and_their_difference_add_up(
    two: ComparedRuns, baseline: float, candidate: float | None, texts: tuple[str, str, str]
) -> None:
    difference = None if candidate is None else candidate - baseline
    figure = replace(two.comparisons[0].figure, baseline=baseline, candidate=candidate, difference=difference)
    assert figure_texts(figure) == texts


def test_a_terminal_gets_twelve_lines_of_eighty_columns(tmp_path: Path, two: ComparedRuns) -> None:
    long = "a-model-with-a-rather-long-name"
    runs = [
        store(tmp_path / "v1", {f"{long}-1": some}),
        store(tmp_path / "v2", {f"{long}-2": below(4)}, repeats=2, seed=9),
    ]
    for compared in (two, compare_runs(runs, Demands(fail_if_worse=0.05))):
        lines = comparison_text(compared).splitlines()
        assert len(lines) <= 12
        assert all(len(line) <= 80 for line in lines), lines
        assert any(line.startswith("gate") for line in lines)
    assert comparison_text(two).startswith("metalogic: old -> new  ")


def test_several_candidates_have_a_sentence_each(three: ComparedRuns) -> None:
    text = " ".join(comparison_text(three).split())
    assert all(sentence_of(one) in text for one in three.comparisons)


def test_columns_have_the_baseline_first(two: ComparedRuns) -> None:
    (one,) = two.comparisons
    by_law, by_category = tables_of(one)
    assert by_law.columns[:4] == ("law", "pairs", "old fails", "new fails")
    assert by_law.rows[0][:4] == ("commutative", "20", "6", "14")
    assert by_category.columns[0] == "category"
    markdown = comparison_markdown(two)
    assert f"**{sentence_of(one)}**" in markdown
    assert "| law | pairs | old fails | new fails | difference | low | high |" in markdown


def test_a_gate_shows_a_difference_and_whether_the_undecided_count(two: ComparedRuns, tmp_path: Path) -> None:
    (one,) = two.comparisons
    assert one.gate is not None
    assert one.gate.interval is not None
    low, high = (round(100 * end) for end in one.gate.interval)
    assert margin_text(one, one.gate) == f"failed: difference +40 points (+{low} to +{high}), limit 5 points"
    fewer = store(tmp_path / "v3", {"new": lambda case, _: None if number(case) == 9 else number(case) < 3})
    (partly,) = compare_runs([one.baseline.directory, fewer], Demands(fail_if_worse=0.05)).comparisons
    assert partly.gate is not None
    assert WITH_UNDECIDED in margin_text(partly, partly.gate)


def test_a_metric_says_over_how_many_pairs(tmp_path: Path) -> None:
    low, high = (store_kappas(tmp_path / name, [kappa] * 6) for name, kappa in (("a", 0.1), ("b", 0.5)))
    (one,) = compare_runs([low, high]).comparisons
    metrics = tables_of(one)[0]
    row = dict(zip(metrics.columns, metrics.rows[0], strict=True))
    assert (row["metric"], row["a"], row["b"], row["pairs"]) == ("kappa", "0.100", "0.500", "6")
    text = metric_text(one.metrics["kappa"])
    assert text.startswith("0.100 -> 0.500: +0.400 (")
    assert text.endswith(", 6 pairs")


def test_hostile_words_do_nothing_in_markdown_and_in_a_terminal(tmp_path: Path) -> None:
    def spoilt(case: Case) -> Case:
        prompts = tuple(replace(prompt, text=f"{EVERYTHING}\x1b[31m`x`|y") for prompt in case.prompts)
        law = "commutative" if case.labels["law"] == "commutative" else f"{BREAKOUT}|*a*\n# b"
        return replace(case, prompts=prompts, labels={**case.labels, "law": law}, category=f"{IMAGE}{case.category}")

    of = [spoilt(case) for case in cases(3)]
    model = f"<b>{BREAKOUT}\x1b]0;title\x07\u202e"
    made = compare_runs([store(tmp_path / "a", {"old": some}, of), store(tmp_path / "b", {model: never}, of)])
    markdown = comparison_markdown(made)
    assert "<script" not in markdown
    assert "<img" not in markdown
    assert "<b>" not in markdown
    assert "\n# b" not in markdown
    for text in (markdown, comparison_text(made)):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\x07" not in text
    json.dumps(comparison_json(made), allow_nan=False)
