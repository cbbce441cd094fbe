"""Which directory a run is in, and whether a command goes on with the run that a directory holds.

A run is known by what the user chose. Options that the user left alone keep the values the run was made with. Nothing
is written here.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from salva.core.addresses import plain_words
from salva.core.fingerprint import Json
from salva.core.options import as_typed, fields_of
from salva.core.plan import Binding, Plan
from salva.core.run_file import RunFile
from salva.core.run_spec import Choice, ComponentSpec, RunSpec
from salva.errors import UsageError
from salva.messages import message
from salva.registry import rebind
from salva.runs.planning import detector_missing
from salva.store.blobs import IMAGES
from salva.store.lock import LOCK_FILE
from salva.store.reading import DATABASE
from salva.store.runfile import RUN_FILE, read_run_file

RUNS = Path("runs")
"""Where runs live that nobody gave a directory."""
_OURS = {LOCK_FILE, DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal", IMAGES, f".{RUN_FILE}.tmp"}


def resume_or_start(directory: Path, plan: Plan, noted: RunFile | None = None) -> Plan:
    """The specification with the options of the run that a directory holds; UsageError where it holds another run.

    noted: what the store remembers, where run.json is lost.
    """
    if directory.exists() and not directory.is_dir():
        raise UsageError(message("out-is-file", path=str(directory)))
    content = read_run_file(directory) or noted
    if content is None:
        refuse_strangers(directory)
        return plan
    asked = plan.run_spec().redacted()
    now = asked.without_defaults(plan.defaults).choice()
    differences = _differences(content.choice, now) or _given_otherwise(plan, content.spec, asked)
    if differences and "detector" in content.choice and "detector" not in now and plan.wanting and not plan.checks:
        raise detector_missing(plan)
    if differences:
        raise UsageError(message("run-differs", path=str(directory), differences="; ".join(differences)))
    return _with_recorded(plan, content.spec)


def recorded_options(plan: Plan, resumed: Plan) -> list[str]:
    """The options that a run keeps and that the command alone would set otherwise."""
    now = {(part.role, part.name): part.options for part in plan.run_spec().components()}
    return [
        f"{part.role}.{option} {_short(value)}"
        for part in resumed.run_spec().components()
        for option, value in part.options.items()
        if now[part.role, part.name].get(option) != value
    ]


def refuse_strangers(directory: Path) -> None:
    """Refuse a directory that holds what no run does."""
    names = [path.name for path in directory.iterdir()] if directory.is_dir() else []
    if strangers := sorted(set(names) - _OURS):
        raise UsageError(message("out-not-empty", path=str(directory), name=strangers[0]))


def _differences(before: Choice, now: Choice) -> list[str]:
    """What was chosen otherwise, in the words of the command line."""
    before, now = plain_words(before), plain_words(now)
    return [
        f"{name} was {_shown(before, name)}, now {_shown(now, name)}"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    ]


def _given_otherwise(plan: Plan, made: RunSpec, asked: RunSpec) -> list[str]:
    """Options that this command sets to their default, where the run was made when that was another value."""
    now = {(part.role, part.name): part.options for part in asked.components()}
    return [
        f"{part.prefix}.{option} was {_short(value)}, now {_short(now[part.role, part.name].get(option))}"
        for part in made.components()
        for option, value in part.options.items()
        if f"{part.prefix}.{option}" in plan.spec.settings and now[part.role, part.name].get(option) != value
    ]


def _shown(choice: Choice, name: str) -> str:
    if name in choice:
        return _short(choice[name])
    return "its default" if "." in name else "none"


def _short(value: Json) -> str:
    text = as_typed(value) or "none" if isinstance(value, list) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:117]}..."


def _with_recorded(plan: Plan, made: RunSpec) -> Plan:
    """The same run with every option as it was."""
    before = {(part.role, part.name): part for part in made.components()}
    now = {(part.role, part.name): part for part in plan.run_spec().redacted().components()}

    def keep(binding: Binding) -> Binding:
        key = binding.role, binding.label
        return _with_options(binding, before[key], now[key]) if key in before else binding

    return dataclasses.replace(plan.with_each(keep), checks=tuple(map(keep, plan.checks)))


def _with_options(binding: Binding, before: ComponentSpec, now: ComponentSpec) -> Binding:
    """A binding with the options it had; those that stay are left alone, since what is stored may be redacted."""
    fields = fields_of(type(binding.options))
    changes: dict[str, str] = {}
    for option, value in before.options.items():
        if option not in fields or now.options.get(option) == value:
            continue
        reaches = fields[option].metadata.get("reaches")
        # A run directory is data: no file and no endpoint is taken from it that the command does not name.
        if reaches == "endpoint":
            continue
        if reaches:
            raise UsageError(message("option-not-named", option=f"{binding.role}.{option}", value=value))
        changes[option] = as_typed(value)
    return rebind(binding, changes) if changes else binding
