"""Verdicts recomputed from stored rows.

No component is called, and nothing that run.json names is opened or contacted. A rule that rests on a file, a plugin
or a version that is not here is not checked, and the report says so.
"""

from __future__ import annotations

import itertools
import math
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from salva.core.about import Naming, about_of
from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.observation import Observation
from salva.core.options import as_typed
from salva.core.plan import Binding
from salva.core.protocols import INJECTION_READER, Check, Query
from salva.core.quantity import quantity
from salva.core.run_file import RunFile
from salva.core.run_spec import ComponentSpec
from salva.core.verdict import Observers, Verdict
from salva.engine.actors import Actor, requests_of
from salva.engine.guard import build
from salva.engine.run_components import ROLE_ORDER, ActorsByRole, Cast, CheckPart, with_needs
from salva.engine.units import ObserveJob, Subscriber, Unit
from salva.engine.verdicts import verdicts_of
from salva.errors import SalvaError
from salva.judging.waves import Missing
from salva.registry import bind, colour_reader, injection_reader, load
from salva.runs.reach import reached_by
from salva.runs.run_state import RULES
from salva.runs.vocabulary import remembered_names
from salva.store.records import WHOLE, Status, StoredComponent
from salva.store.rows import KEYS, observers_from_text, verdict_to_row
from salva.store.schema import COLUMNS
from salva.store.sqlite import RunStore

_UNNAMED = {"colour_reader": colour_reader, INJECTION_READER: injection_reader}
"""Roles nobody is named for, and who plays them."""


@dataclass(frozen=True, slots=True, order=True)
class _VerdictGroup:
    """Verdicts that one check made of what the same observers saw."""

    check: str
    observers: Observers


@dataclass(frozen=True, slots=True, kw_only=True)
class Recomputed:
    """What came of making the verdicts anew."""

    n_checked: int = 0
    problems: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    """What could not be made anew, a sentence each."""


class _NotStoredError(Exception):
    """An image or a look that a verdict rests on is not in the store."""


def recompute(store: RunStore, content: RunFile) -> Recomputed:
    """Every verdict of a run made anew, as far as its rules and observers are known here."""
    if content.imported is not None:
        return Recomputed(unchecked=("its verdicts were imported: nothing is stored that they could be made of",))
    check = _Recomputation(store, content)
    for group in sorted(check.groups()):
        check.hold(group)
    return Recomputed(
        n_checked=check.n_checked,
        problems=tuple(check.problems),
        unchecked=tuple(f"{quantity(n, 'verdicts')} not made anew: {why}" for why, n in check.unchecked.items()),
    )


