"""From what a person asked (names, flags, key=value settings) to a RunSpec with every component bound.

The command line and the Python API meet here. Nothing is loaded and nothing is run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from salva.core.fingerprint import Json
from salva.core.options import NoOptions
from salva.core.spec import Binding, ComponentSpec, RunSpec
from salva.errors import UsageError, unknown_name
from salva.registry import BUILT_IN, bind, entries, load

SETTABLE = ("suite", "model", "detector", "reader", "embedder", "judge", "relation")
NOBODY = "none"
"""What stands for a role left empty."""
DEFAULTS = {"model": "pocket", "detector": "pocket", "reader": "rapidocr", "embedder": NOBODY, "judge": NOBODY}
"""Who plays a role when neither the user nor the suite names anyone."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A run as a person asks for it; a role left empty goes to the suite's choice, then to the default."""

    suite: str
    models: tuple[str, ...] = ()
    detector: str = ""
    reader: str = ""
    embedder: str = ""
    judges: tuple[str, ...] = ()
    size: str = "quick"
    repeats: int = 1
    seed: int = 0
    control: bool = False
    only: tuple[str, ...] = ()
    """Each as LABEL=VALUE."""
    relation: str = ""
    reading: str = ""
    settings: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """ROLE.OPTION to value, as --set gives them."""


def split_settings(pairs: Iterable[str]) -> dict[str, str]:
    """KEY=VALUE strings to a mapping; a key given twice is an error, since one would win in silence."""
    settings: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"expected KEY=VALUE, got {pair!r}; for example model.faults=entity-omission:0.3")
        if key in settings:
            raise UsageError(f"{key!r} is set twice: {settings[key]!r} and {value!r}")
        settings[key] = value
    return settings


def make_spec(ask: Ask) -> RunSpec:
    """Bind every component of an ask."""
    by_role = _by_role(ask.settings)
    if ask.reading:
        by_role["relation"].setdefault("reading", ask.reading)
    if ask.repeats < 1:
        raise UsageError(f"--repeats is {ask.repeats}; it must be 1 or more")
    suite = bind(component_spec("suite", ask.suite, by_role["suite"]))
    _check_size(suite, ask.size)
    chosen = {**DEFAULTS, **getattr(suite.component, "defaults", {})}

    def some(role: str, texts: tuple[str, ...]) -> tuple[Binding, ...]:
        named = tuple(text for text in texts or (chosen[role],) if text != NOBODY)
        if not named and by_role[role]:
            raise UsageError(f"{role}.{next(iter(by_role[role]))} is set, but this run has no {role}")
        return bind_each(role, named, by_role[role])

    def one(role: str, text: str) -> Binding | None:
        return next(iter(some(role, (text,) if text else ())), None)

    models = some("model", ask.models)
    if not models:
        raise UsageError("no model given; name one with --model")
    if len({binding.label for binding in models}) != len(models):
        raise UsageError(f"a model is named twice: {', '.join(ask.models)}")
    detector, reader, embedder = one("detector", ask.detector), one("reader", ask.reader), one("embedder", ask.embedder)
    judges = some("judge", ask.judges)
    roles = {b.role for b in (detector, reader, embedder, *judges) if b is not None}
    return RunSpec(
        suite=suite,
        models=models,
        detector=detector,
        reader=reader,
        embedder=embedder,
        judges=judges,
        relations=bind_relations(by_role["relation"], roles, ask.relation),
        headline=ask.relation,
        size=ask.size,
        repeats=max(ask.repeats, 2) if ask.control else ask.repeats,
        seed=ask.seed,
        control=ask.control,
        only=tuple((key, value) for key, value in split_settings(ask.only).items()),
    )


def bind_each(role: str, texts: Sequence[str], options: Mapping[str, str]) -> tuple[Binding, ...]:
    """Every named component of a role; where there are several, each gets the options it knows."""
    known = {text: option_names(role, text.partition("/")[0]) for text in texts}
    for name in options:
        if not any(name in names for names in known.values()):
            error = unknown_name(f"option of {' or '.join(texts)}", name, set().union(*known.values()))
            raise UsageError(f"{error}{_elsewhere(role, name)}")
    return tuple(
        bind(component_spec(role, text, {name: value for name, value in options.items() if name in known[text]}))
        for text in texts
    )


def option_names(role: str, name: str) -> set[str]:
    """The options a component knows."""
    return {field.name for field in dataclasses.fields(getattr(load(role, name), "Options", NoOptions))}


