"""Detectors whose scores are worth nothing never make a painter look good: wrong, or undecided with a reason."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from salva.api import Run, run_suite
from salva.core.about import About
from salva.core.observation import Detections, Observation
from salva.core.protocols import ObserveRequest
from salva.detectors.pocket_detector import PocketDetector
from salva.errors import SalvaError
from salva.registry import add_loose_plugin


class _Scored(PocketDetector):
    """The embedded detector with other scores on its boxes."""

    def score(self, score: float) -> float:
        """The score in place of the true one."""
        raise NotImplementedError

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """The same boxes, the strongest first by what is said of them."""
        seen = super().observe(requests)
        return [self._rescored(one) if isinstance(one, Detections) else one for one in seen]

    def _rescored(self, seen: Detections) -> Detections:
        return replace(seen, boxes=tuple(replace(box, score=self.score(box.score)) for box in seen.boxes))


class Inverted(_Scored):
    """The surer it is, the lower its score."""

    about: ClassVar[About] = replace(PocketDetector.about, role="detector", name="inverted")

    def score(self, score: float) -> float:
        """Turned round."""
        return 1 - score


class Equal(_Scored):
    """One score for everything."""

    about: ClassVar[About] = replace(PocketDetector.about, role="detector", name="equal")

    def score(self, score: float) -> float:  # whatever it was
        """In the middle."""
        return 0.45


class Unnumbered(_Scored):
    """Scores that are no numbers."""

    about: ClassVar[About] = replace(PocketDetector.about, role="detector", name="unnumbered")

    def score(self, score: float) -> float:  # whatever it was
        """None."""
        return math.nan


class Boundless(_Scored):
    """Scores that are logits."""

    about: ClassVar[About] = replace(PocketDetector.about, role="detector", name="boundless")

    def score(self, score: float) -> float:
        """From minus to plus some."""
        return math.log(score / (1 - score)) if score < 1 else 20.0


@pytest.fixture(scope="module", autouse=True)
def installed() -> Iterator[None]:
    from salva import registry

    before = {role: dict(names) for role, names in registry._loose.items()}
    for component in (Inverted, Equal, Unnumbered, Boundless):
        add_loose_plugin(f"{__file__}:{component.__name__}")
    yield
    registry._loose.clear()
    registry._loose.update(before)


def outcomes(run: Run) -> Counter[str]:
    rows = zip(run.verdicts["check"], run.verdicts["outcome"], strict=True)
    return Counter(outcome for check, outcome in rows if check == "truth")


def seen_by(detector: str, out: Path) -> Run:
    # What garbage comes to is the question here, so it is let past the trial that would stop it.
    settings = {"run.preflight": "off"}
    return run_suite("metalogic", "painter", out=out, detector=detector, reader="none", size="20", settings=settings)


def test_the_faultless_painter_is_right_and_decided(tmp_path: Path) -> None:
    assert outcomes(seen_by("pocket", tmp_path / "run")) == {"PASS": 20}


def test_a_detector_turned_round_finds_hardly_anything_right(tmp_path: Path) -> None:
    counted = outcomes(seen_by("inverted", tmp_path / "run"))
    assert counted["FAIL"] >= 0.85 * 20, counted


def test_equal_scores_in_doubt_decide_hardly_anything(tmp_path: Path) -> None:
    run = seen_by("equal", tmp_path / "run")
    counted = outcomes(run)
    assert counted["PASS"] == 0, counted
    assert counted["UNDECIDED"] >= 0.5 * 20, counted
    reasons = [reason for reason in run.verdicts["reason"] if reason]
    assert all("0.4" in reason and "0.5" in reason for reason in reasons)


@pytest.mark.parametrize(("detector", "outcome"), [("unnumbered", "ERROR"), ("boundless", "UNDECIDED")])
def test_scores_that_are_none_decide_nothing_and_are_named(detector: str, outcome: str, tmp_path: Path) -> None:
    run = seen_by(detector, tmp_path / "run")
    assert outcomes(run) == {outcome: 20}
    assert all("score" in reason for reason in run.verdicts["reason"])
