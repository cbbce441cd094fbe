"""Questions from formulas: what is asked, what every right picture answers, and what answers say about a picture."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snapshot import check_snapshot
from strategies import atoms_about, combined, relations_between

from salva.core.scene import Scene, Thing
from salva.english.questions import (
    COLOUR,
    COUNT,
    NO,
    PLACE,
    PRESENCE,
    RELATION,
    SIZE,
    YES,
    ClosedQuestion,
    expected_answer,
    is_satisfied,
    questions_about,
)
from salva.errors import UsageError
from salva.logic.entailment import entails, excludes
from salva.logic.formula import Formula
from salva.logic.notation import parse, to_notation
from salva.logic.satisfaction import satisfies


def _expected(notation: str, *others: str) -> dict[str, str | None]:
    asked = questions_about((notation, *others))
    return {question.text: expected_answer(question, notation) for question in asked}


def _by_kind(notation: str, *others: str) -> dict[str, list[str | None]]:
    asked: dict[str, list[str | None]] = {}
    for question in questions_about((notation, *others)):
        asked.setdefault(question.kind, []).append(expected_answer(question, notation))
    return asked


def test_questions_and_expected_answers_are_the_snapshot() -> None:
    shown = ""
    for notations in (
        ("cup & hat", "hat & cup"),
        ("cup & (hat | ball)",),
        ("cup & !hat",),
        ("red cup",),
        ("2 cup",),
        ("left_of(cup, hat)", "right_of(hat, cup)"),
        ("cat@left & dog@right",),
        ("larger_than(hat, cup) & on(cup, hat)",),
    ):
        asked = [f"  {text} {answer or 'open'}\n" for text, answer in _expected(*notations).items()]
        shown += "".join((" = ".join(notations), "\n", *asked, "\n"))
    check_snapshot("questions-about-formulas", shown)


def test_two_things_are_asked_for_and_counted() -> None:
    assert _by_kind("cup & hat", "hat & cup") == {PRESENCE: ["yes", "yes"], COUNT: ["one", "one", "no"]}


def test_what_the_formula_leaves_open_has_no_expected_answer() -> None:
    assert _by_kind("cup & (hat | ball)")[PRESENCE] == ["yes", None, None]
    assert set(_by_kind("cup & (hat | ball)")[COUNT]) == {"one", "no", None}


def test_a_denied_thing_is_expected_to_be_absent() -> None:
    expected = _by_kind("cup & !hat")
    assert expected[PRESENCE] == ["yes", "no"]
    assert "none" in expected[COUNT]


def test_a_settled_colour_is_asked_beside_one_it_cannot_be() -> None:
    expected = _expected("red cup")
    assert expected["Is there a red cup in the picture?"] == "yes"
    assert expected["Is there an orange cup in the picture?"] == "no"


def test_a_settled_relation_is_asked_both_ways_round_and_only_once_each() -> None:
    assert _by_kind("left_of(cup, hat)", "right_of(hat, cup)")[RELATION] == ["yes", "no"]


@pytest.mark.parametrize("notation", ["2 cup & left_of(cup, hat)", "near(cup, hat)", "on(cup, hat)"])
def test_a_relation_whose_turn_may_be_so_as_well_is_not_asked_the_other_way_round(notation: str) -> None:
    asked = [text for text in _expected(notation) if "cup" in text and "hat" in text]
    assert len(asked) == 1
    assert asked[0].startswith("Is there a cup ")


def test_sizes_and_numbers_are_asked_for() -> None:
    kinds = {question.kind for question in questions_about(("2 red cup & hat & larger_than(hat, cup)",))}
    assert kinds == {PRESENCE, COUNT, COLOUR, SIZE}
    assert "two" in _by_kind("2 cup")[COUNT]


def test_every_form_of_the_same_pair_is_asked_the_same() -> None:
    assert questions_about(("cup & hat", "hat & cup")) == questions_about(("cup & hat", "hat & cup"))
    parents = {p for q in questions_about(("left_of(cup, hat)",)) if q.kind == RELATION for p in q.parents}
    assert parents == {"Is there a cup in the picture?", "Is there a hat in the picture?"}


@pytest.mark.parametrize(
    "notation", ["cup & hat", "red cup", "left_of(cup, hat)", "cup", "3 cup & hat", "above(hat, cup)"]
)
def test_whoever_always_says_yes_is_wrong_somewhere(notation: str) -> None:
    assert NO in _expected(notation).values()


def test_a_place_is_asked_by_itself_and_halves_decide() -> None:
    asked = questions_about(("cat@left & dog@right",))
    # The things stand at 0.2 and 0.4: one after the other, and both in the left half.
    said = _answers(asked, _scene("cat", "dog"))
    assert {question.literal: said[question.text] for question in asked if question.kind == PLACE} == {
        "cat@left": YES,
        "dog@right": NO,
    }


def test_the_at_least_reading_expects_no_upper_number() -> None:
    asked = questions_about(("cup & hat",), "at-least")
    counts = [expected_answer(q, "cup & hat", "at-least") for q in asked if q.text.startswith("How many")]
    assert counts == [None, None]


def test_formulas_exclude_each_other_or_not() -> None:
    assert excludes(parse("cup"), parse("!cup"))
    assert excludes(parse("red cup"), parse("cup & !red cup"))
    assert not excludes(parse("!left_of(cup, hat)"), parse("!cup | !hat"))
    assert entails(parse("red cup & hat"), parse("cup"))
    assert entails(parse("cup"), parse("!2 cup"))
    assert not entails(parse("cup"), parse("!2 cup"), "at-least")


def _answers(asked: tuple[ClosedQuestion, ...], scene: Scene) -> dict[str, str]:
    """What an all-seeing judge answers: the first choice that is true of the scene."""
    said = {}
    for question in asked:
        right = [
            choice
            for choice, meaning in zip(question.choices, question.formulas, strict=True)
            if satisfies(parse(meaning), scene, "at-least")
        ]
        assert right, (question, scene)
        said[question.text] = right[0]
    return said


def _scene(*labels: str) -> Scene:
    """Things in a row from left to right; "red cup" has a colour."""
    things = []
    for i, label in enumerate(labels):
        colour, _, noun = label.rpartition(" ")
        things.append(Thing(label=noun, box=(0.1 * i, 0.4, 0.1 * i + 0.08, 0.6), colour=colour or None))
    return Scene(things=tuple(things))


@pytest.mark.parametrize(
    ("notation", "scene", "is_right"),
    [
        ("cup & hat", _scene("cup", "hat"), True),
        ("cup & hat", _scene("cup"), False),
        ("cup & hat", _scene("cup", "cup", "hat"), False),
        ("cup & (hat | ball)", _scene("cup", "ball"), True),
        ("cup & (hat | ball)", _scene("cup"), False),
        ("!(cup & hat)", _scene("hat"), True),
        ("!(cup & hat)", _scene("hat", "cup"), False),
        ("left_of(cup, hat)", _scene("cup", "hat"), True),
        ("left_of(cup, hat)", _scene("hat", "cup"), False),
        ("red cup & blue hat", _scene("red cup", "blue hat"), True),
        ("red cup & blue hat", _scene("blue cup", "red hat"), False),
    ],
)
def test_answers_satisfy_the_formula_exactly_when_the_scene_does(notation: str, scene: Scene, is_right: bool) -> None:
    asked = questions_about((notation,))
    assert satisfies(parse(notation), scene) is is_right
    assert is_satisfied(notation, asked, _answers(asked, scene)) is is_right


_NAMES = ("cat", "dog", "apple")
# Without places: one of them alone goes by halves, and beside others by the order.
_LEAVES = st.one_of(atoms_about(_NAMES, max_count=2, places=()), relations_between(_NAMES))
_COORDINATES = st.sampled_from((0.1, 0.3, 0.5, 0.7))
_THINGS = st.builds(
    lambda label, x, y, size, colour: Thing(label=label, box=(x, y, x + size, y + size), colour=colour),
    st.sampled_from(_NAMES),
    _COORDINATES,
    _COORDINATES,
    st.sampled_from((0.1, 0.2)),
    st.sampled_from(("red", "blue", "green")),
)


@given(combined(_LEAVES, 3), st.lists(_THINGS, max_size=4))
@settings(max_examples=80)
def test_a_right_picture_gives_every_expected_answer(formula: Formula, things: list[Thing]) -> None:
    notation, scene = to_notation(formula), Scene(things=tuple(things))
    asked = questions_about((notation,))
    said = _answers(asked, scene)
    is_right = satisfies(formula, scene)
    assert is_satisfied(notation, asked, said) is is_right
    if is_right:
        wrong = [q.text for q in asked if expected_answer(q, notation) not in (None, said[q.text])]
        assert wrong == []


def test_an_unanswered_atom_counts_as_not_so() -> None:
    asked = questions_about(("cup & hat",))
    assert not is_satisfied("cup & hat", asked, {"Is there a cup in the picture?": YES})


def test_a_question_needs_no_formula_of_its_own() -> None:
    free = ClosedQuestion(text="What is it?", kind="object", choices=())
    assert expected_answer(free, "cup") is None


def test_nonsense_is_refused_where_it_enters() -> None:
    with pytest.raises(UsageError):
        questions_about(("cup &",))
