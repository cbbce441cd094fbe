"""The flow step by step: what goes out when, what an event changes, and what leaves memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

import pytest

from salva.core.about import About
from salva.core.case import Case, Prompt
from salva.core.observation import Detections
from salva.core.plan import Binding, Plan
from salva.core.protocols import ImageObservations, Need, Query, Rendered
from salva.core.verdict import Outcome
from salva.engine import dispatch, progress
from salva.engine.actors import Actor
from salva.engine.events import ObserveDone, RenderDone, WorkFailed
from salva.engine.flow import Flow
from salva.engine.progress import SilentProgress
from salva.engine.run_components import AppliedCheck, Cast, CheckPart
from salva.engine.units import Unit
from salva.engine.workers import Workers
from salva.errors import BackendError, UnusableError
from salva.store.sqlite import open_run
from salva.testing.fakes import FakeSame
from salva.testing.specs import bound, fake_spec

BATCH, DEPTH = 4, 2
_R = TypeVar("_R")


class HeldLane:
    """A lane whose batches end when the test says so."""

    batch_size = BATCH
    depth = DEPTH

    def __init__(self, binding: Binding) -> None:
        component = binding.build()
        self._work = component.render if binding.role == "model" else component.observe
        self.under_way: list[tuple[Sequence[Any], Future[Sequence[object]]]] = []
        self.n_done = 0

    def submit(self, requests: Sequence[Any]) -> Future[Sequence[object]]:
        self.under_way.append((requests, Future()))
        return self.under_way[-1][1]

    def end_one(self) -> None:
        requests, future = self.under_way.pop(0)
        self.n_done += len(requests)
        future.set_result(self._work(requests))

    def fail_one(self, error: BackendError) -> None:
        requests, future = self.under_way.pop(0)
        future.set_result([error] * len(requests))


class HeldExecutor:
    """Every component in a lane of the test's own."""

    version: ClassVar[str] = "1"

    def __init__(self) -> None:
        self.lanes: dict[str, HeldLane] = {}

    def open(self, binding: Binding, crowd: Sequence[Binding]) -> HeldLane:
        self.lanes[binding.role] = HeldLane(binding)
        return self.lanes[binding.role]

    def stop(self) -> None:
        """Nothing begins by itself."""

    def close(self) -> None:
        """Nothing to stop."""


class AtOnce(Workers):
    """Files are written and read on the spot, so that a test meets every event in its order."""

    def submit(self, call: Callable[..., _R], *args: Any) -> Future[_R]:
        future: Future[_R] = Future()
        future.set_result(call(*args))
        return future


@pytest.fixture(autouse=True)
def _files_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "Workers", AtOnce)


class Held:
    """A flow under way in the hands of a test."""

    def __init__(self, flow: Flow, cast: Cast, executor: HeldExecutor, cases: list[Case]) -> None:
        self.flow, self.cast, self.lanes, self.cases = flow, cast, executor.lanes, cases

    def open(self) -> None:
        for case in self.cases:
            self.flow.open(Unit.of(case, self.cast.models[0], self.cast.repeats, self.cast.checks_of(case)))
        self.flow.send()

    def take_in(self) -> None:
        """Everything that has come back."""
        while not self.flow.events.empty():
            self.flow.step(self.flow.events.get())
            self.flow.send()

    def work(self) -> None:
        """Until no lane has anything to do."""
        while busy := [lane for lane in self.lanes.values() if lane.under_way]:
            for lane in busy:
                lane.end_one()
            self.take_in()


@contextmanager
def held(directory: Path, spec: Plan) -> Iterator[Held]:
    executor, cast = HeldExecutor(), Cast.of(spec)
    cases = list(spec.suite.build().cases("full"))
    with open_run(directory, "write") as store:
        flow = Flow(store, cast, executor, SilentProgress())
        try:
            yield Held(flow, cast, executor, cases)
        finally:
            flow.close()


class OnlyFirst(FakeSame):
    """PendingObservations of the first image alone."""

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        return [look for look in super().needs(case, roles, observations) if look.role == "a"]


def test_pictures_that_nobody_looks_at_make_room_for_the_next(tmp_path: Path) -> None:
    check = bound("check", OnlyFirst, "only-first")
    with held(tmp_path, fake_spec(60, checks=(check,))) as run:
        run.open()
        run.work()
        assert run.lanes["model"].n_done == 120, "half of them, more than fit, were never looked at"
        assert run.lanes["detector"].n_done == 60
        assert sum(run.flow.outcomes.values()) == 60


def test_a_component_has_as_many_batches_under_way_as_its_lane_takes_and_the_next_when_one_is_back(
    tmp_path: Path,
) -> None:
    with held(tmp_path, fake_spec(20)) as run:
        run.open()
        painter, detector = run.lanes["model"], run.lanes["detector"]
        assert [len(requests) for requests, _ in painter.under_way] == [BATCH] * DEPTH
        painter.end_one()
        run.take_in()
        assert (len(painter.under_way), len(detector.under_way)) == (DEPTH, 1)
        for _ in range(3):
            painter.end_one()
            run.take_in()
        assert len(detector.under_way) == DEPTH, "the looks at the other two batches wait"
        detector.end_one()
        run.take_in()
        assert len(detector.under_way) == DEPTH
        run.work()
        assert (painter.n_done, detector.n_done) == (40, 40)


