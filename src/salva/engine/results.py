"""What came back, on its way into the store: images, observations and failures, a row each.

Used by the flow while a run goes on, and for what is still to come when it ends early. One thread's, as the flow is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import cast

from salva.core.image import ImageRef
from salva.core.observation import Answer, Observation, Reading
from salva.core.protocols import Painting, Ticket
from salva.engine.actors import Actor
from salva.engine.snapshots import Snapshots
from salva.engine.units import ObserveJob, RenderJob
from salva.errors import BackendError, DownError, LostError, RefusedError, UnknownError, UnusableError
from salva.judging.waves import Missing
from salva.messages import message
from salva.store.records import Status, StoredImage
from salva.store.sqlite import RunStore


@dataclass(slots=True)
class Sorted:
    """What came back from a generator."""

    painted: list[tuple[RenderJob, Painting]] = field(default_factory=list)
    to_fetch: list[RenderJob] = field(default_factory=list)
    """Paid for, and stored with what fetches them."""
    failed: list[tuple[RenderJob, BackendError]] = field(default_factory=list)
    ended_by: UnusableError | None = None
    """Why the run must end, if it must: another model has answered, or images are where none is fetched from."""


ADDRESS_PRIVATE = "address-private"
"""The code of an image that is not fetched, since its address leads into a network of the user's."""


class Results:
    """The rows of a run's renders and observations, as they come."""

    def __init__(
        self, store: RunStore, drop: Callable[[Actor, object], None], lost: Collection[str] = frozenset()
    ) -> None:
        """drop: told of what came back, and from whom, where it is not kept.

        lost: keys of renders whose images are away, which stay as they are until there are others.
        """
        self._store, self._drop, self._lost = store, drop, lost
        self._snapshots = Snapshots(store)

    def sort(self, jobs: Sequence[RenderJob], outcomes: Sequence[object]) -> Sorted:
        """What was generated, what is still to be fetched, and what failed; tickets are stored."""
        sorted_ = Sorted()
        for job, outcome in zip(jobs, outcomes, strict=True):
            if not isinstance(outcome, Painting | Ticket):
                error = cast(BackendError, outcome)
                sorted_.failed.append((job, error))
                if error.code == ADDRESS_PRIVATE and not job.is_resumed:
                    # The next images would lead there too, and be paid for.
                    sorted_.ended_by = UnusableError(error.args[0])
                continue
            try:
                self._snapshots.check(job.actor, outcome.provenance.get("snapshot"))
            except UnusableError as error:
                sorted_.ended_by = error
                self._drop(job.actor, outcome)
                continue
            if isinstance(outcome, Ticket):
                job.ticket = outcome
                self._store.put_ticket(outcome, job.key, job.actor.component_id)
                sorted_.to_fetch.append(job)
            else:
                sorted_.painted.append((job, outcome))
        return sorted_

    def store_image(self, job: RenderJob, rendered: Painting, image: StoredImage) -> ImageRef | Missing:
        """Store an image whose file is on disk."""
        self._store.put_image(image)
        try:
            row = job.row(Status.DONE, image_id=image.image_id, provenance=dict(rendered.provenance))
            self._store.put_render(row, job.key)
        except (TypeError, ValueError) as error:
            self._drop(job.actor, rendered)
            return self.store_failure(job, _unstorable(job, error))
        return ImageRef(image_id=image.image_id, width=image.width, height=image.height)

    def drop_ticket(self, job: RenderJob) -> None:
        """Give up an image that was paid for."""
        assert job.ticket is not None, "only what was paid for is given up"
        self._drop(job.actor, job.ticket)
        self._store.drop_ticket(job.key)
        job.ticket, job.is_resumed = None, False

    def store_observation(self, job: ObserveJob, outcome: object) -> Observation | Missing:
        """Store what was seen, or that nothing was."""
        if isinstance(outcome, BackendError):
            return self.store_failure(job, outcome)
        try:
            self._snapshots.check(job.actor, outcome.snapshot if isinstance(outcome, Answer | Reading) else None)
            self._store.put_observation(job.row(Status.DONE, observation=cast(Observation, outcome)), job.key)
        except UnusableError:
            self._drop(job.actor, outcome)
            raise
        except (TypeError, ValueError) as error:
            self._drop(job.actor, outcome)
            return self.store_failure(job, _unstorable(job, error))
        return cast(Observation, outcome)

    def store_failure(self, job: RenderJob | ObserveJob, error: BackendError) -> Missing:
        """Store that a piece of work failed; one that failed before and was not asked again stays as it is."""
        if isinstance(error, DownError) and job.failed_before is not None:
            return Missing(reason=f"{job.failed_before} (not asked again: {error})")
        status = _status_of(error)
        if job.key in self._lost and status is Status.ERROR:
            return Missing(reason=str(error))
        if isinstance(job, RenderJob):
            if job.ticket is not None and isinstance(error, LostError):
                self.drop_ticket(job)
            paid = dict(job.ticket.provenance) if job.ticket is not None else {}
            self._store.put_render(job.row(status, error=str(error), provenance=paid), job.key)
        else:
            self._store.put_observation(job.row(status, error=str(error)), job.key)
        return Missing(reason=str(error), is_final=status is Status.REFUSED)


def _status_of(error: BackendError) -> Status:
    if isinstance(error, RefusedError):
        return Status.REFUSED
    return Status.UNKNOWN if isinstance(error, UnknownError) and not error.is_retryable else Status.ERROR


def _unstorable(job: RenderJob | ObserveJob, error: Exception) -> BackendError:
    component = f"the {job.actor.role} {job.actor.label!r}"
    why = message("component-failed", component=component, what="gave what cannot be stored", why=error)
    return BackendError(why, is_retryable=False)
