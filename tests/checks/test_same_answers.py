"""same-answers, must-differ and same-similarity over answers and vectors a test makes up."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from salva.checks.answers import NOTHING_SEEN, AnswerOptions
from salva.checks.must_differ import MustDiffer
from salva.checks.question_files import read_questions
from salva.checks.same_answers import SameAnswers, SameAnswersOptions
from salva.checks.same_similarity import SameSimilarity, SameSimilarityOptions
from salva.core.case import Case, Prompt
from salva.core.image import ImageRef
from salva.core.observation import Answer, Observation, Vector
from salva.core.protocols import Check, Conclusion, ImageObservations, Query
from salva.core.verdict import Outcome
from salva.errors import UsageError

Teller = Callable[[Query], Answer]


def pair(a: str | None, b: str | None, *, equivalent: bool | None = True, check: str = "same-answers") -> Case:
    return Case(
        case_id="pair",
        suite="test",
        category="test",
        prompts=(Prompt(role="a", text="wording a", formula=a), Prompt(role="b", text="wording b", formula=b)),
        checks=(check,),
        equivalent=equivalent,
        labels={"pair_id": "p1"},
    )


def saying(**answers: str) -> Teller:
    """A judge: what a question's words contain decides; "no", "none" or "one" where nothing does."""

    def tell(query: Query) -> Answer:
        for words, answer in answers.items():
            if words.replace("_", " ") in query.text:
                return Answer(text=answer, scores={})
        text = "one" if query.text.startswith("How many") else "no" if "at least" in query.text else "yes"
        return Answer(text=text, scores={})

    return tell


def heard(
    check: Check, case: Case, tellers: Mapping[str, Teller], vectors: Mapping[str, Vector] | None = None
) -> tuple[Conclusion, dict[str, list[str]]]:
    """The conclusion after every wave of looks, and what was asked about each image."""
    roles = ("judge", "embedder") if vectors else ("judge",)
    seen: dict[str, dict[Query, Observation]] = {prompt.role: {} for prompt in case.prompts}
    for _ in range(10):
        observations = {role: _sight(found) for role, found in seen.items()}
        new = [look for look in check.needs(case, roles, observations) if look.query not in seen[look.role]]
        if not new:
            break
        for look in new:
            if look.query.role == "embedder":
                assert vectors is not None
                seen[look.role][look.query] = vectors[look.query.text or look.role]
            else:
                seen[look.role][look.query] = tellers[look.role](look.query)
    asked = {
        role: [query.text for query in found if query.role == "judge" and not query.repeat]
        for role, found in seen.items()
    }
    return check.judge(case, {role: _sight(found) for role, found in seen.items()}), asked


def _sight(seen: Mapping[Query, Observation]) -> ImageObservations:
    return ImageObservations(image=ImageRef(image_id="", width=1, height=1), seen=dict(seen))


def same(**options: object) -> SameAnswers:
    return SameAnswers(SameAnswersOptions(**options))  # type: ignore[arg-type]  # keywords of options


RIGHT = saying()


def test_the_same_right_answers_hold_with_full_faithfulness() -> None:
    found, asked = heard(same(), pair("cup & hat", "hat & cup"), {"a": RIGHT, "b": RIGHT})
    assert found.outcome is Outcome.PASS
    wanted = {"faith_A": 1, "faith_B": 1, "faith_mean": 1, "faith_diff": 0, "faith_stability": 1, "agreement": 1}
    assert {name: found.scores[name] for name in wanted} == wanted
    assert asked["a"] == asked["b"]
    assert len(asked["a"]) == found.scores["n_asked_A"] == found.scores["n_counted_A"] == 5


def test_a_missing_thing_breaks_the_pair_and_names_its_questions() -> None:
    no_hat = saying(a_hat="no", hats="none")
    found, _ = heard(same(), pair("cup & hat", "hat & cup"), {"a": RIGHT, "b": no_hat})
    assert found.outcome is Outcome.FAIL
    assert found.failure_types == ("presence-differs", "count-differs")
    assert found.scores["faith_B"] == pytest.approx(3 / 5)
    assert found.scores["faith_stability"] == pytest.approx(3 / 5)
    assert found.scores["agreement"] == pytest.approx(3 / 5)
    assert "hat" in found.failures[0].message
    assert (found.failures[0].expected, found.failures[0].seen) == ("yes", "no")
    wrong = [failure for failure in found.failures if failure.failure_type == "wrong-answer"]
    assert {failure.role for failure in wrong} == {"b"}


