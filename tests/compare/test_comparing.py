"""Two runs held against each other: the difference, who is refused, and what garbage gets."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from compare.fake_entrants import Breaks, asked, cases, number, store, store_kappas, verdicts
from report.fake_runs import FakeImages, image_id, make_verdict, store_run

from salva.compare.comparing import DifferenceFinding, compare_runs
from salva.core.case import Case
from salva.core.source import RunRecords
from salva.core.verdict import Outcome
from salva.errors import StoreError, UsageError
from salva.store.sqlite import open_run


def never(case: Case, repeat: int) -> bool:
    return False


def always(case: Case, repeat: int) -> bool:
    return True


def nobody_knows(case: Case, repeat: int) -> None:
    return None


def one_of(outcomes: list[bool]) -> Breaks:
    """Each in turn, whatever the case."""
    rest = iter(outcomes)
    return lambda _case, _repeat: next(rest)


def some(case: Case, repeat: int) -> bool:
    return number(case) < 3


def more(case: Case, repeat: int) -> bool:
    return number(case) < 7


def test_the_difference_is_that_of_the_two_headlines(tmp_path: Path) -> None:
    runs = [
        store(tmp_path / "v1", {"old": some}, has_pictures=True),
        store(tmp_path / "v2", {"new": more}, has_pictures=True),
    ]
    comparison = compare_runs(runs)
    (duel,) = comparison.duels
    assert (duel.first.title, duel.second.title) == ("old", "new")
    figure = duel.leading
    assert figure.name == "wrong"
    assert (figure.first, figure.second) == pytest.approx((0.3, 0.7))
    assert figure.difference == pytest.approx(0.4)
    assert (figure.n_pairs, figure.n_cases, figure.n_undecided) == (40, 40, 0)
    assert figure.signs is not None
    assert (figure.signs.n_higher, figure.signs.n_lower) == (0, 16)
    assert figure.relative == pytest.approx(4 / 3)
    assert duel.verdict is DifferenceFinding.WORSE
    assert len(duel.flipped) == 16
    assert all(flip.got_worse for flip in duel.flipped)
    assert duel.flipped[0].first.images != duel.flipped[0].second.images
    assert duel.notes == ()


def test_turned_round_worse_is_better(tmp_path: Path) -> None:
    runs = [store(tmp_path / "v1", {"old": more}), store(tmp_path / "v2", {"new": some})]
    (duel,) = compare_runs(runs).duels
    assert duel.verdict is DifferenceFinding.BETTER
    assert not duel.is_worse_than(0)
    assert not any(flip.got_worse for flip in duel.flipped)


def test_a_comparison_that_is_looked_at_says_its_verdicts_and_no_more(tmp_path: Path) -> None:
    runs = [store(tmp_path / name, {name: breaks}) for name, breaks in (("v1", some), ("v2", more), ("v3", never))]
    comparison = compare_runs(runs)
    first, second, third = repr(comparison).split("\n")
    assert first.startswith("v2 is worse than v1: ")
    assert second.startswith("v3 is better than v1: ")
    assert third.startswith("v3 is better than v2: ")
    assert f"over {comparison.duels[0].leading.n_pairs} pairs" in first


def test_a_gate_fails_where_the_whole_interval_lies_beyond_the_margin(tmp_path: Path) -> None:
    runs = [store(tmp_path / "v1", {"old": some}), store(tmp_path / "v2", {"new": more})]
    comparison = compare_runs(runs)
    assert comparison.duels[0].worsening is not None
    low = comparison.duels[0].worsening[0]
    assert 0 < low < 0.4
    assert comparison.worse_than(low - 0.01)
    assert not comparison.worse_than(low + 0.01)


def test_a_run_against_itself_shows_nothing(tmp_path: Path) -> None:
    run = store(tmp_path / "v1", {"old": some})
    (duel,) = compare_runs([run, run]).duels
    assert duel.first.title != duel.second.title
    assert duel.leading.difference == 0
    assert duel.leading.p == 1
    assert duel.verdict is DifferenceFinding.NOT_SHOWN
    assert duel.flipped == ()
    assert duel.leading.detectable is not None
    assert duel.leading.detectable > 0
    assert not duel.is_worse_than(0)


def test_laws_and_categories_have_their_own_differences(tmp_path: Path) -> None:
    def one_law(case: Case, repeat: int) -> bool:
        return case.labels["law"] == "associative"

    (duel,) = compare_runs([store(tmp_path / "a", {"old": never}), store(tmp_path / "b", {"new": one_law})]).duels
    by_law = {group.name: group for group in duel.by_law}
    assert by_law["associative"].figure.difference == 1
    assert by_law["commutative"].figure.difference == 0
    associative, commutative = by_law["associative"].p_holm, by_law["commutative"].p_holm
    assert associative is not None
    assert commutative is not None
    assert associative < 0.001 < commutative
    assert len(duel.by_category) == 4


def test_only_pairs_decided_on_both_sides_count_and_the_rest_has_bounds(tmp_path: Path) -> None:
    def half(case: Case, repeat: int) -> bool | None:
        return None if number(case) >= 5 else number(case) < 2

    (duel,) = compare_runs([store(tmp_path / "a", {"old": never}), store(tmp_path / "b", {"new": half})]).duels
    figure = duel.leading
    assert (figure.n_pairs, figure.n_undecided, figure.undecided) == (20, 20, (0, 20, 0))
    assert figure.difference == pytest.approx(0.4)
    assert figure.bounds is not None
    assert (figure.bounds.low, figure.bounds.high) == pytest.approx((0.2, 0.7))
    assert any("biased" in note for note in duel.notes)
    assert "only 20 of 40" in duel.too_little


def test_nothing_decided_is_said_and_divides_by_nothing(tmp_path: Path) -> None:
    (duel,) = compare_runs([store(tmp_path / "a", {"old": some}), store(tmp_path / "b", {"new": nobody_knows})]).duels
    assert (duel.leading.difference, duel.leading.interval, duel.leading.n_pairs) == (None, None, 0)
    assert duel.verdict is DifferenceFinding.NOT_SHOWN
    assert duel.too_little


def test_one_case(tmp_path: Path) -> None:
    one = cases(1)[:1]
    (duel,) = compare_runs(
        [store(tmp_path / "a", {"old": never}, one), store(tmp_path / "b", {"new": always}, one)]
    ).duels
    assert (duel.leading.difference, duel.leading.interval) == (1, None)
    assert duel.verdict is DifferenceFinding.NOT_SHOWN


def test_a_grey_painter_is_worse_than_one_that_is_right_at_times(tmp_path: Path) -> None:
    (duel,) = compare_runs([store(tmp_path / "a", {"pocket": more}), store(tmp_path / "b", {"grey": always})]).duels
    assert duel.verdict is DifferenceFinding.WORSE


def test_shuffled_outcomes_show_no_difference_in_most_draws(tmp_path: Path) -> None:
    n_shown = 0
    for seed in range(12):
        rng = Random(seed)
        pool = [rng.random() < 0.4 for _ in range(80)]
        runs = [
            store(tmp_path / f"a{seed}", {"old": one_of(pool[:40])}),
            store(tmp_path / f"b{seed}", {"new": one_of(pool[40:])}),
        ]
        n_shown += compare_runs(runs).duels[0].verdict is not DifferenceFinding.NOT_SHOWN
    assert n_shown <= 2


def test_one_run_of_several_models_is_compared_within(tmp_path: Path) -> None:
    run = store(tmp_path / "all", {"old": some, "new": more, "best": never})
    comparison = compare_runs([run])
    assert [entrant.title for entrant in comparison.entrants] == ["old", "new", "best"]
    assert [(duel.first.title, duel.second.title) for duel in comparison.duels] == [
        ("old", "new"),
        ("old", "best"),
        ("new", "best"),
    ]
    assert [duel.second.title for duel in comparison.against_first] == ["new", "best"]
    assert [duel.second.title for duel in comparison.worse_than(0)] == ["new"]
    for duel in comparison.duels:
        assert duel.p_holm is not None
        assert duel.leading.p is not None
        assert duel.p_holm >= duel.leading.p


def test_two_runs_of_one_model_are_told_apart_by_their_names(tmp_path: Path) -> None:
    comparison = compare_runs([store(tmp_path / "v1", {"m": some}), store(tmp_path / "v2", {"m": more})])
    assert [entrant.title for entrant in comparison.entrants] == ["v1", "v2"]


def test_runs_that_lead_with_different_figures_are_refused(tmp_path: Path) -> None:
    def stored(name: str, headline: str) -> Path:
        of = cases(2)
        same = [make_verdict(case.case_id, model=name, outcome=Outcome.PASS, check="same-scene") for case in of]
        made = (*verdicts(of, some, name), *same)
        records = RunRecords(cases=tuple(of), verdicts=tuple(made), asked=asked((name,), check=headline), name=name)
        store_run(tmp_path / name, records, FakeImages())
        return tmp_path / name

    by_truth, by_rule = stored("old", ""), stored("new", "same-scene")
    with pytest.raises(UsageError, match=r"salva rejudge \S+new --check truth \[compare-figures\]$"):
        compare_runs([by_truth, by_rule])
    with pytest.raises(UsageError, match=r"salva rejudge \S+old --check same-scene \[compare-figures\]$"):
        compare_runs([by_rule, by_truth])
    (duel,) = compare_runs([by_truth, stored("newer", "")]).duels
    assert [figure.name for figure in duel.beside] == ["inconsistent", "both_wrong"]
    assert duel.notes == ()


def test_repeats_of_a_case_are_one_cluster(tmp_path: Path) -> None:
    once = compare_runs([store(tmp_path / "a", {"old": some}), store(tmp_path / "b", {"new": more})]).duels[0].leading
    often = compare_runs(
        [store(tmp_path / "c", {"old": some}, repeats=3), store(tmp_path / "d", {"new": more}, repeats=3)]
    ).duels[0]
    assert often.leading.n_pairs == 120
    assert often.leading.n_cases == 40
    assert often.leading.difference == pytest.approx(once.difference)
    assert often.leading.interval is not None
    assert once.interval is not None
    width, alone = (one.high - one.low for one in (often.leading.interval, once.interval))
    assert width > 0.8 * alone


def test_one_model_has_nobody_to_be_compared_with(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\[compare-one-model\]"):
        compare_runs([store(tmp_path / "a", {"old": some})])


def test_a_folder_that_is_no_run_and_one_that_is_damaged(tmp_path: Path) -> None:
    run = store(tmp_path / "a", {"old": some})
    with pytest.raises(UsageError, match="is no run"):
        compare_runs([run, tmp_path / "nothing"])
    broken = store(tmp_path / "b", {"old": some})
    (broken / "salva.db").write_bytes(b"SQLite format 3\x00" + bytes(range(256)) * 40)
    with pytest.raises(StoreError):
        compare_runs([run, broken])


def test_verdicts_of_a_case_that_is_not_there_change_nothing(tmp_path: Path) -> None:
    of = cases(4)
    assert len(verdicts(of, never, "m")) == 16
    runs = [store(tmp_path / "a", {"old": never}, of), store(tmp_path / "b", {"new": never}, of[:8])]
    (duel,) = compare_runs(runs).duels
    assert duel.leading.n_pairs == 8
    assert any("8 only in old" in note for note in duel.notes)


def test_pairs_without_a_verdict_on_one_side_are_undecided_and_not_forgotten(tmp_path: Path) -> None:
    """A run that is not finished, or died on its hard cases, is not compared on the easy ones in silence."""
    first = store(tmp_path / "a", {"old": some})
    second = store(tmp_path / "b", {"new": some})
    with open_run(second, "write") as opened:
        opened.drop_verdicts("truth")
        for verdict in verdicts([case for case in cases() if number(case) >= 4], some, "new"):
            opened.put_verdict(verdict)
    (duel,) = compare_runs([first, second]).duels
    assert (duel.leading.n_pairs, duel.leading.n_undecided, duel.leading.undecided) == (24, 16, (0, 16, 0))
    assert "only 24 of 40" in duel.too_little


def test_one_picture_for_every_prompt_passes_no_margin(tmp_path: Path) -> None:
    of = [
        replace(case, prompts=tuple(replace(prompt, text=f"{prompt.text} {case.case_id}") for prompt in case.prompts))
        for case in cases()
    ]
    first, second = (store(tmp_path / name, {name: some}, of, has_pictures=True) for name in ("old", "new"))
    assert compare_runs([first, second]).duels[0].too_little == ""
    with open_run(second, "write") as opened:
        for verdict in verdicts(of, some, "new"):
            opened.put_verdict(replace(verdict, images=dict.fromkeys("ab", image_id("the only one"))))
    (duel,) = compare_runs([first, second]).duels
    assert " new " in duel.too_little
    assert " 40 prompts" in duel.too_little
    assert duel.too_little in duel.notes


@pytest.mark.parametrize("number", ["NaN", "1e999", "-Infinity"])
def test_scores_that_are_no_numbers_are_somebodys_edit(tmp_path: Path, number: str) -> None:
    runs = [store_kappas(tmp_path / name, (0.5, 0.0625, 0.8)) for name in ("a", "b")]
    with closing(sqlite3.connect(runs[1] / "salva.db")) as database:
        database.execute("UPDATE verdicts SET scores = replace(scores, '0.0625', ?)", (number,))
        database.commit()
    with pytest.raises(StoreError, match="is no number"):
        compare_runs(runs)
