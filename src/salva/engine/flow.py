"""The coordinator: moves units from prompts to verdicts while components work in their lanes.

One thread owns the store and all state here; generating, writing files and observing happen elsewhere at the same time
and come back as events through one queue. `step` takes an event and changes what is known; what that makes ready
waits on a list until it is worked off. What is in the store is never done again. The number of images in memory
and their pixels are bounded, so a run of any length takes the same room.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from queue import Empty
from typing import Protocol, cast

from salva.core.image import AnyPicture, ImageRef, Picture
from salva.core.observation import Observation
from salva.core.protocols import Executor, Query
from salva.core.verdict import PAIR, Outcome
from salva.engine.actors import Actor, requests_of
from salva.engine.budget import Budget
from salva.engine.ctrl_c import CtrlC
from salva.engine.dispatch import Dispatch
from salva.engine.drain import drain
from salva.engine.events import Event, FilesWritten, ImageLoaded, ObserveDone, RenderDone, WorkFailed
from salva.engine.image_files import ImageFiles
from salva.engine.pending import PendingObservations
from salva.engine.progress import Progress
from salva.engine.results import Results
from salva.engine.run_components import ActorsByRole, Cast
from salva.engine.units import (
    DEFERRED,
    Deferred,
    ImageSlot,
    ObserveJob,
    PreflightObservation,
    RenderJob,
    Subscriber,
    Unit,
)
from salva.engine.verdicts import verdicts_of
from salva.errors import StoreError
from salva.judging.waves import Missing
from salva.store.records import FAILED, Status
from salva.store.sqlite import RunStore

_WAIT_S = 0.1


class Watcher(Protocol):
    """Takes note of units as they are concluded, and may ask more when all else is done."""

    def concluded(self, unit: Unit) -> None:
        """A unit has its verdicts."""

    def finish(self, flow: Flow) -> None:
        """All units are done."""


Vouch = Callable[["Flow", Sequence[Actor]], None]
"""Called before an observer is used for the first time; what it raises ends the run."""


class Flow:
    """One run in progress."""

    def __init__(
        self,
        store: RunStore,
        roster: Cast,
        executor: Executor,
        progress: Progress,
        *,
        may_generate: bool = True,
        retry: Collection[str] = (),
        budget: Budget | None = None,
        vouch: Vouch | None = None,
        watcher: Watcher | None = None,
        n_pictures: int = 0,
        lost: Collection[str] = (),
    ) -> None:
        self.outcomes: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        """rendered, looked, reused, failed, unpainted, put_off; of ERROR ones retryable (worth a try) and settled."""
        self.left_out: set[str] = set()
        """Cases that no check has anything to say about."""
        self._store, self._cast, self._progress = store, roster, progress
        self._may_generate = may_generate
        self._retried = {status: str(status) in retry for status in (Status.REFUSED, Status.UNKNOWN)}
        self._lost = {*lost}
        """Keys of stored renders whose images are away; what is stored stands until there is another."""
        self._pending = PendingObservations(store, self._retried, retry_unreadable="unreadable" in retry)
        self._ctrl_c = CtrlC()
        crowd = [actor.binding for actor in roster.actors() if actor.binding is not None and actor.is_usable]
        budget = budget or Budget()
        self._dispatch = Dispatch(
            *(executor, crowd, budget, self._pending, ImageFiles(store.blobs)),
            ctrl_c=self._ctrl_c,
            note=progress.note,
            n_pictures=n_pictures,
        )
        self.events = self._dispatch.events
        """What has come back and is not taken in yet."""
        self._rendering: dict[str, RenderJob] = {}
        self._ready: deque[Unit] = deque()
        """Units that wait for nothing: they ask their next wave, or are concluded."""
        self._n_open = 0
        """Images of the units under way."""
        self._is_last = False
        self._results = Results(store, budget.drop, self._lost)
        self._vouch, self._watcher = vouch, watcher
        self._newcomers: dict[str, Actor | None] = {}
        """Observers before their first use, by component id; None for those that passed the preflight."""

    @property
    def unasked(self) -> Mapping[str, int]:
        """How many observations were left out because their observer may not be used."""
        return self._pending.unasked

    def run(self, units: Iterator[Unit]) -> None:
        """Work until every unit has its verdicts; whatever ends it before, what was answered is stored first."""
        with self._ctrl_c:
            try:
                self._run(units)
                if self._watcher is not None:
                    self._watcher.finish(self)
            except StoreError:
                # There is no slot to store anything.
                raise
            except BaseException:
                drain(self._dispatch, self._results, self._store, self._progress, self._ctrl_c)
                raise

    def _run(self, units: Iterator[Unit]) -> None:
        while True:
            while not self._is_last and not self._is_full():
                unit = next(units, None)
                self._is_last = unit is None
                if unit is not None:
                    self.open(unit)
            self.send()
            if self._is_last and self._n_open == 0:
                return
            if self._is_last or self._is_full():
                self._receive()

    def close(self) -> None:
        """Stop the threads; safe to call twice."""
        self._dispatch.close()

    def open(self, unit: Unit) -> None:
        """Begin a unit: what is stored of it is used, the rest is queued."""
        if not unit.checks:
            # No check has anything to say about this case, so its images are not worth their price.
            self.left_out.add(unit.case.case_id)
            self._progress.advance("judging")
            return
        requests = requests_of(unit.case, unit.repeats, self._cast.seed)
        if unit.is_undecidable:
            self._progress.advance("generating", len(requests))
            self._conclude(unit)
            return
        self._n_open += len(requests)
        for request in requests:
            slot = ImageSlot(unit, request.repeat, request.prompt.role)
            key = unit.model.render_key(request)
            is_known = key not in self._rendering and key not in self._lost
            stored = self._store.render_outcome(key) if is_known else None
            status, image, error = stored or (None, None, "")
            is_settled = status is not None and not self._retried.get(status, True)
            if status is Status.DONE and image is not None:
                self.counts["reused"] += 1
                self._progress.advance("generating")
                self._place(slot, image)
            elif status is not None and (is_settled or not self._may_generate):
                self._progress.advance("generating")
                self._place(slot, Missing(reason=error, is_final=status is Status.REFUSED))
            elif not self._may_generate:
                unit.is_deferred = True
            else:
                failed_before = error if status in FAILED else None
                paid = self._store.ticket(key) if is_known else None
                job = RenderJob(key=key, actor=unit.model, request=request, failed_before=failed_before, ticket=paid)
                self._want(job, slot)
        if unit.n_pending == 0:
            self._ready.append(unit)
        self._work_off()

    def send(self) -> None:
        """Begin what can be begun, and put off what no limit allows any more."""
        if self._vouch is not None and (strangers := [actor for actor in self._newcomers.values() if actor]):
            self._vouch(self, strangers)
            self._newcomers |= dict.fromkeys(self._newcomers)
        self._put_off()
        self._dispatch.send(is_last=self._is_last)

    def observe_for_preflight(self, wanted: Sequence[PreflightObservation]) -> list[Observation | Missing | Deferred]:
        """What is seen in images that belong to no case, before anything else goes on; the images are not stored."""
        jobs = []
        for look in wanted:
            picture = look.picture
            image = ImageRef(image_id=picture.image_id(), width=picture.width, height=picture.height)
            self._pending.buffer.add(image.image_id, picture)
            jobs.append(self._pending.find(look.actors_by_role, image, look.query))
            self._pending.buffer.release(image.image_id, 0)
        self._work_off()
        while any(job.outcome is None for job in jobs):
            self._put_off()
            self._dispatch.send_observations()
            self._receive()
        return [cast("Observation | Missing | Deferred", job.outcome) for job in jobs]

    def observe_stored(
        self, wanted: Sequence[tuple[ActorsByRole, ImageRef, Query]]
    ) -> list[Observation | Missing | Deferred]:
        """What is observed in images of the run beyond what its cases ask; stored, and inside every limit."""
        jobs = [self._pending.find(actors_by_role, image, query) for actors_by_role, image, query in wanted]
        self._work_off()
        while any(job.outcome is None for job in jobs):
            self.send()
            self._receive()
        return [cast("Observation | Missing | Deferred", job.outcome) for job in jobs]

    def _put_off(self) -> None:
        for job in self._dispatch.put_off():
            # Its units end without verdicts, and nothing is stored of it.
            self.counts["put_off"] += 1
            if isinstance(job, RenderJob):
                del self._rendering[job.key]
                for slot in job.slots:
                    slot.unit.is_deferred = True
                    self._release(slot.unit)
            else:
                self._answer(job, DEFERRED)
        self._work_off()

    def step(self, event: Event) -> None:
        """What an event changes, up to the work that can be begun next."""
        match event:
            case RenderDone():
                self._rendered(event)
            case FilesWritten():
                self._written(event)
            case ImageLoaded():
                self._loaded(event)
            case ObserveDone():
                self._observed(event)
            case WorkFailed():
                self._dispatch.stopped(event)
                raise event.error
        self._work_off()

    def _is_full(self) -> bool:
        return self._n_open >= 2 * self._dispatch.n_room

    def _receive(self) -> None:
        self._ctrl_c.heed()
        try:
            event = self.events.get(timeout=_WAIT_S)
            while True:
                self.step(event)
                self._ctrl_c.heed()
                event = self.events.get_nowait()
        except Empty:
            self._store.tick()

    # What became ready

    def _work_off(self) -> None:
        """Everything that waits for nothing more: observations first, since units wait for them."""
        while self._pending.changed or self._ready:
            if self._pending.changed:
                self._check(self._pending.changed.popleft())
            else:
                self._advance(self._ready.popleft())

    def _check(self, job: ObserveJob) -> None:
        if job.outcome is not None or job.is_queued:
            return
        problem = self._pending.problem_of(job)
        if problem is not None:
            self._answer(job, problem)
        elif self._pending.is_ready(job):
            job.is_queued = True
            self._dispatch.observe(job)

    def _advance(self, unit: Unit) -> None:
        """Ask a unit's next wave; one that has no more to ask is concluded."""
        if not unit.is_deferred:
            looks = list(unit.next_needs())
            for actors_by_role, subscriber in looks:
                self._ask(actors_by_role, subscriber)
            if unit.n_pending > 0:
                return
            if looks:
                self._ready.append(unit)
                return
            self._conclude(unit)
        self.counts["unpainted"] += unit.is_deferred
        self._n_open -= unit.repeats * len(unit.case.prompts)

    def _conclude(self, unit: Unit) -> None:
        if self._watcher is not None:
            self._watcher.concluded(unit)
        for verdict, is_retryable in verdicts_of(unit, self._cast.control):
            self._store.put_verdict(verdict)
            self.counts["retryable"] += is_retryable
            if verdict.arm == PAIR:
                self.outcomes[str(verdict.outcome)] += 1
                self.counts["settled"] += verdict.outcome is Outcome.ERROR and not is_retryable
        self._progress.advance("judging")
        self._progress.advance("observing", len(unit.observation_keys))

    def _release(self, unit: Unit) -> None:
        """One thing less that a unit waits for."""
        unit.n_pending -= 1
        if unit.n_pending == 0:
            self._ready.append(unit)

    # Images

    def _want(self, job: RenderJob, slot: ImageSlot) -> None:
        if job.key not in self._rendering:
            self._rendering[job.key] = job
            self._dispatch.generate(job, slot.unit)
            for actor in slot.unit.actors_by_role():
                self._newcomers.setdefault(actor.component_id, actor)
        self._rendering[job.key].slots.append(slot)
        slot.unit.n_pending += 1

    def _place(self, slot: ImageSlot, image: ImageRef | Missing, picture: AnyPicture | None = None) -> None:
        if isinstance(image, ImageRef) and picture is not None:
            self._pending.buffer.add(image.image_id, picture)
        for actors_by_role, subscriber in slot.unit.show(slot.repeat, slot.role, image):
            self._ask(actors_by_role, subscriber)
        if isinstance(image, ImageRef):
            self._pending.buffer.release(image.image_id, 0)

    def _rendered(self, event: RenderDone) -> None:
        self._dispatch.received(event)
        back = self._results.sort(event.jobs, event.outcomes)
        self._dispatch.write(back.painted)
        self._dispatch.fetch(back.to_fetch)
        for job, error in back.failed:
            if job.is_resumed and self._retried[Status.UNKNOWN]:
                self._results.drop_ticket(job)
                self._dispatch.generate_again(job)
            else:
                self._render_failed(job, self._results.store_failure(job, error))
        if back.ended_by is not None:
            raise back.ended_by

    def _written(self, event: FilesWritten) -> None:
        # All are stored before any goes on: a check that breaks on one must not cost the others.
        stored = [
            self._results.store_image(job, rendered, image)
            for (job, rendered), image in zip(event.painted, event.images, strict=True)
        ]
        for (job, rendered), image in zip(event.painted, stored, strict=True):
            if isinstance(image, Missing):
                self._render_failed(job, image)
            else:
                self.counts["rendered"] += 1
                self._end_render(job, image, rendered.picture)

    def _render_failed(self, job: RenderJob, why: Missing) -> None:
        self.counts["failed"] += 1
        self._end_render(job, why)

    def _end_render(self, job: RenderJob, image: ImageRef | Missing, picture: AnyPicture | None = None) -> None:
        self._dispatch.finished_image()
        self._progress.advance("generating", len(job.slots))
        del self._rendering[job.key]
        if isinstance(image, ImageRef) or image.is_final:
            self._lost.discard(job.key)
        for slot in job.slots:
            self._place(slot, image, picture)
            self._release(slot.unit)

    # PendingObservations

    def _ask(self, actors_by_role: ActorsByRole, subscriber: Subscriber) -> None:
        image = subscriber.waves.images[subscriber.look.role]
        assert isinstance(image, ImageRef)
        job = self._pending.find(actors_by_role, image, subscriber.look.query)
        subscriber.unit.observation_keys.add(job.key)
        if job.outcome is None:
            for pending in (job, *(told for told in job.given.values() if told.outcome is None)):
                self._newcomers.setdefault(pending.actor.component_id, pending.actor)
            job.subscribers.append(subscriber)
            subscriber.unit.n_pending += 1
        else:
            job.tell(subscriber)

    def _answer(self, job: ObserveJob, outcome: Observation | Missing | Deferred) -> None:
        for subscriber in self._pending.answer(job, outcome):
            self._release(subscriber.unit)

    def _loaded(self, event: ImageLoaded) -> None:
        if isinstance(event.picture, Picture):
            self._pending.arrived(event.image_id, event.picture)
            return
        if self._may_generate:
            # Its renders count as failed from now on, so that the same command generates it again.
            self._store.forget_image(event.image_id, str(event.picture))
        self.counts["failed"] += 1
        for job in self._pending.at(event.image_id):
            self._answer(job, Missing(reason=str(event.picture)))

    def _observed(self, event: ObserveDone) -> None:
        self._dispatch.received(event)
        stored = [
            self._results.store_observation(job, seen) for job, seen in zip(event.jobs, event.outcomes, strict=True)
        ]
        for job, outcome in zip(event.jobs, stored, strict=True):
            self.counts["failed" if isinstance(outcome, Missing) else "looked"] += 1
            self._answer(job, outcome)
