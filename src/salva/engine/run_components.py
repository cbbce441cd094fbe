"""Components by role: generators, actors_by_role and checks, resolved and labelled.

Two components that would be called the same get labels that tell them apart, so that verdicts of
a detector at two thresholds stand side by side. Loads no weights.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from salva.core.about import About, Naming
from salva.core.case import Case
from salva.core.foreign_errors import plugin_errors
from salva.core.image import ImageRef
from salva.core.plan import Around, Binding, Plan
from salva.core.protocols import Check, ImageObservations, Need
from salva.core.verdict import NO_TEXT, OPTICAL_CHARACTER, Observers
from salva.engine.actors import Actor
from salva.engine.guard import build
from salva.errors import PluginError, UsageError
from salva.judging.waves import Waves
from salva.messages import message
from salva.registry import BUILT_IN
from salva.results.rates import named_in

ROLE_ORDER = ("detector", "reader", "embedder", "judge")
DETECTOR = "detector"
_NO_IMAGE = ImageRef(image_id="", width=0, height=0)

ActorsByRole = Mapping[str, Actor]
"""Role to the observer that plays it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPart:
    """A check as this run judges it."""

    label: str
    check: Check
    about: About
    is_foreign: bool = False
    """Whether a plugin brings it; it then judges every case that it applies to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedCheck:
    """One check over one case and one set of actors_by_role: what every repeat and model shares."""

    part: CheckPart
    actors_by_role: ActorsByRole
    roles: tuple[str, ...]
    """Of the observers that its verdicts rest on."""
    first_observations: tuple[Need, ...]
    """What it asks before anything was seen."""
    unnamed: tuple[str, ...] = ()
    """What it is about and its detector has no name for; nobody can tell then, whatever is generated."""
    left_out: tuple[str, ...] = ()
    """What its detector has no name for, and it does without."""
    unread: str = ""
    """Why one it needs has nothing to reason from; nobody can tell then either."""

    @property
    def observers(self) -> Observers:
        """Who its verdicts rest on."""
        return tuple(self.actors_by_role[role].label for role in self.roles)

    @property
    def asks_judge(self) -> bool:
        """Whether it costs answers of a judge."""
        return "judge" in {*self.part.about.needs_roles, *(need.query.role for need in self.first_observations)}

    @property
    def undecidable(self) -> str:
        """Why nobody here can tell, whatever is generated; empty where somebody may."""
        if self.unnamed:
            return f"the detector {self.actors_by_role[DETECTOR].label!r} cannot name {', '.join(self.unnamed)}"
        return self.unread

    def waves(self, case: Case) -> Waves:
        """Its waves of questions over one set of images, at their beginning."""
        return Waves(
            case=case.without_entities(self.left_out) if self.left_out else case,
            check=self.part.check,
            label=self.part.label,
            roles=self.actors_by_role.keys(),
            first_observations=self.first_observations,
            undecidable=self.undecidable,
            takes_gaps=self.part.about.takes_gaps,
        )


class Selection(NamedTuple):
    """The checks of one case in a run."""

    primary: str
    checks: list[AppliedCheck]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """Everyone a run needs."""

    models: tuple[Actor, ...]
    actors_by_role: tuple[ActorsByRole, ...]
    """One set per judge; a single set when there is none."""
    checks: tuple[CheckPart, ...]
    repeats: int
    seed: int
    control: bool
    names: frozenset[str] | None = None
    """What the detector can name; None where it takes any word, or nobody knows."""
    chosen: str = ""
    """The check that makes every result; empty for the primary check of each case."""
    vetoes: tuple[str, ...] = ()
    """Checks whose FAIL fails a case; none where one check makes every result."""

    @classmethod
    def of(
        cls,
        plan: Plan,
        models: Sequence[Actor] = (),
        labels: Mapping[tuple[str, str], str] | None = None,
        names: frozenset[str] | None = None,
    ) -> Cast:
        """The cast of a plan.

        models: generators known from elsewhere. labels: other labels, by role and name. names: what the detector can
        name.
        """
        users = (*(() if models else plan.models), *plan.observers())
        if any(isinstance(user.component, Around) or hasattr(user.component, "key_use") for user in users):
            from salva.engine.keys import check_keys

            check_keys(users)
        renamed = labels or {}

        def label(binding: Binding) -> str:
            return renamed.get((binding.role, binding.label), binding.label)

        alone = (plan.detector, plan.reader, plan.embedder, plan.colour_reader)
        singles = {b.role: Actor.of(b, label(b)) for b in alone if b is not None}
        judges = [Actor.of(binding, label(binding)) for binding in plan.judges]
        actors_by_role: list[ActorsByRole] = [{**singles, "judge": judge} for judge in judges] or [singles]
        checks = tuple(
            CheckPart(
                label=label(b),
                check=cast(Check, build(b)),
                about=b.about,
                is_foreign=b.label not in BUILT_IN["check"],
            )
            for b in plan.checks
        )
        actors = tuple(models) or tuple(Actor.of(binding) for binding in plan.models)
        made = cls(
            models=actors,
            actors_by_role=tuple(actors_by_role),
            checks=checks,
            repeats=plan.spec.repeats,
            seed=plan.spec.seed,
            control=plan.spec.control and plan.spec.repeats >= 2,
            names=names,
            chosen=plan.spec.check,
            vetoes=plan.suite.about.vetoes if plan.spec.rule.is_primary else (),
        )
        _refuse_doubles("model", [actor.label for actor in actors])
        _refuse_doubles("judge", [actor.label for actor in judges])
        for by_role in actors_by_role:
            for role in by_role:
                with_needs(role, by_role)
        return made

    def actors(self) -> list[Actor]:
        """Every component whose work is stored."""
        by_id = {actor.component_id: actor for by_role in self.actors_by_role for actor in by_role.values()}
        return [*self.models, *by_id.values()]

    def checks_of(self, case: Case) -> list[AppliedCheck]:
        """Every check this case is judged by, its primary check first; once per judge where it asks one."""
        return self.selection(case).checks

    def primary_of(self, case: Case) -> str:
        """The check that makes the result of a case unless the run asks for another; empty without one."""
        return self.selection(case).primary

    def selection(self, case: Case) -> Selection:
        """The checks of a case, and which of them is primary.

        That is the first one that is bound and can decide; where none can, the first one that is bound. Plugins' checks
        come last. Where the check that makes the result does not apply, or cannot decide, only checks that may fail
        the case besides are judged: images for metrics alone are not worth their price.
        """
        parts = {part.label: part for part in self.checks}
        applied: dict[str, list[AppliedCheck]] = {}

        def judged_by(name: str) -> list[AppliedCheck]:
            if name not in applied:
                applied[name] = self._over(parts[name], case) if name in parts else []
            return applied[name]

        foreign = [part.label for part in self.checks if part.is_foreign]
        bound = [name for name in (*case.checks, *foreign) if judged_by(name)]
        able = (name for name in bound if any(not check.undecidable for check in judged_by(name)))
        primary = next(able, bound[0] if bound else "")
        own = self.chosen or primary
        reads_text = own in parts and OPTICAL_CHARACTER in parts[own].about.failure_types
        vetoes = [name for name in self.vetoes if name != NO_TEXT or not reads_text]
        names = [primary, *case.measures, *vetoes, *foreign]
        if self.chosen:
            asks_judge = any(check.asks_judge for check in judged_by(self.chosen))
            # What the run did not ask for is measured too, unless it costs answers that the chosen check does not ask.
            others = [n for n in names if asks_judge or not any(check.asks_judge for check in judged_by(n))]
            names = [self.chosen, *others]
        if all(check.undecidable for check in judged_by(own)):
            # Text alone is not worth an image.
            names = [own, *(name for name in vetoes if name != NO_TEXT)] if judged_by(own) else []
        checks = [
            check for name in dict.fromkeys(names) for check in judged_by(name) if name == own or not check.undecidable
        ]
        return Selection(primary, checks)

    def _over(self, part: CheckPart, case: Case) -> list[AppliedCheck]:
        with plugin_errors(f"the check {part.label!r}", f"broke on case {case.case_id!r}"):
            return list(self._applied(part, case))

    def _applied(self, part: CheckPart, case: Case) -> Iterator[AppliedCheck]:
        if not part.check.applies(case):
            return
        for actors_by_role in self.actors_by_role:
            if any(role not in actors_by_role for role in part.about.needs_roles):
                continue
            needed = _with_all_needs(part.about.needs_roles, actors_by_role)
            looks = _first_observations(part, case, actors_by_role)
            unnamed, left_out = self._unnamed(looks, actors_by_role) or self._unnamed_of_text(case, looks, needed), ()
            if unnamed and part.about.leaves_out_unnamed:
                nameable = case.without_entities(unnamed)
                if not part.check.applies(nameable):
                    continue
                looks, unnamed, left_out = _first_observations(part, nameable, actors_by_role), (), unnamed
            if unnamed and DETECTOR not in needed:
                # Boxes that only help are left out where the detector has no name for what they would be of.
                actors_by_role = _without(DETECTOR, actors_by_role)
                looks, unnamed = _first_observations(part, case, actors_by_role), ()
            asked = needed | _with_all_needs((look.query.role for look in looks), actors_by_role)
            yield AppliedCheck(
                part=part,
                actors_by_role=actors_by_role,
                roles=tuple(role for role in ROLE_ORDER if role in asked),
                first_observations=looks,
                unnamed=unnamed,
                left_out=left_out,
                unread=_without_formulas(looks, needed, actors_by_role)
                or self._without_words(case, looks, needed, actors_by_role),
            )
            if "judge" not in asked:
                return

    def _unnamed(self, looks: Iterable[Need], actors_by_role: ActorsByRole) -> tuple[str, ...]:
        """What observations that go by boxes are about and the detector has no name for."""
        if self.names is None:
            return ()
        by_boxes = {role for role in actors_by_role if DETECTOR in with_needs(role, actors_by_role)}
        queries = [look.query for look in looks if look.query.role in by_boxes]
        things = {thing for query in queries for thing in (*query.labels, *named_in(query.formulas))}
        return tuple(sorted(things - self.names))

    def _unnamed_of_text(self, case: Case, looks: Iterable[Need], needed: Collection[str]) -> tuple[str, ...]:
        """What texts without formulas mention and a detector with a fixed list has no name for."""
        if self.names is None or DETECTOR not in needed or not _is_without_labels(looks):
            return ()
        return tuple(sorted(self._mentioned(case) - self.names))

    def _mentioned(self, case: Case) -> set[str]:
        from salva.english.mentions import mentioned_entities

        return set().union(*(mentioned_entities(prompt.text, self.names or ()) for prompt in case.prompts))

    def _without_words(
        self, case: Case, looks: Iterable[Need], needed: Collection[str], actors_by_role: ActorsByRole
    ) -> str:
        """Why a detector that goes by words finds nothing to compare; empty where it is given some, or texts mention
        what it can name."""
        if DETECTOR not in needed or not _is_without_labels(looks):
            return ""
        detector = actors_by_role[DETECTOR]
        if detector.about.names is Naming.ASKED:
            return f"the detector {detector.label!r} searches for given words, and these texts have no formula"
        if self.names is not None and not self._mentioned(case):
            return f"the detector {detector.label!r} can name nothing of these texts, which have no formula"
        return ""


def _first_observations(part: CheckPart, case: Case, actors_by_role: ActorsByRole) -> tuple[Need, ...]:
    blank = {prompt.role: ImageObservations(image=_NO_IMAGE) for prompt in case.prompts}
    looks = tuple(part.check.needs(case, actors_by_role.keys(), blank))
    for role in {look.query.role for look in looks} - actors_by_role.keys():
        why = f"it asks a {role} without listing it in needs_roles"
        raise PluginError(message("plugin-invalid", component=f"The check {part.label!r}", role="check", why=why))
    return looks


def _without_formulas(looks: Iterable[Need], needed: Collection[str], actors_by_role: ActorsByRole) -> str:
    """Why one who reasons from formulas can say nothing here; empty where it is given some, or is not needed."""
    for role in needed:
        asked = [look.query for look in looks if look.query.role == role]
        if asked and actors_by_role[role].about.needs_formulas and not any(query.formulas for query in asked):
            return f"the {role} {actors_by_role[role].label!r} reasons from formulas, and these texts have none"
    return ""


def _is_without_labels(looks: Iterable[Need]) -> bool:
    """Whether a detector is asked, and for nothing in particular."""
    asked = [look.query for look in looks if look.query.role == DETECTOR]
    return bool(asked) and not any(query.labels for query in asked)


def _with_all_needs(roles: Iterable[str], actors_by_role: ActorsByRole) -> set[str]:
    return {needed for role in roles for needed in with_needs(role, actors_by_role)}


def _without(role: str, actors_by_role: ActorsByRole) -> ActorsByRole:
    """The actors_by_role who can do without one of them."""
    return {other: actor for other, actor in actors_by_role.items() if role not in with_needs(other, actors_by_role)}


def with_needs(role: str, actors_by_role: ActorsByRole) -> list[str]:
    """A role after all roles that it needs, each after its own needs."""
    ordered: dict[str, None] = {}
    path = [role]
    while path:
        asked, actor = path[-1], actors_by_role[path[-1]]
        need = next((need for need in actor.about.needs_roles if need not in ordered), None)
        if need is None:
            ordered[path.pop()] = None
        elif need in path:
            why = f"it needs a {need}, which needs a {asked}"
            raise PluginError(message("plugin-invalid", component=f"{actor.label!r}", role=asked, why=why))
        elif need not in actors_by_role:
            raise UsageError(message("needs-component", component=f"The {asked} {actor.label!r}", role=need))
        else:
            path.append(need)
    return list(ordered)


def _refuse_doubles(role: str, labels: Sequence[str]) -> None:
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(message("component-twice", role=role, first=label, second=label))
