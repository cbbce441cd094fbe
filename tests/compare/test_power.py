"""What a run or a suite is said to be able to detect."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from compare.fake_entrants import cases, number, store

from salva.compare.comparing import compare_runs
from salva.compare.power import Target, power_lines
from salva.core.case import Case
from salva.errors import UsageError
from salva.report.summary import summarise_run


def some(case: Case, repeat: int) -> bool:
    return number(case) % 3 == 0


def others(case: Case, repeat: int) -> bool:
    return number(case) % 4 == 0


def flickers(case: Case, repeat: int) -> bool:
    return (number(case) + repeat) % 2 == 0


def pairs_in(lines: list[str]) -> list[int]:
    return [int(n.replace(",", "")) for line in lines for n in re.findall(r"about ([\d,]+) pairs", line)]


def points_in(lines: list[str], what: str) -> list[float]:
    return [float(n) for line in lines for n in re.findall(rf"{what}: ±?([\d.]+) points", line)]


def test_precision_and_detectable_difference_are_those_of_the_run(tmp_path: Path) -> None:
    run = store(tmp_path / "run", {"old": some, "new": others})
    lines = power_lines(str(run), Target())
    interval, detectable = summarise_run(run).by_model["old"].interval, compare_runs([run]).detectable
    assert interval is not None
    assert detectable is not None
    precision, finer = points_in(lines, "Precision")
    assert precision / 100 == pytest.approx((interval[1] - interval[0]) / 2, abs=0.002)
    assert finer == pytest.approx(precision / 2, rel=0.1)
    assert points_in(lines, "Detectable difference")[0] / 100 == pytest.approx(detectable, abs=0.01)


def test_a_smaller_difference_takes_more(tmp_path: Path) -> None:
    run = store(tmp_path / "run", {"m": some})
    (large,), (small,) = (pairs_in(power_lines(str(run), Target(difference=d))) for d in (0.2, 0.05))
    assert small > 10 * large
    assert small % 4 == 0
    (wide,), (narrow,) = (pairs_in(power_lines(str(run), Target(half_width=w))) for w in (0.1, 0.05))
    assert narrow > 3 * wide


def test_repeats_are_counted_where_they_are_known(tmp_path: Path) -> None:
    once, often = store(tmp_path / "once", {"m": flickers}), store(tmp_path / "often", {"m": flickers}, repeats=2)
    assert len(pairs_in(power_lines(str(once), Target(difference=0.1)))) == 1
    assert len(pairs_in(power_lines(str(often), Target(difference=0.1)))) == 4


def test_a_suite_answers_from_assumptions() -> None:
    low, middle, high = pairs_in(power_lines("metalogic", Target(difference=0.05)))
    assert low < middle < high
    assert all(n % 21 == 0 for n in (low, middle, high))
    assert any("--size quick, 63 cases" in line for line in power_lines("metalogic", Target()))
    # 1.96^2 r (1 - r) / 0.05^2, less Wilson's 4.
    assert pairs_in(power_lines("", Target(half_width=0.05))) == pytest.approx([138, 320, 381], abs=4)


def test_what_cannot_be_answered_is_refused(tmp_path: Path) -> None:
    empty = store(tmp_path / "none", {"m": lambda _case, _repeat: None})
    one = store(tmp_path / "one", {"m": some}, cases(1)[:1])
    refusals: list[tuple[str, Callable[[], object]]] = [
        ("power-subject", lambda: power_lines("nosuch", Target())),
        ("power-fraction", lambda: Target(difference=5)),
        ("options-conflict", lambda: Target(difference=0.1, half_width=0.1)),
        ("power-no-variance", lambda: power_lines(str(empty), Target())),
        ("power-no-variance", lambda: power_lines(str(one), Target())),
    ]
    for code, ask in refusals:
        with pytest.raises(UsageError) as refused:
            ask()
        assert refused.value.code == code
