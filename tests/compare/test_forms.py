"""A comparison as JSON, Markdown and text: the contract's keys, and strangers' words that stay words."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from compare.fake_entrants import cases, number, store
from report.hostile import BREAKOUT, EVERYTHING, IMAGE

from salva.compare.board import standings
from salva.compare.comparing import Comparison, compare_runs
from salva.compare.forms import comparison_json, comparison_markdown, comparison_text
from salva.compare.words import gate_of
from salva.core.case import Case

CONTRACT = ("pairs", "difference", "interval", "interval_entities", "verdict", "detectable", "by_law", "flipped")


def some(case: Case, repeat: int) -> bool:
    return number(case) < 3


def more(case: Case, repeat: int) -> bool:
    return number(case) < 7


def never(case: Case, repeat: int) -> bool:
    return False


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    folder = tmp_path_factory.mktemp("two")
    return compare_runs([store(folder / "v1", {"old": some}), store(folder / "v2", {"new": more})])


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    folder = tmp_path_factory.mktemp("three")
    return compare_runs([store(folder / "all", {"old": some, "new": more, "best": never})])


def test_two_have_the_keys_of_the_contract(two: Comparison) -> None:
    made = comparison_json(two)
    assert set(CONTRACT) <= made.keys()
    assert (made["pairs"], made["verdict"]) == (40, "worse")
    assert made["difference"] == pytest.approx(0.4)
    by_law, flipped = made["by_law"], made["flipped"]
    assert isinstance(by_law, dict)
    assert isinstance(flipped, list)
    assert list(by_law) == ["commutative", "associative"]
    assert len(flipped) == 16
    assert isinstance(made["comparisons"], list)
    (only,) = made["comparisons"]
    assert isinstance(only, dict)
    assert only == {key: made[key] for key in only}
    # What is printed can be read again, and holds no number that is none.
    assert json.loads(json.dumps(made, allow_nan=False)) == made


def test_three_have_a_leaderboard_and_no_figures_of_two(three: Comparison) -> None:
    made = comparison_json(three)
    assert all(made[key] is None for key in CONTRACT)
    assert isinstance(made["comparisons"], list)
    assert len(made["comparisons"]) == 3
    assert [one.title for one in standings(three)] == ["best", "old", "new"]
    assert standings(three)[0].ahead_of == ("old", "new")
    assert standings(three)[2].ahead_of == ()


def test_words_say_who_is_worse_and_by_how_much(two: Comparison, three: Comparison) -> None:
    text = comparison_text(two)
    assert text.startswith("new is worse than old.")
    assert "wrong 70.0 % against 30.0 %: +40.0 points (95 %:" in text
    assert re.search(r"16 pairs flipped: 16 .*, 0 ", text)
    assert "detectable difference" in text
    assert "leaderboard" not in text
    assert "ahead of" in comparison_text(three)
    markdown = comparison_markdown(two)
    assert "**new is worse than old**" in markdown
    assert "| law | old | new |" in markdown


def test_a_gate_says_what_it_looked_at(two: Comparison) -> None:
    (duel,) = two.duels
    ends = duel.leading.interval
    assert ends is not None
    said = f"worse by {100 * ends.low:+.1f} to {100 * ends.high:+.1f} points, the margin is 5.0 points"
    assert gate_of(duel, 0.05) == f"gate failed: new against old: {said}"
    assert gate_of(duel, 0.45).startswith("gate passed")
    assert "; 40 pairs " in gate_of(duel, 0.4)
    assert "; 40 pairs " not in gate_of(duel, 0.6)


def test_hostile_words_do_nothing_in_markdown_and_in_a_terminal(tmp_path: Path) -> None:
    def spoilt(case: Case) -> Case:
        prompts = tuple(replace(prompt, text=f"{EVERYTHING}\x1b[31m`x`|y") for prompt in case.prompts)
        law = "commutative" if case.labels["law"] == "commutative" else f"{BREAKOUT}|*a*\n# b"
        return replace(case, prompts=prompts, labels={**case.labels, "law": law}, category=f"{IMAGE}{case.category}")

    of = [spoilt(case) for case in cases(3)]
    model = f"<b>{BREAKOUT}\x1b]0;title\x07\u202e"
    made = compare_runs([store(tmp_path / "a", {"old": some}, of), store(tmp_path / "b", {model: never}, of)])
    markdown = comparison_markdown(made)
    assert "<script" not in markdown
    assert "<img" not in markdown
    assert "<b>" not in markdown
    assert "\n# b" not in markdown
    for text in (markdown, comparison_text(made)):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\x07" not in text
    json.dumps(comparison_json(made), allow_nan=False)
