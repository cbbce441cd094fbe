"""Verdicts recomputed from stored rows.

No component is called, and nothing that run.json names is opened or contacted. Which verdicts there should be follows
from the cases and from the components of run.json. A rule that rests on a file, a plugin or a version that is not here
is not checked, and the report says so.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from salva.component_facts import suite_about
from salva.core.about import Naming, about_of
from salva.core.case import Case
from salva.core.fingerprint import fingerprint
from salva.core.options import as_typed
from salva.core.plan import Binding
from salva.core.protocols import Check
from salva.core.quantity import quantity
from salva.core.run_file import RunFile
from salva.core.run_spec import ComponentSpec
from salva.core.verdict import Observers, Verdict
from salva.engine.actors import Actor
from salva.engine.guard import build
from salva.engine.run_components import ROLE_ORDER, ActorsByRole, Cast, CheckPart
from salva.errors import SalvaError
from salva.registry import BUILT_IN, bind, colour_reader, load
from salva.runs.reach import reached_by
from salva.runs.run_state import ASKED
from salva.runs.stored_work import NotStoredError, different_columns, verdicts_from_store
from salva.runs.vocabulary import remembered_names
from salva.store.records import CASES, RULES, WHOLE, StoredComponent
from salva.store.rows import observers_from_text
from salva.store.runfile import DIGESTS
from salva.store.sqlite import RunStore

_NOTES = {ASKED, CASES, DIGESTS, RULES, WHOLE}
"""What every finished run notes, and is held to."""
_COLOUR_READER = "colour_reader"
"""The role that nobody is named for."""


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


def recompute(store: RunStore, content: RunFile) -> Recomputed:
    """Every verdict of a run made anew, as far as its rules and observers are known here."""
    if content.imported is not None:
        n_verdicts = sum(row["n"] for row in store.rows("SELECT count(*) AS n FROM verdicts"))
        why = f"{quantity(n_verdicts, 'verdicts')} were imported: nothing is stored that they were made of"
        return Recomputed(unchecked=(why,))
    check = _Recomputation(store, content)
    for group in sorted(check.groups()):
        check.hold(group)
    check.refuse_other_models()
    if check.n_missing:
        check.unchecked["the run is not finished"] += check.n_missing
    unchecked = [f"{quantity(n, 'verdicts')} not made anew: {why}" for why, n in check.unchecked.items()]
    if not check.n_missing and (lacking := _NOTES - store.meta().keys()):
        unchecked.append(f"the run is not finished, or was edited: it has no note of {', '.join(sorted(lacking))}")
    return Recomputed(n_checked=check.n_checked, problems=tuple(check.problems), unchecked=tuple(unchecked))


class _Recomputation:
    """One run being checked."""

    def __init__(self, store: RunStore, content: RunFile) -> None:
        self.n_checked = self.n_missing = 0
        self.problems: list[str] = []
        self.unchecked: Counter[str] = Counter()
        self._store, self._content = store, content
        self._asked = content.current_judging().spec
        self._components = store.components()
        self._names = remembered_names(store)
        self._is_whole = WHOLE in store.meta()
        self._rules = store.note(RULES)
        self._planned: dict[_VerdictGroup, set[str]] = {}
        """The cases that have verdicts of a group in a finished run, by the cases and components alone."""
        if self._is_whole and not store.is_whole():
            self.problems.append("cases or verdicts are not those that the run had when it was finished")

    def groups(self) -> set[_VerdictGroup]:
        """The verdicts that there are and those that there should be, by rule and observers."""
        rows = self._store.rows('SELECT DISTINCT "check", observers FROM verdicts')
        self._plan()
        return {*self._planned, *(self._store.parsed("verdicts", row, _group_of) for row in rows)}

    def _plan(self) -> None:
        parts = []
        for asked in self._asked.checks:
            try:
                parts.append(self._part(asked.name))
            except (_UncheckableError, SalvaError) as error:
                self.unchecked[str(error)] += 0
        try:
            roster = self._leading(parts)
        except _UncheckableError as error:
            self.unchecked[str(error)] += 0
            return
        primaries = self._store.primaries()
        for case in self._store.cases():
            try:
                primary, checks = roster.selection(case)
            except SalvaError as error:
                self.problems.append(f"case {case.case_id}: {error}")
                continue
            if len(parts) == len(self._asked.checks) and primaries.get(case.case_id) != primary:
                self.problems.append(
                    f"case {case.case_id}: its check is {primaries.get(case.case_id)!r}, and {primary!r} comes first"
                )
            for applied in checks:
                group = _VerdictGroup(applied.part.label, applied.observers)
                self._planned.setdefault(group, set()).add(case.case_id)

    def _leading(self, parts: Sequence[CheckPart]) -> Cast:
        """Who judges the run now, by run.json."""
        deciding = self._content.current_judging().deciding
        by_role: dict[str, list[StoredComponent]] = {}
        for component in self._components:
            if component.role in ROLE_ORDER and component.label in deciding:
                by_role.setdefault(component.role, []).append(component)
        named = {(part.role, part.name) for part in self._asked.observers}
        if missing := named - {(c.role, c.label.partition("(")[0]) for cs in by_role.values() for c in cs}:
            role, name = min(missing)
            raise _UncheckableError(f"the store does not know the {role} {name!r} of run.json")
        unnamed = {c.role: self._actor(c) for c in self._components if c.role == _COLOUR_READER}
        judges = [self._actor(component) for component in by_role.pop("judge", [])]
        judges.sort(key=lambda judge: deciding.index(judge.label))
        singles = {role: self._actor(self._latest(role, components)) for role, components in by_role.items()}
        first = by_role.get("detector", [])
        suite = self._asked.suite.name
        return Cast(
            models=(),
            actors_by_role=tuple({**unnamed, **singles, "judge": judge} for judge in judges)
            or ({**unnamed, **singles},),
            checks=tuple(parts),
            repeats=self._asked.repeats,
            seed=self._asked.seed,
            control=self._asked.control and self._asked.repeats >= 2,
            names=self._named_by([self._latest("detector", first)]) if first else None,
            chosen=self._asked.check,
            vetoes=suite_about(suite).vetoes if self._asked.rule.is_primary else (),
        )

    def _latest(self, role: str, components: Sequence[StoredComponent]) -> StoredComponent:
        """Of several with one label the one of run.json."""
        listed = {fingerprint([part.role, dict(part.identity)]) for part in self._content.components}
        return next((c for c in components if c.component_id in listed), components[-1])

    def refuse_other_models(self) -> None:
        """Verdicts on models that run.json does not name rest on nothing."""
        known = {actors[0].label for actors in self._models()}
        for row in self._store.rows("SELECT model, count(*) AS n FROM verdicts GROUP BY model"):
            if row["model"] not in known:
                self.problems.append(
                    f"{quantity(row['n'], 'verdicts')} on {row['model']!r}, which is no model of the run"
                )

    def hold(self, group: _VerdictGroup) -> None:
        """Hold the verdicts of a group against those that what is stored leads to."""
        try:
            part = self._part(group.check)
            casts = list(self._casts(part, group.observers))
        except _UncheckableError as error:
            self.unchecked[str(error)] += sum(1 for _ in self._store.verdicts(group.check, group.observers))
            return
        stored: dict[tuple[str, str], list[Verdict]] = {}
        for verdict in self._store.verdicts(group.check, group.observers):
            stored.setdefault((verdict.case_id, verdict.model), []).append(verdict)
        planned = self._planned.get(group, ())
        models = self._models()
        for case in self._store.cases():
            for model in models:
                theirs = stored.get((case.case_id, model[0].label), [])
                if theirs or case.case_id in planned:
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
        first: str | None = None
        for roster, model in itertools.product(casts, models):
            try:
                applied = [check for check in roster.checks_of(case) if check.observers == group.observers]
                made = [verdict for verdict, _ in verdicts_from_store(self._store, roster, applied, case, model)]
            except (NotStoredError, SalvaError) as error:
                first = first or f"{where}: {error}"
                continue
            difference, n_missing = _difference(made, stored)
            if n_missing and case.case_id in self._planned.get(group, ()):
                if self._is_whole:
                    difference = (
                        difference or f": {quantity(n_missing, 'verdicts')} missing that what is stored leads to"
                    )
                else:
                    self.n_missing += n_missing
            if not difference:
                self.n_checked += len(stored)
                return
            first = f"{where}{difference}"
        if not stored and not self._is_whole:
            self.n_missing += 1
        elif first is not None:
            self.problems.append(first)

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
        return CheckPart(
            label=name,
            check=cast(Check, build(binding)),
            about=binding.about,
            is_foreign=name not in BUILT_IN["check"],
        )

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
        known = [component for component in self._components if component.role in ROLE_ORDER]
        sets = [
            chosen
            for chosen in itertools.product(*([c for c in known if c.label == label] for label in observers))
            if len({component.role for component in chosen}) == len(chosen)
        ]
        if not sets:
            raise _UncheckableError(f"the store does not know {' and '.join(observers)}")
        for chosen in sets:
            named = {component.role: self._actor(component) for component in chosen}
            for others in (*self._others(named), {}):
                names = self._named_by(chosen)
                for named_by in (names, None) if names is not None else (None,):
                    yield Cast(
                        models=(),
                        actors_by_role=({**others, **named},),
                        checks=(part,),
                        repeats=self._asked.repeats,
                        seed=self._asked.seed,
                        control=self._asked.control and self._asked.repeats >= 2,
                        names=named_by,
                        chosen=part.label,
                    )

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
        if component.role == _COLOUR_READER:
            about = colour_reader().about
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


class _UncheckableError(Exception):
    """Why verdicts cannot be made anew here."""


def _group_of(row: sqlite3.Row) -> _VerdictGroup:
    return _VerdictGroup(row["check"], observers_from_text(row["observers"]))


def _difference(made: Sequence[Verdict], stored: Sequence[Verdict]) -> tuple[str, int]:
    """How the stored verdicts differ from those that were made anew, empty where they do not; how many are missing."""
    anew = {(verdict.repeat, verdict.arm): verdict for verdict in made}
    for verdict in stored:
        place = f"/{verdict.repeat}/{verdict.arm}: it is {verdict.outcome}"
        other = anew.pop((verdict.repeat, verdict.arm), None)
        if other is None:
            return f"{place}, and nothing that is stored leads to it", 0
        if other.outcome is not verdict.outcome:
            return f"{place}, and what is stored leads to {other.outcome}", 0
        if differing := different_columns(other, verdict):
            return f"{place}, and what is stored leads to other {differing[0]}", 0
    return "", len(anew)
