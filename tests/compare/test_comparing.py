"""A candidate against a baseline: the difference, its decision and its gate, who is refused, and what garbage gets."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from compare.fake_entrants import Breaks, cases, number, store, store_kappas, verdicts
from report.fake_runs import image_id, make_verdict

from salva.compare.comparing import Comparison, Decision, compare_runs
from salva.compare.margin import Demands
from salva.core.case import Case
from salva.core.verdict import Outcome
from salva.errors import StoreError, UsageError
from salva.messages import code_of
from salva.results.gate import FAILED, INCONCLUSIVE, PASSED
from salva.store.records import WHOLE
from salva.store.sqlite import open_run


def never(case: Case, repeat: int) -> bool:
    return False


def always(case: Case, repeat: int) -> bool:
    return True


def undecided(case: Case, repeat: int) -> None:
    return None


def below(n: int) -> Breaks:
    """The first n of ten cases of each category fail."""
    return lambda case, _: number(case) < n


some, more = below(3), below(7)


def one_of(outcomes: list[bool]) -> Breaks:
    """Each in turn, whatever the case."""
    rest = iter(outcomes)
    return lambda _case, _repeat: next(rest)


Compare = Callable[..., Comparison]


@pytest.fixture
def against(tmp_path: Path) -> Compare:
    """Compares two models by their failures."""

    def compare(
        baseline: Breaks, candidate: Breaks, of: list[Case] | None = None, **demands: float | str
    ) -> Comparison:
        sides = {"old": baseline, "new": candidate}
        place = tmp_path / str(len(list(tmp_path.iterdir())))
        runs = [store(place / name, {name: breaks}, of) for name, breaks in sides.items()]
        (only,) = compare_runs(runs, Demands(**demands)).comparisons  # type: ignore[arg-type]  # by name
        return only

    return compare


def test_the_difference_is_that_of_the_two_failure_rates(tmp_path: Path) -> None:
    runs = [
        store(tmp_path / "v1", {"old": some}, has_pictures=True),
        store(tmp_path / "v2", {"new": more}, has_pictures=True),
    ]
    compared = compare_runs(runs)
    (one,) = compared.comparisons
    assert (compared.baseline.title, one.candidate.title) == ("old", "new")
    assert (one.figure.baseline, one.figure.candidate) == pytest.approx((0.3, 0.7))
    assert (compared.pairs, one.figure.n_cases, one.n_shared) == (40, 40, 40)
    assert compared.difference == pytest.approx(0.4)
    assert compared.interval is not None
    assert 0 < compared.interval[0] < 0.4 < compared.interval[1]
    assert compared.interval_entities is not None
    assert compared.interval_entities[0] <= compared.interval[0]
    assert compared.decision is Decision.WORSE
    assert (compared.gate, compared.exit_code) == (None, 0)
    assert compared.flipped is not None
    assert len(compared.flipped) == 16
    assert all(flip.got_worse and flip.failed is flip.candidate for flip in compared.flipped)
    assert compared.flipped[0].baseline.images != compared.flipped[0].candidate.images
    assert one.notes == ()


def test_turned_round_worse_is_better(against: Compare) -> None:
    one = against(more, some, fail_if_worse=0.0)
    assert one.decision is Decision.BETTER
    assert one.gate is not None
    assert one.gate.decision == PASSED
    assert not any(flip.got_worse for flip in one.flipped)
    mixed = against(below(2), lambda case, _: number(case) in (1, 2, 3)).flipped
    assert [flip.got_worse for flip in mixed] == [True] * 8 + [False] * 4


@pytest.mark.parametrize(
    ("candidate", "margin", "decision"),
    [
        (more, 0.05, Decision.WORSE),
        (never, 0.05, Decision.BETTER),
        (some, 0.2, Decision.NONE_SHOWN),
        (some, 0.05, Decision.INCONCLUSIVE),
        (below(2), 0.05, Decision.INCONCLUSIVE),
        (below(5), 0.05, Decision.WORSE),
        (undecided, 0.05, Decision.INCONCLUSIVE),
    ],
)
def test_the_decision_goes_by_the_interval(
    against: Compare, candidate: Breaks, margin: float, decision: Decision
) -> None:
    assert against(some, candidate, margin=margin).decision is decision


def test_a_gate_has_three_outcomes(against: Compare) -> None:
    one = against(some, below(5))
    assert one.interval is not None
    low, high = one.interval
    expected = {low - 0.01: FAILED, low + 0.01: INCONCLUSIVE, high - 0.01: INCONCLUSIVE, high + 0.01: PASSED}
    codes = {FAILED: 1, PASSED: 0, INCONCLUSIVE: 3}
    for margin, decision in expected.items():
        compared = compare_runs([one.baseline.directory, one.candidate.directory], Demands(fail_if_worse=margin))
        assert compared.gate is not None
        assert (compared.gate.decision, compared.exit_code) == (decision, codes[decision])
        assert compared.gate.value == pytest.approx(0.2)
        assert (compared.gate.pairs_needed is not None) == (decision == INCONCLUSIVE)


@pytest.mark.parametrize(
    ("on", "decision"), [("lower", PASSED), ("point", FAILED), ("upper", FAILED), ("interval", INCONCLUSIVE)]
)
def test_one_end_or_the_point_may_decide(against: Compare, on: str, decision: str) -> None:
    gate = against(some, below(5), fail_if_worse=0.19, gate_on=on).gate
    assert gate is not None
    assert gate.decision == decision


def test_a_gate_holds_whatever_the_undecided_are(against: Compare) -> None:
    """All decided pairs are alike; a quarter of the candidate's are undecided."""
    gate = against(some, lambda case, _: None if number(case) in (7, 8) else number(case) < 3, fail_if_worse=0.15).gate
    assert gate is not None
    assert gate.value == 0
    assert (gate.decision, gate.pairs_needed, code_of(gate.reason)) == (INCONCLUSIVE, None, "compare-undecided-decide")
    assert gate.interval is not None
    # With these as failures of the candidate it is worse by 20 points.
    low, high = gate.interval
    assert low < 0 < 0.2 < high
    assert high > 0.3


