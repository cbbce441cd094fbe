"""The three rates, what leads, chance and a blind oracle; and garbage makes every number worse."""

from __future__ import annotations

from dataclasses import replace

import pytest
from report.fake_runs import judged, make_case, make_verdict

from salva.core.case import Case, Prompt
from salva.core.judgements import Judgements
from salva.core.run_spec import ComponentSpec
from salva.core.verdict import Outcome, Verdict
from salva.registry import bind
from salva.results.chance import chance_of, chance_to_differ
from salva.results.leading import BLIND, OK, PARTIAL, Leading, leading_of
from salva.results.rates import Figure, headline_figure, rates_of

PASS, FAIL, UNDECIDED, ERROR = Outcome


def _truth(case_id: str, right_a: bool, right_b: bool, alike: bool = False, named: float = 2.0) -> Verdict:
    scores = {"right_a": float(right_a), "right_b": float(right_b), "both_wrong": float(alike)}
    scores |= {"named_a": named, "named_b": named}
    return make_verdict(case_id, PASS if right_a and right_b else FAIL, check="truth", scores=scores)


NUMBERING = ("law", "numbering")


def _leading(handed: Judgements) -> Leading:
    return leading_of(handed, 1)


def test_each_rate_has_its_own_cases() -> None:
    cases = [make_case("right"), make_case("one"), make_case("alike"), make_case("open", determinate=False)]
    verdicts = [
        *(_truth("right", True, True), _truth("one", True, False), _truth("alike", False, False, alike=True)),
        _truth("open", True, True),
        *(make_verdict("right"), make_verdict("one", FAIL), make_verdict("alike"), make_verdict("open")),
    ]
    rates = rates_of(judged(cases, verdicts))
    shown = {name: (figure.rate, figure.n, figure.check) for name, figure in rates.items() if figure}
    assert shown == {
        "wrong": (0.5, 4, "truth"),
        "inconsistent": (pytest.approx(1 / 3), 3, "same-scene"),
        "both_wrong": (pytest.approx(1 / 3), 3, "truth"),
    }


def test_without_formulas_nothing_is_wrong_and_the_comparison_leads() -> None:
    prompts = tuple(Prompt(role=role, text=role) for role in "ab")
    case = replace(make_case(), prompts=prompts, determinate=None, equivalent=None)
    handed = judged([case], [make_verdict(outcome=FAIL)])
    assert rates_of(handed)["wrong"] is None
    figure = headline_figure(handed)
    assert figure is not None
    assert (figure.check, figure.rate) == ("same-scene", 1.0)


def test_cases_counted_apart_do_not_enter_the_leading_rate() -> None:
    cases = [make_case("logic", labels={"law": "x"}), make_case("number", labels={"law": "numbering"}, category="n")]
    verdicts = [_truth("logic", True, True), _truth("number", False, False)]
    handed = judged(cases, verdicts, apart=NUMBERING)
    leading = headline_figure(handed)
    assert isinstance(leading, Figure)
    assert (leading.rate, leading.n, leading.over) == (0.0, 1, "1 category")
    assert [one.case.case_id for one in handed.beside] == ["number"]
    alone = headline_figure(judged(cases[1:], [_truth("number", False, False)], apart=NUMBERING))
    assert alone is not None
    assert alone.rate == 1.0, "where nothing else was asked for, they lead"
    pooled = judged(cases, verdicts, apart=NUMBERING, truth={"average": "pooled"})
    assert [figure and (figure.rate, figure.n) for figure in (headline_figure(pooled), rates_of(pooled)["wrong"])] == [
        (0.5, 2)
    ] * 2, "a plain share is over all"


def test_the_average_is_over_categories_unless_pooled_is_asked_for() -> None:
    cases = [make_case(f"a{i}", category="a") for i in range(3)] + [make_case("b", category="b")]
    verdicts = [*(_truth(f"a{i}", True, True) for i in range(3)), _truth("b", False, False)]
    for options, expected in (({}, 0.5), ({"average": "pooled"}, 0.25)):
        figure = headline_figure(judged(cases, verdicts, truth=options))
        assert figure is not None
        assert figure.rate == expected
        assert (figure.macro, figure.pooled) == (0.5, 0.25)


