"""What a component says of itself is read in one place, and an author is told what is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import salva
from salva.core.about import (
    About,
    Habits,
    Naming,
    about_of,
    address_of,
    author_of,
    close,
    expect,
    habits_of,
    lint_of,
    options_of,
    remarks_of,
    weights_of,
)
from salva.core.case import Finding
from salva.core.options import NoOptions
from salva.errors import PluginError


class Silent:
    """Says nothing."""


class Talkative:
    """Says all there is."""

    @dataclass(frozen=True)
    class Options:
        size: str = "small"

    about = About(needs_roles=("detector",), names=("cat", "dog"))

    def __init__(self) -> None:
        self.habits = Habits(batch_size=4, timeout_s=2.5)
        self.is_closed = False

    @staticmethod
    def weights(options: Any) -> str:
        return f"{options.size} 1"

    def close(self) -> None:
        self.is_closed = True


def test_a_component_that_says_nothing_has_the_defaults() -> None:
    assert about_of(Silent) == About()
    assert about_of(Silent).names is Naming.UNKNOWN
    assert habits_of(Silent()) == Habits()
    assert options_of(Silent) is NoOptions
    assert weights_of(Silent, NoOptions()) == ""
    close(Silent())


def test_what_a_component_says_is_what_is_read() -> None:
    built = Talkative()
    assert about_of(Talkative).needs_roles == ("detector",)
    assert habits_of(built) == Habits(batch_size=4, timeout_s=2.5)
    assert weights_of(Talkative, options_of(Talkative)()) == "small 1"
    close(built)
    assert built.is_closed


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"about": {"needs": ()}}, r"Loose .* \{'needs': \(\)\} .* About\(\)\. \[plugin-invalid\]"),
    ],
)
def test_an_author_is_told_what_is_wrong(facts: dict[str, Any], told: str) -> None:
    with pytest.raises(PluginError, match=told):
        about_of(type("Loose", (), facts))


@pytest.mark.parametrize("fact", ["needs_roles", "priced_by", "names"])
def test_a_forgotten_comma_is_noticed(fact: str) -> None:
    facts: dict[str, Any] = {fact: "detector"}
    with pytest.raises(ValueError, match=rf"about\.{fact} .*tuple"):
        About(**facts)


def test_nobody_else_asks_a_component_for_what_it_may_have() -> None:
    asking = re.compile(r"getattr\((self\._?)?(component|observer|generator|judge|check|suite\w*|metric_class)\b")
    sources = Path(salva.__file__).parent.rglob("*.py")
    assert [path.name for path in sources if asking.search(path.read_text(encoding="utf-8"))] == ["about.py"]


class Suite:
    """Has all that a suite may have."""

    author = "writer"

    def __init__(self) -> None:
        self.told: list[int] = []

    @staticmethod
    def address(options: Any) -> str:
        return f"http://{options}"

    def expect(self, n: int) -> None:
        self.told.append(n)

    def lint(self) -> list[Finding]:
        return []

    def remarks(self, size: str) -> list[str]:
        return [size]


def test_what_a_component_may_have_is_asked_for() -> None:
    built = Suite()
    expect(built, 3)
    expect(built, 0)
    expect(Silent(), 3)
    assert built.told == [3]
    assert address_of(Suite, "host") == "http://host"
    assert address_of(Silent, "host") == ""
    lint, remarks = lint_of(built), remarks_of(built)
    assert lint is not None
    assert remarks is not None
    assert (lint(), remarks("quick"), author_of(Suite)) == ([], ["quick"], "writer")
    assert (lint_of(Silent()), remarks_of(Silent()), author_of(Silent)) == (None, None, None)
