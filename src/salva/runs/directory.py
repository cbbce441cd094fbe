"""Which directory a run is in, and the rules it goes on under there.

A run is known by what the user chose. Whatever else has changed since it was made, new checks, new options, other
defaults, it is finished as it was begun. Nothing is written here.
"""

from __future__ import annotations

import dataclasses
import glob
import json
from collections.abc import Collection
from pathlib import Path

from salva.core.addresses import plain_words
from salva.core.asked import Asked, AskedComponent, Choice
from salva.core.fingerprint import Json
from salva.core.options import as_typed, fields_of, once_keyed, value_of
from salva.core.run_json import RunFile
from salva.core.spec import Binding, RunSpec
from salva.engine.progress import Progress
from salva.errors import StoreError, UsageError
from salva.registry import bind, colour_reader, defaults, injection_reader, rebind
from salva.runs.binding import component_spec
from salva.runs.reach import reached_by
from salva.store.blobs import IMAGES
from salva.store.lock import LOCK_FILE
from salva.store.reading import DATABASE
from salva.store.runfile import RUN_FILE, read_run_file

RUNS = Path("runs")
"""Where runs live that nobody gave a directory."""
_OURS = {LOCK_FILE, DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal", IMAGES, f".{RUN_FILE}.tmp"}
_N_HEX = 8
_SCHEMA_WITH_COLOURS = 2
"""In earlier runs nobody looked at colours."""


def find_directory(spec: RunSpec, parent: Path, progress: Progress) -> Path:
    """Where a run without --out lives: by the name of what was chosen, or where an earlier version put it."""
    directory = parent / spec.directory_name()
    if directory.exists():
        return directory
    pattern = glob.escape(directory.name[:-_N_HEX]) + "?" * _N_HEX
    for sibling in sorted(parent.glob(pattern)):
        try:
            content = read_run_file(sibling)
        except StoreError:
            continue
        if content is not None and not _differing(content, _as_asked_then(spec, content.asked)):
            progress.note(f"{str(sibling)!r} is this run under the name of an earlier version; it goes on there")
            return sibling
    return directory


def settle(directory: Path, spec: RunSpec, stored: RunFile | None = None) -> RunSpec:
    """The specification under the rules of the run that a directory holds.

    Refuses a directory that holds another run, or something that is no run at all. stored: what was asked, where
    run.json is lost.
    """
    if directory.exists() and not directory.is_dir():
        raise UsageError(f"{str(directory)!r} is a file; --out takes a directory")
    content = read_run_file(directory) or stored
    if content is None:
        refuse_strangers(directory)
        return spec
    spec = _as_asked_then(spec, content.asked)
    if differing := _differing(content, spec):
        raise UsageError(
            f"{str(directory)!r} holds a run that was asked differently ({'; '.join(differing)}); "
            "ask the same again to go on with it, or choose another directory with --out"
        )
    if content.schema < _SCHEMA_WITH_COLOURS:
        spec = dataclasses.replace(spec, colour_reader=None)
    spec = dataclasses.replace(spec, injection_reader=injection_reader() if content.asked.injection_reader else None)
    try:
        return _as_made(spec, content.asked)
    except UsageError as error:
        raise UsageError(
            f"{str(directory)!r} holds this run as an earlier version made it, and it cannot be finished so: {error} "
            "Finish it with that version or install what is missing, or choose another directory with --out"
        ) from error


def as_judged_then(spec: RunSpec, content: RunFile | None) -> RunSpec:
    """With checks that judge as they did when the run was made: one of schema 1 knew no doubt."""
    if content is None or content.schema > 1:
        return spec
    checks = (rebind(r, {"doubt": "0"}) if hasattr(r.options, "doubt") else r for r in spec.checks)
    return dataclasses.replace(spec, checks=tuple(checks))


def rules_kept(asked: Asked, made: Asked, uncounted: Collection[str] = ()) -> str:
    """What a run does by its own rules that the command would do otherwise today; empty when nothing is.

    uncounted: options that make no other run any more.
    """
    before = {(component.role, component.name): component.options for component in made.components()}
    kept = [
        f"{component.role}.{option} of {component.name} stays {_short(value)}"
        for component in asked.components()
        for option, value in before.get((component.role, component.name), {}).items()
        if component.options.get(option) != value and option not in uncounted
    ]
    new = [f"{c.name} is not judged" for c in asked.checks if (c.role, c.name) not in before]
    now = {(component.role, component.name) for component in asked.components()}
    looking = [f"{c.name} is its {c.role}" for c in made.observers if (c.role, c.name) not in now]
    return "; ".join(kept + new + looking)


def refuse_strangers(directory: Path) -> None:
    """Refuse a directory that holds what no run does."""
    names = [path.name for path in directory.iterdir()] if directory.is_dir() else []
    strangers = sorted(set(names) - _OURS)
    if strangers:
        raise UsageError(
            f"{str(directory)!r} is not a run and not empty (it holds {strangers[0]!r}); "
            "choose another directory with --out"
        )


def _differing(content: RunFile, spec: RunSpec) -> list[str]:
    """What was chosen otherwise, in the words of the command line."""
    asked = spec.asked().redacted()
    if content.asked.to_json() == asked.to_json():
        return []

    def either(role: str, name: str) -> dict[str, Json]:
        return spec.defaults(role, name) or defaults(role, name)

    # A check that is gone has no defaults to compare with; that it is missing is said later.
    installed = {binding.label for binding in spec.checks}
    made = dataclasses.replace(
        content.asked, checks=tuple(r for r in content.asked.checks if r.name in installed)
    )
    before = plain_words(content.choice if content.choice is not None else made.chosen(either).words())
    now = plain_words(asked.chosen(spec.defaults).words())
    uncounted = uncounted_options(spec)
    names = sorted(name for name in {*before, *now} if _option_in(name) not in uncounted)
    return [f"{n} was {_told(before, n)}, now {_told(now, n)}" for n in names if before.get(n) != now.get(n)]


def uncounted_options(spec: RunSpec) -> set[str]:
    """The options that made another run once and make none now."""
    return {name for binding in spec.bindings() for name in once_keyed(type(binding.options))}


def _option_in(word: str) -> str:
    """The option in a word of the command line, such as `judge.attempts of openai/x`."""
    return word.partition(" of ")[0].partition(".")[2]


def _as_asked_then(spec: RunSpec, made: Asked) -> RunSpec:
    """The same run as it was asked for when an option that has moved to the checks was its observer's."""
    spec = _seen_as_before(spec, made)
    before = {(component.role, component.name): component.options for component in made.observers}
    for binding in spec.observers():
        for field in dataclasses.fields(binding.options):
            role, _, name = field.metadata.get("means", "").partition(".")
            value = before.get((binding.role, binding.label), {}).get(field.name)
            if role != "check" or value in (None, field.default):
                continue
            movers = {r.label: rebind(r, {name: "none"}) for r in spec.checks if hasattr(r.options, name)}
            if all(value_of(check.options, name) in (None, value) for check in spec.checks):
                owner = rebind(binding, {field.name: as_typed(value)})
                spec = dataclasses.replace(
                    spec,
                    detector=owner if spec.detector is binding else spec.detector,
                    checks=tuple(movers.get(check.label, check) for check in spec.checks),
                )
    return spec


def _told(choice: Choice, name: str) -> str:
    if name in choice:
        return _short(choice[name])
    return "its default" if "." in name else "none"


def _short(value: Json) -> str:
    text = as_typed(value) or "none" if isinstance(value, list) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:117]}..."