@pytest.mark.parametrize(
    ("score", "usual", "oracle"), [(0.5, 0.89, BLIND), (0.8, 0.89, OK), (0.5, None, OK), (None, 0.89, OK)]
)
def test_an_oracle_far_less_sure_than_on_its_own_ground_is_said_to_guess(
    score: float | None, usual: float | None, oracle: str
) -> None:
    cases = [make_case(f"c{i}") for i in range(8)]
    sure = {} if score is None else {"mean_score_a": score, "mean_score_b": score}
    verdicts = [_truth(case.case_id, True, True) for case in cases]
    verdicts = [replace(verdict, scores={**verdict.scores, **sure}) for verdict in verdicts]
    handed = judged(cases, verdicts)
    leading = leading_of(handed, 1, usual)
    assert leading.oracle == oracle
    assert ("mean score of 0.50, where the detector has 0.89" in leading.reason) == (oracle == BLIND)
    few = judged(cases[:3], verdicts[:3])
    assert leading_of(few, 1, usual).oracle == OK, "so few images say nothing"


@pytest.mark.parametrize(("n_prompts", "n_pictures", "oracle"), [(8, 1, PARTIAL), (8, 2, OK), (3, 1, OK)])
def test_one_picture_for_every_prompt_is_no_agreement(n_prompts: int, n_pictures: int, oracle: str) -> None:
    cases, verdicts = [], []
    for i in range(n_prompts):
        case = make_case(f"c{i}")
        cases.append(replace(case, prompts=tuple(replace(p, text=f"{p.text} {i}") for p in case.prompts)))
        images = {prompt.role: f"image {i % n_pictures}" for prompt in case.prompts}
        verdicts.append(replace(_truth(case.case_id, True, True), images=images))
    leading = _leading(judged(cases, verdicts))
    assert leading.oracle == oracle
    assert leading.reason.startswith("one and the same image stands for 8 prompts") == (oracle == PARTIAL)
    first = [replace(case, prompts=(cases[0].prompts[0], *case.prompts[1:])) for case in cases]
    assert _leading(judged(first, verdicts)).oracle == OK, "other wordings of one prompt may well look alike"


def test_an_oracle_that_sees_nothing_is_said_to_be_blind() -> None:
    cases = [make_case(f"c{i}") for i in range(8)]
    seeing = _leading(judged(cases, [_truth(case.case_id, True, True) for case in cases]))
    assert (seeing.oracle, seeing.reason) == (OK, "")
    blind = _leading(judged(cases, [_truth(case.case_id, False, False, True, named=0.0) for case in cases]))
    assert blind.oracle == BLIND
    assert "found in 0 of 16 images" in blind.reason
    assert blind.figure is not None
    assert blind.figure.rate == 1.0, "worse, not better"


def test_too_few_decided_is_said_and_nothing_decided_too() -> None:
    cases = [make_case(f"c{i}") for i in range(10)]
    verdicts = [_truth(case.case_id, True, True) for case in cases[:7]]
    verdicts += [make_verdict(case.case_id, UNDECIDED, check="truth", reason="?") for case in cases[7:]]
    leading = _leading(judged(cases, verdicts))
    assert (leading.oracle, leading.decides_too_little) == (PARTIAL, True)
    assert "only 7 of 10 pairs" in leading.reason
    alone = [replace(case, prompts=case.prompts[:1]) for case in cases]
    assert "only 7 of 10 cases" in _leading(judged(alone, verdicts)).reason, "a prompt by itself is no pair"
    nothing = _leading(judged(cases, []))
    assert nothing.figure is None
    assert nothing.decides_too_little


