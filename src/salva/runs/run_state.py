"""The state of a run directory: run.json, its cases and its rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from msgspec import structs

from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.plan import Binding, Plan
from salva.core.run_file import Judging, ResolvedComponent, RunFile, new_run_file
from salva.core.run_spec import RunSpec
from salva.engine.run_components import Cast
from salva.errors import StoreError, UsageError
from salva.messages import message
from salva.runs.vocabulary import keep_names
from salva.store.reading import RunReader
from salva.store.records import CASES, RULES
from salva.store.runfile import read_run_file, store_run_file
from salva.store.sqlite import RunStore

ASKED = "asked"
"""The note of a run on what was asked, should its run.json get lost."""


_COMPONENTS = {"suite", "models", "observers", "checks", "preflight", "contrast"}
"""Fields of a specification that are compared part by part, or that make no other run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseCount:
    """How much a run has to generate, for each model and repeat."""

    n_cases: int
    n_prompts: int


def recorded_run_file(store: RunStore) -> RunFile | None:
    """What the store itself remembers of what was asked, for a run that lost its run.json."""
    asked = store.meta().get(ASKED)
    try:
        return None if asked is None else msgspec.convert(asked, RunFile)
    except msgspec.MsgspecError as error:
        raise StoreError(message("note-invalid", name=ASKED, why=error)) from error


def spec_difference(stored: RunSpec, noted: RunSpec) -> str:
    """What run.json says was asked and the store does not; empty where they agree on all that both speak of."""
    for name in sorted({*RunSpec.__struct_fields__} - _COMPONENTS):
        if getattr(stored, name) != getattr(noted, name):
            return f"{name} {getattr(stored, name)!r}"
    before = {(part.role, part.name): part.options for part in noted.components()}
    for part in stored.components():
        options = before.get((part.role, part.name))
        if options is None:
            return f"the {part.role} {part.name!r}"
        for option, value in part.options.items():
            # An endpoint that has a name of its own may move.
            may_move = option == "base_url" and bool(part.options.get("endpoint"))
            if option in options and options[option] != value and not may_move:
                return f"{part.role}.{option} {value!r}"
    return ""


def record_run(store: RunStore, plan: Plan, roster: Cast, environment: Mapping[str, Json]) -> list[str]:
    """Write down what is asked, who answers and where; under the run lock, before any work. What to tell of it."""
    observers = (*plan.observers(), *(() if plan.colour_reader is None else (plan.colour_reader,)))
    components = (
        ResolvedComponent(role="suite", identity=_suite_of_cases(store) or plan.suite.identity()),
        *(
            ResolvedComponent(role="model", identity=actor.identity, component_id=actor.component_id)
            for actor in roster.models
        ),
        *(
            ResolvedComponent(role=b.role, identity=b.identity(), label=b.label if b.typed else "")
            for b in (*observers, *plan.checks)
        ),
    )
    content = read_run_file(store.directory) or new_run_file(plan.run_spec(), environment=environment)
    is_new_place = environment not in (content.environment, *content.resumed_in)
    asked = content.spec.with_groups_of(plan.run_spec())
    fresh = structs.replace(
        content,
        spec=asked,
        choice=content.choice or plan.choice(),
        components=components,
        resumed_in=(*content.resumed_in, environment) if is_new_place else content.resumed_in,
        # Others may have looked as often by now: the run's own eyes lead again.
        judging=None if content.judging is None else Judging(spec=asked, deciding=deciding_observers(roster)),
        images=store.images_at(),
    )
    store_run_file(store, fresh)
    store.set_meta(ASKED, msgspec.to_builtins(new_run_file(plan.run_spec().redacted(), choice=fresh.choice)))
    packages = environment.get("packages")
    store.set_meta("salva_version", packages.get("salva") if isinstance(packages, dict) else None)
    judged_anew = record_rules(store, plan.checks)
    keep_names(store, roster)
    for actor in roster.actors():
        store.put_component(actor.stored())
    store.flush()
    made, here = str(fresh.components[0].identity.get("version")), str(plan.suite.component.version)
    kept = [message("cases-kept", suite=plan.suite.label, made=made, here=here)] if made != here else []
    return [*kept, *judged_anew]


