"""`salva judge`: verdicts again from what is stored, nothing painted.

A perceiver that is new to the run looks at the stored images first. Verdicts about the same are
replaced by equal or better ones; verdicts of another detector, judge or setting stand beside them.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from salva.core.fingerprint import Json
from salva.core.protocols import Executor
from salva.core.spec import Binding, RunSpec
from salva.errors import StoreError, UsageError
from salva.run.ask import ask_again, make_spec
from salva.run.cast import Cast
from salva.run.guard import redact
from salva.run.ledger import stored_count
from salva.run.pipeline import flow_through, open_executor
from salva.run.plan import Actor
from salva.run.progress import Progress
from salva.run.summary import RunSummary
from salva.store.runfile import read_run_file, write_run_file
from salva.store.sqlite import RunStore, open_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What to judge otherwise than the run did; what is left empty stays as it was."""

    relation: str | None = None
    """The relation that leads from now on."""
    detector: str | None = None
    reader: str | None = None
    judges: tuple[str, ...] = ()
    reading: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


def judge_again(
    directory: Path, changes: Changes | RunSpec, progress: Progress, *, executor: str | Executor = "local"
) -> RunSummary:
    """Judge the images of a run again, with other components or settings where they are named."""
    content = read_run_file(directory)
    if content is None:
        raise UsageError(f"{str(directory)!r} is no run: it has no run.json; give the directory `salva run` printed")
    first = cast("dict[str, Json]", content.get("asked_first", content["asked"]))
    spec = changes if isinstance(changes, RunSpec) else changed_spec(first, changes)
    labels = _told_apart(spec, first)
    with closing(open_executor(executor)) as workplace, open_run(directory, "write") as store:
        cast_ = Cast.of(spec, _painters(store, content), labels)
        for actor in cast_.actors():
            store.put_component(actor.stored())
        counted = stored_count(store)
        if counted is None:
            raise UsageError(f"{str(directory)!r} was stopped before its cases were stored; run it again first")
        summary = flow_through(store, cast_, workplace, progress, counted, may_paint=False)
        _write_down(directory, content, first, spec, labels)
    if summary.n_unpainted:
        progress.note(f"{summary.n_unpainted} cases are not painted yet; finish the run with its own command")
    for label in sorted(set(labels.values())):
        progress.note(f"what {label!r} has to say stands beside the verdicts that were there")
    return summary


def changed_spec(asked: Mapping[str, Json], changes: Changes) -> RunSpec:
    """The specification a run was asked with, and the changes in it, bound anew."""
    ask = ask_again(asked)
    settings = dict(ask.settings)
    replaced = {"detector": changes.detector, "reader": changes.reader, "judge": "+".join(changes.judges) or None}
    before = {"detector": ask.detector, "reader": ask.reader, "judge": "+".join(ask.judges)}
    for role, name in replaced.items():
        # Another component has other options; those of the old one would not fit it.
        if name is not None and name != before[role]:
            settings = {key: value for key, value in settings.items() if not key.startswith(f"{role}.")}
    if changes.reading is not None:
        settings["relation.reading"] = changes.reading
    return make_spec(
        dataclasses.replace(
            ask,
            detector=changes.detector if changes.detector is not None else ask.detector,
            reader=changes.reader if changes.reader is not None else ask.reader,
            judges=changes.judges or ask.judges,
            relation=changes.relation if changes.relation is not None else ask.relation,
            settings={**settings, **changes.settings},
        )
    )


def _told_apart(spec: RunSpec, first: Mapping[str, Json]) -> dict[str, str]:
    """Labels for components that share a name with one of the run's but have other options, by role:name."""
    relations = {f"relation:{r['name']}": r for r in cast("list[dict[str, Json]]", first["relations"])}
    known = {**cast("dict[str, dict[str, Json]]", first["observers"]), **relations}
    labels = {}
    for binding in (*spec.observers(), *spec.relations):
        key = f"{binding.role}:{binding.label}"
        differing = _differing(binding, known.get(key))
        if differing:
            labels[key] = f"{binding.label}({','.join(differing)})"
    return labels


def _differing(binding: Binding, stored: Mapping[str, Json] | None) -> list[str]:
    if stored is None:
        return []
    before = cast("dict[str, Json]", stored["options"])
    now = cast("dict[str, Json]", json.loads(json.dumps(binding.asked()["options"])))
    return [f"{name}={_plain(value)}" for name, value in sorted(now.items()) if before.get(name) != value]


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _painters(store: RunStore, content: Mapping[str, Json]) -> list[Actor]:
    """The generators as they were when they painted, whatever version is installed now."""
    stored = {component.component_id: component for component in store.components()}
    components = cast("dict[str, list[dict[str, Json]]]", content.get("components", {}))
    wanted = [str(model.get("component_id")) for model in components.get("models", [])]
    missing = [component_id for component_id in wanted if component_id not in stored]
    if missing or not wanted:
        raise StoreError(
            f"{str(store.path)!r} does not know the models of run.json ({', '.join(missing) or 'none named'}): "
            "one of the two was edited; restore it from a copy"
        )
    return [Actor.remembered(stored[component_id]) for component_id in wanted]


def _write_down(
    directory: Path,
    content: dict[str, Json],
    first: Mapping[str, Json],
    spec: RunSpec,
    labels: Mapping[str, str],
) -> None:
    fresh = dict(content)
    judged = [*cast("list[Json]", content.get("judged", []))]
    addition: Json = {"observers": spec.asked()["observers"], "relations": spec.asked()["relations"]}
    is_same = addition == {"observers": first["observers"], "relations": first["relations"]}
    if not is_same and addition not in judged:
        fresh["judged"] = [*judged, addition]
    headline = labels.get(f"relation:{spec.headline}", spec.headline)
    asked = cast("dict[str, Json]", content["asked"])
    if headline != asked["headline"]:
        fresh["asked_first"] = dict(first)
        fresh["asked"] = {**asked, "headline": headline}
    if fresh != content:
        write_run_file(directory, json.loads(redact(json.dumps(fresh))))
