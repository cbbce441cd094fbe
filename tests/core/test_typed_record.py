"""Records hold what their annotations say, all the way down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from salva.core.case import Case, Prompt
from salva.core.fingerprint import Json
from salva.core.typed_record import checked
from salva.core.verdict import Outcome


@dataclass(frozen=True)
class Inner:
    name: str


@dataclass(frozen=True)
class Record:
    text: str = "t"
    whole: int = 1
    number: float = 0.5
    flag: bool = False
    maybe: int | None = None
    either: str | int = "x"
    either_or_none: str | int | None = None
    many: tuple[float, ...] = (1.0, 2)
    two: tuple[str, int] = ("a", 1)
    items: list[str] = None  # type: ignore[assignment]  # given below
    by_name: Mapping[str, float] = None  # type: ignore[assignment]  # given below
    inner: Inner = Inner("i")
    inners: tuple[Inner, ...] = (Inner("j"),)
    json: Mapping[str, Json] = None  # type: ignore[assignment]  # given below
    outcome: Outcome = Outcome.PASS


GOOD = Record(items=["a"], by_name={"a": 1.0}, json={"a": [1, {"b": None}]})


@pytest.mark.parametrize(
    "changes",
    [{}, {"maybe": 3}, {"either": 3}, {"either_or_none": "x"}, {"either_or_none": 2}, {"number": 3}, {"many": ()}],
)
def test_a_record_that_holds_what_it_should_is_given_back(changes: dict[str, Any]) -> None:
    record = replace(GOOD, **changes)
    assert checked(record) is record


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text", 1),
        ("text", None),
        ("whole", True),
        ("whole", 1.0),
        ("number", float("inf")),
        ("number", float("nan")),
        ("number", True),
        ("number", "1"),
        ("flag", 1),
        ("maybe", "x"),
        ("either", None),
        ("either", 0.5),
        ("either_or_none", 0.5),
        ("many", [1.0]),
        ("many", (1.0, "x")),
        ("two", ("a",)),
        ("two", ("a", 1, 2)),
        ("two", (1, "a")),
        ("two", ["a", 1]),
        ("items", ("a",)),
        ("items", [1]),
        ("by_name", {1: 1.0}),
        ("by_name", {"a": "x"}),
        ("by_name", [("a", 1.0)]),
        ("inner", "i"),
        ("inner", Inner(3)),  # type: ignore[arg-type]  # on purpose
        ("inners", (Inner("j"), Inner(None))),  # type: ignore[arg-type]  # on purpose
        ("json", []),
        ("outcome", "PASS"),
    ],
)
def test_a_field_that_holds_something_else_is_named(field: str, value: object) -> None:
    changed: dict[str, Any] = {field: value}
    with pytest.raises(ValueError, match=f"'{field}'|'name'"):
        checked(replace(GOOD, **changed))


def test_a_case_is_checked_down_to_its_prompts() -> None:
    case = Case(case_id="a", suite="s", category="c", prompts=(Prompt(role="a", text="x"),), checks=("truth",))
    assert checked(case) is case
    with pytest.raises(ValueError, match="'text'"):
        checked(replace(case, prompts=(Prompt(role="a", text=3),)))  # type: ignore[arg-type]  # on purpose