def test_both_wrong_alike_holds_and_faithfulness_tells() -> None:
    no_hat = saying(a_hat="no", hats="none")
    found, _ = heard(same(), pair("cup & hat", "hat & cup"), {"a": no_hat, "b": no_hat})
    assert found.outcome is Outcome.PASS
    assert found.scores["faith_mean"] == pytest.approx(3 / 5)


def test_whoever_always_says_yes_is_not_faithful() -> None:
    def yes(query: Query) -> Answer:
        return Answer(text=query.choices[0] if "yes" not in query.choices else "yes", scores={})

    found, _ = heard(same(), pair("left_of(cup, hat)", "right_of(hat, cup)"), {"a": yes, "b": yes})
    assert found.scores["faith_mean"] == pytest.approx(3 / 6)


def test_two_right_pictures_of_an_open_prompt_may_differ() -> None:
    either = pair("cup & (hat | ball)", "(cup & hat) | (cup & ball)")
    hat = saying(a_ball="no", balls="none")
    ball = saying(a_hat="no", hats="none")
    found, _ = heard(same(), either, {"a": hat, "b": ball})
    assert found.outcome is Outcome.PASS
    assert found.scores["faith_mean"] == 1
    neither = saying(a_ball="no", balls="none", a_hat="no", hats="none")
    found, _ = heard(same(), either, {"a": hat, "b": neither})
    assert found.failure_types == ("formula-differs",)
    assert (found.scores["satisfied_A"], found.scores["satisfied_B"]) == (1, 0)
    assert found.scores["faith_B"] < 1


def test_too_many_of_an_open_thing_is_not_satisfying() -> None:
    either = pair("hat | ball", "ball | hat")
    two_hats = saying(a_ball="no", balls="none", hats="more than one")
    found, _ = heard(same(), either, {"a": two_hats, "b": two_hats})
    assert found.scores["satisfied_A"] == 0
    found, _ = heard(same(counts="at-least"), either, {"a": two_hats, "b": two_hats})
    assert found.scores["satisfied_A"] == 1


def test_children_are_not_asked_where_the_parent_fails_and_dsg_counts_them_wrong() -> None:
    case = pair("red cup & hat", "hat & red cup")
    no_cup = saying(a_cup="no", cups="none")
    found, asked = heard(same(), case, {"a": RIGHT, "b": no_cup})
    assert "Is there a red cup in the picture?" in asked["a"]
    assert "Is there a red cup in the picture?" not in asked["b"]
    # "Is there an orange cup?" is rightly no without a cup: faithful, but not grounded in anything.
    assert found.scores["faith_B"] > found.scores["dsg_B"]


@pytest.mark.parametrize(
    "reply",
    [
        Answer(text="", scores={}, reply="well ...", problem="no choice is named"),
        Answer(text="small", scores={}),
        Answer(text="", scores={}),
    ],
)
def test_an_unreadable_reply_makes_the_pair_inconclusive(reply: Answer) -> None:
    def mumbling(query: Query) -> Answer:
        return reply if "a hat" in query.text else RIGHT(query)

    found, _ = heard(same(), pair("cup & hat", "hat & cup"), {"a": RIGHT, "b": mumbling})
    assert found.outcome is Outcome.UNDECIDED
    assert "image 'b'" in found.reason
    assert "Is there a hat in the picture?" in found.reason
    assert "faith_A" not in found.scores


def test_the_threshold_is_an_option() -> None:
    case = pair("cup & hat", "hat & cup")
    no_hat = saying(a_hat="no", hats="none")
    no_cup = saying(a_cup="no", cups="none")
    found, _ = heard(same(min_stability=0.6), case, {"a": RIGHT, "b": no_hat})
    assert found.outcome is Outcome.PASS
    assert found.scores["agreement"] == 0.6, "at the threshold it holds"
    # Each misses another thing: as faithful as each other, and not the same image.
    found, _ = heard(same(), case, {"a": no_cup, "b": no_hat})
    assert found.outcome is Outcome.FAIL


def test_a_judge_that_changes_its_mind_is_noticed_and_the_first_answer_counts() -> None:
    def wavering(query: Query) -> Answer:
        return Answer(text="no", scores={}) if query.repeat and "a hat" in query.text else RIGHT(query)

    found, _ = heard(same(flip_sample=1), pair("cup & hat", "hat & cup"), {"a": wavering, "b": RIGHT})
    assert found.outcome is Outcome.PASS
    assert found.scores["judge_repeated"] == 10
    assert found.scores["judge_flipped"] == 1