def test_the_undecided_of_the_baseline_count_as_passed_and_as_failed(against: Compare) -> None:
    gate = against(lambda case, _: None if number(case) < 2 else False, never, fail_if_worse=0.01).gate
    assert gate is not None
    assert gate.interval is not None
    low, high = gate.interval
    assert low < -0.2
    assert 0 < high < 0.1


def test_few_pairs_pass_no_gate_and_may_fail_one(against: Compare) -> None:
    few = cases(2)
    gate = against(never, never, few, fail_if_worse=0.9).gate
    assert gate is not None
    assert (gate.decision, code_of(gate.reason)) == (INCONCLUSIVE, "gate-few-decided")
    gate = against(never, never, few, fail_if_worse=0.9, min_decided=8).gate
    assert gate is not None
    assert gate.decision == PASSED
    gate = against(never, always, few, fail_if_worse=0.1).gate
    assert gate is not None
    assert gate.decision == FAILED


def test_a_difference_takes_five_cases(against: Compare) -> None:
    one = against(never, always, cases(1), fail_if_worse=0.5)
    assert (one.pairs, one.difference, one.interval, one.detectable) == (4, None, None, None)
    assert (one.figure.baseline, one.figure.candidate) == (0, 1)
    assert one.decision is Decision.INCONCLUSIVE
    assert one.gate is not None
    assert (one.gate.decision, one.gate.value) == (INCONCLUSIVE, None)
    assert code_of(one.gate.reason) == "gate-few-decided"
    assert [note.code for note in one.notes] == ["compare-few-cases"]
    assert against(never, always, cases(2)[:5]).difference == 1


def test_a_comparison_prints_as_one_line(tmp_path: Path) -> None:
    runs = [store(tmp_path / name, {name: breaks}) for name, breaks in (("v1", some), ("v2", more), ("v3", never))]
    compared = compare_runs(runs)
    first, second = repr(compared).split("\n")
    assert first.startswith("v1 fails 30 %, v2 70 %: +40 points")
    assert second.startswith("v1 fails 30 %, v3 0 %: -30 points")
    assert (compared.pairs, compared.difference, compared.decision, compared.flipped) == (None, None, None, None)


