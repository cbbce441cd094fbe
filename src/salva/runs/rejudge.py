"""`salva rejudge`: verdicts again from what is stored, nothing painted.

A observer that is new to the run looks at the stored images first, and its verdicts stand beside
those of the others. A check with other options judges everything anew: a run has one rule each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from salva.core.asked import Asked
from salva.core.counted import counted as so_many
from salva.core.fingerprint import Json
from salva.core.options import as_typed
from salva.core.protocols import Executor
from salva.core.run_json import Judged, RunFile
from salva.core.spec import Binding, RunSpec
from salva.engine.actors import Actor
from salva.engine.cast import Cast
from salva.engine.progress import Progress
from salva.errors import StoreError, UsageError
from salva.runs.addresses import moved_labels
from salva.runs.ask import ask_again, check_threshold, make_spec
from salva.runs.preflight import Preflight
from salva.runs.ledger import keep_rules, leading_eyes, stored_count
from salva.runs.pipeline import flow_through
from salva.runs.reach import reached_by, reached_options
from salva.runs.summary import RunSummary
from salva.runs.vocabulary import keep_names, known_names
from salva.runs.workplaces import open_executor
from salva.store.records import GATE
from salva.store.runfile import keep_run_file, read_run_file
from salva.store.sqlite import RunStore, open_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What to judge otherwise than the run did; what is left empty stays as it was."""

    check: str | None = None
    """The check that leads from now on."""
    detector: str | None = None
    reader: str | None = None
    judges: tuple[str, ...] = ()
    counts: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


def rejudge(
    directory: Path, changes: Changes | RunSpec, progress: Progress, *, executor: Binding | Executor | None = None
) -> RunSummary:
    """Judge the images of a run again, with other components or settings where they are named."""
    content = read_run_file(directory)
    if content is None:
        raise UsageError(f"{str(directory)!r} is no run: it has no run.json; give the directory `salva run` printed")
    if content.imported is not None:
        raise UsageError(
            f"{str(directory)!r} was imported: it has verdicts and no pictures, so nothing can be judged again"
        )
    asked = content.asked
    spec = changes if isinstance(changes, RunSpec) else _remembered(changed_spec(asked, changes), content)
    for note in spec.notes:
        progress.note(note)
    with closing(open_executor(executor, progress.note)) as workplace, open_run(directory, "write") as store:
        labels = {**_told_apart(spec, asked), **moved_labels(spec, store.components())}
        cast_ = Cast.of(spec, _painters(store, content), labels, known_names(spec.detector, store))
        keep_names(store, cast_)
        for actor in cast_.actors():
            store.put_component(actor.stored())
        _check_floor(store, spec, cast_)
        counted = stored_count(store)
        if counted is None:
            raise UsageError(f"{str(directory)!r} was stopped before its cases were stored; run it again first")
        vouch = Preflight(spec, cast_, store, progress)
        vouch.hold_stored()
        # What a gate decided, it decided on the verdicts that are replaced now.
        store.drop_meta(GATE)
        keep_rules(store, spec.checks)
        summary = flow_through(store, cast_, workplace, progress, counted, may_paint=False, vouch=vouch)
        _write_down(store, content, spec, leading_eyes(store, cast_))
    for line in _unasked(directory, asked, summary):
        progress.note(line)
    if summary.n_unpainted and not summary.unasked:
        progress.note(f"{so_many(summary.n_unpainted, 'cases')} not painted yet; finish the run with its own command")
    for label in sorted(set(labels.values())):
        progress.note(f"what {label!r} has to say stands beside the verdicts that were there")
    return summary


def _check_floor(store: RunStore, spec: RunSpec, cast_: Cast) -> None:
    """Refuse a threshold below what the looks that are stored have kept."""
    for actor in cast_.actors():
        floor = store.highest_floor(actor.component_id) if actor.role == "detector" else None
        if floor is not None:
            option = f"detector.{actor.about.floor or 'floor'}"
            check_threshold(spec.checks, floor, f"the looks of {actor.label} that are stored have", option)


def changed_spec(asked: Asked, changes: Changes) -> RunSpec:
    """The specification a run was asked with, and the changes in it, bound anew."""
    ask, foreign = ask_again(asked), _foreign(asked, changes)
    counts = {} if changes.counts is None else {"check.counts": changes.counts}
    return make_spec(
        replace(
            ask,
            detector=changes.detector if changes.detector is not None else ask.detector,
            reader=changes.reader if changes.reader is not None else ask.reader,
            judges=changes.judges or ask.judges,
            check=changes.check if changes.check is not None else ask.check,
            settings={**ask.settings, **counts, **changes.settings},
        ),
        asked,
        foreign,
    )


