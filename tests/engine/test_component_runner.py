"""A component at work in one process: built, guarded, handed pictures it can look at, and put away."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from salva.core.about import About, Habits
from salva.core.case import Prompt
from salva.core.image import Picture
from salva.core.observation import Detections, Observation
from salva.core.options import NoOptions
from salva.core.protocols import ObserveOrder, ObserveRequest, Query, Rendered, RenderRequest
from salva.engine.component_runner import ComponentRunner
from salva.engine.transfer import as_file
from salva.errors import BackendError, PluginError, SalvaError, UnusableError
from salva.testing.fakes import FakeDetector, FakeGenerator, painted
from salva.testing.specs import bound

PICTURE = painted(["cat", "dog"])


def runner(role: str, component: type, **options: object) -> ComponentRunner:
    return ComponentRunner(bound(role, component, "", **options), threading.Event())


def request(text: str = "cat, dog") -> RenderRequest:
    return RenderRequest(prompt=Prompt(role="a", text=text), seed=1)


class Watching:
    """A detector that keeps what it is handed."""

    version = "1"

    def __init__(self, options: NoOptions) -> None:
        self.handed: list[Picture] = []
        self.is_closed = False

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        self.handed += [look.picture for look in requests]
        return [Detections() for _ in requests]

    def close(self) -> None:
        self.is_closed = True
        raise RuntimeError("cannot tidy up")


def test_a_generator_paints_and_a_perceiver_looks() -> None:
    (rendered,) = runner("model", FakeGenerator)([request()])
    assert isinstance(rendered, Rendered)
    order = ObserveOrder(picture=rendered.picture, query=Query(role="detector"))
    (seen,) = runner("detector", FakeDetector)([order])
    assert isinstance(seen, Detections)
    assert [box.label for box in seen.boxes] == ["cat", "dog"]


def test_whoever_looks_is_handed_pixels_as_large_as_asked_for_whatever_travelled() -> None:
    watching = runner("detector", Watching)
    watching(
        [
            ObserveOrder(picture=PICTURE, query=Query(role="detector")),
            ObserveOrder(picture=as_file(PICTURE), query=Query(role="detector")),
            ObserveOrder(picture=as_file(PICTURE), query=Query(role="detector", box=(0.0, 0.0, 0.5, 1.0))),
        ]
    )
    handed = watching._component.handed
    assert handed[0].rgb == handed[1].rgb == PICTURE.rgb
    assert handed[2].width == PICTURE.width // 2


def test_it_is_put_away_whatever_it_does_then() -> None:
    watching = runner("detector", Watching)
    watching.close()
    assert watching._component.is_closed


def test_what_a_component_does_wrong_leaves_as_one_of_our_errors() -> None:
    with pytest.raises(UnusableError, match="no such model"):
        runner("model", FakeGenerator, mischief="unusable")
    (failed,) = runner("model", FakeGenerator, mischief="raise")([request()])
    assert isinstance(failed, BackendError)
    assert "out of paint" in str(failed)
    for mischief in ("short", "wrong-type"):
        with pytest.raises(PluginError, match=r"\[output-invalid\]"):
            runner("model", FakeGenerator, mischief=mischief)([request()])


@pytest.mark.parametrize(("wanted", "given"), [(8, 8), (0, 1), (-3, 1)])
def test_batches_are_as_large_as_it_likes_and_never_empty(wanted: int, given: int) -> None:
    assert runner("model", FakeGenerator, batch=wanted).batch_size == given


class Endpoint(FakeGenerator):
    """A generator that waits for an endpoint."""

    about = About(is_remote=True)


class Narrow(Endpoint):
    """One that takes three calls at once."""

    def __init__(self, options: FakeGenerator.Options) -> None:
        super().__init__(options)
        self.habits = Habits(batch_size=8, max_at_once=3)


def test_an_endpoint_gets_one_at_a_time_and_as_many_calls_as_it_takes() -> None:
    wide, narrow = runner("model", Endpoint), runner("model", Narrow)
    assert (wide.batch_size, narrow.batch_size) == (1, 1)
    assert wide.limiter is not None
    assert narrow.limiter is not None
    assert narrow.limiter.limit == 3 < wide.limiter.limit
    assert runner("model", FakeGenerator).limiter is None


def test_once_stopping_nothing_is_tried_again() -> None:
    stopping = threading.Event()
    stumbling = ComponentRunner(bound("model", FakeGenerator, stumbles=1.0), stopping)
    stopping.set()
    (outcome,) = stumbling([request()])
    assert isinstance(outcome, BackendError)
    stopping.clear()
    assert isinstance(stumbling([request()])[0], Rendered)
