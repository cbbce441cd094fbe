"""Who plays which role in a run: generators, perceivers and relations, resolved and labelled.

Two components that would be called the same get labels that tell them apart, so that verdicts of
a detector at two thresholds stand side by side. Loads no weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from salva.core.about import About
from salva.core.blame import blaming
from salva.core.case import Case
from salva.core.image import ImageRef
from salva.core.protocols import Look, Relation, Sight
from salva.core.spec import Binding, RunSpec
from salva.core.verdict import Observers
from salva.engine.actors import Actor
from salva.engine.guard import build
from salva.errors import PluginError, UsageError
from salva.judging.waves import Waves

ROLE_ORDER = ("detector", "reader", "embedder", "judge")
_NO_IMAGE = ImageRef(image_id="", width=0, height=0)

Perceivers = Mapping[str, Actor]
"""Role to the perceiver that plays it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationPart:
    """A relation as this run judges it."""

    label: str
    relation: Relation
    about: About


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedRelation:
    """One relation over one case and one set of perceivers: what every repeat and model shares."""

    part: RelationPart
    perceivers: Perceivers
    observers: Observers
    first_looks: tuple[Look, ...]
    """What it asks before anything was seen."""

    def waves(self, case: Case) -> Waves:
        """Its waves of questions over one set of images, at their beginning."""
        return Waves(
            case=case,
            relation=self.part.relation,
            label=self.part.label,
            roles=self.perceivers.keys(),
            first_looks=self.first_looks,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """Everyone a run needs."""

    models: tuple[Actor, ...]
    perceivers: tuple[Perceivers, ...]
    """One set per judge; a single set when there is none."""
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

        alone = (spec.detector, spec.reader, spec.embedder, spec.colourist)
        singles = {b.role: Actor.of(b, label(b)) for b in alone if b is not None}
        judges = [Actor.of(binding, label(binding)) for binding in spec.judges]
        perceivers: list[Perceivers] = [{**singles, "judge": judge} for judge in judges] or [singles]
        relations = tuple(
            RelationPart(label=label(b), relation=cast(Relation, build(b)), about=b.about) for b in spec.relations
        )
        actors = tuple(models) or tuple(Actor.of(binding) for binding in spec.models)
        made = cls(
            models=actors,
            perceivers=tuple(perceivers),
            relations=relations,
            repeats=spec.repeats,
            seed=spec.seed,
            control=spec.control and spec.repeats >= 2,
        )
        _refuse_doubles("model", [actor.label for actor in actors])
        _refuse_doubles("judge", [actor.label for actor in judges])
        for by_role in perceivers:
            for role in by_role:
                with_needs(role, by_role)
        return made

    def actors(self) -> list[Actor]:
        """Every component whose work is stored."""
        by_id = {actor.component_id: actor for by_role in self.perceivers for actor in by_role.values()}
        return [*self.models, *by_id.values()]

    def relations_of(self, case: Case) -> list[AppliedRelation]:
        """Every relation this case is judged by, once per judge where a judge has a say."""
        applied: list[AppliedRelation] = []
        for part in self.relations:
            with blaming(f"the relation {part.label!r}", f"broke on case {case.case_id!r}"):
                applied += self._applied(part, case)
        return applied

    def _applied(self, part: RelationPart, case: Case) -> Iterator[AppliedRelation]:
        if not part.relation.applies(case):
            return
        blank = {prompt.role: Sight(image=_NO_IMAGE) for prompt in case.prompts}
        for perceivers in self.perceivers:
            if any(role not in perceivers for role in part.about.needs):
                continue
            looks = tuple(part.relation.looks(case, perceivers.keys(), blank))
            roles = {*part.about.needs, *(look.query.role for look in looks)}
            for role in roles - perceivers.keys():
                raise PluginError(f"the relation {part.label!r} asks a {role}, but this run has none")
            asked = {needed for role in roles for needed in with_needs(role, perceivers)}
            names = tuple(perceivers[role].label for role in ROLE_ORDER if role in asked)
            yield AppliedRelation(part=part, perceivers=perceivers, observers=names, first_looks=looks)
            if "judge" not in asked:
                return


def with_needs(role: str, perceivers: Perceivers) -> list[str]:
    """A role after all that must look before it, each after its own needs."""
    ordered: dict[str, None] = {}
    path = [role]
    while path:
        asked, actor = path[-1], perceivers[path[-1]]
        need = next((need for need in actor.about.needs if need not in ordered), None)
        if need is None:
            ordered[path.pop()] = None
        elif need in path:
            raise PluginError(f"the {asked} {actor.label!r} needs a {need}, which needs a {asked}: nobody can begin")
        elif need not in perceivers:
            raise UsageError(f"the {asked} {actor.label!r} needs a {need}; name one with --{need}")
        else:
            path.append(need)
    return list(ordered)


def _refuse_doubles(role: str, labels: Sequence[str]) -> None:
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(f"the {role} {label!r} is named twice; name it once")
