"""How far a failure rate can be trusted, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from report.fake_runs import judged, make_case, make_verdict

from salva.core.case import Case
from salva.core.result import Rule
from salva.core.verdict import ENTITY_OMISSION, Outcome, Verdict
from salva.results import trust as codes
from salva.results.rates import failure_rate
from salva.results.trust import LIMITED, NONE, OK, ObserverFacts, Trust, trust_of
from salva.stats.contrast import ControlCounts

PASS, FAIL, UNDECIDED, ERROR = Outcome


def cases_in(**sizes: int) -> list[Case]:
    """So many cases by category, each about prompts of its own."""
    made = [make_case(f"{name}-{n}", category=name) for name, size in sizes.items() for n in range(size)]
    return [
        replace(case, prompts=tuple(replace(prompt, text=f"{prompt.text} {case.case_id}") for prompt in case.prompts))
        for case in made
    ]


def trust(
    cases: Sequence[Case],
    verdicts: Sequence[Verdict] | None = None,
    facts: ObserverFacts | None = None,
    *,
    chosen: str = "",
    is_complete: bool = True,
) -> Trust:
    """The trust in a run of these; of no verdicts all pass."""
    stored = [make_verdict(case.case_id, check="truth") for case in cases] if verdicts is None else verdicts
    found = judged(cases, stored, chosen)
    return trust_of(found, failure_rate(found.results), facts or ObserverFacts(), is_complete=is_complete)


def reasons(of: Trust) -> list[str]:
    return [reason.code for reason in of.reasons]


def test_a_run_without_a_reason_is_trusted() -> None:
    assert trust(cases_in(a=20)) == Trust(status=OK)


@pytest.mark.parametrize(
    ("n_found", "n_images", "is_blind"), [(0, 8, True), (0, 7, False), (1, 40, True), (2, 40, False)]
)
def test_a_detector_that_finds_next_to_nothing_of_what_is_named_is_blind(
    n_found: int, n_images: int, is_blind: bool
) -> None:
    cases = cases_in(a=n_images)
    stored = [
        make_verdict(case.case_id, check="truth", scores={"named_a": float(n < n_found)})
        for n, case in enumerate(cases)
    ]
    found = trust(cases, stored)
    assert (found.status == NONE, found.has(codes.DETECTOR_BLIND)) == (is_blind, is_blind)


def test_a_detector_outside_its_domain_is_not_trusted() -> None:
    found = trust(cases_in(a=20), facts=ObserverFacts(detector="pocket", domain="drawings", is_outside_domain=True))
    assert (found.status, reasons(found)) == (NONE, [codes.DETECTOR_DOMAIN])


@pytest.mark.parametrize(
    ("n_prompts", "n_images", "is_alike"), [(8, 1, True), (16, 2, True), (8, 2, False), (7, 1, False)]
)
def test_one_image_for_every_prompt_is_not_trusted(n_prompts: int, n_images: int, is_alike: bool) -> None:
    cases = cases_in(a=n_prompts)
    shown = [dict.fromkeys("ab", f"image {n % n_images}") for n in range(n_prompts)]
    stored = [
        make_verdict(case.case_id, check="truth", images=images) for case, images in zip(cases, shown, strict=True)
    ]
    assert (trust(cases, stored).status == NONE) == is_alike
    other_wordings = [replace(case, prompts=(cases[0].prompts[0], case.prompts[1])) for case in cases]
    assert not trust(other_wordings, stored).has(codes.IDENTICAL_IMAGES)


def _omitting(cases: Sequence[Case], n: int) -> list[Verdict]:
    """Ten failures, so many of them missing entities."""
    kinds = [ENTITY_OMISSION] * n + ["x-misposition"] * (10 - n) + [""] * (len(cases) - 10)
    return [
        make_verdict(case.case_id, FAIL if kind else PASS, check="truth", errors=(kind,) if kind else ())
        for case, kind in zip(cases, kinds, strict=True)
    ]


@pytest.mark.parametrize(
    ("n", "detector", "recall", "wanted"),
    [
        (6, "boxes", None, codes.RECALL_UNKNOWN),
        (5, "boxes", None, ""),
        (6, "", None, ""),
        (6, "boxes", 0.89, codes.RECALL_LOW),
        (6, "boxes", 0.9, ""),
        (6, "boxes", {"cat": 0.5}, ""),
    ],
)
def test_missing_entities_are_as_sure_as_the_detectors_recall(
    n: int, detector: str, recall: Mapping[str, float] | float | None, wanted: str
) -> None:
    cases = cases_in(a=20)
    found = trust(cases, _omitting(cases, n), ObserverFacts(detector=detector, recall=recall))
    assert reasons(found) == ([wanted] if wanted else [])


def test_comparing_alone_is_agreement_unless_the_user_chose_it() -> None:
    cases = cases_in(a=20)
    compared = [make_verdict(case.case_id) for case in cases]
    assert reasons(trust(cases, compared)) == [codes.AGREEMENT_ONLY]
    assert reasons(trust(cases, compared, chosen="same-scene")) == []
    half = [make_verdict(case.case_id, check="truth" if n % 2 else "same-scene") for n, case in enumerate(cases)]
    assert reasons(trust(cases, half)) == []
    published = judged(cases, compared, "same-scene", is_published=True)
    assert published.rule == Rule(check="same-scene", is_published=True)
    assert trust_of(published, failure_rate(published.results), ObserverFacts(), is_complete=True).status == OK


def test_too_little_is_limited_and_says_what() -> None:
    assert reasons(trust(cases_in(a=15))) == [codes.FEW_PAIRS]
    assert reasons(trust(cases_in(a=4, b=80))) == [codes.FEW_PAIRS, codes.UNEVEN], "Kish: 15.2"
    assert reasons(trust(cases_in(a=5, b=100))) == []
    assert reasons(trust(cases_in(a=20), is_complete=False)) == [codes.INCOMPLETE]
    cases = cases_in(a=20)
    stored = [make_verdict(case.case_id, PASS if n < 16 else UNDECIDED, check="truth") for n, case in enumerate(cases)]
    assert reasons(trust(cases, stored)) == []
    stored[0] = replace(stored[0], outcome=ERROR)
    found = trust(cases, stored)
    assert (found.status, codes.FEW_DECIDED in reasons(found)) == (LIMITED, True)


def test_the_gravest_reason_comes_first() -> None:
    everything = ControlCounts(n_controls=20, n_accepted=20, n_own=20, n_as_expected=20, has_accepted=True)
    found = trust(cases_in(a=3), facts=ObserverFacts(judge="x", controls=everything))
    assert found.status == NONE
    assert reasons(found) == ["judge-no-contrast", codes.FEW_PAIRS]
    assert trust(cases_in(a=20), facts=ObserverFacts(judge="x")).status == LIMITED
