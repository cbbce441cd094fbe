"""The same pair across models: which pairs are shown, in which order, and what is said of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs
from report.fake_runs import ASKED, FakeImages, make_case, make_verdict, random_run
from report.hostile import hostile_run
from report.test_report_forms import Page

from salva.core.case import Case, Prompt
from salva.core.question import Question
from salva.core.run_spec import ComponentSpec
from salva.core.source import QuestionAnswer, RewrittenPrompt, RunRecords, Seen
from salva.core.verdict import Failure, Outcome, Verdict
from salva.judging.instructing import JUDGE_INSTRUCTING
from salva.report.gallery import INSTRUCTED
from salva.report.html import render_html
from salva.report.lineups import Lineups, make_lineups
from salva.report.summary import summarise_records

PASS, FAIL = Outcome.PASS, Outcome.FAIL
MODELS = ("first", "second")


def lined_up(*outcomes: tuple[Outcome | None, ...], limit: int = 200) -> Lineups:
    """One case a row, with the outcome of each model; None: no verdict."""
    verdicts: list[Verdict] = []
    cases = tuple(make_case(f"case-{number}", category=f"category-{number % 2}") for number in range(len(outcomes)))
    for case, row in zip(cases, outcomes, strict=True):
        for model, outcome in zip(MODELS, row, strict=True):
            if outcome is not None:
                errors = ("entity-omission",) if outcome is FAIL else ()
                verdicts.append(make_verdict(case.case_id, outcome, model=model, errors=errors, reason="why"))
    return make_lineups(summarise_records(records_of(cases, verdicts)), FakeImages(), limit)


def records_of(cases: tuple[Case, ...], verdicts: list[Verdict]) -> RunRecords:
    asked = structs.replace(ASKED, repeats=1, models=tuple(ComponentSpec(role="model", name=name) for name in MODELS))
    primaries = {verdict.case_id: verdict.check for verdict in reversed(verdicts)}
    return RunRecords(cases=cases, verdicts=tuple(verdicts), primaries=primaries, asked=asked)


def test_a_pair_is_shown_when_a_model_broke_it_and_differs_when_another_did_not() -> None:
    made = lined_up((PASS, PASS), (PASS, FAIL), (FAIL, FAIL), (FAIL, Outcome.ERROR))
    assert (made.n_failed, made.n_differing) == (3, 1)
    shown = {lineup.case.case_id: lineup for lineup in made.shown}
    assert set(shown) == {"case-1", "case-2", "case-3"}
    differing, none_right, unfinished = (shown[name].status for name in sorted(shown))
    assert len({differing, none_right, ""}) == 3
    assert unfinished == ""
    assert [side.is_shown_for for side in shown["case-1"].sides] == [False, True]
    assert shown["case-3"].sides[1].status == "error: why"
    assert shown["case-1"].sides[0].status == "pass"
    assert shown["case-1"].sides[1].status == "entity-omission"


def test_where_models_differ_comes_first_in_every_category_and_the_limit_counts_models() -> None:
    both = (FAIL, FAIL)
    rows = [both, both, both, both, (PASS, FAIL), (FAIL, PASS)]
    made = lined_up(*rows, limit=4)
    assert [lineup.case.case_id for lineup in made.shown] == ["case-4", "case-5"]
    assert (made.n_failed, made.n_differing) == (6, 2)
    assert len(lined_up(*rows, limit=0).shown) == 1


def test_a_model_without_a_verdict_says_so() -> None:
    (lineup,) = lined_up((FAIL, None)).shown
    assert lineup.missing == ()
    assert lineup.sides[1].status == "undecided: not judged yet"
    assert (lineup.status, lineup.differs) == ("", False)


def test_a_case_with_text_that_instructs_a_judge_is_shown_too() -> None:
    verdicts = [
        make_verdict("case-1", model="first"),
        make_verdict("case-1", model="second", scores={JUDGE_INSTRUCTING: 1.0}),
    ]
    (lineup,) = make_lineups(summarise_records(records_of((make_case(),), verdicts)), FakeImages()).shown
    assert [side.is_shown_for for side in lineup.sides] == [False, True]
    assert lineup.sides[1].status == INSTRUCTED


@pytest.mark.parametrize("keep", ["all", "none", "failed", "no-violations"])
def test_the_page_of_several_models_is_made_of_any_run(keep: str) -> None:
    records, images = random_run(n_entities=2, models=("painter", "other", "third"))
    changed = {"failed": Outcome.ERROR, "no-violations": PASS}
    verdicts = () if keep == "none" else records.verdicts
    if keep in changed:
        verdicts = tuple(
            replace(one, outcome=changed[keep], failure_types=(), failures=(), scores={}) for one in verdicts
        )
    page = render_html(replace(records, verdicts=verdicts), images, limit=9)
    assert page.count('<article class="exhibit lineup"') == (3 if keep == "all" else 0)
    if keep == "all":
        assert page.count('<section class="side"') == 9
        assert "only where they differ" in page
        assert "were left out" in page
    else:
        assert "only where they differ" not in page


def test_one_model_has_no_switch_and_cards_of_its_own() -> None:
    records, images = random_run(n_entities=2)
    page = render_html(records, images, limit=5)
    assert "only where they differ" not in page
    assert "lineup" not in page.partition("</style>")[2].partition("<script>")[0]


def test_hostile_text_makes_no_element_between_several_models() -> None:
    records, images = hostile_run()
    other = tuple(replace(verdict, model="<b>other</b>") for verdict in records.verdicts)
    page = Page(render_html(replace(records, verdicts=(*records.verdicts, *other)), images))
    assert page.count("script") == 1
    assert page.count("b") == 0
    assert page.count("article") == 1
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on")]


def leveled(role: str) -> Prompt:
    """A prompt with a question that decides and one that does not."""
    small, large = (
        Question(kind=kind, text=f"{kind} of {role}?", weight=w) for kind, w in (("other", 1), ("point", 9))
    )
    return Prompt(role=role, text=f"Draw {role}.", questions=(small, large))


def test_a_group_is_rows_of_models_and_columns_of_prompts_with_scores_and_reasons() -> None:
    case = replace(make_case(), prompts=tuple(map(leveled, ("l1", "l2", "l3"))))
    verdicts = []
    seen = {}
    for model, outcome in zip(MODELS, (PASS, FAIL), strict=True):
        images = {role: f"{model}-{role}" for role in ("l1", "l2", "l3")}
        failures = (Failure(failure_type="deduction-failure", role="l3", message="below 0.5: the rain falls"),)
        verdicts.append(
            make_verdict(
                case.case_id,
                outcome,
                model=model,
                images=images,
                scores={"s_l1": 0.9, "s_l2": 0.75},
                errors=("deduction-failure",) if outcome is FAIL else (),
                failures=failures if outcome is FAIL else (),
            )
        )
        for role, image in images.items():
            why = "the rain falls" if role == "l3" else f"{model} shows {role}"
            answers = (
                QuestionAnswer(question=f"other of {role}?", answer="1", reason="beside the point"),
                QuestionAnswer(question=f"point of {role}?", answer="0.7", reason=why, rubric="fact"),
            )
            made = RewrittenPrompt(model=model, prompt="Draw l3.", text="Rain rises.", passed_over=("if",), n=1)
            seen[image] = Seen(answers=answers, painted=(made,))
    records = records_of((case,), verdicts)
    (lineup,) = make_lineups(summarise_records(records), FakeImages(seen_in=seen)).shown
    first, second = (list(side.exhibit.shots) for side in lineup.sides)
    assert [shot.score for shot in second] == [0.9, 0.75, None]
    assert [[one.reason for one in shot.reasons] for shot in first] == [
        ["first shows l1"],
        ["first shows l2"],
        ["the rain falls"],
    ]
    assert second[2].reasons == (), "the failure says it"
    assert [shot.painted is not None for shot in first] == [False, False, True]
    page = render_html(records, FakeImages(seen_in=seen))
    card = page[page.index('<article class="exhibit lineup"') :]
    assert card.count("<q>Draw <mark>l2.</mark></q>") == 1, "a prompt stands over its column, once"
    assert card.count('<p class="score">0.90</p>') == 2
    assert card.count("<q>Rain rises.</q>") == 2
