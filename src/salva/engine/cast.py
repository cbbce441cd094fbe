"""Who plays which role in a run: generators, perceivers and relations, resolved and labelled.

Two components that would be called the same get labels that tell them apart, so that verdicts of
a detector at two thresholds stand side by side. Loads no weights.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from salva.core.about import About, Naming
from salva.core.blame import blaming
from salva.core.case import Case
from salva.core.image import ImageRef
from salva.core.protocols import Look, Relation, Sight
from salva.core.spec import Binding, RunSpec
from salva.core.verdict import Observers
from salva.engine.actors import Actor
from salva.engine.guard import build
from salva.errors import PluginError, UsageError
from salva.judging.rates import named_in
from salva.judging.waves import Waves

ROLE_ORDER = ("detector", "reader", "embedder", "judge")
DETECTOR = "detector"
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
    unnamed: tuple[str, ...] = ()
    """What it is about and its detector has no name for; nobody can tell then, whatever is painted."""
    unread: str = ""
    """Why one it needs has nothing to reason from; nobody can tell then either."""

    @property
    def undecidable(self) -> str:
        """Why nobody here can tell, whatever is painted; empty where somebody may."""
        if self.unnamed:
            return f"the detector {self.perceivers[DETECTOR].label!r} cannot name {', '.join(self.unnamed)}"
        return self.unread

    def waves(self, case: Case) -> Waves:
        """Its waves of questions over one set of images, at their beginning."""
        return Waves(
            case=case,
            relation=self.part.relation,
            label=self.part.label,
            roles=self.perceivers.keys(),
            first_looks=self.first_looks,
            undecidable=self.undecidable,
            takes_gaps=self.part.about.takes_gaps,
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
    names: frozenset[str] | None = None
    """What the detector can name; None where it takes any word, or nobody knows."""
    chosen: str = ""
    """The relation that the user asked for by name: a case's ways do not keep it out."""

    @classmethod
    def of(
        cls,
        spec: RunSpec,
        models: Sequence[Actor] = (),
        labels: Mapping[tuple[str, str], str] | None = None,
        names: frozenset[str] | None = None,
    ) -> Cast:
        """The cast of a specification.

        models: generators known from elsewhere. labels: other labels, by role and name. names: what the detector can
        name.
        """
        renamed = labels or {}

        def label(binding: Binding) -> str:
            return renamed.get((binding.role, binding.label), binding.label)

        alone = (spec.detector, spec.reader, spec.embedder, spec.colourist, spec.lookout)
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
            names=names,
            chosen=spec.headline,
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
        allowed = {name for way in case.ways for name in way} | {self.chosen}
        applied: list[AppliedRelation] = []
        for part in self.relations:
            if case.ways and part.label not in allowed:
                continue
            with blaming(f"the relation {part.label!r}", f"broke on case {case.case_id!r}"):
                applied += self._applied(part, case)
        return self._best_way(case.ways, applied) if case.ways else applied

    def _best_way(self, ways: Iterable[Collection[str]], applied: Sequence[AppliedRelation]) -> list[AppliedRelation]:
        """What is judged by the first way on which anybody may tell, or else by the first one there is."""
        groups = [[relation for relation in applied if relation.part.label in {*way, self.chosen}] for way in ways]
        there = [group for group in groups if group]
        return next((group for group in there if not all(relation.undecidable for relation in group)), [*there, []][0])

    def _applied(self, part: RelationPart, case: Case) -> Iterator[AppliedRelation]:
        if not part.relation.applies(case):
            return
        for perceivers in self.perceivers:
            if any(role not in perceivers for role in part.about.needs):
                continue
            needed = _with_all_needs(part.about.needs, perceivers)
            looks = _first_looks(part, case, perceivers)
            unnamed = self._unnamed(looks, perceivers)
            if unnamed and DETECTOR not in needed:
                # Boxes that only help are left out where the detector has no name for what they would be of.
                perceivers = _without(DETECTOR, perceivers)
                looks, unnamed = _first_looks(part, case, perceivers), ()
            asked = needed | _with_all_needs((look.query.role for look in looks), perceivers)
            yield AppliedRelation(
                part=part,
                perceivers=perceivers,
                observers=tuple(perceivers[role].label for role in ROLE_ORDER if role in asked),
                first_looks=looks,
                unnamed=unnamed,
                unread=_without_formulas(looks, needed, perceivers) or _without_words(looks, needed, perceivers),
            )
            if "judge" not in asked:
                return

    def _unnamed(self, looks: Iterable[Look], perceivers: Perceivers) -> tuple[str, ...]:
        """What looks that go by boxes are about and the detector has no name for."""
        if self.names is None:
            return ()
        by_boxes = {role for role in perceivers if DETECTOR in with_needs(role, perceivers)}
        queries = [look.query for look in looks if look.query.role in by_boxes]
        things = {thing for query in queries for thing in (*query.labels, *named_in(query.formulas))}
        return tuple(sorted(things - self.names))


def _first_looks(part: RelationPart, case: Case, perceivers: Perceivers) -> tuple[Look, ...]:
    blank = {prompt.role: Sight(image=_NO_IMAGE) for prompt in case.prompts}
    looks = tuple(part.relation.looks(case, perceivers.keys(), blank))
    for role in {look.query.role for look in looks} - perceivers.keys():
        raise PluginError(f"the relation {part.label!r} asks a {role}, but this run has none")
    return looks


def _without_formulas(looks: Iterable[Look], needed: Collection[str], perceivers: Perceivers) -> str:
    """Why one who reasons from formulas can say nothing here; empty where it is given some, or is not needed."""
    for role in needed:
        asked = [look.query for look in looks if look.query.role == role]
        if asked and perceivers[role].about.needs_formulas and not any(query.formulas for query in asked):
            return f"the {role} {perceivers[role].label!r} reasons from formulas, and these texts have none"
    return ""


def _without_words(looks: Iterable[Look], needed: Collection[str], perceivers: Perceivers) -> str:
    """Why a detector that looks for the words it is given finds nothing here; empty where it is given some."""
    if DETECTOR not in needed or perceivers[DETECTOR].about.names is not Naming.ASKED:
        return ""
    asked = [look.query for look in looks if look.query.role == DETECTOR]
    if not asked or any(query.labels for query in asked):
        return ""
    return f"the detector {perceivers[DETECTOR].label!r} looks for words it is given, and these texts have no formula"


def _with_all_needs(roles: Iterable[str], perceivers: Perceivers) -> set[str]:
    return {needed for role in roles for needed in with_needs(role, perceivers)}


def _without(role: str, perceivers: Perceivers) -> Perceivers:
    """The perceivers who can do without one of them."""
    return {other: actor for other, actor in perceivers.items() if role not in with_needs(other, perceivers)}


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