def test_a_run_against_itself_shows_nothing(tmp_path: Path) -> None:
    run = store(tmp_path / "v1", {"old": some})
    (one,) = compare_runs([run, run]).comparisons
    assert one.baseline.title != one.candidate.title
    assert (one.difference, one.figure.p, one.flipped) == (0, 1, ())
    assert one.interval is not None
    assert one.interval[0] < 0 < one.interval[1]


def test_laws_and_categories_have_their_own_differences(against: Compare) -> None:
    one = against(never, lambda case, _: case.labels["law"] == "associative")
    associative, commutative = one.by_law["associative"], one.by_law["commutative"]
    assert (associative.figure.difference, commutative.figure.difference) == (1, 0)
    assert (associative.n_failed, commutative.n_failed) == ((0, 20), (0, 0))
    assert associative.p_holm is not None
    assert commutative.p_holm is not None
    assert associative.p_holm < 0.001 < commutative.p_holm
    assert len(one.by_category) == 4
    few = against(never, always, cases(3))
    assert {group.figure.difference for group in few.by_category.values()} == {None}
    assert {group.figure.difference for group in few.by_law.values()} == {1}


def test_only_pairs_decided_in_both_count(against: Compare) -> None:
    one = against(never, lambda case, _: None if number(case) >= 5 else number(case) < 2)
    assert (one.pairs, one.n_shared) == (20, 40)
    assert one.difference == pytest.approx(0.4)
    assert [note.code for note in one.notes] == ["compare-few-pairs"]


def test_nothing_decided_divides_by_nothing(against: Compare) -> None:
    one = against(some, undecided, fail_if_worse=0.5)
    assert (one.difference, one.interval, one.pairs) == (None, None, 0)
    assert one.gate is not None
    assert one.gate.decision == INCONCLUSIVE


def test_shuffled_outcomes_show_no_difference_in_most_draws(tmp_path: Path) -> None:
    n_shown = 0
    for seed in range(12):
        rng = Random(seed)
        pool = [rng.random() < 0.4 for _ in range(80)]
        runs = [
            store(tmp_path / f"a{seed}", {"old": one_of(pool[:40])}),
            store(tmp_path / f"b{seed}", {"new": one_of(pool[40:])}),
        ]
        n_shown += compare_runs(runs).decision in (Decision.BETTER, Decision.WORSE)
    assert n_shown <= 2


def test_one_run_of_several_models_is_compared_within(tmp_path: Path) -> None:
    run = store(tmp_path / "all", {"old": some, "new": more, "best": never})
    compared = compare_runs([run], Demands(fail_if_worse=0.0))
    assert [entrant.title for entrant in compared.entrants] == ["old", "new", "best"]
    assert [one.gate.decision for one in compared.comparisons if one.gate] == [FAILED, PASSED]
    assert compared.exit_code == 1
    for one in compared.comparisons:
        assert one.p_holm is not None
        assert one.figure.p is not None
        assert one.p_holm >= one.figure.p


def test_two_runs_of_one_model_are_told_apart_by_their_names(tmp_path: Path) -> None:
    runs = [store(tmp_path / "v1", {"m": some}), store(tmp_path / "v2", {"m": more})]
    assert [entrant.title for entrant in compare_runs(runs).entrants] == ["v1", "v2"]
    titles = [entrant.title for entrant in compare_runs(runs, parts=("baseline", "candidate")).entrants]
    assert titles == ["m (baseline)", "m (candidate)"]


def test_repeats_of_a_case_are_one_cluster(tmp_path: Path) -> None:
    made = {}
    for repeats in (1, 3):
        runs = [
            store(tmp_path / f"{name}{repeats}", {name: rule}, repeats=repeats)
            for name, rule in (("a", some), ("b", more))
        ]
        made[repeats] = compare_runs(runs)
    assert (made[3].pairs, made[3].comparisons[0].figure.n_cases) == (120, 40)
    assert made[3].difference == pytest.approx(made[1].difference)
    widths = {n: one.interval[1] - one.interval[0] for n, one in made.items() if one.interval}
    assert widths[3] > 0.8 * widths[1]


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    run = store(tmp_path / "a", {"old": some})
    with pytest.raises(UsageError) as refused:
        compare_runs([run])
    assert refused.value.code == "compare-one-model"
    with pytest.raises(UsageError):
        compare_runs([run, tmp_path / "nothing"])
    broken = store(tmp_path / "b", {"old": some})
    (broken / "salva.db").write_bytes(b"SQLite format 3\x00" + bytes(range(256)) * 40)
    with pytest.raises(StoreError):
        compare_runs([run, broken])


