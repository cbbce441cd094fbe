"""One case under one model: what its checks ask, and the jobs that it waits for.

Plain state with no threads, no disk and no models; the flow moves it on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.image import ImageRef, Picture
from salva.core.observation import Observation
from salva.core.protocols import Need, Query, RenderRequest, Ticket
from salva.engine.actors import Actor
from salva.engine.run_components import ActorsByRole, AppliedCheck
from salva.judging.waves import Missing, Waves
from salva.store.records import Status, StoredObservation, StoredRender


class Deferred:
    """What becomes of work that is left for another day, because a limit was reached before it."""


DEFERRED = Deferred()


class ImageSlot(NamedTuple):
    """Where an image goes."""

    unit: Unit
    repeat: int
    role: str
    """The prompt's."""


class PreflightObservation(NamedTuple):
    """A question about an image of ours, asked before those about cases."""

    actors_by_role: ActorsByRole
    picture: Picture
    query: Query


class Subscriber(NamedTuple):
    """Who waits for an observation."""

    unit: Unit
    waves: Waves
    look: Need


@dataclass(slots=True, kw_only=True, eq=False)
class RenderJob:
    """An image to be generated for one or more slots."""

    key: str
    actor: Actor
    request: RenderRequest
    failed_before: str | None = None
    """Why it failed when an earlier command asked for it; None where it did not."""
    ticket: Ticket | None = None
    """What fetches the image; None while it is not paid for."""
    slots: list[ImageSlot] = field(default_factory=list)
    is_resumed: bool = field(init=False)
    """Whether its ticket is of an earlier command."""

    def __post_init__(self) -> None:
        self.is_resumed = self.ticket is not None

    def row(
        self,
        status: Status,
        *,
        image_id: str | None = None,
        provenance: Mapping[str, Json] | None = None,
        error: str = "",
    ) -> StoredRender:
        """Its inputs and what became of it, as the store keeps them."""
        return StoredRender(
            component_id=self.actor.component_id,
            text=self.request.prompt.text,
            formula=self.request.prompt.formula if self.actor.about.sees_formula else None,
            seed=self.request.seed,
            repeat=self.request.repeat,
            status=status,
            image_id=image_id,
            provenance=provenance or {},
            error=error,
            passes_over=self.request.prompt.passes_over,
        )


@dataclass(slots=True, kw_only=True, eq=False)
class ObserveJob:
    """A query about an image, under way or answered."""

    key: str
    actor: Actor
    image_id: str
    query: Query
    given: Mapping[str, ObserveJob] = field(default_factory=dict)
    """The observations it must be told the answers of."""
    failed_before: str | None = None
    """Why it failed when an earlier command asked for it; None where it did not."""
    is_queued: bool = False
    """Whether its observer has it, or will."""
    outcome: Observation | Missing | Deferred | None = None
    subscribers: list[Subscriber] = field(default_factory=list)
    dependents: list[ObserveJob] = field(default_factory=list)
    """The observations that must be told its answer."""

    def tell(self, subscriber: Subscriber) -> None:
        """Hand its outcome to one who asked."""
        assert self.outcome is not None
        if isinstance(self.outcome, Deferred):
            subscriber.unit.is_deferred = True
        elif isinstance(self.outcome, Missing):
            reason = (
                f"the {self.query.role} {self.actor.label!r} could not observe image {subscriber.look.role!r}: "
                f"{self.outcome.reason}"
            )
            subscriber.waves.answer(subscriber.look, Missing(reason=reason, is_final=self.outcome.is_final))
        else:
            subscriber.waves.answer(subscriber.look, self.outcome)

    def row(self, status: Status, *, observation: Observation | None = None, error: str = "") -> StoredObservation:
        """Its inputs and what became of it, as the store keeps them."""
        return StoredObservation(
            component_id=self.actor.component_id,
            image_id=self.image_id,
            query=self.query,
            given={need: other.key for need, other in self.given.items()},
            status=status,
            observation=observation,
            error=error,
        )


@dataclass(slots=True, kw_only=True, eq=False)
class Unit:
    """One case under one model, all repeats."""

    case: Case
    model: Actor
    repeats: int
    checks: Sequence[tuple[AppliedCheck, Sequence[Waves]]]
    """Each check with its waves, one a repeat."""
    observation_keys: set[str] = field(default_factory=set)
    """The different observations its verdicts rest on."""
    n_pending: int = 0
    """Images and answers it waits for."""
    is_deferred: bool = False
    """Whether something is missing that nobody will generate or observe now."""

    @classmethod
    def of(cls, case: Case, model: Actor, repeats: int, checks: Sequence[AppliedCheck]) -> Unit:
        """A unit at its beginning."""
        waves = [(applied, [applied.waves(case) for _ in range(repeats)]) for applied in checks]
        return cls(case=case, model=model, repeats=repeats, checks=waves)

    @property
    def is_undecidable(self) -> bool:
        """Whether no image could tell any of its checks anything."""
        return all(applied.undecidable for applied, _ in self.checks)

    def first_observers(self) -> Iterator[Actor]:
        """Who will be asked first."""
        for applied, _ in self.checks:
            for look in applied.first_observations:
                yield applied.actors_by_role[look.query.role]

    def actors_by_role(self) -> Iterator[Actor]:
        """Everyone its verdicts rest on."""
        for applied, _ in self.checks:
            yield from (applied.actors_by_role[role] for role in applied.roles)

    def show(self, repeat: int, role: str, image: ImageRef | Missing) -> Iterator[tuple[ActorsByRole, Subscriber]]:
        """Put an image in its slot; what is asked about it at once, and of whom."""
        for applied, waves in self.checks:
            for look in waves[repeat].show(role, image):
                yield applied.actors_by_role, Subscriber(self, waves[repeat], look)

    def next_needs(self) -> Iterator[tuple[ActorsByRole, Subscriber]]:
        """The next wave of every check in every repeat; none when all have asked their last."""
        for repeat in range(self.repeats):
            for applied, waves in self.checks:
                for look in waves[repeat].next_needs():
                    yield applied.actors_by_role, Subscriber(self, waves[repeat], look)