def _suite_of_cases(store: RunStore) -> dict[str, Json]:
    """The suite that made the stored cases, in the version it had then; empty before there are any."""
    suite = store.note(CASES).get("suite")
    return suite if isinstance(suite, dict) else {}


def deciding_observers(roster: Cast) -> tuple[str, ...]:
    """The labels of all observers, the first judge before the others: their verdicts make the results."""
    by_role = roster.actors_by_role
    return tuple(dict.fromkeys(actor.label for actors in by_role for actor in actors.values()))


def record_primaries(store: RunStore, roster: Cast) -> None:
    """Store the primary check of every case as these observers make it."""
    stored = store.primaries()
    for case in store.cases():
        primary = roster.primary_of(case)
        if stored[case.case_id] != primary:
            store.set_primary(case.case_id, primary)
    store.flush()


def record_rules(store: RunStore, checks: Iterable[Binding]) -> list[str]:
    """Drop the verdicts of every check that is judged by other rules from now on: in one run, one rule each.

    A sentence, where checks that have verdicts are of another version now.
    """
    before = store.note(RULES)
    now = {binding.label: binding.identity() for binding in checks}
    # In this order: whatever kills us in between, no verdict is left that its rule did not make.
    judged = {row["check"] for row in store.rows('SELECT DISTINCT "check" FROM verdicts')}
    for label, rule in now.items():
        if label in before and before[label] != rule:
            store.drop_verdicts(label)
    store.set_meta(RULES, {**before, **now})
    store.flush()
    versions = {
        label: (_version(before[label]), _version(now[label])) for label in sorted(judged & now.keys() & before.keys())
    }
    changed = [f"{label} (version {old}, now {new})" for label, (old, new) in versions.items() if old != new]
    return [message("verdicts-made-anew", checks=", ".join(changed))] if changed else []


def record_cases(store: RunStore, plan: Plan, cases: Iterable[tuple[int, Case, str]]) -> CaseCount:
    """Store the run's cases once, each at its place and with its primary check."""
    counted = stored_count(store)
    if counted is not None:
        if less_version(_suite_of_cases(store)) != less_version(plan.suite.identity()):
            raise UsageError(message("prompts-changed", path=str(store.directory), suite=plan.suite.label))
        if store.n_cases() != counted.n_cases:
            why = f"it holds {store.n_cases()} cases where {counted.n_cases} were stored"
            raise StoreError(message("store-damaged", path=str(store.path), why=why))
        return counted
    store.clear_cases()
    n_cases = n_prompts = 0
    for place, case, primary in cases:
        store.put_case(place, case, primary)
        n_cases += 1
        n_prompts += len(case.prompts)
    if n_cases == 0:
        raise UsageError(message("cases-missing", suite=plan.suite.label, size=plan.spec.size))
    store.set_meta(CASES, {"suite": plan.suite.identity(), "n_cases": n_cases, "n_prompts": n_prompts})
    store.flush()
    return CaseCount(n_cases=n_cases, n_prompts=n_prompts)


def stored_count(store: RunReader) -> CaseCount | None:
    """How many cases the run has; None when they were never all stored."""
    kept = store.note(CASES)
    if not kept:
        return None
    n_cases, n_prompts = kept.get("n_cases"), kept.get("n_prompts")
    if not isinstance(n_cases, int) or not isinstance(n_prompts, int):
        raise StoreError(message("note-invalid", name=CASES, why=f"it is {kept!r}"))
    return CaseCount(n_cases=n_cases, n_prompts=n_prompts)


def summed(values: Sequence[Json]) -> Json:
    """Numbers added up, those under one name with each other."""
    tables = [value for value in values if isinstance(value, dict)]
    if not tables:
        return sum(value for value in values if isinstance(value, int | float))
    names = dict.fromkeys(name for table in tables for name in table)
    return {name: summed([table[name] for table in tables if name in table]) for name in names}


def less_version(identity: Json) -> Json:
    return {**identity, "version": None} if isinstance(identity, dict) else None


def _version(identity: Json) -> Json:
    return identity.get("version") if isinstance(identity, dict) else None