def test_cases_of_one_run_alone_are_left_out(tmp_path: Path) -> None:
    of = cases(4)
    compared = compare_runs([store(tmp_path / "a", {"old": never}, of), store(tmp_path / "b", {"new": never}, of[:8])])
    assert compared.pairs == 8
    assert "compare-some-cases" in [note.code for note in compared.comparisons[0].notes]


def test_pairs_without_a_verdict_are_undecided_and_not_forgotten(tmp_path: Path) -> None:
    """A run that is not finished, or died on its hard cases, is not compared on the easy ones in silence."""
    first, second = store(tmp_path / "a", {"old": some}), store(tmp_path / "b", {"new": some})
    with open_run(second, "write") as opened:
        opened.drop_verdicts("truth")
        for verdict in verdicts([case for case in cases() if number(case) >= 4], some, "new"):
            opened.put_verdict(verdict)
    compared = compare_runs([first, second], Demands(fail_if_worse=0.1))
    assert (compared.pairs, compared.comparisons[0].n_shared) == (24, 40)
    assert compared.gate is not None
    assert compared.gate.decision == INCONCLUSIVE


def test_a_comparison_with_an_unfinished_run_never_ends_with_0(tmp_path: Path) -> None:
    first, second = store(tmp_path / "a", {"old": more}), store(tmp_path / "b", {"new": some})
    assert compare_runs([first, second]).exit_code == 0
    passing, failing = Demands(fail_if_worse=0.3), Demands(fail_if_worse=0.3, gate_on="point")
    assert compare_runs([first, second], passing).exit_code == 0
    with open_run(second, "write") as opened:
        opened.drop_meta(WHOLE)
    for runs in ([first, second], [second, first]):
        assert compare_runs(runs).exit_code == 3
    passed = compare_runs([first, second], passing)
    assert passed.gate is not None
    assert (passed.gate.decision, passed.exit_code) == (PASSED, 3)
    assert compare_runs([second, first], failing).exit_code == 1, "what has failed stays so"


def test_a_run_without_trust_passes_no_gate(tmp_path: Path) -> None:
    of = [
        replace(case, prompts=tuple(replace(prompt, text=f"{prompt.text} {case.case_id}") for prompt in case.prompts))
        for case in cases()
    ]
    first, second = (store(tmp_path / name, {name: some}, of, has_pictures=True) for name in ("old", "new"))
    demands = Demands(fail_if_worse=0.5)
    gate = compare_runs([first, second], demands).gate
    assert gate is not None
    assert gate.decision == PASSED
    with open_run(second, "write") as opened:
        for verdict in verdicts(of, some, "new"):
            opened.put_verdict(replace(verdict, images=dict.fromkeys("ab", image_id("the only one"))))
    for runs in ([first, second], [second, first]):
        compared = compare_runs(runs, demands)
        assert compared.gate is not None
        assert (compared.gate.decision, code_of(compared.gate.reason)) == (INCONCLUSIVE, "gate-no-trust")
        assert compared.exit_code == 3
    worse = store(tmp_path / "worse", {"worse": always}, of, has_pictures=True)
    compared = compare_runs([second, worse], demands)
    assert compared.gate is not None
    assert (compared.gate.decision, compared.exit_code) == (FAILED, 3)


@pytest.mark.parametrize(("check", "decision"), [("", INCONCLUSIVE), ("same-scene", PASSED)])
def test_agreement_alone_passes_a_gate_only_where_it_was_chosen(tmp_path: Path, check: str, decision: str) -> None:
    of = [replace(case, checks=("same-scene",)) for case in cases()]
    runs = []
    for name in ("old", "new"):
        run = store(tmp_path / name, {name: never}, of, check=check)
        with open_run(run, "write") as opened:
            opened.drop_verdicts("truth")
            for case in of:
                opened.put_verdict(make_verdict(case.case_id, model=name, check="same-scene"))
        runs.append(run)
    gate = compare_runs(runs, Demands(fail_if_worse=0.5)).gate
    assert gate is not None
    assert gate.decision == decision
    assert code_of(gate.reason) == ("" if check else "gate-agreement-only")


