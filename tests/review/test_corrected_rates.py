"""Failure rates corrected by people: only results that were drawn at random within each result give one."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from review.reviewed_run import ERROR, FAIL, PASS, UNDECIDED, Reviewed, reviewed_run

from salva.core.judgements import Judgements
from salva.core.review import Label
from salva.core.table import Cell, Table
from salva.messages import code_of
from salva.review.corrected_rates import correction_of, review_notes, review_tables
from salva.review.result_samples import BY_CATEGORY, BY_RESULT, drawn_results, sample_token
from salva.run_results import judgements_by_model
from salva.stats.correction import Stratum, correct_rate

TRUE_RATE = 0.26


def half_seen() -> Reviewed:
    """200 results in two categories of one size; observers find 40 of 52 failures, and fail 8 cases that are none."""
    kinds = {(FAIL, True): 20, (FAIL, False): 4, (PASS, True): 6, (PASS, False): 70}
    return reviewed_run({"small": kinds, "large": kinds})


def judged(run: Reviewed) -> Judgements:
    return judgements_by_model(run.records)["painter"]


def token(run: Reviewed, drawn_by: str = BY_RESULT, seed: int = 0) -> str:
    return f"{sample_token(judged(run), drawn_by)}{seed}"


def drawn(run: Reviewed, number: int, seed: int = 0, *kinds: str) -> list[str]:
    """The cases of a sheet."""
    results = drawn_results(judged(run), kinds, number, by_category=False, seed=seed)
    return [result.case.case_id for result in results]


def named(tables: list[Table], name: str) -> list[dict[str, Cell]]:
    table = next(table for table in tables if table.name == name)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_failures_alone_never_correct_a_rate() -> None:
    """People review all counterexamples and nothing else, and confirm most: there is no point, and no certain end."""
    run = half_seen()
    for reviews in (
        run.reviews(run.with_result(FAIL)),
        run.reviews(drawn(run, 20, 0, "fail"), token(run)),
        [replace(one, label=Label.PASS) for one in run.reviews(run.with_result(FAIL))],
    ):
        correction = correction_of(judged(run), reviews)
        assert correction is not None
        assert correction.rate.rate is None
        assert correction.rate.interval.low < TRUE_RATE < correction.rate.interval.high
        assert correction.rate.interval.high > 0.7, "what passed was not reviewed"
        assert [code_of(note) for note in review_notes({"painter": judged(run)}, reviews)][:1] == [
            "review-kinds-missing"
        ]
    chosen = run.reviews(run.with_result(FAIL)[:20])
    assert correction_of(judged(run), chosen) is None
    by_category = run.reviews(run.with_result(FAIL)[:20], token(run, BY_CATEGORY))
    assert correction_of(judged(run), by_category) is None
    for reviews in (chosen, by_category):
        assert [code_of(note) for note in review_notes({"painter": judged(run)}, reviews)] == ["review-not-random"]


def test_a_sample_of_each_result_gives_the_rate_that_people_find() -> None:
    run = half_seen()
    everything = correction_of(judged(run), run.reviews(run.truth))
    assert everything is not None
    assert everything.rate.rate == pytest.approx(TRUE_RATE)
    sample = drawn(run, 40, 3)
    correction = correction_of(judged(run), run.reviews(sample, token(run, seed=3)))
    assert correction is not None
    found = correction.to_json()
    assert found["n_reviewed"] == 80
    failed = sum(run.truth[case] for case in sample if case in run.with_result(FAIL)) / 40
    passed = sum(run.truth[case] for case in sample if case in run.with_result(PASS)) / 40
    expected = correct_rate([Stratum(weight=0.24, share=failed, n=40), Stratum(weight=0.76, share=passed, n=40)], 200)
    assert found["failure_rate"] == pytest.approx(expected.rate)
    assert found["interval"] == pytest.approx([expected.interval.low, expected.interval.high])
    assert expected.interval.low < TRUE_RATE < expected.interval.high


def test_rows_that_were_passed_over_leave_no_random_sample() -> None:
    """Filled in from the top a sheet may end anywhere; who fills in chosen rows corrects no rate."""
    run = half_seen()
    sheet = drawn(run, 40)
    top = [case for kind in (FAIL, PASS) for case in [one for one in sheet if one in run.with_result(kind)][:25]]
    failed = [case for case in sheet if run.truth[case]]
    for cases, rate in ((top, True), (failed, False), (top[1:], False), ([*top[:-2], top[-1]], False)):
        reviews = run.reviews(cases, token(run))
        correction = correction_of(judged(run), reviews)
        assert (correction is not None and correction.rate.rate is not None) == rate
        assert correction is None or correction.rate.interval.low < TRUE_RATE < correction.rate.interval.high
        notes = [code_of(note) for note in review_notes({"painter": judged(run)}, reviews)]
        assert notes == ([] if rate else ["review-rows-skipped"])


def test_a_rate_of_one_is_one() -> None:
    run = reviewed_run({"all": {(FAIL, True): 1, (PASS, True): 5}})
    correction = correction_of(judged(run), run.reviews(run.truth))
    assert correction is not None
    assert (correction.rate.rate, correction.rate.bounds.low, correction.rate.bounds.high) == (1.0, 1.0, 1.0)


def test_categories_weigh_as_in_the_failure_rate() -> None:
    """A category of four cases counts as much as one of 100; what is pooled counts by case."""
    run = reviewed_run({"few": {(PASS, True): 2, (FAIL, True): 2}, "many": {(PASS, False): 100}})
    for average, rate in (("macro", 0.5), ("pooled", 4 / 104)):
        correction = correction_of(replace(judged(run), average=average), run.reviews(run.truth))
        assert correction is not None
        assert correction.rate.rate == pytest.approx(rate)


def test_undecided_results_count_and_those_without_images_cannot_be_reviewed() -> None:
    kinds = {(FAIL, True): 10, (PASS, False): 20, (UNDECIDED, True): 6, (ERROR, True): 4}
    seen = correction_of(judged(whole := reviewed_run({"all": kinds})), whole.reviews(whole.truth))
    assert seen is not None
    assert seen.rate.rate == pytest.approx(0.5)
    assert [part.name for part in seen.strata] == ["fail", "pass", "undecided", "error"]
    run = reviewed_run({"all": kinds}, without_images=ERROR)
    lost = correction_of(judged(run), run.reviews(run.with_result(FAIL, PASS, UNDECIDED)))
    assert lost is not None
    assert lost.rate.rate is None
    notes = review_notes({"painter": judged(run)}, run.reviews(run.with_result(FAIL, PASS, UNDECIDED)))
    assert [code_of(note) for note in notes] == ["review-without-images"]
    (fewer, *_) = review_notes({"painter": judged(run)}, run.reviews(run.with_result(FAIL, UNDECIDED)))
    assert code_of(fewer) == "review-kinds-missing"
    assert "pass" in fewer
    assert "error" not in fewer, "what nobody can review is no kind to fill in"
    assert (lost.rate.bounds.low, lost.rate.bounds.high) == pytest.approx((0.4, 0.5))
    assert not [one for one in drawn_results(judged(run), (), 99, by_category=False, seed=0) if one.outcome is ERROR]


def test_what_people_cannot_tell_or_dispute_leaves_bounds() -> None:
    run = reviewed_run({"all": {(FAIL, True): 10, (PASS, False): 10}})
    first, second, third, *_ = run.with_result(FAIL)
    others = [case for case in run.truth if case not in (first, second, third)]
    labels = {
        first: (Label.CANNOT_TELL,),
        second: (Label.FAIL, Label.PASS),
        third: (Label.FAIL, Label.FAIL, Label.PASS, Label.CANNOT_TELL),
    }
    reviews = run.reviews(others) + [
        replace(run.reviews([case])[0], reviewer=f"person {n}", label=label)
        for case, given in labels.items()
        for n, label in enumerate(given)
    ]
    tables = review_tables({"painter": judged(run)}, reviews)
    (rate,) = named(tables, "corrected failure rate")
    assert (rate["corrected_rate"], rate["bound_low"], rate["bound_high"]) == pytest.approx((0.5, 0.4, 0.5))
    by_result = {row["result"]: row for row in named(tables, "people and results")}
    assert [by_result["fail"][name] for name in ("n", "reviewed", "cannot_tell", "share_fail")] == [10, 10, 2, 1.0]


def test_a_changed_mind_is_the_last_label() -> None:
    run = reviewed_run({"all": {(FAIL, True): 3}})
    first = run.reviews(run.truth)
    again = [replace(one, label=Label.PASS) for one in first]
    rates = [correction_of(judged(run), reviews) for reviews in ((*first, *again), (*again, *first))]
    assert [one and one.rate.rate for one in rates] == [0.0, 1.0]


def test_other_results_than_the_sheet_was_drawn_from_give_no_rate() -> None:
    """As after salva rejudge: what was random among failures is so no more."""
    run = half_seen()
    reviews = run.reviews(drawn(run, 20), token(run))
    assert correction_of(judged(run), reviews) is not None
    first, *rest = run.records.verdicts
    other = {
        "painter": judged(Reviewed(replace(run.records, verdicts=(replace(first, outcome=PASS), *rest)), run.truth))
    }
    assert correction_of(other["painter"], reviews) is None
    assert [code_of(note) for note in review_notes(other, reviews)] == ["review-results-changed", "review-not-random"]


@pytest.mark.parametrize(
    ("n_reviewers", "n_failed", "n_confirmed", "is_warned"),
    [(1, 4, 4, True), (2, 4, 4, True), (3, 4, 4, False), (1, 60, 60, False), (1, 60, 4, True)],
)
def test_few_reviewers_are_too_few_for_a_low_rate(
    n_reviewers: int, n_failed: int, n_confirmed: int, is_warned: bool
) -> None:
    kinds = {(FAIL, True): n_confirmed, (FAIL, False): n_failed - n_confirmed, (PASS, False): 60}
    run = reviewed_run({"all": kinds})
    reviews = run.reviews(run.truth, reviewers=("ann", "bob", "cyd")[:n_reviewers])
    codes = [code_of(note) for note in review_notes({"painter": judged(run)}, reviews)]
    assert codes == (["reviewers-few"] if is_warned else [])


def test_precision_by_category_of_ten_failures_each() -> None:
    """As MetaLogic's human check: each category's share has an interval, and all together weigh by their failures."""
    run = reviewed_run(
        {
            "and": {(FAIL, True): 20, (PASS, False): 5},
            "or": {(FAIL, True): 30, (FAIL, False): 30},
            "rare": {(FAIL, False): 2},
            "never": {(PASS, False): 9},
        }
    )
    drawn = drawn_results(judged(run), ("fail",), 10, by_category=True, seed=0)
    cases = [result.case.case_id for result in drawn]
    assert [len([c for c in cases if c.startswith(name)]) for name in ("and", "or", "rare", "never")] == [10, 10, 2, 0]
    reviews = run.reviews(cases, token(run, BY_CATEGORY))
    tables = review_tables({"painter": judged(run)}, reviews)
    assert [table.name for table in tables] == ["precision by category"], "never a corrected rate"
    rows = {row["category"]: row for row in named(tables, "precision by category")}
    assert (rows["and"]["failed"], rows["and"]["reviewed"], rows["and"]["share_fail"]) == (20, 10, 1.0)
    share = sum(run.truth[case] for case in cases if case.startswith("or")) / 10
    assert rows["or"]["share_fail"] == pytest.approx(share)
    assert isinstance(rows["or"]["low"], float)
    assert rows["or"]["low"] < share
    assert rows["all"]["share_fail"] == pytest.approx((20 * 1.0 + 60 * share) / 82)
    fewer = [one for one in reviews if not one.case_id.startswith("rare")]
    (*_, whole) = named(review_tables({"painter": judged(run)}, fewer), "precision by category")
    assert whole["share_fail"] is None
    assert (whole["bound_low"], whole["bound_high"]) == pytest.approx(((20 + 60 * share) / 82, (22 + 60 * share) / 82))


def test_the_precision_of_all_failures_has_one_value() -> None:
    """Categories of one weight and unequal numbers: a second average of the same labels would be another number."""
    run = reviewed_run({"few": {(FAIL, True): 2, (PASS, False): 2}, "many": {(FAIL, False): 30, (PASS, False): 30}})
    tables = review_tables({"painter": judged(run)}, run.reviews(run.truth))
    by_result = {row["result"]: row["share_fail"] for row in named(tables, "people and results")}
    assert by_result["fail"] == pytest.approx(0.5)
    assert [row["category"] for row in named(tables, "precision by category")] == ["few", "many"]


def test_draws_are_nested_seeded_and_random() -> None:
    run = half_seen()
    assert len(drawn(run, 20)) == 40
    assert {*drawn(run, 10)} < {*drawn(run, 20)} == {*drawn(run, 20)} != {*drawn(run, 20, 1)}
    draws = [drawn(run, 12, seed) for seed in range(200)]
    times = [sum(case in one for one in draws) for case in run.with_result(FAIL)]
    expected = 200 * 12 / 48
    assert all(abs(n - expected) < 5 * math.sqrt(expected) for n in times), "every failure is as likely as any other"


def test_samples_of_many_seeds_centre_on_what_people_find() -> None:
    """Unequal shares of unequal categories: the estimate is right on average, and the interval mostly holds it."""
    run = reviewed_run(
        {
            name: {(FAIL, True): a, (FAIL, False): b, (PASS, True): c, (PASS, False): d}
            for name, a, b, c, d in (("x", 9, 3, 2, 6), ("y", 20, 20, 10, 150), ("z", 3, 2, 1, 60))
        }
    )
    results = judged(run)
    whole = correction_of(results, run.reviews(run.truth))
    assert whole is not None
    rates, held = [], 0
    for seed in range(150):
        found = correction_of(results, run.reviews(drawn(run, 20, seed), token(run, seed=seed)))
        assert found is not None
        assert found.rate.rate is not None
        assert whole.rate.rate is not None
        rates.append(found.rate.rate)
        held += found.rate.interval.low <= whole.rate.rate <= found.rate.interval.high
    assert sum(rates) / len(rates) == pytest.approx(whole.rate.rate, abs=0.02)
    assert held >= 135