def _elsewhere(role: str, option: str) -> str:
    """Which of our own components of this role knows the option: it was perhaps meant for another one."""
    owners = [name for name in BUILT_IN[role] if option in option_names(role, name)]
    return f" It is an option of {', '.join(owners)}; name it with --{role} {owners[0]}." if owners else ""


def component_spec(role: str, text: str, options: Mapping[str, str] | None = None) -> ComponentSpec:
    """A component from its string, split at the first slash."""
    name, _, target = text.partition("/")
    return ComponentSpec(role=role, name=name, target=target, options=options or {})


def bind_relations(options: Mapping[str, str], roles: Iterable[str], headline: str = "") -> tuple[Binding, ...]:
    """Every relation whose needed roles are bound; each gets the options it knows."""
    bound_roles = set(roles)
    classes = {entry.name: load("relation", entry.name) for entry in entries("relation")}
    if headline and headline not in classes:
        raise unknown_name("relation", headline, classes)
    known: dict[str, set[str]] = {}
    bindings = []
    for name, relation in classes.items():
        known[name] = option_names("relation", name)
        missing = [role for role in relation.needs if role not in bound_roles]
        if missing and name == headline:
            raise UsageError(f"the relation {name!r} needs a {missing[0]}; name one with --{missing[0]}")
        if not missing:
            mine = {key: value for key, value in options.items() if key in known[name]}
            bindings.append(bind(ComponentSpec(role="relation", name=name, options=mine)))
    for key in options:
        if not any(key in names for names in known.values()):
            raise unknown_name("option of relation", key, set().union(*known.values()))
    if not bindings:
        raise UsageError("no relation can be judged with these roles; bind a detector, e.g. --detector pocket")
    return tuple(bindings)


def ask_again(asked: Mapping[str, Json]) -> Ask:
    """The ask that a stored specification came from, so that it can be changed and bound anew."""
    observers = cast(dict[str, dict[str, Json]], asked["observers"])
    by_role: dict[str, list[dict[str, Json]]] = {role: [] for role in SETTABLE}
    by_role["suite"] = [cast(dict[str, Json], asked["suite"])]
    by_role["model"] = cast(list[dict[str, Json]], asked["models"])
    by_role["relation"] = cast(list[dict[str, Json]], asked["relations"])
    for key, component in observers.items():
        by_role[key.partition(":")[0]].append(component)
    settings = {
        f"{role}.{option}": _as_text(value)
        for role, components in by_role.items()
        for component in components
        for option, value in cast(dict[str, Json], component["options"]).items()
        if value is not None and not str(component["name"]).endswith(f"/{value}")
    }

    def labels(role: str) -> tuple[str, ...]:
        return tuple(str(component["name"]) for component in by_role[role])

    return Ask(
        suite=labels("suite")[0],
        models=labels("model"),
        detector=next(iter(labels("detector")), NOBODY),
        reader=next(iter(labels("reader")), NOBODY),
        embedder=next(iter(labels("embedder")), NOBODY),
        judges=labels("judge") or (NOBODY,),
        size=str(asked["size"]),
        repeats=int(cast(int, asked["repeats"])),
        seed=int(cast(int, asked["seed"])),
        control=bool(asked["control"]),
        only=tuple(f"{name}={value}" for name, value in cast(list[list[str]], asked["only"])),
        relation=str(asked["headline"]),
        settings=settings,
    )


def _by_role(settings: Mapping[str, str]) -> dict[str, dict[str, str]]:
    by_role: dict[str, dict[str, str]] = {role: {} for role in SETTABLE}
    for key, value in settings.items():
        role, dot, name = key.partition(".")
        if not dot or role not in by_role:
            raise UsageError(f"--set {key}={value}: the key is ROLE.OPTION with a role of {', '.join(SETTABLE)}")
        by_role[role][name] = value
    return by_role


def _check_size(suite: Binding, size: str) -> None:
    sizes: Sequence[str] = suite.component.sizes
    if size in sizes:
        return
    if not size.isascii() or not size.isdigit() or int(size) < 1:
        raise UsageError(f"--size is {size!r}; {suite.label} has {', '.join(sizes)}, or give a number of cases")


def _as_text(value: Json) -> str:
    if isinstance(value, list):
        return ",".join(_as_text(element) for element in value)
    return str(value).lower() if isinstance(value, bool) else str(value)
