"""`salva rejudge`: verdicts again from what is stored, nothing generated.

An observer that is new to the run observes the stored images first, and its verdicts stand beside
those of the others. A check with other options judges everything anew: a run has one rule each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from salva.component_facts import suite_about
from salva.core.fingerprint import Json
from salva.core.options import as_typed
from salva.core.plan import Binding, Plan
from salva.core.protocols import Executor
from salva.core.run_file import Judging, RunFile
from salva.core.run_spec import RunSpec
from salva.engine.actors import Actor
from salva.engine.progress import Progress
from salva.engine.run_components import Cast
from salva.errors import StoreError, UsageError
from salva.messages import message
from salva.runs.addresses import moved_labels
from salva.runs.finished import refuse_edited_run_file
from salva.runs.pipeline import flow_through, judge_contrast
from salva.runs.plans import check_threshold, make_plan, spec_again
from salva.runs.preflight import Preflight
from salva.runs.reach import reached_by, reached_options
from salva.runs.run_state import deciding_observers, record_primaries, record_rules, stored_count
from salva.runs.summary import RunSummary
from salva.runs.vocabulary import keep_names, known_names
from salva.runs.workplaces import open_executor
from salva.store.records import GATE
from salva.store.runfile import read_run_file, store_run_file
from salva.store.sqlite import RunStore, open_run


def rejudge(
    directory: Path, changes: RunSpec | Plan, progress: Progress, *, executor: Binding | Executor | None = None
) -> RunSummary:
    """Judge the images of a run again, with other components or settings where they are named."""
    refuse_edited_run_file(directory)
    content = read_run_file(directory)
    if content is None:
        raise UsageError(message("run-missing", path=str(directory), file="run.json"))
    if content.imported is not None:
        raise UsageError(message("run-imported", path=str(directory)))
    asked = content.spec
    plan = changes if isinstance(changes, Plan) else _remembered(changed_plan(asked, changes), content)
    for note in plan.notes:
        progress.note(note)
    with closing(open_executor(executor, progress.note)) as workplace, open_run(directory, "write") as store:
        labels = {**_distinct_labels(plan, asked), **moved_labels(plan, store.components())}
        roster = Cast.of(plan, _generators(store, content), labels, known_names(plan.detector, store))
        keep_names(store, roster)
        for actor in roster.actors():
            store.put_component(actor.stored())
        _check_floor(store, plan, roster)
        counted = stored_count(store)
        if counted is None:
            raise UsageError(message("cases-not-stored", path=str(directory)))
        vouch = Preflight(plan, roster, store, progress)
        vouch.hold_stored()
        # What a gate decided, it decided on the verdicts that are replaced now.
        store.drop_meta(GATE)
        record_rules(store, plan.checks)
        record_primaries(store, roster)
        summary = flow_through(
            *(store, roster, workplace, progress, counted),
            may_generate=False,
            vouch=vouch,
            watcher=judge_contrast(plan, store),
        )
        _record_judging(store, content, plan, deciding_observers(roster))
    for line in _unasked(directory, asked, summary):
        progress.note(line)
    if summary.n_unchecked:
        progress.note(message("cases-unchecked", n=summary.n_unchecked, why=""))
    if summary.n_unpainted and not summary.unasked:
        progress.note(message("cases-not-generated", n=summary.n_unpainted))
    for label in sorted(set(labels.values())):
        progress.note(message("verdicts-beside", name=label))
    return summary


def _check_floor(store: RunStore, plan: Plan, roster: Cast) -> None:
    """Refuse a threshold below what the looks that are stored have kept."""
    for actor in roster.actors():
        floor = store.highest_floor(actor.component_id) if actor.role == "detector" else None
        if floor is not None:
            option = f"detector.{actor.about.floor or 'floor'}"
            check_threshold(plan.checks, floor, f"the stored observations of {actor.label} have", option)


def changed_plan(stored: RunSpec, changes: RunSpec) -> Plan:
    """The plan a run was made by, with what is named in changes; what is left empty there stays as it was."""
    spec, foreign = spec_again(stored), _foreign(stored, changes)
    for role in {observer.role for observer in changes.observers}:
        spec = spec.with_observers(role, changes.named(role))
    settings = {**spec.settings, **changes.settings}
    for name in suite_about(spec.suite.name).published if changes.published else ():
        # What the rule sets replaces what the run was asked, but not what is asked now.
        if name not in changes.settings:
            settings.pop(name, None)
        if name == "reader" and not changes.named(name):
            spec = spec.with_observers(name, [])
    # Another rule than the paper's may be asked for afterwards, and the other way round.
    published = changes.published or (spec.published and not changes.check)
    check = changes.check or ("" if changes.published else spec.check)
    changed = structs.replace(spec, check=check, published=published, settings=settings)
    return make_plan(changed, stored, foreign)


def _foreign(stored: RunSpec, changes: RunSpec) -> set[tuple[str, str]]:
    """Role and name of components that only run.json names and that would reach outside.

    A run directory is data: what only it names is never contacted, opened or run. UsageError where that is needed.
    """
    named = {(observer.role, observer.text) for observer in changes.observers}
    replaced = {role for role, _ in named}
    foreign = {("suite", stored.suite.name), *(("model", model.text) for model in stored.models)}
    for part in (*stored.observers, *stored.checks):
        unnamed = [option for option in reached_options(part) if f"{part.prefix}.{option}" not in changes.settings]
        if (part.role == "check" or (part.role, part.text) in named) and unnamed:
            option, value = f"{part.prefix}.{unnamed[0]}", as_typed(part.options.get(unnamed[0]))
            raise UsageError(message("option-not-named", option=option, value=value))
        if part.role == "check" or part.role in replaced or not reached_by(part):
            continue
        if others := [key for key in changes.settings if key.startswith(f"{part.prefix}.")]:
            raise UsageError(message("component-not-named", setting=others[0], role=part.role, name=part.text))
        foreign.add((part.role, part.text))
    return foreign


def _remembered(plan: Plan, content: RunFile) -> Plan:
    """The same with the keys that those have in this run who are only looked up."""
    stored = {(part.role, part.label or part.identity.get("name")): part.identity for part in content.components}

    def known(binding: Binding) -> Binding:
        identity = stored.get((binding.role, binding.label))
        return replace(binding, stored_identity=identity) if binding.is_foreign and identity is not None else binding

    return plan.with_each(known)


def _unasked(directory: Path, asked: RunSpec, summary: RunSummary) -> Iterator[str]:
    """Who was not asked, what would have been contacted, and the words that have it asked."""
    for part in asked.observers:
        n_observations = summary.unasked.get(f"{part.role} {part.name}", 0)
        if n_observations:
            settings = [
                f" --set {part.prefix}.{option}={as_typed(part.options[option])}" for option in reached_options(part)
            ]
            command = f"salva rejudge {directory} --{part.role} {part.text}{''.join(settings)}"
            yield message(
                "observer-not-asked",
                role=part.role,
                name=part.name,
                n=n_observations,
                command=command,
                reached=", ".join(reached_by(part)),
            )


def _distinct_labels(plan: Plan, first: RunSpec) -> dict[tuple[str, str], str]:
    """Labels for actors_by_role that share role and name with one of the run's but have other options."""
    before = {(observer.role, observer.name): observer.options for observer in first.observers}
    labels = {}
    for binding in plan.observers():
        key = binding.role, binding.label
        options = sorted(binding.spec().options.items()) if key in before else []
        differing = [f"{name}={_shown(value)}" for name, value in options if before[key].get(name) != value]
        if differing:
            labels[key] = f"{binding.label}({','.join(differing)})"
    return labels


def _shown(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _generators(store: RunStore, content: RunFile) -> list[Actor]:
    """The generators as they were when they generated, whatever version is installed now."""
    stored = {component.component_id: component for component in store.components()}
    wanted = [component.component_id for component in content.components if component.role == "model"]
    missing = [component_id for component_id in wanted if component_id not in stored]
    if missing or not wanted:
        why = f"it does not know the models of run.json ({', '.join(missing) or 'none named'})"
        raise StoreError(message("store-damaged", path=str(store.path), why=why))
    return [Actor.remembered(stored[component_id]) for component_id in wanted]


def _record_judging(store: RunStore, content: RunFile, plan: Plan, deciding: tuple[str, ...]) -> None:
    """Note in run.json how the run is judged now; nothing where that is as it was asked all along."""
    now = plan.run_spec().redacted()
    spec = structs.replace(
        content.spec, observers=now.observers, checks=now.checks, check=now.check, published=now.published
    )
    # A run that returns to its own rules keeps a note: others may have looked as often by now.
    is_changed = spec != content.spec or content.judging is not None
    judging = Judging(spec=spec, deciding=deciding) if is_changed else None
    store_run_file(store, structs.replace(content, judging=judging))