def test_which_cases_are_asked_about() -> None:
    assert same().applies(pair("cup", "!!cup"))
    assert not same().applies(pair("cup", "!cup", equivalent=False))
    assert not same().applies(pair(None, "cup", equivalent=None))
    contrast = pair("cup", "!cup", equivalent=False, check="must-differ")
    assert MustDiffer(AnswerOptions()).applies(contrast)
    assert not MustDiffer(AnswerOptions()).applies(pair("cup", "!!cup"))


def test_a_contrast_with_the_same_answers_is_violated() -> None:
    contrast = pair("cup", "!cup", equivalent=False, check="must-differ")
    check = MustDiffer(AnswerOptions())
    no_cup = saying(a_cup="no", cups="none", two_cups="no")
    found, _ = heard(check, contrast, {"a": RIGHT, "b": RIGHT})
    assert found.failure_types == ("no-difference",)
    assert found.scores["faith_A"] == 1
    assert found.scores["faith_B"] < 1
    found, _ = heard(check, contrast, {"a": RIGHT, "b": no_cup})
    assert found.outcome is Outcome.PASS
    overlapping = pair("!left_of(cup, hat)", "!cup | !hat", equivalent=False, check="must-differ")
    nothing = saying(a_cup="no", cups="none", a_hat="no", hats="none")
    found, _ = heard(check, overlapping, {"a": nothing, "b": nothing})
    assert found.outcome is Outcome.UNDECIDED


VECTORS = {
    "a": Vector(values=(1.0, 0.0)),
    "b": Vector(values=(0.0, 2.0)),
    "wording a": Vector(values=(3.0, 4.0)),
    "wording b": Vector(values=(3.0, 4.0)),
}


def test_clip_scores_are_on_the_scale_that_is_named() -> None:
    case = pair("cup & hat", "hat & cup")
    found, _ = heard(same(), case, {"a": RIGHT, "b": RIGHT}, VECTORS)
    wanted = {
        "clip_A": 60,
        "clip_B": 80,
        "clip_mean": 70,
        "clip_diff": 20,
        "clip_stability": 0.8,
        "image_similarity": 0,
    }
    assert {name: found.scores[name] for name in wanted} == pytest.approx(wanted)
    found, _ = heard(same(clip_stability="published"), case, {"a": RIGHT, "b": RIGHT}, VECTORS)
    assert found.scores["clip_stability"] == pytest.approx(-19)
    found, _ = heard(same(clip_scale="clipscore"), case, {"a": RIGHT, "b": RIGHT}, VECTORS)
    assert found.scores["clip_A"] == pytest.approx(1.5)
    assert found.scores["clip_stability"] == pytest.approx(1 - 0.5 / 2.5)
    found, _ = heard(same(clip_scale="cosine"), case, {"a": RIGHT, "b": RIGHT}, VECTORS)
    assert found.scores["clip_B"] == pytest.approx(0.8)


def test_similarity_alone_is_a_relation_too() -> None:
    check = SameSimilarity(SameSimilarityOptions())
    found, _ = heard(check, pair(None, None, equivalent=None), {}, VECTORS)
    assert found.failure_types == ("similarity-differs",)
    at_threshold = SameSimilarity(SameSimilarityOptions(min_clip_stability=found.scores["clip_stability"]))
    assert heard(at_threshold, pair(None, None, equivalent=None), {}, VECTORS)[0].outcome is Outcome.PASS
    alike = {**VECTORS, "b": VECTORS["a"]}
    found, _ = heard(check, pair(None, None, equivalent=None), {}, alike)
    assert found.outcome is Outcome.PASS


TIFA = [
    {
        "id": "p1",
        "caption": "Wording A.",
        "question": "what animal is it?",
        "choices": ["Cat", "dog"],
        "answer": "cat",
        "element_type": "animal",
    },
    {"id": "p1", "caption": "wording a", "question": "what is it doing?", "choices": [], "answer": "Sleeping"},
]
DSG = (
    "item_id,text,proposition_id,dependency,category_broad,question_natural_language\n"
    "p1,wording a,1,0,entity,Is there a cat?\n"
    'p1,wording a,2,"1",attribute,Is the cat asleep?\n'
)


def _written(folder: Path, name: str, content: str) -> str:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return str(path)


