"""Foreign text in cells and terminals: nothing runs, nothing hides."""

from __future__ import annotations

import json

import pytest

from salva.core.cells import plain_cell, safe_cell
from salva.core.printable import printable, printable_json


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_text_that_looks_like_a_formula_is_defused(text: str) -> None:
    assert safe_cell(text) == "'" + printable(text)
    assert plain_cell("'" + text) == text
    assert plain_cell(text) == text


@pytest.mark.parametrize("value", [-1.5, 0, None, "a=b", "'a", "", "'"])
def test_other_cells_stay(value: str | float | None) -> None:
    assert safe_cell(value) == value
    assert plain_cell(str(value)) == str(value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc é 猫", "a\tb\nc é 猫"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\x7f\xad\xff", "\\x7f\\xad\xff"),
        ("\u202eb", "\\u202eb"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_what_hides_or_moves_is_shown_as_its_escape(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert json.loads(printable_json([text])) == [text]
    assert printable(printable_json([text])) == printable_json([text])


def test_json_for_people_may_be_indented_and_holds_no_nan() -> None:
    assert printable_json({"a": 1}, 1) == '{\n "a": 1\n}'
    assert printable_json([float("nan")], allow_nan=True) == "[NaN]"
    with pytest.raises(ValueError, match="JSON"):
        printable_json([float("nan")])
