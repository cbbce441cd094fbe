"""A painter that tells, and detectors that were told: the chain without a trained eye.

With these the painter, the logic and the checks are tested alone; what is left when the pocket
detector takes their place is its own doing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, cast

import pytest

from salva import registry
from salva.checks.truth import Truth
from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.image import Picture
from salva.core.observation import Detection, Detections
from salva.core.options import NoOptions
from salva.core.protocols import Conclusion, ImageObservations, ObserveRequest, Rendered, RenderRequest
from salva.core.scene import Box
from salva.core.verdict import ENTITY_OMISSION, X_MISPOSITION
from salva.errors import BackendError, SalvaError
from salva.generators.painter.component import Painter

_painted: dict[str, Mapping[str, Json]] = {}


class TellingPainter(Painter):
    """The painter, with everything it painted written down."""

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """As the painter does."""
        rendered = super().render(requests)
        for outcome in rendered:
            if isinstance(outcome, Rendered):
                _painted[outcome.picture.image_id()] = outcome.provenance
        return rendered


class KnowingDetector:
    """Detector: reports what was painted."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        """What was painted."""
        return [self.see(request.picture) for request in requests]

    def see(self, picture: Picture) -> Detections | SalvaError:
        """What was painted in one picture."""
        return Detections(boxes=_boxes(picture))


class ForgetfulDetector(KnowingDetector):
    """Detector: overlooks the first thing of every other picture."""

    def see(self, picture: Picture) -> Detections | SalvaError:
        """What was painted, or all but one."""
        return Detections(boxes=_boxes(picture)[int(picture.image_id()[0], 16) % 2 :])


class BlindDetector(KnowingDetector):
    """Detector: sees nothing, ever."""

    def see(self, picture: Picture) -> Detections | SalvaError:
        """Nothing."""
        return Detections()


class BrokenDetector(KnowingDetector):
    """Detector: fails on every picture."""

    def see(self, picture: Picture) -> Detections | SalvaError:
        """An error."""
        return BackendError("the camera fell off")


class MisnamingTruth(Truth):
    """Check: truth, but whatever stands in the wrong place is called missing."""

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """As truth does, with a wrong name."""
        conclusion = super().judge(case, observations)
        failures = tuple(
            replace(failure, failure_type=ENTITY_OMISSION) if failure.failure_type == X_MISPOSITION else failure
            for failure in conclusion.failures
        )
        return replace(conclusion, failures=failures)


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put these components into the registry for the length of a test."""
    monkeypatch.setitem(registry.BUILT_IN["model"], "painter", registry.BuiltIn(source=f"{__name__}:TellingPainter"))
    for detector in (KnowingDetector, ForgetfulDetector, BlindDetector, BrokenDetector):
        name = detector.__name__.removesuffix("Detector").lower()
        monkeypatch.setitem(
            registry.BUILT_IN["detector"], name, registry.BuiltIn(source=f"{__name__}:{detector.__name__}")
        )


def _boxes(picture: Picture) -> tuple[Detection, ...]:
    things = cast(list[dict[str, Json]], _painted[picture.image_id()]["things"])
    return tuple(
        Detection(label=str(thing["label"]), score=1.0, box=cast(Box, tuple(cast(list[float], thing["box"]))))
        for thing in things
    )