@pytest.fixture(scope="module")
def quick() -> list[Case]:
    suite = bind(ComponentSpec(role="suite", name="metalogic")).build()
    return [case for case in suite.cases("quick") if case.labels["law"] != "numbering"]


def test_chance_is_between_faultless_and_hopeless_and_the_same_each_time(quick: list[Case]) -> None:
    chance = chance_of(quick)
    assert chance is not None
    assert 0.3 < chance < 0.95
    assert chance_of(quick) == chance
    assert chance_of(quick[:1]) is None


def test_chance_deals_the_pictures_there_are_and_not_as_many_of_each_category() -> None:
    def pair(case_id: str, category: str, formula: str) -> Case:
        prompts = tuple(Prompt(role=role, text=formula, formula=formula) for role in ("a", "b"))
        return replace(make_case(case_id, category=category), prompts=prompts)

    cats = [pair(f"cat-{i}", "many", "cat") for i in range(300)]
    dogs = [pair(f"dog-{i}", "few", "dog") for i in range(100)]
    # A cat pair gets 299 cats and 100 dogs, a dog pair 99 dogs and 300 cats.
    assert chance_of([*cats, *dogs]) == pytest.approx((100 / 399 + 300 / 399) / 2, abs=0.001)


def test_one_prompt_for_all_is_no_harder_by_chance(quick: list[Case]) -> None:
    same = [replace(quick[0], case_id=f"same-{i}") for i in range(5)]
    assert chance_of(same) == 0.0


def test_two_pictures_of_different_pairs_differ_by_chance_where_comparing_leads(quick: list[Case]) -> None:
    alike = [replace(quick[0], case_id=f"same-{i}") for i in range(5)]
    assert chance_to_differ(alike, alike) == 0.0
    assert chance_to_differ(quick[:1], quick[:1]) is None, "nothing to shuffle"
    determinate = [case for case in quick if case.determinate]
    mentioned, everything = (chance_to_differ(determinate, quick, is_all=is_all) for is_all in (False, True))
    assert mentioned is not None
    assert everything is not None
    assert 0.3 < mentioned < everything < 1, "labels that no prompt of the pair names differ besides"
    verdicts = [make_verdict(case.case_id) for case in determinate]
    assert _leading(judged(quick, verdicts, "same-scene")).chance == mentioned


def test_formulas_that_cannot_be_read_cost_nothing(quick: list[Case]) -> None:
    broken = replace(
        quick[0], case_id="broken", prompts=tuple(replace(p, formula="<script>") for p in quick[0].prompts)
    )
    assert chance_of([*quick, broken]) == chance_of(quick)
    assert headline_figure(judged([broken], [replace(_truth("broken", True, True), case_id="broken")])) is not None


def test_bounds_are_those_of_the_rate_that_is_shown() -> None:
    cases = [make_case("a1", category="a"), make_case("a2", category="a"), make_case("b1", category="b")]
    verdicts = [_truth("a1", True, True), make_verdict("a2", UNDECIDED, check="truth"), _truth("b1", True, False)]
    figure = rates_of(judged(cases, verdicts))["wrong"]
    assert figure is not None
    assert figure.bounds is not None
    assert figure.rate == 0.5
    assert (figure.bounds.low, figure.bounds.high) == (0.5, 0.75), "a mean over two categories, as the rate is"


def test_chance_reads_prompts_as_the_run_does() -> None:
    def pair(case_id: str, formula: str) -> Case:
        return replace(make_case(case_id), prompts=tuple(Prompt(role=r, text="", formula=formula) for r in ("a", "b")))

    cases = [pair(f"{n}-cat-{i}", f"{n} cat") for n in (1, 2) for i in range(3)]
    handed = judged(cases, [_truth(case.case_id, True, True) for case in cases])
    at_least = replace(handed, checks={"truth": replace(handed.checks["truth"], options={"counts": "at-least"})})
    exact, lax = _leading(handed).chance, _leading(at_least).chance
    assert exact is not None
    assert lax is not None
    assert lax < exact, "two cats are right for a cat there"