def test_questions_come_from_a_tifa_file(tmp_path: Path) -> None:
    path = _written(tmp_path, "tifa.json", json.dumps(TIFA))
    case = pair(None, None, equivalent=None)
    asleep = saying(animal="cat", doing="Sleeping")
    awake = saying(animal="cat", doing="barking")
    found, asked = heard(same(questions=path), case, {"a": asleep, "b": awake})
    assert asked["b"] == ["what animal is it?", "what is it doing?"]
    assert found.failure_types == ("answer-differs",)
    assert (found.scores["faith_A"], found.scores["faith_B"]) == (1, 0.5)
    unknown = Case(
        case_id="other",
        suite="test",
        category="test",
        prompts=(Prompt(role="a", text="x"), Prompt(role="b", text="y")),
        checks=("same-answers",),
    )
    found, _ = heard(same(questions=path), unknown, {"a": asleep, "b": awake})
    assert found.outcome is Outcome.UNDECIDED


def test_each_prompt_of_a_contrast_keeps_its_own_expected_answer(tmp_path: Path) -> None:
    cup = {"element": "cup", "question": "is there a cup?", "choices": ["yes", "no"]}
    rows = [
        {"id": "p1", "caption": "wording a", "answer": "yes", **cup},
        {"id": "p2", "caption": "wording b", "answer": "no", **cup},
    ]
    contrast = pair("cup", "!cup", equivalent=False, check="must-differ")
    path = _written(tmp_path, "tifa.json", json.dumps(rows))
    found, _ = heard(
        MustDiffer(AnswerOptions(questions=path)), contrast, {"a": saying(a_cup="yes"), "b": saying(a_cup="no")}
    )
    assert (found.scores["faith_A"], found.scores["faith_B"]) == (1, 1)


def test_a_contrast_is_decided_by_what_tells_its_prompts_apart_alone(tmp_path: Path) -> None:
    floor = {"element": "floor", "question": "is the floor wooden?", "choices": ["yes", "no"], "answer": "yes"}
    cup = {"element": "cup", "question": "is there a cup?", "choices": ["yes", "no"], "answer": "yes"}
    about_floor = _written(tmp_path, "floor.json", json.dumps([{"id": "p1", "caption": "wording a", **floor}]))
    about_both = _written(
        tmp_path, "both.json", json.dumps([{"id": "p1", "caption": "wording a", **row} for row in (floor, cup)])
    )
    contrast = pair("cup", "!cup", equivalent=False, check="must-differ")

    def outcome(path: str, **floors: str) -> Outcome:
        said = {role: saying(floor=floors[f"floor_{role}"], a_cup=floors[f"cup_{role}"]) for role in "ab"}
        return heard(MustDiffer(AnswerOptions(questions=path)), contrast, said)[0].outcome

    same_cup = {"cup_a": "yes", "cup_b": "yes"}
    assert outcome(about_floor, floor_a="yes", floor_b="no", **same_cup) is Outcome.UNDECIDED
    assert outcome(about_floor, floor_a="yes", floor_b="yes", **same_cup) is Outcome.UNDECIDED
    assert outcome(about_both, floor_a="yes", floor_b="no", **same_cup) is Outcome.FAIL
    assert outcome(about_both, floor_a="yes", floor_b="yes", cup_a="yes", cup_b="no") is Outcome.PASS


def test_two_pictures_of_nothing_do_not_agree_where_no_formula_asks_for_anything(tmp_path: Path) -> None:
    path = _written(tmp_path, "dsg.csv", DSG)
    unread = pair(None, None, equivalent=None)
    nothing, a_cat = saying(there_a_cat="no"), saying(there_a_cat="yes", asleep="no")
    found, _ = heard(same(questions=path), unread, {"a": nothing, "b": nothing})
    assert (found.outcome, found.reason) == (Outcome.UNDECIDED, NOTHING_SEEN)
    assert heard(same(questions=path), unread, {"a": a_cat, "b": a_cat})[0].outcome is Outcome.PASS
    assert heard(same(questions=path), unread, {"a": a_cat, "b": nothing})[0].outcome is Outcome.FAIL
    away = {**VECTORS, "a": Vector(values=(-3.0, -4.0)), "b": Vector(values=(-3.0, -4.0))}
    check = SameSimilarity(SameSimilarityOptions())
    assert heard(check, unread, {}, away)[0].outcome is Outcome.UNDECIDED


