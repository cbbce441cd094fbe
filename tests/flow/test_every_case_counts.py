"""Random runs of every suite: each case that was asked for has one result, and the results add up."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from faults import garbage
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from salva import registry
from salva.core.fingerprint import fingerprint
from salva.core.image import Picture
from salva.core.observation import Detection, Detections, Observation
from salva.core.options import NoOptions, option
from salva.core.protocols import ObserveRequest, Rendered, RenderRequest
from salva.core.run_spec import RunSpec
from salva.engine.budget import Limits
from salva.engine.progress import SilentProgress
from salva.errors import BackendError, RefusedError, SalvaError, UsageError
from salva.report.summary import summarise_run
from salva.run_results import results_of_run
from salva.runs.cases import planned_cases
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan
from salva.store.queries import read_records

SUITES = ("actesting", "cfworld", "faithfulness", "geneval", "metalogic", "prompts", "scene", "semvar")
CHECKS = ("", "", "", "truth", "same-scene", "right-answers", "same-answers")


class Moody:
    """Generator: small images of nothing, failures and refusals."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """How often it fails."""

        failing: float = option(0.0, "The share of requests that fail or are refused.")
        mood: str = option("", "What tells two of them apart.")

    version: ClassVar[str] = "1"

    def __init__(self, options: Options) -> None:
        self._options = options

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One image or error per request."""
        return [self._drawn(request) for request in requests]

    def _drawn(self, request: RenderRequest) -> Rendered | SalvaError:
        rng = random.Random(fingerprint([self._options.mood, request.prompt.text, request.seed]))
        if rng.random() < self._options.failing:
            return rng.choice([RefusedError("no"), BackendError("down", is_retryable=False)])
        return Rendered(picture=Picture(rgb=rng.randbytes(3 * 16 * 16), width=16, height=16))


class Dreaming:
    """Detector: sees some of what it is asked for, at random, and fails at times."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        self._options = options

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        """Boxes or an error per request."""
        return [self._seen(request) for request in requests]

    def _seen(self, request: ObserveRequest) -> Observation | SalvaError:
        rng = random.Random(f"{request.picture.image_id()} {request.query.labels}")
        if rng.random() < 0.1:
            return BackendError("the camera fell off", is_retryable=False)
        named = [label for label in request.query.labels if rng.random() < 0.8]
        boxes = (Detection(label=name, score=round(rng.uniform(0.2, 1), 2), box=_box(rng)) for name in named)
        return Detections(boxes=tuple(boxes), floor=0.1, threshold=0.3, doubt=0.4)


def _box(rng: random.Random) -> tuple[float, float, float, float]:
    left, top = rng.uniform(0, 0.7), rng.uniform(0, 0.7)
    return (left, top, left + 0.2, top + 0.2)


@pytest.fixture(scope="module", autouse=True)
def components() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        garbage.register(patch)
        for role, name, component in (("model", "moody", Moody), ("detector", "dreaming", Dreaming)):
            source = registry.BuiltIn(source=f"{__name__}:{component.__name__}")
            patch.setitem(registry.BUILT_IN[role], name, source)
        yield


@pytest.mark.parametrize("suite", SUITES)
@settings(max_examples=8, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(
    n=st.integers(1, 6),
    repeats=st.integers(1, 2),
    seed=st.integers(0, 3),
    failing=st.sampled_from([0.0, 0.2, 1.0]),
    detector=st.sampled_from(["dreaming", "dreaming", "none"]),
    judge=st.sampled_from(["careless", "none"]),
    check=st.sampled_from(CHECKS),
    published=st.sampled_from([False, False, True]),
    max_images=st.sampled_from([None, None, 3]),
)
def test_each_case_has_one_result_whatever_happens(suite: str, n: int, failing: float, **asked: Any) -> None:
    models = ("one=moody", "two=moody")[: 1 + asked["seed"] % 2]
    names = [model.partition("=")[0] for model in models]
    own = {f"{name}.{key}": value for name in names for key, value in (("failing", f"{failing}"), ("mood", name))}
    spec = RunSpec.of(
        suite=suite,
        models=models,
        detector=asked["detector"],
        reader="none",
        judges=(asked["judge"],),
        size="quick" if suite in ("scene", "cfworld") else str(n),
        repeats=asked["repeats"],
        seed=asked["seed"],
        check="" if asked["published"] else asked["check"],
        published=asked["published"],
        settings={"run.preflight": "off", **own, **({"judge.manner": "random"} if asked["judge"] != "none" else {})},
    )
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "run"
        try:
            plan = make_plan(spec)
            execute(plan, directory, SilentProgress(), limits=Limits(max_images=asked["max_images"]))
        except UsageError:
            reject()  # nothing could be decided, and nothing was made
        submitted = [
            (case.case_id, repeat, name)
            for name in names
            for case in planned_cases(plan)
            for repeat in range(asked["repeats"])
        ]
        summary = summarise_run(directory)
        results = results_of_run(read_records(directory))
    assert [(result.case.case_id, result.repeat, result.model) for result in results] == submitted
    for figures in summary.by_model.values():
        counts = figures.results
        added = counts["pass"] + counts["fail"] + counts["undecided"] + counts["error"]
        assert added == counts["total"] == len(submitted) / len(models)
        assert sum(category.total for category in figures.categories) == counts["total"]
        assert figures.n == counts["pass"] + counts["fail"]
        assert counts["refused"] <= counts["error"]
