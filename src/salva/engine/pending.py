"""Pending observations: found in the store, under way already, or new.

An observation may have to be told what others saw in the same image; it is handed out only when their answers and its
image are here. Belongs to the flow's one thread.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from typing import cast

from salva.core.image import ImageRef, Picture, bytes_of_size
from salva.core.observation import Answer, Observation, Reading
from salva.core.protocols import ObserveOrder, Query
from salva.engine.actors import Actor
from salva.engine.image_buffer import ImageBuffer
from salva.engine.run_components import ActorsByRole, with_needs
from salva.engine.units import DEFERRED, Deferred, ObserveJob, Subscriber
from salva.judging.waves import Missing
from salva.store.records import FAILED, Status
from salva.store.sqlite import RunStore


class PendingObservations:
    """Every observation under way, and the images they are about."""

    def __init__(
        self, store: RunStore, retried: Mapping[Status, bool] | None = None, *, retry_unreadable: bool = False
    ) -> None:
        """retried: whether what ended so is asked again, where the user decides that."""
        self.buffer = ImageBuffer()
        self.changed: deque[ObserveJob] = deque()
        """Observations that are new, or whose image or answers have come: they may be ready now."""
        self.unasked: Counter[str] = Counter()
        """PendingObservations that only somebody could make who may not be asked, by who it is."""
        self._store, self._retry_unreadable = store, retry_unreadable
        self._retried = {Status.REFUSED: False, Status.UNKNOWN: False, **(retried or {})}
        self._under_way: dict[str, ObserveJob] = {}

    def find(self, actors_by_role: ActorsByRole, image: ImageRef, query: Query) -> ObserveJob:
        """The job of an observation, with all that must be observed before it."""
        if not actors_by_role[query.role].about.needs_roles:
            return self._job(actors_by_role[query.role], image, query, {})
        jobs: dict[str, ObserveJob] = {}
        for role in with_needs(query.role, actors_by_role):
            actor = actors_by_role[role]
            asked = query if role == query.role else Query(role=role, labels=query.labels)
            jobs[role] = self._job(actor, image, asked, {need: jobs[need] for need in actor.about.needs_roles})
        return jobs[query.role]

    def _job(self, actor: Actor, image: ImageRef, query: Query, given: Mapping[str, ObserveJob]) -> ObserveJob:
        keyed = actor.keyed_query(query)
        key = actor.observation_key(image.image_id, keyed, {need: job.key for need, job in given.items()})
        if key in self._under_way:
            return self._under_way[key]
        job = ObserveJob(key=key, actor=actor, image_id=image.image_id, query=keyed, given=given)
        status, observation, error = self._store.observation_outcome(key) or (None, None, "")
        if status is Status.DONE and observation is not None and not self._is_asked_again(observation):
            job.outcome = observation
        elif status is not None and not self._retried.get(status, True):
            job.outcome = Missing(reason=error, is_final=status is Status.REFUSED)
        elif not actor.is_usable:
            self.unasked[f"{actor.role} {actor.label}"] += 1
            job.outcome = Missing(reason=error) if status in FAILED else DEFERRED
        else:
            job.failed_before = error if status in FAILED else None
            self._under_way[key] = job
            self.buffer.want(image.image_id, bytes_of_size(image.width, image.height))
            for other in given.values():
                if other.outcome is None:
                    other.dependents.append(job)
            self.changed.append(job)
        return job

    def _is_asked_again(self, observation: Observation) -> bool:
        """Whether it is a reply that nobody could read, and the user wants another."""
        return self._retry_unreadable and isinstance(observation, Answer | Reading) and bool(observation.problem)

    def problem_of(self, job: ObserveJob) -> Missing | Deferred | None:
        """Why an observation cannot be made: one that it needs has no answer."""
        outcomes = (other.outcome for other in job.given.values())
        return next((outcome for outcome in outcomes if isinstance(outcome, Missing | Deferred)), None)

    def is_ready(self, job: ObserveJob) -> bool:
        """Whether its image is here and all it must be told is known."""
        is_told = all(other.outcome is not None for other in job.given.values())
        return is_told and self.buffer.picture_of(job.image_id) is not None

    def order_of(self, job: ObserveJob) -> ObserveOrder:
        """What its lane is asked; for an observation that is ready."""
        picture = self.buffer.picture_of(job.image_id)
        assert picture is not None
        given = {need: cast(Observation, other.outcome) for need, other in job.given.items()}
        return ObserveOrder(picture=picture, query=job.query, given=given, failed_before=job.failed_before is not None)

    def answer(self, job: ObserveJob, outcome: Observation | Missing | Deferred) -> list[Subscriber]:
        """Finish an observation; the subscribers that waited for it, each notified."""
        job.outcome = outcome
        del self._under_way[job.key]
        self.buffer.release(job.image_id, 1)
        # An answered job may live on as what others were told; pointing back it would only be freed by chance.
        dependents, job.dependents = job.dependents, []
        subscribers, job.subscribers = job.subscribers, []
        self.changed.extend(dependents)
        for subscriber in subscribers:
            job.tell(subscriber)
        return subscribers

    def at(self, image_id: str) -> list[ObserveJob]:
        """The observations under way at an image."""
        return [job for job in self._under_way.values() if job.image_id == image_id]

    def arrived(self, image_id: str, picture: Picture) -> None:
        """An image was loaded."""
        if self.buffer.loaded(image_id, picture):
            self.changed.extend(self.at(image_id))
