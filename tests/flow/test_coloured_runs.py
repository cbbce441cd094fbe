"""Runs whose prompts name colours: whoever the detector is, truth decides by the pixels in its boxes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from salva.checks.same_scene import SameScene
from salva.checks.truth import Truth
from salva.core.case import Case, Prompt
from salva.core.image import Picture
from salva.core.observation import Detection, Detections
from salva.core.options import NoOptions
from salva.core.plan import Plan
from salva.core.protocols import ObserveRequest, Rendered, RenderRequest
from salva.core.run_spec import RunSpec
from salva.core.verdict import Verdict
from salva.engine.progress import SilentProgress
from salva.imaging.palette import PALETTE
from salva.registry import colour_reader
from salva.runs.pipeline import execute
from salva.store.sqlite import open_run
from salva.testing.specs import bound

SIDE = 32


class OneCase:
    """Suite: a red ball, said twice."""

    version: ClassVar[str] = "1"
    sizes: ClassVar[tuple[str, ...]] = ("full",)
    Options: ClassVar[type[NoOptions]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def cases(self, size: str) -> Iterator[Case]:  # there is one
        """The one case."""
        prompts = tuple(Prompt(role=role, text="a red ball", formula="red ball") for role in "ab")
        yield Case(
            case_id="one",
            suite="one",
            category="one",
            prompts=prompts,
            checks=("truth",),
            equivalent=True,
            determinate=True,
        )


class Blotch:
    """Model: a square of one colour on a ground."""

    version: ClassVar[str] = "1"
    Options: ClassVar[type[NoOptions]] = NoOptions
    inks: ClassVar[tuple[tuple[int, int, int], ...]] = (PALETTE["red"],)

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered]:
        """The same picture each time, its inks in turns."""
        inside = range(8, 24)
        pixels = [
            self.inks[(x + y) % len(self.inks)] if x in inside and y in inside else (200, 205, 210)
            for y in range(SIDE)
            for x in range(SIDE)
        ]
        picture = Picture(rgb=b"".join(map(bytes, pixels)), width=SIDE, height=SIDE)
        return [Rendered(picture=picture) for _ in requests]


class Stranger:
    """Detector: a plugin's, which knows nothing of colours; counts its looks."""

    version: ClassVar[str] = "1"
    Options: ClassVar[type[NoOptions]] = NoOptions
    n_observations: ClassVar[Counter[str]] = Counter()

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections]:
        """A ball in the middle."""
        self.n_observations["observations"] += len(requests)
        ball = Detection(label="ball", score=0.9, box=(0.25, 0.25, 0.75, 0.75))
        return [Detections(boxes=(ball,)) for _ in requests]


@pytest.fixture(autouse=True)
def counted() -> Iterator[None]:
    Stranger.n_observations.clear()
    yield
    Blotch.inks = (PALETTE["red"],)


def spec() -> Plan:
    return Plan(
        suite=bound("suite", OneCase, "one"),
        models=(bound("model", Blotch, "blotch"),),
        detector=bound("detector", Stranger, "stranger"),
        colour_reader=colour_reader(),
        checks=(bound("check", Truth, "truth"), bound("check", SameScene, "same-scene")),
        spec=RunSpec(size="full", preflight=False),
    )


def truth_in(directory: Path) -> Verdict:
    with open_run(directory) as store:
        (verdict,) = (v for v in store.verdicts() if v.check == "truth")
        return verdict


@pytest.mark.parametrize(
    ("inks", "outcome", "errors"),
    [
        ((PALETTE["red"],), "PASS", ()),
        ((PALETTE["blue"],), "FAIL", ("wrong-colour",)),
        # Inverted, a right picture is a wrong one.
        ((tuple(255 - c for c in PALETTE["red"]),), "FAIL", ("wrong-colour",)),
        (((200, 205, 210),), "FAIL", ("wrong-colour",)),
        # As much of one colour as of another: nobody can say which the ball has.
        ((PALETTE["red"], PALETTE["blue"]), "UNDECIDED", ()),
    ],
    ids=["right", "wrong", "inverted", "all gray", "two colours"],
)
def test_any_detectors_boxes_get_their_colours(
    tmp_path: Path, inks: tuple[tuple[int, int, int], ...], outcome: str, errors: tuple[str, ...]
) -> None:
    Blotch.inks = inks
    execute(spec(), tmp_path / "run", SilentProgress())
    verdict = truth_in(tmp_path / "run")
    assert (verdict.outcome, verdict.failure_types) == (outcome, errors), verdict.reason
    assert ("colour of the ball" in verdict.reason) == (outcome == "UNDECIDED")
    assert verdict.observers == ("stranger",)
    # Both relations and the colour_reader share what the detector saw; the two pictures are one.
    assert Stranger.n_observations["observations"] == 1
