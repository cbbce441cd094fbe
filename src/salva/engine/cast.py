"""Who plays which role in a run: generators, perceivers and relations, resolved and labelled.

Two components that would be called the same get labels that tell them apart, so that verdicts of
a detector at two thresholds stand side by side. Loads no weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from salva.core.blame import described
from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.image import ImageRef
from salva.core.protocols import Look, Relation, Sight
from salva.core.spec import Binding, RunSpec
from salva.engine.actors import Actor
from salva.engine.guard import build
from salva.errors import PluginError, SalvaError, UsageError

ROLE_ORDER = ("detector", "reader", "embedder", "judge")
_NO_IMAGE = ImageRef(image_id="", width=0, height=0)

Voices = Mapping[str, Actor]
"""Role to the perceiver that plays it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationPart:
    """A relation as this run judges it."""

    label: str
    relation: Relation
    identity: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """One relation over one case, heard by one set of perceivers: what every repeat of it shares."""

    part: RelationPart
    voices: Voices
    observers: str
    first_looks: tuple[Look, ...]
    """What it asks before anything was seen; the same for every repeat and model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """Everyone a run needs."""

    models: tuple[Actor, ...]
    voices: tuple[Voices, ...]
    """One set of perceivers per judge; a single set when there is none."""
    relations: tuple[RelationPart, ...]
    repeats: int
    seed: int
    control: bool

    @classmethod
    def of(
        cls, spec: RunSpec, models: Sequence[Actor] = (), labels: Mapping[tuple[str, str], str] | None = None
    ) -> Cast:
        """The cast of a specification.

        models: generators known from elsewhere. labels: other labels, by role and name.
        """
        renamed = labels or {}

        def label(binding: Binding) -> str:
            return renamed.get((binding.role, binding.label), binding.label)

        singles = {b.role: Actor.of(b, label(b)) for b in (spec.detector, spec.reader, spec.embedder) if b is not None}
        judges = [Actor.of(binding, label(binding)) for binding in spec.judges]
        voices: list[Voices] = [{**singles, "judge": judge} for judge in judges] or [singles]
        relations = tuple(
            RelationPart(label=label(b), relation=cast(Relation, build(b)), identity=b.identity())
            for b in spec.relations
        )
        actors = tuple(models) or tuple(Actor.of(binding) for binding in spec.models)
        made = cls(
            models=actors,
            voices=tuple(voices),
            relations=relations,
            repeats=spec.repeats,
            seed=spec.seed,
            control=spec.control and spec.repeats >= 2,
        )
        _refuse_doubles("model", [actor.label for actor in actors])
        _refuse_doubles("judge", [actor.label for actor in judges])
        for mapping in voices:
            for role in mapping:
                _with_needs(role, mapping)
        return made

    def actors(self) -> list[Actor]:
        """Every component whose work is stored."""
        perceivers = {actor.component_id: actor for voices in self.voices for actor in voices.values()}
        return [*self.models, *perceivers.values()]

    def hearings(self, case: Case) -> list[Hearing]:
        """Every relation this case is judged by, once per judge where a judge has a say."""
        hearings: list[Hearing] = []
        for part in self.relations:
            try:
                hearings += self._hearings_of(part, case)
            except SalvaError:
                raise
            except Exception as error:
                raise PluginError(
                    f"the relation {part.label!r} broke on case {case.case_id!r}: {described(error)}"
                ) from error
        return hearings

    def _hearings_of(self, part: RelationPart, case: Case) -> Iterator[Hearing]:
        if not part.relation.applies(case):
            return
        blank = {prompt.role: Sight(image=_NO_IMAGE) for prompt in case.prompts}
        for voices in self.voices:
            if any(role not in voices for role in part.relation.needs):
                continue
            looks = tuple(part.relation.looks(case, voices.keys(), blank))
            roles = {*part.relation.needs, *(look.query.role for look in looks)}
            for role in roles - voices.keys():
                raise PluginError(f"the relation {part.label!r} asks a {role}, but this run has none")
            heard = {needed for role in roles for needed in _with_needs(role, voices)}
            names = "+".join(voices[role].label for role in ROLE_ORDER if role in heard)
            yield Hearing(part=part, voices=voices, observers=names, first_looks=looks)
            if "judge" not in heard:
                return


def _with_needs(role: str, voices: Voices, above: tuple[str, ...] = ()) -> Iterable[str]:
    """A role and all that must look before it."""
    actor = voices[role]
    found = {role}
    for need in actor.needs:
        if need in (*above, role):
            raise PluginError(f"the {role} {actor.label!r} needs a {need}, which needs a {role}: nobody can begin")
        if need not in voices:
            raise UsageError(f"the {role} {actor.label!r} needs a {need}; name one with --{need}")
        found.update(_with_needs(need, voices, (*above, role)))
    return found


def _refuse_doubles(role: str, labels: Sequence[str]) -> None:
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(f"the {role} {label!r} is named twice; name it once")