class _Recomputation:
    """One run being checked."""

    def __init__(self, store: RunStore, content: RunFile) -> None:
        self.n_checked = 0
        self.problems: list[str] = []
        self.unchecked: Counter[str] = Counter()
        self._store, self._content = store, content
        self._primaries = store.primaries()
        self._asked = content.current_judging().spec
        self._components = store.components()
        self._names = remembered_names(store)
        meta = store.meta()
        self._is_whole = WHOLE in meta
        rules = meta.get(RULES)
        self._rules: Mapping[str, Json] = rules if isinstance(rules, dict) else {}

    def groups(self) -> set[_VerdictGroup]:
        """The verdicts that stand there, by rule and observers."""
        rows = self._store.rows('SELECT DISTINCT "check", observers FROM verdicts')
        groups = {self._store.parsed("verdicts", row, _group_of) for row in rows}
        if self._is_whole:
            judged = {group.check for group in groups}
            for check in self._asked.checks:
                if check.name not in judged:
                    self._expect_none(check)
        return groups

    def hold(self, group: _VerdictGroup) -> None:
        """Hold the verdicts of a group against those that what is stored leads to."""
        try:
            part = self._part(group.check)
            casts = list(self._casts(part, group.observers))
        except _UncheckableError as error:
            self.unchecked[str(error)] += sum(1 for _ in self._store.verdicts(group.check, group.observers))
            return
        stored: dict[str, list[Verdict]] = {}
        for verdict in self._store.verdicts(group.check, group.observers):
            stored.setdefault(verdict.case_id, []).append(verdict)
        for case in self._store.cases():
            for model in self._models():
                theirs = [verdict for verdict in stored.get(case.case_id, ()) if verdict.model == model[0].label]
                self._hold_unit(group, casts, case, model, theirs)

    def _hold_unit(
        self,
        group: _VerdictGroup,
        casts: Sequence[Cast],
        case: Case,
        models: Sequence[Actor],
        stored: Sequence[Verdict],
    ) -> None:
        where = f"verdict {case.case_id}/{models[0].label}/{group.check}"
        must_all_stand = self._is_whole and self._is_leading(group) and self._is_judged_by(case, group.check)
        first: str | None = None
        for roster, model in itertools.product(casts, models):
            try:
                made = self._made(roster, group.observers, case, model)
            except (_NotStoredError, SalvaError) as error:
                first = first or f"{where}: {error}"
                continue
            difference = _difference(made, stored, must_all_stand=must_all_stand)
            if not difference:
                self.n_checked += len(stored)
                return
            first = f"{where}{difference}"
        if first is not None and (stored or must_all_stand):
            self.problems.append(first)

    def _made(self, roster: Cast, observers: Observers, case: Case, model: Actor) -> list[Verdict]:
        """The verdicts that what is stored leads to."""
        applied = [check for check in roster.checks_of(case) if check.observers == observers]
        unit = Unit.of(case, model, roster.repeats, applied)
        if not applied:
            return []
        if not unit.is_undecidable:
            for request in requests_of(case, unit.repeats, roster.seed):
                outcome = self._store.render_outcome(model.render_key(request))
                if outcome is None or (outcome[0] is Status.DONE and outcome[1] is None):
                    raise _NotStoredError(f"the image of {request.prompt.text!r} that it rests on is not stored")
                status, image, error = outcome
                shown = image or Missing(reason=error, is_final=status is Status.REFUSED)
                self._answer(unit.show(request.repeat, request.prompt.role, shown))
            while asked := list(unit.next_needs()):
                self._answer(asked)
        return [verdict for verdict, _ in verdicts_of(unit, roster.control)]

    def _answer(self, asked: Iterable[tuple[ActorsByRole, Subscriber]]) -> None:
        for actors_by_role, subscriber in asked:
            image = subscriber.waves.images[subscriber.look.role]
            assert not isinstance(image, Missing)
            self._look(actors_by_role, image.image_id, subscriber.look.query).tell(subscriber)

    def _look(self, actors_by_role: ActorsByRole, image_id: str, query: Query) -> ObserveJob:
        """What the store has of a look, after those that it was told."""
        jobs: dict[str, ObserveJob] = {}
        for role in with_needs(query.role, actors_by_role):
            actor = actors_by_role[role]
            keyed = actor.keyed_query(query if role == query.role else Query(role=role, labels=query.labels))
            given = {need: jobs[need] for need in actor.about.needs_roles}
            key = actor.observation_key(image_id, keyed, {need: job.key for need, job in given.items()})
            jobs[role] = ObserveJob(key=key, actor=actor, image_id=image_id, query=keyed, given=given)
            problem = next((job.outcome for job in given.values() if isinstance(job.outcome, Missing)), None)
            jobs[role].outcome = problem or self._outcome(actor, image_id, key)
        return jobs[query.role]

    def _outcome(self, actor: Actor, image_id: str, key: str) -> Observation | Missing:
        stored = self._store.observation_outcome(key)
        if stored is None:
            raise _NotStoredError(f"what the {actor.role} {actor.label!r} saw in image {image_id} is not stored")
        status, observation, error = stored
        return observation or Missing(reason=error, is_final=status is Status.REFUSED)

    def _is_leading(self, group: _VerdictGroup) -> bool:
        """Whether the run is judged by them now: of others there may be less than all."""
        deciding = self._content.current_judging().deciding
        return set(deciding).issuperset(group.observers)

    # Who judged and who looked

    def _part(self, name: str) -> CheckPart:
        """The check that judged, with the options it had."""
        asked = next((check for check in self._asked.checks if check.name == name), None)
        if asked is None:
            raise _UncheckableError(f"run.json does not say by which rule {name!r} judged")
        try:
            binding = self._bound(asked)
        except SalvaError as error:
            raise _UncheckableError(str(error)) from error
        rule = self._rules.get(name)
        version = rule.get("version") if isinstance(rule, dict) else binding.component.version
        if str(version) != str(binding.component.version):
            raise _UncheckableError(
                f"the check {name!r} was of version {version}, and version {binding.component.version} is installed"
            )
        return CheckPart(label=name, check=cast(Check, build(binding)), about=binding.about)

    def _bound(self, asked: ComponentSpec) -> Binding:
        options = {option: as_typed(value) for option, value in asked.options.items()}
        if reached := reached_by(asked):
            raise _UncheckableError(f"the check {asked.name!r} rests on {reached[0]}, which this command does not name")
        return bind(ComponentSpec(role="check", name=asked.name, options=options))

    def _models(self) -> list[list[Actor]]:
        """The generators by label; of several with one name, the last one first."""
        last = [part.component_id for part in self._content.components if part.role == "model"]
        painters: dict[str, list[Actor]] = {}
        for component in sorted(self._components, key=lambda component: component.component_id not in last):
            if component.role == "model":
                painters.setdefault(component.label, []).append(Actor.remembered(component))
        return list(painters.values())

    def _casts(self, part: CheckPart, observers: Observers) -> Iterator[Cast]:
        """Everyone a check may have gone by, where a name leaves it open."""
        sets = [
            chosen
            for chosen in itertools.product(*(self._by_label(label) for label in observers))
            if len({component.role for component in chosen}) == len(chosen)
        ]
        if not sets:
            raise _UncheckableError(f"the store does not know {' and '.join(observers)}")
        for chosen in sets:
            named = {component.role: self._actor(component) for component in chosen}
            for others in (*self._others(named), {}):
                names = self._named_by(chosen)
                for known in (names, None) if names is not None else (None,):
                    yield Cast(
                        models=(),
                        actors_by_role=({**others, **named},),
                        checks=(part,),
                        repeats=self._asked.repeats,
                        seed=self._asked.seed,
                        control=self._asked.control and self._asked.repeats >= 2,
                        names=known,
                        chosen=part.label,
                    )

    def _by_label(self, label: str) -> list[StoredComponent]:
        return [c for c in self._components if c.label == label and c.role in ROLE_ORDER]

    def _others(self, named: ActorsByRole) -> Iterator[ActorsByRole]:
        """Who else was there and may have been asked: colours first, then whoever the run has besides."""
        there = {
            component.role: component
            for component in self._components
            if component.role not in ("model", *named)
            and (component.role not in ROLE_ORDER or component.label in {o.name for o in self._asked.observers})
        }
        if not there:
            return
        yield {role: self._actor(component) for role, component in there.items()}
        if (eye := there.get("colour_reader")) is not None:
            yield {"colour_reader": self._actor(eye)}

    def _actor(self, component: StoredComponent) -> Actor:
        """One who looked, as the store remembers it, with what it says of itself today."""
        if component.role in _UNNAMED:
            about = _UNNAMED[component.role]().about
        else:
            name = str(component.identity.get("name", "")).partition("/")[0]
            try:
                about = about_of(load(component.role, name))
            except SalvaError as error:
                raise _UncheckableError(str(error)) from error
        return Actor(
            role=component.role,
            label=component.label,
            component_id=component.component_id,
            binding=None,
            about=about,
            identity=component.identity,
        )

    def _named_by(self, chosen: Sequence[StoredComponent]) -> frozenset[str] | None:
        detector = next((component for component in chosen if component.role == "detector"), None)
        if detector is None:
            return None
        said = self._actor(detector).about.names
        if isinstance(said, tuple):
            return frozenset(said)
        remembered = self._names.get(detector.component_id, []) if said is Naming.LOADED else []
        return frozenset(map(str, remembered)) or None

    def _expect_none(self, asked: ComponentSpec) -> None:
        """A rule of a whole run without a verdict has nothing to say of any case; otherwise somebody took them away."""
        try:
            part = self._part(asked.name)
            if any(self._is_judged_by(case, asked.name) and part.check.applies(case) for case in self._store.cases()):
                self.problems.append(f"no verdict of the check {asked.name!r} is stored, and it applies to cases")
        except (_UncheckableError, SalvaError):
            # There is no verdict of it that could be false.
            return

    def _is_judged_by(self, case: Case, check: str) -> bool:
        """Whether a check judges a case in this run."""
        return check in (self._asked.check or self._primaries.get(case.case_id), *case.measures)


