"""Which verdict speaks for a case, and what enters a rate."""

from __future__ import annotations

import pytest
from report.fake_runs import make_case, make_verdict

from salva.core.verdict import Outcome
from salva.judging.control import excess_of
from salva.judging.tally import Judged, category_mean, headline, join, macro_rate, tally, truth_kind

HOLDS, VIOLATED, INCONCLUSIVE, FAILED = Outcome


def test_only_decided_verdicts_enter_the_rate_and_bounds_hold_the_rest() -> None:
    case = make_case()
    outcomes = [VIOLATED] * 3 + [HOLDS] * 3 + [INCONCLUSIVE] * 2 + [FAILED] * 2
    counted = tally(Judged(case, make_verdict(outcome=outcome)) for outcome in outcomes)
    assert counted.rate == 0.5
    assert (counted.n, counted.violated, counted.undecided) == (6, 3, 4)
    bounds = counted.bounds()
    assert bounds is not None
    assert (bounds.low, bounds.high) == (0.3, 0.7)


def test_nothing_decided_is_no_rate_instead_of_zero() -> None:
    counted = tally([Judged(make_case(), make_verdict(outcome=FAILED))])
    assert counted.rate is None
    assert counted.interval() is None
    assert macro_rate([Judged(make_case(), make_verdict(outcome=FAILED))]).rate is None


def _led_by(relations: list[str], chosen: str = "", **case: object) -> list[str]:
    judged = join([make_case(**case)], [make_verdict(relation=relation) for relation in relations])  # type: ignore[arg-type]  # fields by name
    return [one.verdict.relation for one in headline(judged, chosen)]


def test_the_headline_is_the_cases_own_relation() -> None:
    assert _led_by(["same-scene", "truth"]) == ["same-scene"]
    assert _led_by(["truth"], relation="truth", determinate=False) == ["truth"]
    assert _led_by(["same-scene", "truth"], relation="truth", determinate=True) == ["truth"]


def test_several_worlds_judged_by_same_scene_all_the_same_are_its_headline() -> None:
    assert _led_by(["same-scene", "truth"], relation="truth", determinate=False) == ["same-scene"]


def test_the_chosen_relation_leads_where_it_judged() -> None:
    assert _led_by(["same-scene", "truth"], "truth") == ["truth"]
    assert _led_by(["truth"], "same-scene", relation="truth", determinate=False) == ["truth"]


def test_a_second_detector_does_not_count_pairs_twice() -> None:
    verdicts = [make_verdict(observers="pocket"), make_verdict(observers="florence2", outcome=VIOLATED)]
    leading = headline(join([make_case()], verdicts))
    assert [one.verdict.observers for one in leading] == ["pocket"]


def test_a_judge_with_help_for_some_cases_is_still_one_judge() -> None:
    """Cases without formulas give a detector nothing to look for; they belong into the same rate all the same."""
    cases = [make_case(f"case-{i}") for i in range(3)]
    seen = {"case-0": "pocket+openai/j", "case-1": "openai/j", "case-2": "openai/j"}
    one_judge = [make_verdict(case_id, observers=observers) for case_id, observers in seen.items()]
    leading = headline(join(cases, one_judge))
    assert [one.case.case_id for one in leading] == ["case-0", "case-1", "case-2"]
    assert {one.verdict.observers for one in leading} == {"pocket+openai/j"}
    # Another detector at the same pictures, or another judge, is a second opinion.
    others = [make_verdict("case-0", observers="owlv2+openai/j"), make_verdict("case-1", observers="openai/k")]
    assert {one.verdict.observers for one in join(cases, [*one_judge, *others])} == {
        "pocket+openai/j",
        "owlv2+openai/j",
        "openai/k",
    }


def test_control_verdicts_never_reach_the_headline() -> None:
    verdicts = [make_verdict(), make_verdict(arm="control", outcome=VIOLATED)]
    assert tally(headline(join([make_case()], verdicts))).rate == 0.0


def test_the_macro_average_weighs_categories_and_not_cases() -> None:
    big, small = make_case("big", category="big"), make_case("small", category="small")
    judged = [Judged(big, make_verdict(outcome=HOLDS))] * 9 + [Judged(small, make_verdict(outcome=VIOLATED))]
    assert category_mean(judged).rate == 0.5
    assert tally(judged).rate == 0.1


def test_a_spotless_run_still_has_an_interval() -> None:
    cases = [make_case(f"case-{index}", cluster=f"c{index % 4}") for index in range(40)]
    macro = macro_rate([Judged(case, make_verdict(case.case_id)) for case in cases])
    assert macro.rate == 0.0
    assert macro.interval is not None
    assert 0.05 < macro.interval.high < 0.12


def test_excess_is_between_less_the_mean_within() -> None:
    cases = [make_case(f"case-{index}", cluster=f"c{index % 5}") for index in range(20)]
    shares = {"differs_between": 0.75, "differs_within_a": 0.5, "differs_within_b": 0.25}
    judged = [Judged(case, make_verdict(case.case_id, arm="control", scores=shares)) for case in cases]
    judged.append(Judged(cases[0], make_verdict(arm="control", scores={"n_compared": 0.0})))
    excess = excess_of(judged)
    assert excess is not None
    assert (excess.n, excess.excess) == (20, 0.375)
    assert excess.interval is not None
    assert excess.interval.low == pytest.approx(0.375)
    assert excess_of([judged[-1]]) is None


@pytest.mark.parametrize(
    ("right_a", "right_b", "alike", "kind"),
    [
        (1, 1, 0, "both right"),
        (0, 1, 0, "one wrong"),
        (0, 0, 1, "both wrong alike"),
        (0, 0, 0, "both wrong, each its own way"),
    ],
)
def test_kinds_of_truth(right_a: float, right_b: float, alike: float, kind: str) -> None:
    scores = {"right_a": right_a, "right_b": right_b, "wrong_alike": alike}
    assert truth_kind(make_verdict(relation="truth", scores=scores)) == kind
    assert truth_kind(make_verdict(relation="truth", scores=scores, outcome=FAILED)) == "undecided"
