"""Lanes: as many calls at once as a component can take, and none that outlives the run."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from salva.core.about import About, Habits
from salva.core.case import Prompt
from salva.core.options import NoOptions
from salva.core.protocols import Rendered, RenderRequest
from salva.engine import workers as workers_module
from salva.engine.executors.local import LocalExecutor
from salva.engine.workers import Workers
from salva.errors import BackendError, PluginError, UnusableError
from salva.testing.fakes import FakeGenerator, painted
from salva.testing.specs import bound

REQUEST = RenderRequest(prompt=Prompt(role="a", text="cat"), seed=1)


class Meeting:
    """A generator whose calls wait for one another: they return only when depth of them are under way."""

    version: ClassVar[str] = "1"
    habits: ClassVar[Habits] = Habits(depth=3)

    def __init__(self, options: NoOptions) -> None:
        self._barrier = threading.Barrier(3, timeout=10)

    def render(self, requests: Sequence[RenderRequest]) -> list[Rendered]:
        self._barrier.wait()
        return [Rendered(picture=painted(["cat"])) for _ in requests]


def test_a_lane_has_as_many_calls_under_way_as_its_depth() -> None:
    executor = LocalExecutor()
    try:
        lane = executor.open(bound("model", Meeting))
        assert (lane.batch_size, lane.depth) == (1, 3)
        futures = [lane.submit([REQUEST]) for _ in range(3)]
        assert all(isinstance(future.result(10)[0], Rendered) for future in futures)
    finally:
        executor.close()
        executor.close()


def test_a_future_holds_errors_of_elements_and_raises_those_of_the_component() -> None:
    executor = LocalExecutor()
    try:
        failing = executor.open(bound("model", FakeGenerator, fails=1.0))
        assert isinstance(failing.submit([REQUEST]).result(10)[0], BackendError)
        broken = executor.open(bound("model", FakeGenerator, mischief="short"))
        with pytest.raises(PluginError):
            broken.submit([REQUEST]).result(10)
        with pytest.raises(UnusableError):
            executor.open(bound("model", FakeGenerator, mischief="unusable"))
    finally:
        executor.close()


class Tidy(FakeGenerator):
    """A generator that says when it is closed, and breaks while at it."""

    closed: ClassVar[list[str]] = []

    def close(self) -> None:
        self.closed.append("closed")
        raise OSError("already gone")


class Endpoint(FakeGenerator):
    """A generator that waits for an endpoint."""

    about: ClassVar[About] = About(is_remote=True)

    def __init__(self, options: FakeGenerator.Options) -> None:
        super().__init__(options)
        self.habits = replace(self.habits, max_at_once=12)


def test_components_are_closed_with_the_lane_and_cannot_spoil_it() -> None:
    Tidy.closed.clear()
    executor = LocalExecutor()
    executor.open(bound("model", Tidy))
    executor.open(bound("model", Tidy))
    executor.close()
    assert Tidy.closed == ["closed", "closed"]


def test_the_depth_of_an_endpoints_lane_grows_to_its_ceiling_one_request_a_call() -> None:
    executor = LocalExecutor()
    try:
        lane = executor.open(bound("model", Endpoint, batch=8))
        assert lane.batch_size == 1
        depths = [lane.depth]
        for _ in range(4):
            futures = [lane.submit([REQUEST]) for _ in range(lane.depth)]
            assert all(isinstance(future.result(10)[0], Rendered) for future in futures)
            depths.append(lane.depth)
        assert depths[0] < depths[-1] == 24, "as many at the door as under way"
    finally:
        executor.close()


def test_closing_waits_for_nobody_who_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "_PATIENCE_S", 0.2)
    release = threading.Event()
    workers = Workers(1)
    stuck = workers.submit(release.wait, 30)
    waiting = workers.submit(lambda: 1)
    time.sleep(0.05)
    workers.close()
    assert not stuck.done()
    release.set()
    assert stuck.result(5)
    with pytest.raises(CancelledError):
        waiting.result(5)


def test_a_finished_call_keeps_nothing_alive() -> None:
    import gc
    import weakref

    class Thing:
        pass

    workers = Workers(1)
    thing: Any = Thing()
    ghost = weakref.ref(thing)
    workers.submit(lambda _: None, thing).result(5)
    del thing
    time.sleep(0.05)
    gc.collect()
    assert ghost() is None
    workers.close()