class _UncheckableError(Exception):
    """Why verdicts cannot be made anew here."""


def _group_of(row: sqlite3.Row) -> _VerdictGroup:
    return _VerdictGroup(row["check"], observers_from_text(row["observers"]))


def _difference(made: Sequence[Verdict], stored: Sequence[Verdict], *, must_all_stand: bool) -> str:
    """How the verdicts that stand there differ from those that were made anew; empty where they do not."""
    anew = {(verdict.repeat, verdict.arm): verdict for verdict in made}
    for verdict in stored:
        place = f"/{verdict.repeat}/{verdict.arm}: it is {verdict.outcome}"
        other = anew.pop((verdict.repeat, verdict.arm), None)
        if other is None:
            return f"{place}, and nothing that is stored leads to it"
        if other.outcome is not verdict.outcome:
            return f"{place}, and what is stored leads to {other.outcome}"
        if differing := [name for name, is_same in _compared(other, verdict) if not is_same]:
            return f"{place}, and what is stored leads to other {differing[0]}"
    if anew and must_all_stand:
        repeat, arm = next(iter(anew))
        return f"/{repeat}/{arm}: it is missing, and what is stored leads to {anew[repeat, arm].outcome}"
    return ""


# Scores are compared as numbers; a reason may quote what an endpoint answered this time.
_COMPARED = tuple(name for name in COLUMNS["verdicts"] if name not in (*KEYS["verdicts"], "scores", "reason", "digest"))


def _compared(made: Verdict, stored: Verdict) -> Iterator[tuple[str, bool]]:
    rows = verdict_to_row(made), verdict_to_row(stored)
    for column in _COMPARED:
        yield column, rows[0][column] == rows[1][column]
    is_close = made.scores.keys() == stored.scores.keys() and all(
        math.isclose(made.scores[name], stored.scores[name], rel_tol=1e-9, abs_tol=1e-12) for name in made.scores
    )
    yield "scores", is_close
