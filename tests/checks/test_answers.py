"""Answers to scores: what is asked, what counts, and where nobody can tell."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from checks.test_same_answers import DSG, RIGHT, VECTORS, heard, pair, same, saying

from salva.checks.answers import AnswerOptions, has_questions, is_nothing_seen, leaves_open, questions_for
from salva.checks.must_differ import MustDiffer
from salva.checks.question_files import read_questions
from salva.checks.right_answers import RightAnswers, RightAnswersOptions
from salva.checks.same_answers import SameAnswers, SameAnswersOptions
from salva.checks.same_scene import SameScene
from salva.checks.same_similarity import SameSimilarity, SameSimilarityOptions
from salva.checks.truth import Truth
from salva.core.about import About
from salva.core.case import Case, Prompt
from salva.core.observation import Vector
from salva.core.options import parse_options
from salva.core.question import Question
from salva.core.verdict import Outcome
from salva.errors import UsageError

CUP = pair("cup & hat", "hat & cup")
NO_HAT = saying(a_hat="no", hats="none")


def own(text: str, answer: str = "yes", **more: Any) -> Question:
    return Question(kind="entity", text=text, answer=answer, **more)


def asking(first: tuple[Question, ...], second: tuple[Question, ...], *, equivalent: bool | None = True) -> Case:
    prompts = (
        Prompt(role="a", text="wording a", questions=first),
        Prompt(role="b", text="wording b", questions=second),
    )
    return replace(pair(None, None), prompts=prompts, equivalent=equivalent)


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (Truth, About(needs_roles=("detector",), has_control=True)),
        (SameScene, About(needs_roles=("detector",), compares=True, has_control=True)),
        (SameAnswers, About(needs_roles=("judge",), compares=True, has_control=True)),
        (RightAnswers, About(needs_roles=("judge",))),
        (MustDiffer, About(needs_roles=("judge",), compares=True)),
        (SameSimilarity, About(needs_roles=("embedder",), compares=True, has_control=True)),
    ],
)
def test_checks_say_whom_they_need_and_what_they_measure(check: Any, said: About) -> None:
    assert replace(check.about, failure_types={}) == said
    assert check.about.failure_types


def test_every_score_of_a_pair() -> None:
    found, _ = heard(same(flip_sample=0.0), CUP, {"a": RIGHT, "b": NO_HAT})
    assert found.scores == pytest.approx(
        {
            "n_questions": 5,
            "agreement": 3 / 5,
            "n_compared_answers": 5,
            "n_counted_A": 5,
            "n_asked_A": 5,
            "satisfied_A": 1,
            "named_a": 2,
            "faith_A": 1,
            "dsg_A": 1,
            "n_counted_B": 5,
            "n_asked_B": 5,
            "satisfied_B": 0,
            "named_b": 1,
            "faith_B": 3 / 5,
            "dsg_B": 3 / 5,
            "faith_mean": 4 / 5,
            "faith_diff": 2 / 5,
            "faith_stability": 3 / 5,
            "dsg_mean": 4 / 5,
            "judge_answers": 10,
            "judge_calls": 10,
            "judge_unreadable": 0,
        }
    )


def test_a_thing_that_the_prompt_wants_none_of_is_not_counted_as_named() -> None:
    found, _ = heard(same(), pair("cup & !hat", "!hat & cup"), {"a": NO_HAT, "b": RIGHT})
    assert (found.scores["named_a"], found.scores["named_b"]) == (1, 1)


def test_an_open_formula_counts_once_and_is_compared_once() -> None:
    either = pair("cup & (hat | ball)", "(cup & hat) | (cup & ball)")
    hat, neither = saying(a_ball="no", balls="none"), saying(a_ball="no", balls="none", a_hat="no", hats="none")
    found, _ = heard(same(), either, {"a": hat, "b": neither})
    settled = found.scores["n_compared_answers"] - 1
    assert found.scores["n_counted_A"] == settled + 1
    assert found.scores["agreement"] == pytest.approx(settled / (settled + 1))
    assert found.scores["faith_B"] == pytest.approx(settled / (settled + 1))
    (failure,) = (one for one in found.failures if one.failure_type == "formula-differs")
    assert (failure.expected, failure.seen) == ("True", "False")
    assert re.findall("image '(.)'", failure.message) == ["a", "b"], "the right one first"
    found, _ = heard(same(), either, {"a": neither, "b": hat})
    (failure,) = (one for one in found.failures if one.failure_type == "formula-differs")
    assert re.findall("image '(.)'", failure.message) == ["b", "a"]


def test_differences_are_told_with_both_answers() -> None:
    found, _ = heard(same(), CUP, {"a": NO_HAT, "b": RIGHT})
    first = found.failures[0]
    assert (first.failure_type, first.role, first.expected, first.seen) == ("presence-differs", "", "no", "yes")
    case = pair("red cup & hat", "hat & red cup")
    found, _ = heard(same(), case, {"a": RIGHT, "b": saying(a_cup="no", cups="none")})
    assert "colour-differs" in found.failure_types


@pytest.mark.parametrize(
    ("equivalent", "expected"),
    [(True, {"a": "yes", "b": "yes"}), (None, {"a": "yes", "b": "yes"}), (False, {"a": "yes", "b": None})],
)
def test_what_one_prompt_asks_for_an_equivalent_one_asks_for_too(
    tmp_path: Path, equivalent: bool | None, expected: dict[str, str | None]
) -> None:
    options = AnswerOptions()
    case = asking((own("Red?"),), (own("Blue?", "no"),), equivalent=equivalent)
    red, blue = questions_for(case, options, None)
    assert red.expected == expected
    assert blue.expected == {"a": None if equivalent is False else "no", "b": "no"}
    path = tmp_path / "dsg.csv"
    path.write_text(DSG)
    written = questions_for(replace(case, labels={}), options, read_questions(str(path)))
    assert [asked.expected for asked in written] == [expected, expected]


def test_each_prompt_keeps_its_own_answer() -> None:
    (red,) = questions_for(asking((own("Red?"),), (own("Red?", "no"),)), AnswerOptions(), None)
    assert red.expected == {"a": "yes", "b": "no"}
    graded = Question(kind="point", text="How red?")
    mixed = asking((own("Red?"), graded), (own("Red?"), graded))
    assert [asked.question.text for asked in questions_for(mixed, AnswerOptions(), None)] == ["Red?"]
    assert has_questions(mixed, None)
    assert not has_questions(asking((own("Red?"),), (graded,)), None)
    assert not has_questions(asking((own("Red?"),), ()), None)
    assert has_questions(CUP, None)


@pytest.mark.parametrize("answers", [["no"], ["None", "0", "zero"], [""], [], ["neither", "Nothing"]])
def test_nothing_is_seen_where_every_answer_is_none(answers: list[str]) -> None:
    assert is_nothing_seen(answers)
    assert not is_nothing_seen([*answers, "yes"])


def test_an_open_question_is_about_a_thing_itself() -> None:
    either = questions_for(pair("hat | ball", "ball | hat"), AnswerOptions(), None)
    assert leaves_open(either, "a")
    assert not leaves_open(questions_for(CUP, AnswerOptions(), None), "a")


def test_several_unreadable_replies_are_counted() -> None:
    found, _ = heard(same(), CUP, {"a": RIGHT, "b": saying(hat="?", cup="?")})
    assert found.outcome is Outcome.UNDECIDED
    assert "3 more unreadable" in found.reason
    found, _ = heard(same(), CUP, {"a": RIGHT, "b": saying(a_hat="?")})
    assert "more unreadable" not in found.reason


def test_a_question_file_pins_its_content(tmp_path: Path) -> None:
    path = tmp_path / "dsg.csv"
    path.write_text(DSG)
    options = RightAnswersOptions(questions=str(path))
    assert len(RightAnswers.weights(options)) == 16
    assert RightAnswers.weights(options) == MustDiffer.weights(AnswerOptions(questions=str(path)))
    assert RightAnswers.weights(RightAnswersOptions()) == ""
    with pytest.raises(UsageError) as refused:
        RightAnswers.weights(RightAnswersOptions(questions=str(tmp_path)))
    assert refused.value.code == "file-unreadable"


@pytest.mark.parametrize(
    ("of", "name", "within", "beyond"),
    [
        (SameAnswersOptions, "min_stability", ("0", "1"), ("-0.05", "1.05")),
        (SameAnswersOptions, "flip_sample", ("0", "1"), ("-0.05", "1.05")),
        (RightAnswersOptions, "min_faithfulness", ("1",), ("0", "1.1", "-0.1")),
        (SameSimilarityOptions, "min_clip_stability", ("-19", "0", "1"), ("1.1",)),
    ],
)
def test_shares_have_a_range(of: type[Any], name: str, within: tuple[str, ...], beyond: tuple[str, ...]) -> None:
    for text in within:
        assert getattr(parse_options(of, {name: text}, "check"), name) == float(text)
    for text in beyond:
        with pytest.raises(UsageError) as refused:
            parse_options(of, {name: text}, "check")
        assert refused.value.code == "option-invalid"


def test_vectors_are_compared_where_there_are_two_of_each() -> None:
    check = SameSimilarity(SameSimilarityOptions())
    unread = pair(None, None, equivalent=None)
    assert check.applies(unread)
    assert check.applies(CUP)
    assert not check.applies(pair("cup", "!cup", equivalent=False))
    assert not check.applies(replace(CUP, prompts=CUP.prompts[:1]))
    assert check.judge(CUP, {}).outcome is Outcome.UNDECIDED
    found, _ = heard(check, unread, {}, VECTORS)
    (failure,) = found.failures
    assert ("0.85" in failure.expected, failure.seen) == (True, "0.800")
    assert re.findall(r"\d+\.\d+", failure.message) == ["60.00", "80.00"]
    asked = {(need.role, need.query.text) for need in check.needs(CUP, (), {})}
    assert asked == {("a", ""), ("a", "wording a"), ("b", ""), ("b", "wording b")}


def test_a_contrast_says_what_is_the_same() -> None:
    contrast = pair("cup", "!cup", equivalent=False, check="must-differ")
    found, _ = heard(MustDiffer(AnswerOptions()), contrast, {"a": RIGHT, "b": RIGHT})
    assert "Is there a cup" in found.failures[0].message
    assert {failure.failure_type for failure in found.failures} == {"no-difference", "wrong-answer"}
    assert not MustDiffer(AnswerOptions()).applies(replace(contrast, prompts=contrast.prompts[:1]))


def test_right_answers_applies_where_there_is_a_question_about_every_prompt() -> None:
    check = RightAnswers(RightAnswersOptions())
    assert check.applies(pair("cup", "cup"))
    assert not check.applies(pair("cup", None, equivalent=None))
    assert check.applies(asking((own("Red?"),), (own("Blue?"),), equivalent=False))


@pytest.mark.parametrize(
    ("b", "outcome"),
    [((0.005, 1.0), Outcome.PASS), ((0.0, 1.0), Outcome.UNDECIDED), ((-0.5, 1.0), Outcome.UNDECIDED)],
)
def test_two_images_of_nothing_do_not_agree(b: tuple[float, float], outcome: Outcome) -> None:
    text = Vector(values=(1.0, 0.0))
    vectors = {"a": Vector(values=(0.0, 1.0)), "b": Vector(values=b), "wording a": text, "wording b": text}
    check = SameSimilarity(SameSimilarityOptions())
    assert heard(check, pair(None, None, equivalent=None), {}, vectors)[0].outcome is outcome
    assert heard(check, pair("cup", None, equivalent=None), {}, vectors)[0].outcome is outcome
    assert heard(check, CUP, {}, vectors)[0].outcome is Outcome.PASS, "formulas say what there should be"


def test_scores_need_two_images_with_their_texts() -> None:
    found, _ = heard(same(), CUP, {"a": RIGHT, "b": RIGHT}, VECTORS)
    assert {name for name in found.scores if name.startswith(("clip", "image"))} == {
        *("clip_A", "clip_B", "clip_mean", "clip_diff", "clip_stability", "image_similarity")
    }
    alike = {**VECTORS, "b": Vector(values=(2.0, 0.0))}
    assert heard(same(), CUP, {"a": RIGHT, "b": RIGHT}, alike)[0].scores["image_similarity"] == pytest.approx(100)
    found, _ = heard(same(clip_scale="cosine"), CUP, {"a": RIGHT, "b": RIGHT}, alike)
    assert found.scores["image_similarity"] == pytest.approx(1)
    single = replace(CUP, prompts=CUP.prompts[:1])
    assert heard(SameSimilarity(SameSimilarityOptions()), single, {}, VECTORS)[0].outcome is Outcome.UNDECIDED
