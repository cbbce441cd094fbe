"""What a run or a suite is said to be able to show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from compare.fake_entrants import cases, number, store, store_kappas

from salva.compare.comparing import compare_runs
from salva.compare.power import Target, power_lines
from salva.core.case import Case
from salva.errors import UsageError


def some(case: Case, repeat: int) -> bool:
    return number(case) % 3 == 0


def others(case: Case, repeat: int) -> bool:
    return number(case) % 4 == 0


def flickers(case: Case, repeat: int) -> bool:
    return (number(case) + repeat) % 2 == 0


def pairs_in(lines: list[str]) -> list[int]:
    return [int(n.replace(",", "")) for line in lines for n in re.findall(r"it takes ([\d,]+) pairs", line)]


def test_two_cases_show_no_difference_and_not_one_of_five_hundred_points(tmp_path: Path) -> None:
    run = store(tmp_path / "run", {"m": some}, cases(1)[:2])
    assert [line for line in power_lines(str(run), Target()) if line.startswith("no difference ")]


def test_with_two_models_it_goes_by_how_these_two_differ(tmp_path: Path) -> None:
    run = store(tmp_path / "run", {"old": some, "new": others})
    lines = power_lines(str(run), Target())
    assert any("as old and new do here" in line for line in lines)
    detectable = compare_runs([run]).duels[0].leading.detectable
    assert detectable is not None
    (said,) = (float(found[1]) for line in lines if (found := re.match(r"a difference of ([\d.]+) points", line)))
    assert said / 100 == pytest.approx(detectable, abs=0.01)


def test_a_smaller_difference_takes_more_and_so_many_are_enough(tmp_path: Path) -> None:
    run = store(tmp_path / "run", {"m": some})
    (large,), (small,) = (pairs_in(power_lines(str(run), Target(difference=d))) for d in (0.2, 0.05))
    assert small > 10 * large
    assert small % 4 == 0
    (wide,), (narrow,) = (pairs_in(power_lines(str(run), Target(half_width=w))) for w in (0.1, 0.05))
    assert narrow > 3 * wide


def test_repeats_are_spoken_of_where_they_are_known(tmp_path: Path) -> None:
    once, often = store(tmp_path / "once", {"m": flickers}), store(tmp_path / "often", {"m": flickers}, repeats=2)
    assert any("--repeats 2 shows it" in line for line in power_lines(str(once), Target(difference=0.1)))
    lines = power_lines(str(often), Target(difference=0.1))
    assert sum("with 4 repeats" in line for line in lines) == 1
    # Every case here breaks in one of two repeats: painted twice there is nothing left that differs.
    assert any("over 4 categories" in line for line in lines)


def test_a_suite_answers_from_assumptions_that_are_printed() -> None:
    lines = power_lines("metalogic", Target(difference=0.05))
    assert any(line.startswith("assuming:") for line in lines)
    low, middle, high = pairs_in(lines)
    assert low < middle < high
    assert all(n % 20 == 0 for n in (low, middle, high))
    own = power_lines("semvar", Target(half_width=0.05))
    assert any("standard deviation" in line for line in own)
    assert any("--size quick" in line for line in power_lines("metalogic", Target()))
    assert power_lines("", Target())


def test_scores_that_are_all_the_same_are_not_known_to_nought(tmp_path: Path) -> None:
    """A painter of plain grey has kappa 0 in every triple; that says nothing about how models differ."""
    flat = store_kappas(tmp_path / "grey", [0.0] * 20)
    with pytest.raises(UsageError, match=r"\[power-no-variance\]"):
        power_lines(str(flat), Target())


def test_what_cannot_be_answered_says_why(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\[power-subject\]"):
        power_lines("nosuch", Target())
    with pytest.raises(UsageError, match=r"\[power-fraction\]"):
        Target(difference=5)
    with pytest.raises(UsageError, match=r"\[power-target\]"):
        Target(difference=0.1, half_width=0.1)
    empty = store(tmp_path / "none", {"m": lambda _case, _repeat: None})
    with pytest.raises(UsageError, match=r"\[power-no-variance\]"):
        power_lines(str(empty), Target())
    one = store(tmp_path / "one", {"m": some}, cases(1)[:1])
    with pytest.raises(UsageError, match=r"\[power-no-variance\]"):
        power_lines(str(one), Target())
