"""One case under one model while it is worked on: its pictures, its looks, its waves of questions.

Plain state with no threads, no disk and no models; the flow moves it on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from salva.core.blame import described
from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.image import ImageRef
from salva.core.observation import Observation
from salva.core.protocols import Look, Query, RenderRequest, Sight
from salva.engine.actors import Actor
from salva.engine.cast import Hearing
from salva.errors import PluginError, SalvaError
from salva.store.records import Status, StoredLook, StoredRender

_N_WAVES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """Work that did not succeed, and why."""

    reason: str
    is_final: bool
    """Whether trying again needs the user's word (a refusal)."""


@dataclass(slots=True, kw_only=True, eq=False)
class RenderJob:
    """A picture to be painted for one or more places."""

    key: str
    actor: Actor
    request: RenderRequest
    places: list[tuple[Unit, int, str]] = field(default_factory=list)
    """Unit, repeat and prompt role that wait for it."""

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
            formula=self.request.prompt.formula if self.actor.sees_formula else None,
            seed=self.request.seed,
            repeat=self.request.repeat,
            status=status,
            image_id=image_id,
            provenance=provenance or {},
            error=error,
        )


@dataclass(slots=True, kw_only=True, eq=False)
class LookJob:
    """A query about an image, under way or answered."""

    key: str
    actor: Actor
    image_id: str
    query: Query
    given: Mapping[str, LookJob] = field(default_factory=dict)
    outcome: Observation | Broken | None = None
    units: list[Unit] = field(default_factory=list)
    dependents: list[LookJob] = field(default_factory=list)

    def row(self, status: Status, *, observation: Observation | None = None, error: str = "") -> StoredLook:
        """Its inputs and what became of it, as the store keeps them."""
        return StoredLook(
            component_id=self.actor.component_id,
            image_id=self.image_id,
            query=self.query,
            given={need: other.key for need, other in self.given.items()},
            status=status,
            observation=observation,
            error=error,
        )


@dataclass(slots=True, kw_only=True, eq=False)
class Inquiry:
    """One hearing in one repeat: questions in waves until the relation has no more."""

    hearing: Hearing
    repeat: int
    asked: dict[tuple[str, Query], LookJob] = field(default_factory=dict)
    n_waves: int = 0
    is_open: bool = True
    broken: Broken | None = None

    def sight(self, role: str, image: ImageRef) -> Sight | Broken:
        """What the relation's questions about one image were answered with."""
        seen: dict[Query, Observation] = {}
        for (asked_role, query), job in self.asked.items():
            if asked_role == role:
                assert job.outcome is not None
                if isinstance(job.outcome, Broken):
                    return Broken(
                        reason=f"the {query.role} {job.actor.label!r} could not look at image {role!r}: "
                        f"{job.outcome.reason}",
                        is_final=job.outcome.is_final,
                    )
                seen[query] = job.outcome
        return Sight(image=image, seen=seen)


@dataclass(slots=True, kw_only=True, eq=False)
class Unit:
    """One case under one model, all repeats."""

    case: Case
    model: Actor
    repeats: int
    inquiries: list[Inquiry]
    images: dict[tuple[int, str], ImageRef | Broken] = field(default_factory=dict)
    n_pending: int = 0
    is_unpainted: bool = False
    """Whether a picture is missing that nobody will paint now."""

    @classmethod
    def of(cls, case: Case, model: Actor, repeats: int, hearings: list[Hearing]) -> Unit:
        """A unit at its beginning."""
        inquiries = [Inquiry(hearing=hearing, repeat=repeat) for repeat in range(repeats) for hearing in hearings]
        return cls(case=case, model=model, repeats=repeats, inquiries=inquiries)

    def n_looks(self) -> int:
        """How many different looks its verdicts rest on."""
        return len({job.key for inquiry in self.inquiries for job in inquiry.asked.values()})

    def sights(self, inquiry: Inquiry) -> dict[str, Sight] | Broken:
        """What an inquiry's relation sees, or the first thing that broke."""
        sights = {}
        for prompt in self.case.prompts:
            sight = self.sight(inquiry, prompt.role)
            if isinstance(sight, Broken):
                return sight
            sights[prompt.role] = sight
        return sights

    def sight(self, inquiry: Inquiry, role: str) -> Sight | Broken:
        """What an inquiry's relation sees of one prompt's image."""
        image = self.images[inquiry.repeat, role]
        if isinstance(image, Broken):
            return Broken(reason=f"image {role!r} was not painted: {image.reason}", is_final=image.is_final)
        return inquiry.sight(role, image)

    def next_questions(self) -> Iterator[tuple[Inquiry, Look, ImageRef]]:
        """The next wave: what each open inquiry wants to know now; those with no more are closed."""
        for inquiry in self.inquiries:
            if inquiry.is_open:
                looks = self._next_looks(inquiry)
                inquiry.is_open = bool(looks)
                for look in looks:
                    image = self.images[inquiry.repeat, look.role]
                    assert isinstance(image, ImageRef)
                    yield inquiry, look, image

    def _next_looks(self, inquiry: Inquiry) -> list[Look]:
        sights = self.sights(inquiry)
        if isinstance(sights, Broken):
            inquiry.broken = sights
            return []
        inquiry.n_waves += 1
        part, voices = inquiry.hearing.part, inquiry.hearing.voices
        try:
            looks = part.relation.looks(self.case, voices.keys(), sights)
        except SalvaError:
            raise
        except Exception as error:
            inquiry.broken = Broken(reason=f"the relation {part.label!r} failed: {described(error)}", is_final=False)
            return []
        new = [look for look in looks if (look.role, look.query) not in inquiry.asked]
        for look in new:
            if look.query.role not in voices or look.role not in sights:
                raise PluginError(f"the relation {part.label!r} asks for {look!r}, which this run cannot answer")
        if new and inquiry.n_waves > _N_WAVES:
            raise PluginError(
                f"the relation {part.label!r} still has questions after {_N_WAVES} waves; it must come to an end"
            )
        return new
