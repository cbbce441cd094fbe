"""The scene judge: scores, choices and grades from detections and formulas."""

from __future__ import annotations

import pytest

from salva.core.case import Prompt
from salva.core.image import Picture
from salva.core.observation import Answer, Detection, Detections, Reading
from salva.core.options import parse_options
from salva.core.protocols import ObserveRequest, Query, RenderRequest
from salva.core.run_spec import ComponentSpec
from salva.errors import PluginError, UsageError
from salva.judges.scene_judge import SceneJudge, SceneJudgeOptions
from salva.registry import bind
from salva.testing.conformance import check_observer

GREY = Picture(rgb=bytes([128]) * (64 * 64 * 3), width=64, height=64)
CAT = Detection(label="cat", score=0.9, box=(0.1, 0.4, 0.3, 0.6))
DOG = Detection(label="dog", score=0.8, box=(0.6, 0.4, 0.8, 0.6))


def answer_to(query: Query, *boxes: Detection, picture: Picture = GREY, **options: str) -> Answer:
    (outcome,) = judge(**options).observe([request(query, *boxes, picture=picture)])
    assert isinstance(outcome, Answer), outcome
    return outcome


def judge(**options: str) -> SceneJudge:
    built = bind(ComponentSpec(role="judge", name="scene", options=options)).build()
    assert isinstance(built, SceneJudge)
    return built


def request(query: Query, *boxes: Detection, picture: Picture = GREY) -> ObserveRequest:
    return ObserveRequest(picture=picture, query=query, given={"detector": Detections(boxes=boxes)})


def score(formula: str) -> Query:
    return Query(role="judge", kind="score", text="some text", formulas=(formula,))


def question(*meanings: str, choices: tuple[str, ...] = ("yes", "no")) -> Query:
    return Query(role="judge", kind="answer", text="is it so?", choices=choices, formulas=meanings)


def test_conformance() -> None:
    binding = bind(ComponentSpec(role="judge", name="scene"))
    check_observer(binding, [GREY], query=score("cat"), given={"detector": Detections(boxes=(CAT,))})


def test_objects_and_relations_have_fifty_points_each() -> None:
    assert answer_to(score("left_of(cat, dog)"), CAT, DOG).scores == {"objects": 50.0, "relations": 50.0}
    assert answer_to(score("left_of(dog, cat)"), CAT, DOG).scores == {"objects": 50.0, "relations": 0.0}
    assert answer_to(score("left_of(cat, dog)"), CAT).scores == {"objects": 25.0, "relations": 0.0}


def test_the_reply_shows_the_derivation() -> None:
    reply = answer_to(score("left_of(dog, cat)"), CAT, DOG).reply
    assert reply == "objects: dog yes, cat yes; relations: left_of(dog, cat) no"


def test_overlapping_boxes_are_one_entity() -> None:
    again = Detection(label="cat", score=0.5, box=(0.11, 0.4, 0.3, 0.6))
    assert answer_to(score("cat"), CAT, again).scores["objects"] == 50


def test_a_second_cat_is_wrong() -> None:
    other = Detection(label="cat", score=0.5, box=(0.6, 0.4, 0.8, 0.6))
    assert answer_to(score("cat"), CAT, other).scores["objects"] == 0


def test_the_choice_with_a_true_formula_is_the_answer() -> None:
    assert answer_to(question("dog", "!dog"), CAT).text == "no"
    assert answer_to(question("cat", "!cat"), CAT).text == "yes"
    other = Detection(label="cat", score=0.5, box=(0.6, 0.4, 0.8, 0.6))
    assert answer_to(question("cat", "!cat"), CAT, other).text == "yes", "at least one"
    numbers = question("!cat", "cat & !2 cat", "2 cat", choices=("none", "one", "more"))
    assert answer_to(numbers, CAT).text == "one"


@pytest.mark.parametrize(("boxes", "text"), [((), "none of"), ((CAT, DOG), "more than one")])
def test_no_or_several_true_choices_are_a_problem(boxes: tuple[Detection, ...], text: str) -> None:
    answer = answer_to(question("cat", "dog", choices=("a cat", "a dog")), *boxes)
    assert answer.text == ""
    assert answer.problem.startswith(text)


def test_questions_are_graded_zero_or_one() -> None:
    query = Query(role="judge", kind="grade", text="a scene", questions=("cat?", "dog?"), formulas=("cat", "dog"))
    assert answer_to(query, CAT).scores == {"q1": 1.0, "q2": 0.0}


def test_a_text_without_a_formula_is_a_problem() -> None:
    for query in (Query(role="judge", kind="score", text="a cat"), Query(role="judge", kind="answer", text="what?")):
        answer = answer_to(query, CAT)
        assert "needs a formula" in answer.problem
        assert (answer.text, answer.scores) == ("", {})


def test_an_undecidable_formula_is_a_problem_of_its_own_request() -> None:
    large = " & ".join(
        f"(red {e} | blue {e})" for e in ("cat", "dog", "cow", "hat", "cup", "car", "bus", "bird", "tree")
    )
    first, unparsed, undecided, last = judge().observe(
        [request(query, CAT) for query in (score("cat"), score("cat &"), score(large), question("cat", "!cat"))]
    )
    assert isinstance(first, Answer)
    assert isinstance(last, Answer)
    assert (first.problem, last.text) == ("", "yes")
    for outcome, text in ((unparsed, "cat &"), (undecided, "formula-too-large")):
        assert isinstance(outcome, Answer)
        assert text in outcome.problem
        assert (outcome.text, outcome.scores) == ("", {})


def test_invalid_queries_are_errors() -> None:
    for query in (question("cat"), Query(role="judge", kind="guess", formulas=("cat",))):
        (outcome,) = judge().observe([request(query, CAT)])
        assert isinstance(outcome, PluginError)


def test_without_detections_it_fails() -> None:
    (outcome,) = judge().observe([ObserveRequest(picture=GREY, query=score("cat"), given={"detector": Reading()})])
    assert isinstance(outcome, PluginError)


def test_options_are_checked() -> None:
    with pytest.raises(UsageError, match=r"\[option-invalid\]"):
        parse_options(SceneJudgeOptions, {"threshold": "2"}, "judge")


def test_accuracy_on_painter_scenes() -> None:
    """A flawless painter under the shipped detector: the text it painted, and the one with everything exchanged."""
    pairs = [
        ("red apple & blue car", "blue apple & red car"),
        ("cat@left & dog@right", "dog@left & cat@right"),
        ("2 cat & horse", "cat & 2 horse"),
        ("above(bird, house)", "above(house, bird)"),
    ]
    painter = bind(ComponentSpec(role="model", name="painter")).build()
    detector = bind(ComponentSpec(role="detector", name="pocket")).build()
    matched: list[float] = []
    swapped: list[float] = []
    for formula, exchanged in pairs:
        requests = [RenderRequest(prompt=Prompt(role="a", text="", formula=formula), seed=seed) for seed in range(10)]
        for rendered in painter.render(requests):
            (seen,) = detector.observe([ObserveRequest(picture=rendered.picture, query=Query(role="detector"))])
            for notation, scores in ((formula, matched), (exchanged, swapped)):
                answer = answer_to(score(notation), *seen.boxes, picture=rendered.picture)
                scores.append(sum(answer.scores.values()))
    assert sum(matched) / len(matched) >= 97
    assert abs(sum(swapped) / len(swapped) - 50) <= 3
