"""From a RunSpec as typed to a Plan with every component bound. Nothing is loaded and nothing is run."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence

from msgspec import structs

from salva.component_facts import suite_about
from salva.core.fingerprint import fingerprint
from salva.core.options import as_typed, value_of
from salva.core.plan import Binding, Plan
from salva.core.run_spec import CONTRAST, GROUP, NOBODY, OFF, ON, PREFLIGHT, SETTABLE, ComponentSpec, RunSpec
from salva.core.shard import Shard
from salva.errors import UsageError, meant
from salva.messages import message
from salva.registry import bind, colour_reader, defaults
from salva.runs.binding import Recorded, bind_checks, bind_each

_MOST_REPEATS = 100_000
DEFAULTS = {"model": "pocket", "detector": NOBODY, "reader": "rapidocr", "embedder": NOBODY, "judge": NOBODY}
"""Who plays a role when neither the user nor the suite nor every model names anyone."""
USUAL_SIZE = "quick"


class AllButSuite(Container[tuple[str, str]]):
    """Every component but the suite, for a plan that is only inspected: none is opened, contacted or loaded."""

    def __contains__(self, part: object) -> bool:
        return isinstance(part, tuple) and part[0] != "suite"


def published_rule(spec: RunSpec) -> RunSpec:
    """The same with the settings of the rule of the suite's paper."""
    published = suite_about(spec.suite.name).published
    if not published:
        raise UsageError(message("published-missing", suite=spec.suite.name))
    settings: dict[str, str] = {}
    for name, value in published.items():
        given = spec.settings.get(name, "") if "." in name else _flag_of(spec, name)
        if given not in ("", value):
            raise UsageError(message("published-conflict", name=name, value=value, given=given))
        if "." in name:
            settings[name] = value
        else:
            spec = structs.replace(spec, check=value) if name == "check" else spec.with_observers(name, [value])
    return structs.replace(spec, settings={**spec.settings, **settings})


def _flag_of(spec: RunSpec, name: str) -> str:
    return spec.check if name == "check" else next(iter(spec.named(name)), "")


def make_plan(spec: RunSpec, made: RunSpec | None = None, foreign: Container[tuple[str, str]] = ()) -> Plan:
    """Bind every component of a specification.

    made: what a stored run was asked; a component it names keeps its options unless others are set. foreign: role and
    name of components that only a run directory names, which are not put to work.
    """
    if not 1 <= spec.repeats <= _MOST_REPEATS:
        raise UsageError(message("option-invalid", name="--repeats", value=spec.repeats, wanted="from 1 to 100,000"))
    if spec.shard:
        Shard.parse(spec.shard)
    spec = published_rule(spec) if spec.published else spec
    names = {part.name for part in (*spec.models, *spec.observers) if part.typed}
    by_role = settings_by_role(spec.settings, names)
    recorded = _recorded(made) if made else {}
    suite_options = {**recorded.get(("suite", spec.suite.text), {}), **by_role["suite"]}
    suite = bind(structs.replace(spec.suite, options=suite_options), is_foreign=("suite", spec.suite.text) in foreign)
    chosen = {**DEFAULTS, **suite.about.defaults}

    def bound(role: str, parts: Sequence[ComponentSpec]) -> tuple[Binding, ...]:
        wanted = parts or (ComponentSpec(role=role, name=chosen[role]),)
        named = [part for part in wanted if part.name != NOBODY]
        if not named and by_role[role]:
            raise UsageError(message("role-empty", option=f"{role}.{next(iter(by_role[role]))}", role=role))
        bindings = bind_each(role, named, by_role[role], recorded, by_role, foreign)
        _refuse_doubles(role, bindings)
        return bindings

    models = bound("model", spec.models)
    if not models:
        raise UsageError(message("model-missing"))
    chosen = {**DEFAULTS, **_defaults_of(models), **suite.about.defaults}
    by_observer = {
        role: bound(role, [part for part in spec.observers if part.role == role])
        for role in ("detector", "reader", "embedder", "judge")
    }
    judges = by_observer["judge"]
    detector, reader, embedder = (next(iter(by_observer[role]), None) for role in ("detector", "reader", "embedder"))
    observers = [binding for bindings in by_observer.values() for binding in bindings]
    is_open = not spec.named("detector") and detector is None
    roles = {binding.role for binding in observers}
    checks, wanting = bind_checks(by_role["check"], roles, spec.check, recorded, suite=spec.suite.name, is_open=is_open)
    if detector is not None and (floor := detector.about.floor):
        check_threshold(checks, getattr(detector.options, floor), detector.label, f"detector.{floor}")
    return Plan(
        spec=structs.replace(
            spec,
            size=_size_of(suite, spec.size),
            repeats=max(spec.repeats, 2) if spec.control else spec.repeats,
            **_run_settings(by_role["run"], spec),
        ),
        suite=suite,
        models=models,
        detector=detector,
        reader=reader,
        embedder=embedder,
        judges=judges,
        colour_reader=colour_reader() if detector else None,
        checks=checks,
        wanting=wanting,
        notes=tuple(message("licence", name=b.label, licence=b.about.licence) for b in observers if b.about.licence),
    )


