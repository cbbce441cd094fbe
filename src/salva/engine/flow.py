"""The coordinator: moves units from prompts to verdicts while components work in their lanes.

One thread owns the store and all state here; painting, writing files and looking happen elsewhere
at the same time and report back through one queue. What is in the store is never done again. The
number of pictures in memory is bounded, so a run of any length takes the same room.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, cast

from salva.core.image import ImageRef, Picture
from salva.core.observation import Answer, Observation, Reading
from salva.core.protocols import Executor, LookRequest, Query, Rendered
from salva.core.verdict import PAIR
from salva.engine.actors import Actor, requests_of
from salva.engine.budget import Budget
from salva.engine.cast import Cast, Voices
from salva.engine.desk import Desk
from salva.engine.lanes import Station
from salva.engine.pictures import Album
from salva.engine.progress import Progress
from salva.engine.snapshots import Snapshots
from salva.engine.units import Broken, Inquiry, LookJob, RenderJob, Unit
from salva.engine.verdicts import verdicts_of
from salva.engine.workers import Workers
from salva.errors import BackendError, RefusedError, StoreError
from salva.hardware.cores import n_cores
from salva.store.records import Status, StoredImage
from salva.store.sqlite import RunStore

_N_WRITERS = max(4, min(16, n_cores()))
_N_PER_WRITE = 8
_FEWEST_PICTURES = 32
_MOST_BESIDES = 128
_WAIT_S = 0.1


class Flow:
    """One run in progress."""

    def __init__(
        self,
        store: RunStore,
        cast_: Cast,
        executor: Executor,
        progress: Progress,
        *,
        may_paint: bool = True,
        retry_refused: bool = False,
        budget: Budget | None = None,
    ) -> None:
        self.outcomes: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        """rendered, looked, reused, failed, unpainted, put_off; retryable: FAILED and worth another try."""
        self.left_out: set[str] = set()
        """Cases that no relation has anything to say about."""
        self._store, self._cast, self._executor, self._progress = store, cast_, executor, progress
        self._may_paint, self._retry_refused, self._budget = may_paint, retry_refused, budget or Budget()
        self._workers = Workers(_N_WRITERS)
        self._album = Album(store.blobs)
        self._painters: dict[str, Station[RenderJob]] = {}
        self._lookers: dict[str, Station[LookJob]] = {}
        self._rendering: dict[str, RenderJob] = {}
        self._looking: dict[str, LookJob] = {}
        self._desk = Desk()
        self._n_painting = 0
        self._n_open = 0
        self._n_room = _FEWEST_PICTURES
        self._is_last = False
        self._snapshots = Snapshots(store)
        self._reports: SimpleQueue[tuple[Callable[..., None], tuple[Any, ...], Future[Any]]] = SimpleQueue()

    def run(self, units: Iterator[Unit]) -> None:
        """Work until every unit has its verdicts."""
        while True:
            while not self._is_last and self._n_open < 2 * self._n_room:
                unit = next(units, None)
                self._is_last = unit is None
                if unit is not None:
                    self._open(unit)
            self._dispatch()
            if self._is_last and self._n_open == 0:
                return
            if self._is_last or self._n_open >= 2 * self._n_room:
                self._receive()

    def close(self) -> None:
        """Stop the threads; safe to call twice."""
        self._workers.close()

    # A unit begins, goes on, ends

    def _open(self, unit: Unit) -> None:
        if not unit.inquiries:
            # No relation has anything to say about this case, so its pictures are not worth their price.
            self.left_out.add(unit.case.case_id)
            self._progress.advance("judging")
            return
        requests = requests_of(unit.case, unit.repeats, self._cast.seed)
        self._n_open += len(requests)
        for request in requests:
            place = (unit, request.repeat, request.prompt.role)
            key = unit.model.render_key(request)
            known = self._store.render_outcome(key) if key not in self._rendering else None
            status, image, error = known or (None, None, "")
            if status is Status.DONE and image is not None:
                self.counts["reused"] += 1
                self._progress.advance("painting")
                self._place_image(place, image, None)
            elif status is not None and (not self._may_paint or self._is_settled(status)):
                self._progress.advance("painting")
                self._place_broken(place, Broken(reason=error, is_final=status is Status.REFUSED))
            elif not self._may_paint:
                unit.is_unpainted = True
            else:
                self._wait_for_render(RenderJob(key=key, actor=unit.model, request=request), place)
        if unit.n_pending == 0:
            self._proceed(unit)

    def _is_settled(self, status: Status) -> bool:
        return status is Status.REFUSED and not self._retry_refused

    def _wait_for_render(self, job: RenderJob, place: tuple[Unit, int, str]) -> None:
        if job.key not in self._rendering:
            self._rendering[job.key] = job
            self._painter(job.actor, place[0]).waiting.append(job)
        self._rendering[job.key].places.append(place)
        place[0].n_pending += 1

    def _proceed(self, unit: Unit) -> None:
        """Ask the next waves until something must be waited for, or nothing is left to ask."""
        while unit.n_pending == 0 and not unit.is_unpainted:
            n_asked = 0
            for inquiry, look, image in unit.next_questions():
                self._ask(unit, inquiry, look.role, look.query, image)
                n_asked += 1
            if not n_asked:
                self._conclude(unit)
                break
        if unit.n_pending == 0:
            self.counts["unpainted"] += unit.is_unpainted
            self._n_open -= unit.repeats * len(unit.case.prompts)

    def _conclude(self, unit: Unit) -> None:
        for verdict, is_retryable in verdicts_of(unit, self._cast.control):
            self._store.put_verdict(verdict)
            self.counts["retryable"] += is_retryable
            if verdict.arm == PAIR:
                self.outcomes[str(verdict.outcome)] += 1
        self._progress.advance("judging")
        self._progress.advance("looking", unit.n_looks())

    # Images

    def _place_image(self, place: tuple[Unit, int, str], image: ImageRef, picture: Picture | None) -> None:
        unit, repeat, role = place
        unit.images[repeat, role] = image
        if picture is not None:
            self._desk.lay(image.image_id, picture)
        for inquiry in unit.inquiries:
            if inquiry.repeat == repeat:
                for look in inquiry.hearing.first_looks:
                    if look.role == role:
                        self._ask(unit, inquiry, role, look.query, image)
        self._desk.let_go(image.image_id, 0)

    def _place_broken(self, place: tuple[Unit, int, str], broken: Broken) -> None:
        unit, repeat, role = place
        unit.images[repeat, role] = broken

    # Looks

    def _ask(self, unit: Unit, inquiry: Inquiry, role: str, query: Query, image: ImageRef) -> None:
        job = self._look(inquiry.hearing.voices, image.image_id, query)
        inquiry.asked[role, query] = job
        if job.outcome is None and unit not in job.units:
            job.units.append(unit)
            unit.n_pending += 1

    def _look(self, voices: Voices, image_id: str, query: Query) -> LookJob:
        """The job of a look: answered from the store, already under way, or new."""
        actor = voices[query.role]
        given = {need: self._look(voices, image_id, Query(role=need, labels=query.labels)) for need in actor.needs}
        keyed = actor.keyed_query(query)
        key = actor.look_key(image_id, keyed, {need: job.key for need, job in given.items()})
        if key in self._looking:
            return self._looking[key]
        job = LookJob(key=key, actor=actor, image_id=image_id, query=keyed, given=given)
        status, observation, error = self._store.look_outcome(key) or (None, None, "")
        if status is Status.DONE and observation is not None:
            job.outcome = observation
        elif status is not None and self._is_settled(status):
            job.outcome = Broken(reason=error, is_final=True)
        else:
            self._begin_look(job)
        return job

    def _begin_look(self, job: LookJob) -> None:
        self._looking[job.key] = job
        self._desk.want(job.image_id)
        for other in job.given.values():
            if other.outcome is None:
                other.dependents.append(job)
        self._queue_if_ready(job)

    def _queue_if_ready(self, job: LookJob) -> None:
        """Hand a look to its perceiver once its picture is there and all it must be told is known."""
        told = [other.outcome for other in job.given.values()]
        broken = next((outcome for outcome in told if isinstance(outcome, Broken)), None)
        if job.outcome is None and broken is not None:
            self._answer(job, broken)
        elif all(outcome is not None for outcome in told) and self._desk.picture_of(job.image_id) is not None:
            self._looker(job.actor).waiting.append(job)

    def _answer(self, job: LookJob, outcome: Observation | Broken) -> None:
        job.outcome = outcome
        del self._looking[job.key]
        # An answered job lives on in the units that asked; pointing back at them it would only be freed by chance.
        dependents, job.dependents = job.dependents, []
        units, job.units = job.units, []
        for dependent in dependents:
            if dependent.outcome is None:
                self._queue_if_ready(dependent)
        self._desk.let_go(job.image_id, 1)
        for unit in units:
            unit.n_pending -= 1
            if unit.n_pending == 0:
                self._proceed(unit)

    # Work goes out

    def _painter(self, actor: Actor, unit: Unit) -> Station[RenderJob]:
        if actor.component_id not in self._painters:
            # Those who will look are put to work first: a detector that cannot start should cost no picture.
            for inquiry in unit.inquiries:
                for look in inquiry.hearing.first_looks:
                    self._looker(inquiry.hearing.voices[look.query.role])
            self._painters[actor.component_id] = Station(actor, self._executor).opened()
        return self._painters[actor.component_id]

    def _looker(self, actor: Actor) -> Station[LookJob]:
        if actor.component_id not in self._lookers:
            self._lookers[actor.component_id] = Station(actor, self._executor).opened()
        return self._lookers[actor.component_id]

    def _free_room(self) -> int:
        return self._n_room - self._n_painting - self._desk.n_pictures

    def _dispatch(self) -> None:
        # Anew each time, because the depth of an endpoint's lane changes.
        stations: list[Station[LookJob] | Station[RenderJob]] = [*self._lookers.values(), *self._painters.values()]
        for station in stations:
            self._n_room = max(self._n_room, station.n_at_once + min(station.n_at_once, _MOST_BESIDES))
            if self._budget.is_over(station.actor):
                self._put_off(station)
        for looker in self._lookers.values():
            while looks := looker.next_batch(self._n_painting == 0, self._n_room, self._budget.n_allowed(looker.actor)):
                self._budget.begin(looker.actor, len(looks))
                looker.submit([self._look_request(job) for job in looks], self._report(self._on_looked, looker, looks))
        while self._free_room() > 0 and (image_id := self._desk.next_to_load()) is not None:
            future = self._workers.submit(self._album.load, image_id)
            future.add_done_callback(self._report(self._on_loaded, image_id))
        for painter in self._painters.values():
            while jobs := painter.next_batch(self._is_last, self._free_room(), self._budget.n_allowed(painter.actor)):
                self._n_painting += len(jobs)
                self._budget.begin(painter.actor, len(jobs))
                painter.submit([job.request for job in jobs], self._report(self._on_rendered, painter, jobs))

    def _put_off(self, station: Station[RenderJob] | Station[LookJob]) -> None:
        """Leave what waits for another day: its units end without verdicts, and nothing is stored of it."""
        while station.waiting:
            job = station.waiting.popleft()
            self.counts["put_off"] += 1
            if isinstance(job, RenderJob):
                del self._rendering[job.key]
                for unit, _, _ in job.places:
                    unit.is_unpainted = True
                self._release(job.places)
            else:
                for asked in (job, *job.dependents):
                    for unit in asked.units:
                        unit.is_unpainted = True
                self._answer(job, Broken(reason=f"not looked at; {self._budget.told()}", is_final=False))

    def _look_request(self, job: LookJob) -> LookRequest:
        picture = self._desk.picture_of(job.image_id)
        assert picture is not None
        given = {need: cast(Observation, other.outcome) for need, other in job.given.items()}
        return LookRequest(picture=picture, query=job.query, given=given)

    def _report(self, handler: Callable[..., None], *args: Any) -> Callable[[Future[Any]], None]:
        return lambda future: self._reports.put((handler, args, future))

    # Work comes back

    def _receive(self) -> None:
        try:
            handler, args, future = self._reports.get(timeout=_WAIT_S)
            while True:
                handler(*args, future)
                handler, args, future = self._reports.get_nowait()
        except Empty:
            self._store.tick()

    def _on_rendered(
        self, painter: Station[RenderJob], jobs: list[RenderJob], future: Future[Sequence[object]]
    ) -> None:
        painter.n_under_way -= 1
        painted: list[tuple[RenderJob, Rendered]] = []
        for job, outcome in zip(jobs, future.result(), strict=True):
            self._budget.end(job.actor, outcome)
            if isinstance(outcome, Rendered):
                self._snapshots.check(job.actor, outcome.provenance.get("snapshot"))
                painted.append((job, outcome))
            else:
                self._render_failed(job, cast(BackendError, outcome))
        for start in range(0, len(painted), _N_PER_WRITE):
            part = painted[start : start + _N_PER_WRITE]
            written = self._workers.submit(self._album.save, [rendered.picture for _, rendered in part])
            written.add_done_callback(self._report(self._on_written, part))

    def _on_written(self, part: list[tuple[RenderJob, Rendered]], future: Future[list[StoredImage]]) -> None:
        for (job, rendered), image in zip(part, future.result(), strict=True):
            done = job.row(Status.DONE, image_id=image.image_id, provenance=dict(rendered.provenance))
            self._store.put_image(image)
            try:
                self._store.put_render(done)
            except (TypeError, ValueError) as error:
                self._render_failed(job, BackendError(f"its provenance cannot be stored: {error}", is_retryable=False))
                continue
            self.counts["rendered"] += 1
            self._n_painting -= 1
            self._progress.advance("painting")
            del self._rendering[job.key]
            ref = ImageRef(image_id=image.image_id, width=image.width, height=image.height)
            for place in job.places:
                self._place_image(place, ref, rendered.picture)
            self._release(job.places)

    def _render_failed(self, job: RenderJob, error: BackendError) -> None:
        is_refused = isinstance(error, RefusedError)
        status = Status.REFUSED if is_refused else Status.FAILED
        self._store.put_render(job.row(status, error=str(error)))
        self.counts["failed"] += 1
        self._n_painting -= 1
        self._progress.advance("painting")
        del self._rendering[job.key]
        for place in job.places:
            self._place_broken(place, Broken(reason=str(error), is_final=is_refused))
        self._release(job.places)

    def _release(self, places: list[tuple[Unit, int, str]]) -> None:
        for unit, _, _ in places:
            unit.n_pending -= 1
            if unit.n_pending == 0:
                self._proceed(unit)

    def _on_loaded(self, image_id: str, future: Future[Picture]) -> None:
        jobs = [job for job in self._looking.values() if job.image_id == image_id]
        try:
            picture = future.result()
        except StoreError as error:
            # Its renders count as failed from now on, so that the same command paints it again.
            self._store.forget_image(image_id, str(error))
            self.counts["failed"] += 1
            for job in jobs:
                if job.outcome is None:
                    self._answer(job, Broken(reason=str(error), is_final=False))
            return
        if self._desk.loaded(image_id, picture):
            for job in jobs:
                self._queue_if_ready(job)

    def _on_looked(self, looker: Station[LookJob], jobs: list[LookJob], future: Future[Sequence[object]]) -> None:
        looker.n_under_way -= 1
        for job, outcome in zip(jobs, future.result(), strict=True):
            self._budget.end(job.actor, outcome)
            if not isinstance(outcome, BackendError):
                self._snapshots.check(job.actor, outcome.snapshot if isinstance(outcome, Answer | Reading) else None)
                seen = cast(Observation, outcome)
                try:
                    self._store.put_look(job.row(Status.DONE, observation=seen))
                except (TypeError, ValueError) as error:
                    outcome = BackendError(f"what it saw cannot be stored: {error}", is_retryable=False)
                else:
                    self.counts["looked"] += 1
                    self._answer(job, seen)
                    continue
            is_refused = isinstance(outcome, RefusedError)
            status = Status.REFUSED if is_refused else Status.FAILED
            self._store.put_look(job.row(status, error=str(outcome)))
            self.counts["failed"] += 1
            self._answer(job, Broken(reason=str(outcome), is_final=is_refused))
