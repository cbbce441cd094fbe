"""Rewritten prompts and unknown words, as a report lists them."""

from __future__ import annotations

from salva.core.case import Case, Prompt
from salva.core.result import Result
from salva.core.source import RewrittenPrompt
from salva.core.verdict import Outcome
from salva.report.painting import painting_tables

MADE = (
    RewrittenPrompt(model="m", prompt="If up were down, draw rain.", text="Rain rises.", passed_over=(), n=2),
    RewrittenPrompt(model="m", prompt="If so, draw it.", text="", passed_over=("if", "so", "if"), n=3),
    RewrittenPrompt(model="m", prompt="If a cat.", text="", passed_over=("if",), n=1),
    RewrittenPrompt(model="other", prompt="x", text="y", passed_over=("z",), n=9),
)


def test_each_model_has_its_own_texts_and_words() -> None:
    texts, words = painting_tables(MADE, "m")
    assert texts.rows == (("If up were down, draw rain.", "Rain rises.", 2),)
    assert words.rows == (("if", 4), ("so", 3)), "a word said twice in a prompt is in one picture"


def test_a_model_that_painted_its_prompts_has_no_tables() -> None:
    assert not list(painting_tables(MADE, "third"))


def pair(name: str, repeat: int, outcome: Outcome) -> Result:
    prompts = (Prompt(role="a", text=f"{name} one"), Prompt(role="b", text=f"{name} two"))
    case = Case(case_id=name, suite="x", category="x", prompts=prompts, checks=("truth",))
    return Result(case=case, repeat=repeat, model="m", outcome=outcome, check="truth")


def rewritten(prompt: str, text: str, *repeats: int) -> RewrittenPrompt:
    return RewrittenPrompt(model="m", prompt=prompt, text=text, passed_over=(), n=len(repeats), repeats=repeats)


def test_rewritten_pairs_stand_apart_and_two_wordings_that_became_one_are_named() -> None:
    made = (
        rewritten("half one", "a fluffy half", 0),
        rewritten("same one", "the same", 0, 1),
        rewritten("same two", "the same", 0),
        rewritten("same two", "another", 1),
        rewritten("shared one", "this", 0),
        rewritten("shared one", "that", 0),
        rewritten("shared two", "that", 0),
    )
    judged = [
        pair("plain", 0, Outcome.PASS),
        pair("half", 0, Outcome.FAIL),
        pair("same", 0, Outcome.PASS),
        pair("same", 1, Outcome.FAIL),
        pair("shared", 0, Outcome.PASS),
    ]
    _, apart, merged = painting_tables(made, "m", judged)
    assert [row[1:4] for row in apart.rows] == [(1, 0, 0.0), (3, 2, 2 / 3), (1, 0, 0.0)]
    assert merged.rows == (("same", 0, "same one", "same two", "the same"),)


def test_a_prompt_that_stays_as_it_is_counts_by_its_own_text() -> None:
    made = (
        rewritten("into one", "into two", 0),
        rewritten("onto one", "onto two", 0),
        rewritten("onto two", "onto two", 0),
        rewritten("from two", "from one", 0),
        rewritten("own one", "own one", 0),
        rewritten("half one", "a half", 0),
        rewritten("half two", "half two", 0),
    )
    judged = [pair(name, 0, Outcome.PASS) for name in ("into", "onto", "from", "own", "half")]
    _, apart, merged = painting_tables(made, "m", judged)
    assert [row[1] for row in apart.rows] == [1, 1, 3]
    assert merged.rows == (
        ("into", 0, "into one", "into two", "into two"),
        ("onto", 0, "onto one", "onto two", "onto two"),
        ("from", 0, "from one", "from two", "from one"),
    )