def _refuse_doubles(role: str, bindings: Sequence[Binding]) -> None:
    """Refuse one name for two components, and two names for one and the same."""
    by_identity: dict[str, str] = {}
    for number, binding in enumerate(bindings):
        other = by_identity.setdefault(fingerprint(binding.identity()), binding.label)
        if other != binding.label or any(earlier.label == binding.label for earlier in bindings[:number]):
            raise UsageError(message("component-twice", role=role, first=other, second=binding.label))


def _defaults_of(models: Sequence[Binding]) -> dict[str, str]:
    """The observers that all of these models name as their default."""
    first, *others = [binding.about.defaults for binding in models]
    return {role: name for role, name in first.items() if all(other.get(role) == name for other in others)}


def check_threshold(checks: Iterable[Binding], floor: float, detector: str, floor_option: str) -> None:
    """Refuse a threshold below the score from which boxes are kept."""
    for check in (check for check in checks if "detector" in check.about.needs_roles):
        threshold = value_of(check.options, "threshold")
        if threshold is not None and threshold < floor:
            raise UsageError(
                message(
                    "threshold-below-floor", detector=detector, floor=floor, threshold=threshold, option=floor_option
                )
            )


def spec_again(stored: RunSpec) -> RunSpec:
    """The specification that a run came from, to be changed and bound anew.

    Of the settings only the run's and those of checks: a check that is judged for the first time follows them too.
    """
    checks = stored.without_defaults(defaults).checks
    settings = {f"check.{name}": as_typed(value) for part in checks for name, value in part.options.items()}
    settings |= {f"{model.name}.{GROUP}": model.group for model in stored.models if model.group}
    settings |= {} if stored.preflight else {PREFLIGHT: OFF}
    settings |= {} if stored.contrast else {CONTRAST: OFF}
    spec = structs.replace(stored, checks=(), settings=settings, preflight=True, contrast=True)
    spec = structs.replace(
        spec,
        suite=_bare(spec.suite),
        models=tuple(map(_bare, spec.models)),
        observers=tuple(map(_bare, spec.observers)),
    )
    for role in ("detector", "reader", "embedder", "judge"):
        spec = spec if spec.named(role) else spec.with_observers(role, [NOBODY])
    return spec


def _bare(part: ComponentSpec) -> ComponentSpec:
    return structs.replace(part, options={}, group="")


def _recorded(stored: RunSpec) -> Recorded:
    return {
        (part.role, part.text): {name: as_typed(value) for name, value in part.options.items()}
        for part in stored.components()
    }


def settings_by_role(settings: Mapping[str, str], names: Collection[str] = ()) -> dict[str, dict[str, str]]:
    """ROLE.OPTION to value, as role to options; names: what models and judges are called by the user."""
    by_role: dict[str, dict[str, str]] = {role: {} for role in (*SETTABLE, *names)}
    for key, value in settings.items():
        # A name may have dots of its own, as in v1.5.steps.
        whole = next((called for called in sorted(names, key=len, reverse=True) if key.startswith(f"{called}.")), "")
        role, dot, name = (whole, ".", key[len(whole) + 1 :]) if whole else key.partition(".")
        if not dot or role not in by_role:
            raise UsageError(message("setting-unknown", key=key, value=value, known=", ".join(by_role)))
        by_role[role][name] = value
    return by_role


def _run_settings(settings: Mapping[str, str], spec: RunSpec) -> dict[str, bool]:
    """The settings of the run itself, each on or off."""
    found = {name.partition(".")[2]: True for name in (PREFLIGHT, CONTRAST)}
    for name, value in settings.items():
        if name not in found:
            raise UsageError(message("option-unknown", owner="run", name=name, meant=f" It has {', '.join(found)}."))
        if value not in (ON, OFF):
            raise UsageError(message("option-invalid", name=f"run.{name}", value=value, wanted=f"{ON} or {OFF}"))
        found[name] = value == ON
    return {"preflight": found["preflight"] and spec.preflight, "contrast": found["contrast"] and spec.contrast}


def _size_of(suite: Binding, size: str) -> str:
    """The size that is asked, checked."""
    sizes: Sequence[str] = suite.component.sizes
    if not size:
        return USUAL_SIZE if USUAL_SIZE in sizes else sizes[0]
    if size not in sizes and (not size.isascii() or not size.isdigit() or int(size) < 1):
        wanted = f"one of {', '.join(sizes)} or a number of cases (at least 1).{meant(size, sizes)}"
        raise UsageError(message("option-invalid", name="--size", value=size, wanted=wanted.rstrip(".")))
    return size
