"""What a run directory says it is: run.json, its cases, and the stamp of a finished run.

Decides whether a directory may be used for a specification, before anything is written to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from salva.core.blame import redact
from salva.core.case import Case
from salva.core.fingerprint import Json, fingerprint
from salva.core.spec import Binding, RunSpec
from salva.engine.cast import Cast
from salva.errors import StoreError, UsageError
from salva.run.summary import RunSummary
from salva.store.blobs import IMAGES
from salva.store.lock import LOCK_FILE
from salva.store.reading import DATABASE
from salva.store.runfile import RUN_FILE, read_run_file, write_run_file
from salva.store.sqlite import RunStore, open_run

FINISHED = "finished"
JUDGED = "judged"
"""In run.json: how `salva judge` last judged the run, where that differs from what was asked."""
_RULES = "rules"
_OURS = {LOCK_FILE, DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal", IMAGES, f".{RUN_FILE}.tmp"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseCount:
    """How much a run has to paint, for each model and repeat."""

    n_cases: int
    n_prompts: int


def check_directory(directory: Path, spec: RunSpec) -> None:
    """Refuse a directory that holds another run, or something that is no run at all."""
    if directory.exists() and not directory.is_dir():
        raise UsageError(f"{str(directory)!r} is a file; --out takes a directory")
    content = read_run_file(directory)
    if content is not None:
        _check_same(directory, cast("dict[str, Json]", content["asked"]), spec.asked())
    elif directory.is_dir():
        strangers = sorted(path.name for path in directory.iterdir() if path.name not in _OURS)
        if strangers:
            raise UsageError(
                f"{str(directory)!r} is not a run and not empty (it holds {strangers[0]!r}); "
                "choose another directory with --out"
            )


def _check_same(directory: Path, stored: Mapping[str, Json], asked: Mapping[str, Json]) -> None:
    wanted = json.loads(redact(json.dumps(asked)))
    differing = [name for name in {**stored, **wanted} if stored.get(name) != wanted.get(name)]
    if differing:
        details = "; ".join(f"{n} was {_short(stored.get(n))}, now {_short(wanted.get(n))}" for n in sorted(differing))
        raise UsageError(
            f"{str(directory)!r} holds a run that was asked differently ({details}); "
            "ask the same again to go on with it, or choose another directory with --out"
        )


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:117]}..."


def stamp_of(spec: RunSpec) -> str:
    """What a finished run is finished for: everything asked, and the exact components that answered."""
    bindings = (spec.suite, *spec.models, *spec.observers(), *spec.relations)
    return fingerprint([spec.asked(), [binding.identity() for binding in bindings]])


def finished_summary(directory: Path, spec: RunSpec, retry_refused: bool) -> RunSummary | None:
    """What a finished run came to, without touching anything; None when there is work to do."""
    content = read_run_file(directory)
    if not (directory / DATABASE).is_file() or content is None or JUDGED in content:
        # A run that was judged otherwise since goes back to its own rules first; nothing is painted for that.
        return None
    with open_run(directory) as store:
        stamp = store.meta().get(FINISHED)
    if not isinstance(stamp, dict) or stamp.get("stamp") != stamp_of(spec):
        return None
    outcomes = cast("dict[str, int]", stamp["outcomes"])
    if retry_refused and outcomes.get("FAILED"):
        return None
    return RunSummary(outcomes=outcomes, n_reused=cast(int, stamp["n_images"]))


def open_ledger(store: RunStore, spec: RunSpec, cast_: Cast, environment: Mapping[str, Json]) -> None:
    """Write down what is asked, who answers and where; under the run lock, before any work."""
    content = read_run_file(store.directory)
    known = store.meta().get("asked")
    if content is None and known is not None:
        _check_same(store.directory, cast("dict[str, Json]", known), spec.asked())
    components: dict[str, Json] = {
        "suite": spec.suite.identity(),
        "models": [{**a.identity, "component_id": a.component_id} for a in cast_.models],
        "observers": {f"{b.role}:{b.label}": b.identity() for b in spec.observers()},
        "relations": [binding.identity() for binding in spec.relations],
    }
    fresh: dict[str, Json] = {"asked": spec.asked(), "components": components, "environment": dict(environment)}
    if content is not None:
        fresh = {**content, "components": components}
        fresh.pop(JUDGED, None)
        seen_in = [content.get("environment"), *cast("list[Json]", content.get("resumed_in", []))]
        if dict(environment) not in seen_in:
            fresh["resumed_in"] = [*seen_in[1:], dict(environment)]
    fresh = json.loads(redact(json.dumps(fresh)))
    if fresh != content:
        write_run_file(store.directory, fresh)
    store.set_meta("asked", cast(Json, json.loads(redact(json.dumps(spec.asked())))))
    packages = environment.get("packages")
    store.set_meta("salva_version", packages.get("salva") if isinstance(packages, dict) else None)
    keep_rules(store, spec.relations)
    for actor in cast_.actors():
        store.put_component(actor.stored())
    store.flush()


def keep_rules(store: RunStore, relations: Iterable[Binding]) -> None:
    """Drop the verdicts of every relation that is judged by other rules from now on: in one run, one rule each."""
    known = store.meta().get(_RULES)
    before = known if isinstance(known, dict) else {}
    now = json.loads(json.dumps({binding.label: binding.identity() for binding in relations}))
    # In this order: whatever kills us in between, no verdict is left that its rule did not make.
    store.drop_meta(FINISHED)
    for label, rule in now.items():
        if label in before and before[label] != rule:
            store.drop_verdicts(label)
    store.set_meta(_RULES, {**before, **now})
    store.flush()


def keep_cases(store: RunStore, spec: RunSpec, cases: Iterable[Case]) -> CaseCount:
    """Store the run's cases once."""
    kept = store.meta().get("cases")
    counted = stored_count(store)
    if isinstance(kept, dict) and counted is not None:
        if kept["suite"] != json.loads(json.dumps(spec.suite.identity())):
            raise UsageError(
                f"{str(store.directory)!r} was made with version {_version(kept['suite'])} of the suite "
                f"{spec.suite.label!r}, now it is version {spec.suite.component.version}; "
                "its cases may differ: choose another directory with --out"
            )
        if store.n_cases() != counted.n_cases:
            raise StoreError(
                f"{str(store.path)!r} holds {store.n_cases()} cases where {counted.n_cases} were stored: "
                "somebody edited it; restore it from a copy, or start anew with another --out"
            )
        return counted
    store.clear_cases()
    n_cases = n_prompts = 0
    for case in cases:
        store.put_case(n_cases, case)
        n_cases += 1
        n_prompts += len(case.prompts)
    if n_cases == 0:
        raise UsageError(f"the suite {spec.suite.label!r} gives no case for --size {spec.size}")
    store.set_meta("cases", {"suite": spec.suite.identity(), "n_cases": n_cases, "n_prompts": n_prompts})
    store.flush()
    return CaseCount(n_cases=n_cases, n_prompts=n_prompts)


def stored_count(store: RunStore) -> CaseCount | None:
    """How many cases the run has; None when they were never all stored."""
    kept = store.meta().get("cases")
    if not isinstance(kept, dict):
        return None
    return CaseCount(n_cases=cast(int, kept["n_cases"]), n_prompts=cast(int, kept["n_prompts"]))


def stamp_finished(store: RunStore, spec: RunSpec, summary: RunSummary) -> None:
    """Say that the same command has nothing left to do."""
    n_images = summary.n_rendered + summary.n_reused
    store.set_meta(FINISHED, {"stamp": stamp_of(spec), "outcomes": dict(summary.outcomes), "n_images": n_images})
    store.flush()


def _version(identity: Json) -> Json:
    return identity.get("version") if isinstance(identity, dict) else None
