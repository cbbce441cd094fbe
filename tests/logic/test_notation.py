from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_formulas

from salva.errors import FormulaError
from salva.logic.formula import And, Atom, Formula, Not, Or, Related
from salva.logic.notation import parse, to_notation

CAT, DOG, COW = Atom("cat"), Atom("dog"), Atom("cow")


@given(any_formulas(max_leaves=12))
def test_parse_undoes_print(f: Formula) -> None:
    assert parse(to_notation(f)) == f


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("cat", CAT),
        ("3 cat", Atom("cat", 3)),
        ("red cat", Atom("cat", colour="red")),
        ("2 red cat@left", Atom("cat", 2, "red", "left")),
        ("cat@x-middle", Atom("cat", place="x-middle")),
        ("cat@left & dog@middle", And(Atom("cat", place="left"), Atom("dog", place="x-middle"))),
        ("cat@middle | dog@top", Or(Atom("cat", place="y-middle"), Atom("dog", place="top"))),
        ("left_of(cat, hot dog)", Related("left_of", "cat", "hot dog")),
        ("orange", Atom("orange")),
        ("orange orange", Atom("orange", colour="orange")),
        ("cat | dog & cow", Or(CAT, And(DOG, COW))),
        ("cat & dog & cow", And(And(CAT, DOG), COW)),
        ("cat & (dog & cow)", And(CAT, And(DOG, COW))),
        ("!cat & dog", And(Not(CAT), DOG)),
        ("!!(cat|dog)", Not(Not(Or(CAT, DOG)))),
        ("  cat\n&\tdog ", And(CAT, DOG)),
    ],
)
def test_reading(text: str, formula: Formula) -> None:
    assert parse(text) == formula


@pytest.mark.parametrize(
    "text",
    [
        "cat & (dog & cow)",
        "cat & dog & cow",
        "(cat | dog) & cow",
        "cat & dog | cow",
        "!(cat & dog)",
        "!!cat",
        "cat@left & dog@middle",
        "cat@x-middle",
        "cat@x-middle & dog@top",
        "2 red hot dog@left",
        "on(cat, dog) | !next_to(cat, dog)",
    ],
)
def test_printing_uses_no_bracket_and_no_axis_too_many(text: str) -> None:
    assert to_notation(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "position", "code"),
    [
        ("3", 1, "formula-expected"),
        ("0 cat", 0, "count-range"),
        ("100 cat", 0, "count-range"),
        ("cat & 999999999999999999999 dog", 6, "count-range"),
        ("cat@up", 4, "formula-unknown"),
        ("cat@", 4, "formula-unknown"),
        ("cat@middle", 4, "middle-open"),
        ("cat@middle & dog@left & cow@top", 4, "middle-open"),
        ("(cat", 0, "formula-bracket"),
        ("cat)", 3, "formula-bracket"),
        ("cat & ", 5, "formula-expected"),
        ("& cat", 0, "formula-expected"),
        ("cat dog(cow)", 7, "formula-expected"),
        ("under(cat, dog)", 0, "formula-unknown"),
        ("left_of cat, dog", 8, "formula-expected"),
        ("left_of(cat dog)", 15, "formula-expected"),
        ("left_of(cat, cat)", 13, "relation-sides"),
        ("left_of(cat, dog, cow)", 16, "formula-expected"),
        ("cat # dog", 4, "formula-sign"),
        ("Cat", 0, "entity-form"),
        ("two cat", 0, "entity-reserved"),
        ("cat\x00", 3, "text-unprintable"),
        ("cat \u202edog", 4, "text-unprintable"),
        ("cat && dog", 5, "formula-expected"),
        ("!" * 130 + "cat", 129, "formula-too-deep"),
    ],
)
def test_malformed_text_is_pointed_at(text: str, position: int, code: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert caught.value.code == code
    assert caught.value.position == position
    if "\n" in str(caught.value):
        assert str(caught.value).splitlines()[2].index("^") == position + 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "(" * 10_000,
        "(" * 4000 + "cat" + ")" * 4000,
        "!" * 9000 + "cat",
        " & ".join(["cat"] * 1500),
        "x" * 20_000,
    ],
)
def test_nothing_and_too_much_are_errors_and_not_crashes(text: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("value", [None, 5, b"cat", ["cat"]])
def test_what_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(FormulaError, match=r"\[formula-expected\]"):
        parse(value)  # type: ignore[arg-type]  # the wrong type is the point


@given(st.text(alphabet="catdog 123&|!()@,_-leftmiddleRX\n'", max_size=40))
def test_any_text_parses_or_is_pointed_at(text: str) -> None:
    try:
        f = parse(text)
    except FormulaError as error:
        position = error.position
    else:
        position = 0
        assert parse(to_notation(f)) == f
    assert 0 <= position <= len(text)


@pytest.mark.parametrize(
    "notation",
    ["left_of(red apple, green apple)", "left_of(2 cat, dog)", "!next_to(2 red cat, 3 dog)", "on(cat, 2 mat) & 3 cat"],
)
def test_sides_of_relations_have_numbers_and_colours(notation: str) -> None:
    assert to_notation(parse(notation)) == notation


@pytest.mark.parametrize("notation", ["left_of(cat, cat)", "left_of(red cat, cat)", "left_of(2 red cat, red cat)"])
def test_what_both_sides_could_be_is_refused(notation: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(notation)
    assert caught.value.code == "relation-sides"
