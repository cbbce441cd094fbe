"""`salva judge`: verdicts again from what is stored, nothing painted.

A perceiver that is new to the run looks at the stored images first, and its verdicts stand beside
those of the others. A relation with other options judges everything anew: a run has one rule each.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from salva.core.blame import redact
from salva.core.fingerprint import Json
from salva.core.protocols import Executor
from salva.core.spec import Binding, RunSpec
from salva.engine.actors import Actor
from salva.engine.cast import Cast
from salva.engine.progress import Progress
from salva.errors import StoreError, UsageError
from salva.run.ask import ask_again, make_spec
from salva.run.ledger import JUDGED, keep_rules, stored_count
from salva.run.pipeline import flow_through, open_executor
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
    if "imported" in content:
        raise UsageError(
            f"{str(directory)!r} was imported: it has verdicts and no pictures, so nothing can be judged again"
        )
    asked = cast("dict[str, Json]", content["asked"])
    spec = changes if isinstance(changes, RunSpec) else changed_spec(asked, changes)
    labels = _told_apart(spec, asked)
    with closing(open_executor(executor)) as workplace, open_run(directory, "write") as store:
        cast_ = Cast.of(spec, _painters(store, content), labels)
        for actor in cast_.actors():
            store.put_component(actor.stored())
        counted = stored_count(store)
        if counted is None:
            raise UsageError(f"{str(directory)!r} was stopped before its cases were stored; run it again first")
        keep_rules(store, spec.relations)
        summary = flow_through(store, cast_, workplace, progress, counted, may_paint=False)
        _write_down(directory, content, spec, _leading(store, cast_))
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
    """Labels for perceivers that share a name with one of the run's but have other options, by role:name."""
    known = cast("dict[str, dict[str, Json]]", first["observers"])
    labels = {}
    for binding in spec.observers():
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


def _leading(store: RunStore, cast_: Cast) -> dict[str, Json]:
    """By relation, the observers of the verdicts just made, as a verdict names them."""
    leading: dict[str, Json] = {}
    for case in store.cases():
        for hearing in cast_.hearings(case):
            leading.setdefault(hearing.part.label, hearing.observers)
        if len(leading) == len(cast_.relations):
            break
    return leading


def _write_down(directory: Path, content: dict[str, Json], spec: RunSpec, leading: dict[str, Json]) -> None:
    """Say in run.json by which rules and eyes the run is judged now; nothing when they are its own."""
    asked = cast("dict[str, Json]", content["asked"])
    now = json.loads(redact(json.dumps(spec.asked())))
    differing = {name: now[name] for name in ("observers", "relations", "headline") if now[name] != asked[name]}
    fresh = {name: value for name, value in content.items() if name != JUDGED}
    if differing:
        fresh[JUDGED] = {**differing, "leading": leading}
    if fresh != content:
        write_run_file(directory, fresh)