def test_an_event_says_what_came_of_which_jobs(tmp_path: Path) -> None:
    with held(tmp_path, fake_spec(1)) as run:
        run.open()
        run.lanes["model"].end_one()
        painted = run.flow.events.get_nowait()
        assert isinstance(painted, RenderDone)
        assert [type(outcome) for outcome in painted.outcomes] == [Rendered, Rendered]
        run.flow.step(painted)
        run.take_in()
        run.lanes["detector"].end_one()
        looked = run.flow.events.get_nowait()
        assert isinstance(looked, ObserveDone)
        assert [type(outcome) for outcome in looked.outcomes] == [Detections, Detections]
        assert run.flow.outcomes == {}
        run.flow.step(looked)
        assert run.flow.outcomes == {"PASS": 1}


def test_what_no_piece_of_work_survives_ends_the_run(tmp_path: Path) -> None:
    with held(tmp_path, fake_spec(1)) as run:
        run.open()
        run.lanes["model"].under_way.pop()[1].set_exception(UnusableError("wrong key"))
        stopped = run.flow.events.get_nowait()
        assert isinstance(stopped, WorkFailed)
        with pytest.raises(UnusableError, match="wrong key"):
            run.flow.step(stopped)


def test_what_nobody_can_make_an_event_of_ends_the_run_instead_of_being_waited_for(tmp_path: Path) -> None:
    with held(tmp_path, fake_spec(1)) as run:
        run.open()
        run.lanes["model"].under_way.pop()[1].set_result([Rendered(picture=cast(Any, None))] * 2)
        stopped = run.flow.events.get(timeout=5)
        assert isinstance(stopped, WorkFailed)
        assert isinstance(stopped.error, AttributeError)
        assert len(stopped.jobs) == 2


class LastOfMany(FakeSame):
    """Asks the last observer of a long row."""

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        return [Need(role="a", query=Query(role="detector 4999"))]


def test_a_row_of_5000_looks_that_wait_for_one_another_fails_in_one_step(tmp_path: Path) -> None:
    spec = fake_spec(1)
    assert spec.detector is not None
    row = {
        f"detector {i}": Actor(
            role="detector",
            label=f"detector {i}",
            component_id=f"{i:064x}",
            binding=spec.detector,
            about=About(needs_roles=(f"detector {i - 1}",) if i else ()),
            identity={},
        )
        for i in range(5000)
    }
    part = CheckPart(label="last", check=LastOfMany(LastOfMany.Options()), about=LastOfMany.about)
    looks = (Need(role="a", query=Query(role="detector 4999")),)
    applied = AppliedCheck(part=part, actors_by_role=row, roles=("detector 4999",), first_observations=looks)
    case = Case(case_id="one", suite="fake", category="all", prompts=(Prompt(role="a", text="cat"),), checks=("last",))
    with held(tmp_path, spec) as run:
        run.flow.open(Unit.of(case, run.cast.models[0], 1, [applied]))
        run.flow.send()
        run.lanes["model"].end_one()
        run.take_in()
        # The lane opened last is that of the first in the row: all others wait for it.
        run.lanes["detector"].fail_one(BackendError("blinked", is_retryable=False))
        run.take_in()
        assert run.flow.outcomes == {str(Outcome.ERROR): 1}
    with open_run(tmp_path) as store:
        (verdict,) = store.verdicts()
    assert "'detector 4999'" in verdict.reason
    assert verdict.reason.endswith("image 'a': blinked")


def test_looks_wait_for_a_full_batch_while_somebody_paints_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_lane(self: HeldExecutor, binding: Binding, crowd: Sequence[Binding]) -> HeldLane:
        lane = self.lanes[binding.role] = HeldLane(binding)
        lane.batch_size = 1 if binding.role == "model" else BATCH
        return lane

    monkeypatch.setattr(HeldExecutor, "open", open_lane)
    sizes: list[int] = []
    with held(tmp_path / "run", fake_spec(n=3)) as run:
        run.open()
        painter, observing = run.lanes["model"], run.lanes["detector"]
        while painter.under_way:
            painter.end_one()
            run.take_in()
            while observing.under_way:
                sizes.append(len(observing.under_way[0][0]))
                observing.end_one()
                run.take_in()
    assert sizes == [BATCH, 2], "what is left over when nobody paints any more is looked at too"


def test_what_takes_long_to_load_is_named_meanwhile_and_told_what_to_expect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_QUIET_S", 0.05)
    notes: list[str] = []
    expected: list[int] = []

    class SlowExecutor(HeldExecutor):
        def open(self, binding: Binding, crowd: Sequence[Binding]) -> HeldLane:
            expected.append(binding.n_expected)
            time.sleep(0.2 if binding.role == "detector" else 0)
            return super().open(binding, crowd)

    class Noting(SilentProgress):
        def note(self, text: str) -> None:
            notes.append(text)

    spec = fake_spec(n=5)
    cast, executor = Cast.of(spec), SlowExecutor()
    with open_run(tmp_path / "run", "write") as store:
        flow = Flow(store, cast, executor, Noting(), n_pictures=10)
        Held(flow, cast, executor, list(spec.suite.build().cases("full"))).open()
        flow.close()
    assert expected == [10, 10]
    # On a busy machine the painter takes a while too.
    (loading,) = (note for note in notes if "detector" in note)
    assert loading.startswith("loading the detector")
    assert loading.endswith("...")
