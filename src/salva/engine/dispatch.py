"""Work goes out: batches to lanes, images to and from files, as far as memory and budget allow.

Knows who has how much to do and how many images are in memory. What comes back it puts on the flow's queue of
events, from whichever thread ends the work; everything else here belongs to the flow's one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from queue import SimpleQueue
from typing import Any, TypeVar, cast

from salva.core import memory
from salva.core.image import Picture, bytes_of
from salva.core.plan import Binding
from salva.core.protocols import Executor, Lane, Painting
from salva.engine.actors import Actor
from salva.engine.budget import Budget
from salva.engine.ctrl_c import CtrlC
from salva.engine.events import Event, FilesWritten, ImageLoaded, ObserveDone, RenderDone, WorkFailed
from salva.engine.image_files import ImageFiles
from salva.engine.job_queue import JobQueue
from salva.engine.pending import PendingObservations
from salva.engine.progress import note_if_slow
from salva.engine.units import ObserveJob, RenderJob, Unit
from salva.engine.workers import Workers
from salva.errors import DownError, StoreError
from salva.hardware.cores import n_cores

_N_WRITERS = max(4, min(16, n_cores()))
_N_PER_WRITE = 8
_FEWEST_PICTURES = 32
_MOST_BESIDES = 128
_T = TypeVar("_T")


class Dispatch:
    """The queues in front of all components of a run."""

    def __init__(
        self,
        executor: Executor,
        crowd: Sequence[Binding],
        budget: Budget,
        pending: PendingObservations,
        files: ImageFiles,
        *,
        ctrl_c: CtrlC | None = None,
        note: Callable[[str], None] = lambda _: None,
        n_pictures: int = 0,
    ) -> None:
        self.events: SimpleQueue[Event] = SimpleQueue()
        self.n_room = _FEWEST_PICTURES
        """How many images may be in memory: as many as all lanes can have under way, and some besides."""
        self._executor, self._crowd, self._budget = executor, crowd, budget
        self._pending, self._files = pending, files
        self._workers = Workers(_N_WRITERS)
        self._generators: dict[str, JobQueue[RenderJob]] = {}
        self._observing_actors: dict[str, JobQueue[ObserveJob]] = {}
        self._n_generating = 0
        self._ctrl_c = ctrl_c or CtrlC()
        self._note, self._n_pictures = note, n_pictures
        self._out: set[Future[Any]] = set()

    @property
    def n_out(self) -> int:
        """How many pieces of work are still to be reported."""
        return len(self._out)

    def stop(self) -> None:
        """Begin nothing more; what is under way is reported as before, and images can still be written."""
        self._executor.stop()
        # Nothing is observed any more, and what is still being generated needs the room.
        self._pending.buffer.clear()

    def close(self) -> None:
        """Stop the threads; safe to call twice."""
        self._workers.close()
        self._pending.buffer.clear()

    def generate(self, job: RenderJob, unit: Unit) -> None:
        """Queue an image, to be generated or, with a ticket, to be fetched."""
        if job.actor.component_id not in self._generators:
            # Observers start first: a detector that cannot start should cost no image.
            for actor in unit.first_observers():
                self._observing(actor)
            self._generators[job.actor.component_id] = JobQueue(job.actor, self._open)
        queue = self._generators[job.actor.component_id]
        (queue.waiting if job.ticket is None else queue.paid).append(job)

    def fetch(self, jobs: Sequence[RenderJob]) -> None:
        """Fetch images that were paid for just now, which are counted as being generated."""
        for job in jobs:
            self._send_fetch(self._generators[job.actor.component_id], job)

    def generate_again(self, job: RenderJob) -> None:
        """Queue an image that an earlier command paid for, that cannot be fetched, and that the user wants anew."""
        self.finished_image()
        self._generators[job.actor.component_id].waiting.append(job)

    def observe(self, job: ObserveJob) -> None:
        """Queue an observation that is ready."""
        self._observing(job.actor).waiting.append(job)

    def put_off(self) -> Iterator[RenderJob | ObserveJob]:
        """What waits for components that may begin nothing more; nobody does it now."""
        for queue in self._queues():
            while queue.waiting and self._budget.is_over(queue.actor):
                yield queue.waiting.popleft()

    def send(self, *, is_last: bool) -> None:
        """Start whatever can be started; is_last when no more units will come."""
        for queue in self._queues():
            # Anew each time, because the depth of an endpoint's lane changes.
            self.n_room = max(self.n_room, queue.n_at_once + min(queue.n_at_once, _MOST_BESIDES))
        self.send_observations()
        while self._free_room() > 0 and (image_id := self._pending.buffer.next_to_load()) is not None:
            self._load(image_id)
        for generator in self._generators.values():
            while self._free_room() > 0 and (paid := generator.next_paid()) is not None:
                self._n_generating += 1
                self._send_fetch(generator, paid)
            while jobs := generator.next_batch(is_last, self._free_room(), self._budget.n_allowed(generator.actor)):
                self._send_renders(generator, jobs)

    def send_observations(self) -> None:
        """Start those observations that are ready, and nothing else."""
        # A local generator shares the machine with observers: a small batch takes them nearly as long as a full one,
        # and generating stands still meanwhile. A remote generator does not wait, and is slow.
        is_patient = not any(generator.n_under_way and generator.is_remote for generator in self._generators.values())
        for observing in self._observing_actors.values():
            n_allowed = self._budget.n_allowed(observing.actor)
            # Where there is no room for more images, no company will come to a batch either.
            is_last = self._n_generating == 0 or memory.BUDGET.is_crowded
            while looks := observing.next_batch(is_last, self.n_room, n_allowed, is_patient=is_patient):
                self._send_observations(observing, looks)
                n_allowed = self._budget.n_allowed(observing.actor)

    def received(self, event: RenderDone | ObserveDone) -> None:
        """A batch is back: its component is free for the next."""
        actor = event.jobs[0].actor
        queues = self._generators if isinstance(event, RenderDone) else self._observing_actors
        queues[actor.component_id].n_under_way -= 1
        if not _is_paid(event.jobs[0]):
            for outcome in event.outcomes:
                self._budget.end(actor, outcome)

    def stopped(self, event: WorkFailed) -> None:
        """A component can go on with nothing more; what it was paid for until then counts."""
        if event.jobs and not _is_paid(event.jobs[0]):
            self._budget.end(event.jobs[0].actor, event.error)

    def write(self, painted: Sequence[tuple[RenderJob, Painting]]) -> None:
        """Have images written to files."""
        for start in range(0, len(painted), _N_PER_WRITE):
            self._write(painted[start : start + _N_PER_WRITE])

    def finished_image(self) -> None:
        """An image that was to be generated is in its place, or will not come."""
        self._n_generating -= 1

    def _queues(self) -> list[JobQueue[ObserveJob] | JobQueue[RenderJob]]:
        return [*self._observing_actors.values(), *self._generators.values()]

    def _observing(self, actor: Actor) -> JobQueue[ObserveJob]:
        if actor.component_id not in self._observing_actors:
            self._observing_actors[actor.component_id] = JobQueue(actor, self._open)
        return self._observing_actors[actor.component_id]

    def _open(self, binding: Binding) -> Lane:
        name = f"the {binding.role} {binding.label!r}"
        with note_if_slow(self._note, "loading", name), self._ctrl_c.at_once():
            return self._executor.open(replace(binding, n_expected=self._n_pictures), self._crowd)

    def _free_room(self) -> int:
        return 0 if memory.BUDGET.is_crowded else self.n_room - self._n_generating - self._pending.buffer.n_pictures

    def _send_observations(self, observing: JobQueue[ObserveJob], jobs: Sequence[ObserveJob]) -> None:
        self._budget.begin(observing.actor, len(jobs))
        future = observing.submit([self._pending.order_of(job) for job in jobs])
        self._report(future, lambda outcomes: ObserveDone(jobs=jobs, outcomes=outcomes), jobs)

    def _send_renders(self, generator: JobQueue[RenderJob], jobs: Sequence[RenderJob]) -> None:
        self._n_generating += len(jobs)
        self._budget.begin(generator.actor, len(jobs))
        future = generator.submit([replace(job.request, failed_before=job.failed_before is not None) for job in jobs])
        self._report(future, lambda outcomes: self._painted(jobs, outcomes), jobs)

    def _send_fetch(self, generator: JobQueue[RenderJob], job: RenderJob) -> None:
        order = replace(job.request, ticket=job.ticket, failed_before=job.failed_before is not None)
        self._report(generator.submit([order]), lambda outcomes: self._painted([job], outcomes), [job])

    def _painted(self, jobs: Sequence[RenderJob], outcomes: Sequence[object]) -> RenderDone:
        """Images have come; counted before anything else happens, by whichever thread brings them."""
        return RenderDone(jobs=jobs, outcomes=[_counted(outcome) for outcome in outcomes])

    def _write(self, painted: Sequence[tuple[RenderJob, Painting]]) -> None:
        future = self._workers.submit(self._files.save, [rendered.picture for _, rendered in painted])
        self._report(future, lambda images: FilesWritten(painted=painted, images=images))

    def _load(self, image_id: str) -> None:
        future = self._workers.submit(self._loaded, image_id)
        self._report(future, lambda picture: ImageLoaded(image_id=image_id, picture=picture))

    def _loaded(self, image_id: str) -> Picture | StoreError:
        try:
            return self._files.load(image_id)
        except StoreError as error:
            return error

    def _report(
        self, future: Future[_T], event_of: Callable[[_T], Event], jobs: Sequence[RenderJob | ObserveJob] = ()
    ) -> None:
        """Have an event put on the queue when work is over; jobs: what was asked of a component."""

        def deliver(done: Future[_T]) -> None:
            error = CancelledError() if done.cancelled() else done.exception()
            try:
                if error is None:
                    event = event_of(done.result())
                elif isinstance(error, DownError) and jobs and all(job.failed_before is not None for job in jobs):
                    # What fails again says nothing about the rest of the run, done by now: failed work comes last.
                    event = event_of(cast(_T, [error] * len(jobs)))
                else:
                    event = WorkFailed(error=error, jobs=jobs)
            except Exception as problem:  # somebody waits for this event, and a callback has nobody to raise to
                event = WorkFailed(error=problem, jobs=jobs)
            self.events.put(event)
            self._out.discard(done)

        self._out.add(future)
        future.add_done_callback(deliver)


def _counted(outcome: object) -> object:
    """What came, with the memory that its image takes."""
    if not isinstance(outcome, Painting) or outcome.picture.held is not None:
        return outcome
    held = memory.BUDGET.held(bytes_of(outcome.picture))
    # Each kind with a picture of its own kind.
    return replace(outcome, picture=replace(outcome.picture, held=held))  # type: ignore[arg-type]


def _is_paid(job: RenderJob | ObserveJob) -> bool:
    """Whether its image was only to be fetched."""
    return isinstance(job, RenderJob) and job.ticket is not None
