"""What the second wording does, fed with swapped, identical, blank and planted images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest
from report.fake_runs import judged, make_case, make_verdict

from salva.core.case import Case
from salva.core.judgements import Judgements
from salva.core.verdict import Outcome, Verdict
from salva.results.metrics.wording_table import wording_chart, wording_table
from salva.results.wordings import ONE_REPEAT, WordingDifference, differences_by_law, wording_difference

LAWS = ("commutative", "de-morgan")


def _cases(n: int = 100) -> list[Case]:
    laws = [LAWS[i % 2] for i in range(n)]
    return [make_case(f"case-{i}", category=f"{law}-and", labels={"law": law}) for i, law in enumerate(laws)]


def _verdict(case: Case, repeat: int, right_a: bool, right_b: bool) -> Verdict:
    scores = {"right_a": float(right_a), "right_b": float(right_b), "both_wrong": 0.0}
    outcome = Outcome.PASS if right_a and right_b else Outcome.FAIL
    return make_verdict(case.case_id, outcome, repeat=repeat, check="truth", scores=scores)


def _painted(
    cases: Sequence[Case], paint: Callable[[Random, Case], tuple[bool, bool]], n_repeats: int = 1
) -> Judgements:
    rng = Random(7)
    return judged(cases, [_verdict(case, k, *paint(rng, case)) for case in cases for k in range(n_repeats)])


def _measured(judgements: Judgements) -> WordingDifference:
    wording = wording_difference(judgements)
    assert wording is not None
    assert wording.interval is not None
    return wording


def _harmed(rng: Random, _: Case) -> tuple[bool, bool]:
    """16 % of the first and 50 % of the second wordings are wrong."""
    return rng.random() >= 0.16, rng.random() >= 0.5


def test_planted_harm_of_34_points_shows_as_34_points() -> None:
    wording = _measured(_painted(_cases(400), _harmed))
    assert wording.interval is not None
    assert wording.interval.low < 0.34 < wording.interval.high
    assert wording.interval.high - wording.interval.low < 0.15
    assert wording.difference == pytest.approx(wording.second - wording.first)
    assert (wording.n, wording.n_cases, wording.check) == (400, 400, "truth")


def test_swapped_wordings_change_the_sign_and_nothing_else() -> None:
    def swapped(rng: Random, case: Case) -> tuple[bool, bool]:
        return _harmed(rng, case)[::-1]

    there, back = _measured(_painted(_cases(), _harmed, 2)), _measured(_painted(_cases(), swapped, 2))
    assert back.difference == pytest.approx(-there.difference)
    assert back.seed_noise == pytest.approx(there.seed_noise)
    assert there.interval is not None
    assert back.interval is not None
    assert (back.interval.low, back.interval.high) == pytest.approx((-there.interval.high, -there.interval.low))


def test_identical_pictures_differ_by_exactly_nothing_within_an_honest_interval() -> None:
    def same(rng: Random, _: Case) -> tuple[bool, bool]:
        right = rng.random() < 0.6
        return right, right

    wording = _measured(_painted(_cases(40), same, 2))
    assert wording.difference == 0.0
    assert wording.interval is not None
    assert 0.02 < wording.interval.high == -wording.interval.low < 0.1
    assert wording.seed_noise is not None
    assert 0.3 < wording.seed_noise < 0.7, "two seeds of a wording that is right in 60 % differ in 48 %"


def test_a_blank_painter_is_wrong_both_ways_and_shows_no_difference() -> None:
    wording = _measured(_painted(_cases(40), lambda _, __: (False, False), 2))
    assert (wording.first, wording.second, wording.difference, wording.seed_noise) == (1.0, 1.0, 0.0, 0.0)
    assert wording.interval is not None
    assert wording.interval.low < 0 < wording.interval.high


def test_by_law_each_has_its_own_difference() -> None:
    judgements = _painted(_cases(), lambda _, case: (True, case.labels["law"] == "commutative"))
    by_law = differences_by_law(judgements)
    assert {law: wording.difference for law, wording in by_law.items()} == {"commutative": 0.0, "de-morgan": 1.0}
    assert _measured(judgements).difference == 0.5


def test_a_pooled_suite_pools_the_wordings_too_and_heads_its_groups_category() -> None:
    cases = [make_case(f"case-{i}", category="one" if i < 9 else "other") for i in range(10)]
    verdicts = [_verdict(case, 0, True, case.category == "one") for case in cases]
    differences = {}
    for average in ("macro", "pooled"):
        judgements = replace(judged(cases, verdicts), average=average)
        differences[average] = _measured(judgements).difference
        table = wording_table(judgements)
        assert table is not None
        assert table.columns[0] == "category"
        assert wording_chart(table).filters == {"category": "category"}
    assert differences == {"macro": pytest.approx(0.5), "pooled": pytest.approx(0.1)}
    by_law = wording_table(_painted(_cases(), _harmed))
    assert by_law is not None
    assert by_law.columns[0] == "law"


def test_without_repeats_seed_noise_is_unknown_and_says_why() -> None:
    wording = _measured(_painted(_cases(), _harmed))
    assert (wording.seed_noise, wording.why_no_seed_noise) == (None, ONE_REPEAT)


def test_undecided_pairs_contrasts_and_comparisons_say_nothing() -> None:
    cases = _cases(4)
    contrast = replace(make_case("contrast"), equivalent=False)
    blind = make_verdict("case-0", Outcome.UNDECIDED, check="truth")
    known = [_verdict(case, 0, True, False) for case in cases[1:]]
    wording = wording_difference(judged([*cases, contrast], [blind, *known, _verdict(contrast, 0, False, True)]))
    assert wording is not None
    assert (wording.n, wording.difference) == (3, 1.0)
    assert wording_difference(judged(cases, [make_verdict(case.case_id) for case in cases])) is None