def test_scores_have_a_difference_inside_their_range(tmp_path: Path) -> None:
    low, high = (store_kappas(tmp_path / name, [kappa] * 6) for name, kappa in (("low", -2.0), ("high", 2.0)))
    kappa = compare_runs([low, high]).comparisons[0].metrics["kappa"]
    assert (kappa.baseline, kappa.candidate, kappa.difference, kappa.better) == (-2, 2, 4, "higher")
    assert kappa.interval is not None
    assert kappa.interval.low < kappa.interval.high <= 4
    assert kappa.worsening == -4


def test_scores_of_few_clusters_have_no_difference(tmp_path: Path) -> None:
    runs = [store_kappas(tmp_path / name, [kappa] * 12, n_clusters=4) for name, kappa in (("a", 0.1), ("b", 0.5))]
    one = compare_runs(runs).comparisons[0]
    assert {(name, metric.difference) for name, metric in one.metrics.items()} == {
        ("kappa", None),
        ("alignment", None),
        ("gamma_w", None),
        ("gamma_wo", None),
    }
    assert one.metrics["kappa"].candidate == pytest.approx(0.5)
    assert one.difference == 0


def test_metrics_of_whole_runs_have_no_interval_and_need_the_same_cases(tmp_path: Path) -> None:
    runs = [
        store_kappas(tmp_path / name, [kappa] * n) for name, kappa, n in (("a", 0.1, 6), ("b", 0.5, 6), ("c", 0.5, 7))
    ]
    gamma = compare_runs(runs[:2]).comparisons[0].metrics["gamma_w"]
    assert (gamma.difference, gamma.interval) == (0, None)
    assert set(compare_runs(runs[::2]).comparisons[0].metrics) == {"kappa", "alignment"}


def test_the_first_of_several_judges_gives_the_scores(tmp_path: Path) -> None:
    runs = [store_kappas(tmp_path / name, [0.5] * 6) for name in ("a", "b")]
    with open_run(runs[1], "write") as opened:
        for verdict in list(opened.verdicts()):
            opened.put_verdict(replace(verdict, observers=("zz",), scores={**verdict.scores, "kappa": -1.0}))
    assert compare_runs(runs).comparisons[0].metrics["kappa"].difference == 0


def store_agreement(run: Path, n_inconsistent: int) -> None:
    """Add to a run that the images of the first pairs of each category disagree."""
    with open_run(run, "write") as opened:
        for case in cases():
            outcome = Outcome.FAIL if number(case) < n_inconsistent else Outcome.PASS
            opened.put_verdict(make_verdict(case.case_id, outcome, model=run.name, check="same-scene"))


@pytest.mark.parametrize(
    ("failing", "inconsistent", "went"),
    [((3, 7), (8, 1), "worse better"), ((7, 3), (1, 8), "better worse"), ((3, 4), (8, 7), ""), ((3, 7), (1, 8), "")],
)
def test_a_metric_that_moves_the_other_way_is_named(
    tmp_path: Path, failing: tuple[int, int], inconsistent: tuple[int, int], went: str
) -> None:
    runs = [store(tmp_path / name, {name: below(n)}) for name, n in zip(("old", "new"), failing, strict=True)]
    for run, n in zip(runs, inconsistent, strict=True):
        store_agreement(run, n)
    one = compare_runs(runs).comparisons[0]
    assert one.metrics["inconsistent"].difference == pytest.approx((inconsistent[1] - inconsistent[0]) / 10)
    notes = [note for note in one.notes if note.code == "compare-opposite"]
    assert [" ".join(re.findall("worse|better", note)) for note in notes] == ([went] if went else [])


@pytest.mark.parametrize("number", ["NaN", "1e999", "-Infinity"])
def test_scores_that_are_no_numbers_are_somebodys_edit(tmp_path: Path, number: str) -> None:
    runs = [store_kappas(tmp_path / name, (0.5, 0.0625, 0.8)) for name in ("a", "b")]
    with closing(sqlite3.connect(runs[1] / "salva.db")) as database:
        database.execute("UPDATE verdicts SET scores = replace(scores, '0.0625', ?)", (number,))
        database.commit()
    assert compare_runs(runs).comparisons[0].pairs == 2, "an edited verdict counts as missing"