def _foreign(asked: Asked, changes: Changes) -> set[tuple[str, str]]:
    """Role and name of whoever run.json alone names and who would reach outside; UsageError where that would be needed.

    A run directory is data. What it names is contacted, opened or run for nobody who does not name it again.
    """
    named = {
        ("detector", changes.detector),
        ("reader", changes.reader),
        *(("judge", judge) for judge in changes.judges),
    }
    replaced = {role for role, name in named if name is not None}
    foreign = {("suite", asked.suite.name), *(("model", model.spelled) for model in asked.models)}
    for part in (*asked.observers, *asked.checks):
        unnamed = [option for option in reached_options(part) if f"{part.prefix}.{option}" not in changes.settings]
        if (part.role == "check" or (part.role, part.spelled) in named) and unnamed:
            value = as_typed(part.options.get(unnamed[0]))
            raise UsageError(
                f"run.json names {part.prefix}.{unnamed[0]} {value!r} for the {part.role} {part.name!r}, and this "
                f"command does not: nothing was opened or contacted. If you trust it, name it again with "
                f"--set {part.prefix}.{unnamed[0]}={value}"
            )
        if part.role == "check" or part.role in replaced or not reached_by(part):
            continue
        if others := [key for key in changes.settings if key.startswith(f"{part.prefix}.")]:
            raise UsageError(
                f"--set {others[0]} is about the {part.role} {part.name!r}, which only run.json names; name it again "
                f"with --{part.role} {part.spelled}"
            )
        foreign.add((part.role, part.spelled))
    return foreign


def _remembered(spec: RunSpec, content: RunFile) -> RunSpec:
    """The same with the keys that those have in this run who are only looked up."""
    stored = {(part.role, part.label or part.identity.get("name")): part.identity for part in content.components}

    def known(binding: Binding) -> Binding:
        identity = stored.get((binding.role, binding.label))
        return replace(binding, stored_identity=identity) if binding.is_foreign and identity is not None else binding

    return spec.with_each(known)


def _unasked(directory: Path, asked: Asked, summary: RunSummary) -> Iterator[str]:
    """Who was not asked, what would have been contacted, and the words that have it asked."""
    for part in asked.observers:
        n_observations = summary.unasked.get(f"{part.role} {part.name}", 0)
        if n_observations:
            settings = [
                f" --set {part.prefix}.{option}={as_typed(part.options[option])}" for option in reached_options(part)
            ]
            yield (
                f"the {part.role} {part.name!r} was not asked {n_observations} times: run.json names it and this "
                f"command does not, and it would have reached for {', '.join(reached_by(part))}. If you trust it: "
                f"salva rejudge {directory} --{part.role} {part.spelled}{''.join(settings)}"
            )


def _told_apart(spec: RunSpec, first: Asked) -> dict[tuple[str, str], str]:
    """Labels for actors_by_role that share role and name with one of the run's but have other options."""
    before = {(observer.role, observer.name): observer.options for observer in first.observers}
    labels = {}
    for binding in spec.observers():
        key = binding.role, binding.label
        options = sorted(binding.asked().options.items()) if key in before else []
        differing = [f"{name}={_shown(value)}" for name, value in options if before[key].get(name) != value]
        if differing:
            labels[key] = f"{binding.label}({','.join(differing)})"
    return labels


def _shown(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _painters(store: RunStore, content: RunFile) -> list[Actor]:
    """The generators as they were when they painted, whatever version is installed now."""
    stored = {component.component_id: component for component in store.components()}
    wanted = [component.component_id for component in content.components if component.role == "model"]
    missing = [component_id for component_id in wanted if component_id not in stored]
    if missing or not wanted:
        raise StoreError(
            f"{str(store.path)!r} does not know the models of run.json ({', '.join(missing) or 'none named'}): "
            "one of the two was edited; restore it from a copy"
        )
    return [Actor.remembered(stored[component_id]) for component_id in wanted]


def _write_down(store: RunStore, content: RunFile, spec: RunSpec, leading: Mapping[str, str]) -> None:
    """Say in run.json by which rules and eyes the run is judged now; nothing when they were its own all along."""
    now = spec.asked().redacted()
    asked = replace(content.asked, observers=now.observers, checks=now.checks, headline=now.headline)
    is_otherwise = asked.to_json() != content.asked.to_json()
    # Whoever comes back to the run's own eyes means these, and others have looked as often by now.
    judged = Judged(asked=asked, leading=leading) if is_otherwise or content.judged is not None else None
    keep_run_file(store, replace(content, judged=judged))