def test_questions_come_from_a_dsg_file_with_their_dependencies(tmp_path: Path) -> None:
    path = _written(tmp_path, "dsg.csv", DSG)
    no_cat = saying(there_a_cat="no")
    found, asked = heard(same(questions=path), pair(None, None, equivalent=None), {"a": RIGHT, "b": no_cat})
    assert asked["a"] == ["Is there a cat?", "Is the cat asleep?"]
    assert asked["b"] == ["Is there a cat?"]
    assert (found.scores["dsg_A"], found.scores["dsg_B"]) == (1, 0)


def test_another_question_file_under_the_same_name_is_another_rule(tmp_path: Path) -> None:
    path = _written(tmp_path, "dsg.csv", DSG)
    before = SameAnswers.weights(SameAnswersOptions(questions=path))
    _written(tmp_path, "dsg.csv", DSG + "p2,x,1,0,entity,Is there a dog?\n")
    assert SameAnswers.weights(SameAnswersOptions(questions=path)) != before
    assert SameAnswers.weights(SameAnswersOptions()) == ""


@pytest.mark.parametrize("parent", ["7", "dark red", "2", "7,1"])
def test_a_question_whose_parent_is_none_stands_alone(tmp_path: Path, parent: str) -> None:
    path = _written(tmp_path, "dsg.csv", DSG.replace('"1"', f'"{parent}"'))
    no_cat = saying(there_a_cat="no", asleep="yes")
    found, asked = heard(same(questions=path), pair(None, None, equivalent=None), {"a": RIGHT, "b": no_cat})
    assert asked["b"] == ["Is there a cat?", "Is the cat asleep?"], "asked whatever is said of another"
    assert (found.scores["dsg_A"], found.scores["dsg_B"]) == (1, 0.5)


def test_a_question_that_stands_twice_in_a_file_is_asked_once(tmp_path: Path) -> None:
    last = DSG.splitlines()[-1]
    path = _written(tmp_path, "dsg.csv", DSG + "".join(f"{last.replace(',2,', f',{n},')}\n" for n in (3, 4)))
    _, asked = heard(same(questions=path), pair(None, None, equivalent=None), {"a": RIGHT, "b": RIGHT})
    assert asked["a"] == ["Is there a cat?", "Is the cat asleep?"]


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        (
            "q.json",
            json.dumps([{**TIFA[0], "answer": "cow"}]),
            "entry 1: the answer 'cow'",
        ),
        ("q.json", json.dumps([{**TIFA[0], "question": ""}]), "entry 1: no question"),
        ("q.json", json.dumps([{**TIFA[0], "choices": "cat"}]), "entry 1: choices are 'cat'"),
        ("q.json", "{", "no JSON"),
        ("q.json", '{"a": 1}', "list of objects"),
        ("q.csv", "a,b\n1,2\n", "file-kind-unknown"),
    ],
)
def test_what_is_wrong_with_a_question_file_is_named(tmp_path: Path, name: str, content: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        read_questions(_written(tmp_path, name, content))
    with pytest.raises(UsageError, match="cannot be read"):
        read_questions(str(tmp_path / "nowhere.json"))


def test_rows_of_a_question_file_that_cannot_be_used_are_counted_and_skipped(tmp_path: Path) -> None:
    path = _written(tmp_path, "dsg.csv", DSG + 'p1,wording a,3,"1",attribute, \np1,wording a,,0,entity, \n')
    check = SameAnswers(SameAnswersOptions(questions=path))
    (remark,) = check.remarks("quick")
    assert "2 of 4 rows" in remark
    assert [place for place in ("line 3", "line 4", "line 5") if place in remark] == ["line 4", "line 5"]
    assert len(read_questions(path).about("wording a")) == 2
    assert SameAnswers(SameAnswersOptions(questions=_written(tmp_path, "dsg.csv", DSG))).remarks("quick") == []


def test_questions_in_a_file_of_answers_are_found_by_the_id_of_the_text(tmp_path: Path) -> None:
    answers = (
        "t2i_model,item_id,question,question_id,dependency_id,answer\n"
        "sd,p1,Is there a cat?,1,0,no\nsd,p1,Is the cat asleep?,2,1,yes\nxl,p1,Is there a cat?,1,0,yes\n"
    )
    path = _written(tmp_path, "answers.csv", answers)
    case = replace(pair(None, None, equivalent=None), labels={"item_id": "p1"})
    found, asked = heard(same(questions=path), case, {"a": RIGHT, "b": saying(there_a_cat="no")})
    assert asked == {"a": ["Is there a cat?", "Is the cat asleep?"], "b": ["Is there a cat?"]}
    assert (found.scores["dsg_A"], found.scores["dsg_B"]) == (1, 0)