def _seen_as_before(spec: RunSpec, made: Asked) -> RunSpec:
    """The same with the detector a run was made with, where the command leaves it open: once every model had one."""
    detector = next((observer for observer in made.observers if observer.role == "detector"), None)
    if not spec.wanting or detector is None:
        return spec
    if reached := reached_by(detector):
        raise UsageError(
            f"the run's detector was {detector.spelled}, which reaches for {reached[0]}; name it again, as in "
            f"--detector {detector.spelled}, or name another"
        )
    options = {name: as_typed(value) for name, value in detector.options.items()}
    checks = sorted((*spec.checks, *spec.wanting), key=lambda binding: binding.label)
    return dataclasses.replace(
        spec,
        detector=bind(component_spec("detector", detector.spelled, options)),
        colour_reader=colour_reader(),
        checks=tuple(checks),
        wanting=(),
    )


def _as_made(spec: RunSpec, made: Asked) -> RunSpec:
    """The same run with every option as it was, and the checks it had."""
    before = {(component.role, component.name): component for component in made.components()}
    now = {(component.role, component.name): component for component in spec.asked().redacted().components()}

    def keep(binding: Binding) -> Binding:
        key = binding.role, binding.label
        return _with_options(binding, before[key], now[key]) if key in before else binding

    installed = {binding.label: binding for binding in spec.checks}
    for check in made.checks:
        if check.name not in installed:
            raise UsageError(f"it was judged by the check {check.name!r}, which is not there.")
    checks = tuple(keep(installed[check.name]) for check in made.checks)
    return dataclasses.replace(spec.with_each(keep), checks=checks)


def _with_options(binding: Binding, before: AskedComponent, now: AskedComponent) -> Binding:
    """A binding with the options it had; those that stay are left alone, since what is stored may be redacted."""
    fields, uncounted = fields_of(type(binding.options)), once_keyed(type(binding.options))
    changes = {
        option: as_typed(value)
        for option, value in before.options.items()
        if now.options.get(option) != value and option not in uncounted
    }
    binding = binding.found_as(before.options)
    for option, value in list(changes.items()):
        if option not in fields:
            raise UsageError(f"it was made with {binding.role}.{option} of {binding.label!r}, which is no option now.")
        # A run directory is data: no file and no endpoint is taken from it that the command does not name.
        if fields[option].metadata.get("reaches") == "endpoint":
            del changes[option]
        elif fields[option].metadata.get("reaches"):
            raise UsageError(
                f"its run.json names {binding.role}.{option} {value!r}, and this command does not; if you trust it, "
                f"name it again with --set {binding.role}.{option}={value}."
            )
    return rebind(binding, changes) if changes else binding
