"""Which verdict speaks for a case."""

from __future__ import annotations

from report.fake_runs import RATES, judged, make_case, make_verdict

from salva.core.judgements import CaseVerdict, Rate
from salva.core.run_spec import OWN
from salva.core.verdict import Outcome
from salva.results.headline import Rates, headline, is_open, join, of_main_observers
from salva.results.tally import tally

PASS, FAIL, UNDECIDED, ERROR = Outcome


def _led_by(checks: list[str], chosen: str = "", rates: Rates | None = None, **case: object) -> list[str]:
    pairs = join([make_case(**case)], [make_verdict(check=check) for check in checks])  # type: ignore[arg-type]  # fields by name
    return [one.verdict.check for one in headline(pairs, rates or RATES, chosen)]


def test_whatever_holds_pictures_against_their_prompts_leads() -> None:
    assert _led_by(["same-scene", "truth"]) == ["truth"]
    assert _led_by(["same-scene"]) == ["same-scene"]
    mine: Rates = {"my-truth": Rate.WRONG, "my-likeness": Rate.INCONSISTENT, "my-figure": None}
    assert _led_by(list(mine), check="my-figure", rates=mine) == ["my-truth"]
    assert _led_by(["my-figure", "my-likeness"], check="my-figure", rates=mine) == ["my-figure"]


def test_a_suite_may_lead_with_a_relation_of_its_own() -> None:
    pairs = join([make_case()], [make_verdict(check=check) for check in ("same-scene", "truth")])
    assert [one.verdict.check for one in headline(pairs, RATES, leads="same-scene")] == ["same-scene"]
    assert [one.verdict.check for one in headline(pairs, RATES, "truth", leads="same-scene")] == ["truth"]


def test_verdicts_of_two_relations_never_enter_one_rate() -> None:
    cases = [make_case("case-0"), make_case("case-1", check="truth", determinate=False)]
    verdicts = [
        make_verdict("case-0"),
        make_verdict("case-1", check="truth"),
        make_verdict("case-0", check="truth"),
    ]
    assert {one.verdict.check for one in headline(join(cases, verdicts), RATES)} == {"truth"}
    assert {one.verdict.check for one in headline(join(cases, verdicts), RATES, "same-scene")} == {"same-scene"}


def test_a_run_of_old_is_led_by_each_cases_own_relation() -> None:
    assert _led_by(["same-scene", "truth"], OWN) == ["same-scene"]
    assert _led_by(["truth"], OWN, check="truth", determinate=False) == ["truth"]
    assert _led_by(["same-scene", "truth"], OWN, check="truth", determinate=True) == ["truth"]


def test_several_worlds_compared_all_the_same_are_led_by_the_comparison() -> None:
    assert _led_by(["same-scene", "truth"], OWN, check="truth", determinate=False) == ["same-scene"]
    # What a check is called says nothing; what its failures mean does.
    assert _led_by(["same-scene", "truth"], OWN, check="truth", rates={"x": None}, determinate=False) == ["truth"]
    mine: Rates = {"my-truth": Rate.WRONG, "my-likeness": Rate.INCONSISTENT, "my-figure": None}
    assert _led_by(list(mine), OWN, check="my-truth", rates=mine, determinate=False) == ["my-likeness"]
    assert _led_by(["my-figure", "my-truth"], OWN, check="my-truth", rates=mine, determinate=False) == ["my-truth"]
    assert _led_by(list(mine), OWN, check="my-figure", rates=mine, determinate=False) == ["my-figure"]


def test_the_chosen_relation_leads_where_it_judged() -> None:
    assert _led_by(["same-scene", "truth"], "truth") == ["truth"]
    assert _led_by(["truth"], "same-scene", check="truth", determinate=False) == ["truth"]


def test_a_second_detector_does_not_count_pairs_twice() -> None:
    verdicts = [make_verdict(observers=("pocket",)), make_verdict(observers=("florence2",), outcome=FAIL)]
    leading = headline(join([make_case()], verdicts), RATES)
    assert [one.verdict.observers for one in leading] == [("pocket",)]


def test_a_judge_with_help_for_some_cases_is_still_one_judge() -> None:
    """Cases without formulas give a detector nothing to look for; they belong into the same rate all the same."""
    cases = [make_case(f"case-{i}") for i in range(3)]
    seen = {"case-0": ("pocket", "openai/j"), "case-1": ("openai/j",), "case-2": ("openai/j",)}
    one_judge = [make_verdict(case_id, observers=observers) for case_id, observers in seen.items()]
    leading = headline(join(cases, one_judge), RATES)
    assert [one.case.case_id for one in leading] == ["case-0", "case-1", "case-2"]
    assert {one.verdict.observers for one in leading} == {("pocket", "openai/j")}
    # Another detector at the same pictures, or another judge, is a second opinion.
    others = [make_verdict("case-0", observers=("owlv2", "openai/j")), make_verdict("case-1", observers=("openai/k",))]
    assert {one.verdict.observers for one in join(cases, [*one_judge, *others])} == {
        ("pocket", "openai/j"),
        ("owlv2", "openai/j"),
        ("openai/k",),
    }


def test_control_verdicts_never_reach_the_headline() -> None:
    verdicts = [make_verdict(), make_verdict(arm="control", outcome=FAIL)]
    assert tally(headline(join([make_case()], verdicts), RATES)).rate == 0.0


def test_a_metric_is_handed_both_arms_and_what_leads() -> None:
    verdicts = [make_verdict(), make_verdict(check="truth"), make_verdict(arm="control"), make_verdict("elsewhere")]
    handed = judged([make_case()], verdicts, same_scene={"scope": "all"})
    assert [one.verdict for one in handed.pairs] == verdicts[:2]
    assert [one.verdict for one in handed.controls] == [verdicts[2]]
    assert [one.verdict for one in handed.headline] == [verdicts[1]]
    assert handed.verdicts == tuple(verdicts)
    assert (handed.of_rate(Rate.WRONG), handed.of_rate(Rate.INCONSISTENT)) == ("truth", "same-scene")
    assert handed.options_of("same-scene") == {"scope": "all"}
    assert (handed.options_of("unheard-of"), handed.rate_of("unheard-of")) == ({}, None)


def test_a_case_is_open_where_its_own_relation_holds_pictures_against_several_worlds() -> None:
    case = make_case(check="truth", determinate=False)
    assert is_open(CaseVerdict(case, make_verdict(check="truth")), Rate.WRONG)
    assert not is_open(CaseVerdict(case, make_verdict(check="truth")), None)
    assert not is_open(CaseVerdict(case, make_verdict(check="same-scene")), Rate.WRONG)
    assert not is_open(CaseVerdict(make_case(check="truth"), make_verdict(check="truth")), Rate.WRONG)


def test_a_detector_that_needs_a_judge_for_some_cases_is_one_with_it_and_all_verdicts_count() -> None:
    cases = [make_case(str(i)) for i in range(3)]
    alone = make_verdict("0", observers=("boxes",))
    helped = [make_verdict(case_id, observers=("boxes", "judge")) for case_id in ("1", "2")]
    joined = join(cases, [alone, *helped])
    assert [pair.verdict.observers for pair in joined] == [("boxes", "judge")] * 3
    assert len(of_main_observers(joined)) == 3
    # On the same pictures they are two opinions.
    both = join(cases, [alone, make_verdict("1", observers=("boxes",)), *helped])
    assert len(of_main_observers(both)) == 2
