"""What was asked of a run, and the rest of run.json: JSON goes in and comes out here and nowhere else.

The resolved ask holds every option, so that a run can be finished by the rules it was made with. Runs are told apart
by less: what the user chose. What is not as salva writes it is a ValueError that names the place; whoever knows the
file says which one it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from salva.core.fingerprint import Json
from salva.core.secrets import redact
from salva.errors import StoreError

SCHEMA = 2
"""Changes when a key of run.json changes its meaning; a file without one is of schema 1, where each case was led by its
own relation unless one was chosen."""
OWN = "each case's own"
"""In place of a leading relation: as runs of schema 1 are led."""
Choice = Mapping[str, Json]
"""What the user chose, in the words of the command line: a flag, or ROLE.OPTION, to its value."""
Defaults = Callable[[str, str], Mapping[str, Json]]
"""Role and name of a component to its options when nobody sets any; empty where nobody knows them."""
CANARY, ON, OFF = "run.canary", "on", "off"
"""The setting of the run itself, and what it can be."""
PASSED, TOLD, STOPPED = "passed", "told", "stopped"
"""What else a report can say of it, besides off: told where somebody failed who could not be held to it."""
_REJUDGED = ("observers", "relations", "headline")
_WANTED = {dict: "an object", list: "a list", str: "a text", int: "a whole number", bool: "true or false"}
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedComponent:
    """A component by what it is called, and its options."""

    role: str
    name: str
    """As typed, unless the user gave it another name."""
    options: Mapping[str, Json] = field(default_factory=dict)
    typed: str = ""
    """Its name as typed, where the user calls it otherwise."""
    group: str = ""
    """What other models it is shown together with; no part of what a run is known by."""

    @property
    def spelled(self) -> str:
        """As a flag takes it: openai/gpt, or strict=openai/gpt."""
        return f"{self.name}={self.typed}" if self.typed else self.name

    @property
    def prefix(self) -> str:
        """What its options are set under: its role, or its own name where the user gave it one."""
        return self.name if self.typed else self.role

    def to_json(self) -> dict[str, Json]:
        """As run.json lists it, under its role."""
        said = {name: value for name, value in (("typed", self.typed), ("group", self.group)) if value}
        return {"name": self.name, "options": dict(self.options), **said}

    @classmethod
    def from_json(cls, role: str, value: Json) -> AskedComponent:
        """From where run.json lists the components of a role."""
        content = _object(value, f"a {role}")
        return cls(
            role=role,
            name=_get(content, "name", str),
            options=_get(content, "options", dict),
            typed=_get(content, "typed", str, ""),
            group=_get(content, "group", str, ""),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Everything that was asked of a run, every option resolved."""

    suite: AskedComponent = AskedComponent(role="suite", name="")
    models: tuple[AskedComponent, ...] = ()
    observers: tuple[AskedComponent, ...] = ()
    """Whoever looked, in whatever role."""
    relations: tuple[AskedComponent, ...] = ()
    headline: str = ""
    """The relation the user chose to lead with; empty leaves it to each case."""
    size: str = ""
    repeats: int = 1
    seed: int = 0
    control: bool = False
    only: tuple[tuple[str, str], ...] = ()
    """Labels a case must have, as (name, value)."""
    imported: str = ""
    """The format of the files the run was made of; empty for a run of our own."""
    canary: bool = True
    """Whether observers are tried on pictures of salva's own first; changes no picture and no verdict, so that no run
    is known by it."""
    lookout: bool = False
    """Whether pictures are read for text that tells a judge what to say by somebody nobody named; changes no outcome
    by default, so that no run is known by it, and a run made without goes on without."""
    shard: str = ""
    """Which share of the cases this is, as I/N; empty for all of them."""

    def led_as_before(self) -> Asked:
        """As a run of schema 1 means it."""
        return replace(self, headline=self.headline or OWN)

    def components(self) -> Iterator[AskedComponent]:
        """All of them, the suite first and the relations last."""
        yield from (self.suite, *self.models, *self.observers, *self.relations)

    def chosen(self, defaults: Defaults) -> Asked:
        """The same less the options that stand at their default, and less the relations that have no other."""

        def less(component: AskedComponent) -> AskedComponent:
            standing = defaults(component.role, component.typed or component.name)
            options = {k: v for k, v in component.options.items() if k not in standing or standing[k] != v}
            return replace(component, options=options)

        return replace(
            self,
            suite=less(self.suite),
            models=tuple(map(less, self.models)),
            observers=tuple(map(less, self.observers)),
            relations=tuple(relation for relation in map(less, self.relations) if relation.options),
        )

    def words(self) -> Choice:
        """In the words of the command line, where an option of relations goes to all that know it."""
        words: dict[str, Json] = {"suite": self.suite.name, "model": [model.spelled for model in self.models]}
        for role in sorted({observer.role for observer in self.observers}):
            words[role] = list[Json](sorted(observer.spelled for observer in self.observers if observer.role == role))
        words |= {"size": self.size, "repeats": self.repeats, "seed": self.seed, "control": self.control}
        words |= {"only": [list(pair) for pair in self.only], "relation": self.headline}
        if self.shard:
            words["shard"] = self.shard
        if self.imported:
            words["imported"] = self.imported
        for component in self.components():
            for option, value in component.options.items():
                if words.setdefault(f"{component.prefix}.{option}", value) != value:
                    words[f"{component.role}.{option} of {component.name}"] = value
        return words

    def regrouped(self, now: Asked) -> Asked:
        """With models shown together as somebody else says; nothing is painted or judged anew for that."""
        groups = {model.name: model.group for model in now.models}
        models = (replace(model, group=groups.get(model.name, model.group)) for model in self.models)
        return replace(self, models=tuple(models))

    def redacted(self) -> Asked:
        """As it may be stored."""
        return self.from_json(json.loads(redact(json.dumps(self.to_json()))))

    def to_json(self) -> dict[str, Json]:
        """As run.json has it."""
        content: dict[str, Json] = {
            "suite": self.suite.to_json(),
            "models": [model.to_json() for model in self.models],
            "observers": {f"{observer.role}:{observer.name}": observer.to_json() for observer in self.observers},
            "relations": [relation.to_json() for relation in self.relations],
            "headline": self.headline,
            "size": self.size,
            "repeats": self.repeats,
            "seed": self.seed,
            "control": self.control,
            "only": [list(pair) for pair in self.only],
        }
        # Said only where they are, so that what was asked reads, and is known by, as before they could be.
        return (
            content
            | ({"imported": self.imported} if self.imported else {})
            | ({} if self.canary else {"canary": OFF})
            | ({"lookout": ON} if self.lookout else {})
            | ({"shard": self.shard} if self.shard else {})
        )

    @classmethod
    def from_json(cls, value: Json) -> Asked:
        """From what run.json has."""
        content = _object(value, "'asked'")
        return cls(
            suite=AskedComponent.from_json("suite", _get(content, "suite", dict)),
            models=tuple(AskedComponent.from_json("model", model) for model in _get(content, "models", list)),
            observers=tuple(
                AskedComponent.from_json(key.partition(":")[0], observer)
                for key, observer in _get(content, "observers", dict).items()
            ),
            relations=tuple(AskedComponent.from_json("relation", part) for part in _get(content, "relations", list)),
            headline=_get(content, "headline", str),
            size=_get(content, "size", str),
            repeats=_get(content, "repeats", int),
            seed=_get(content, "seed", int),
            control=_get(content, "control", bool),
            only=tuple(_label(pair) for pair in _get(content, "only", list)),
            imported=_get(content, "imported", str, ""),
            canary=_get(content, "canary", str, ON) != OFF,
            lookout=_get(content, "lookout", str, OFF) == ON,
            shard=_get(content, "shard", str, ""),
        )


NOTHING = Asked()
"""What was asked of a run that has lost its run.json."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """Who answered to a name: everything about a component that can change an outcome."""

    role: str
    identity: Mapping[str, Json]
    component_id: str = ""
    """For a model: the key its pictures are stored under."""
    label: str = ""
    """What an observer is called, where that is not its name as typed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """How `salva judge` last judged the run, or whom an import leads with."""

    asked: Asked
    """What the run would be asked, to be judged so."""
    leading: Mapping[str, str] = field(default_factory=dict)
    """By relation, the observers whose verdicts come first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFile:
    """A file that a run was made of."""

    name: str
    sha256: str
    kept: str = ""
    """Its name inside the run, where it is kept."""

    def to_json(self) -> dict[str, Json]:
        """As run.json lists it."""
        return {"name": self.name, "sha256": self.sha256, **({"kept": self.kept} if self.kept else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What a run that others made came from."""

    form: str
    files: tuple[ImportedFile, ...]
    n_problems: int = 0
    about: Mapping[str, Json] = field(default_factory=dict)
    """What the format itself wants to know again."""

    def to_json(self) -> dict[str, Json]:
        """As run.json has it."""
        files: list[Json] = [file.to_json() for file in self.files]
        return {"as": self.form, "files": files, "n_problems": self.n_problems, **self.about}

    @classmethod
    def from_json(cls, value: Json) -> Imported:
        """From what run.json has."""
        content = _object(value, "'imported'")
        files = [_object(file, "a file of 'imported'") for file in _get(content, "files", list)]
        return cls(
            form=_get(content, "as", str),
            files=tuple(
                ImportedFile(
                    name=_get(file, "name", str), sha256=_get(file, "sha256", str), kept=_get(file, "kept", str, "")
                )
                for file in files
            ),
            n_problems=_get(content, "n_problems", int),
            about={name: part for name, part in content.items() if name not in ("as", "files", "n_problems")},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFile:
    """All that run.json says."""

    asked: Asked
    choice: Choice | None = None
    """None in a file from before choices were written down."""
    components: tuple[Resolved, ...] = ()
    environment: Mapping[str, Json] = field(default_factory=dict)
    resumed_in: tuple[Mapping[str, Json], ...] = ()
    """Other surroundings in which the run went on."""
    judged: Judged | None = None
    """None when the run is judged as it was asked."""
    imported: Imported | None = None
    images: str = ""
    """Where the image files are, if not in the run's directory; changes nothing that is asked."""
    more: Mapping[str, Json] = field(default_factory=dict)
    """What a later version wrote; kept as it is."""
    schema: int = SCHEMA
    """A run keeps the rule it was made with until it is judged again."""

    def to_json(self) -> dict[str, Json]:
        """The whole file."""
        content: dict[str, Json] = {**self.more, "schema": self.schema, "asked": self.asked.to_json()}
        if self.choice is not None:
            content["choice"] = dict(self.choice)
        if self.components:
            content |= {"components": _by_role(self.components), "environment": dict(self.environment)}
        if self.resumed_in:
            content["resumed_in"] = [dict(environment) for environment in self.resumed_in]
        if self.judged is not None:
            before, now = self.asked.to_json(), self.judged.asked.to_json()
            differing = {name: now[name] for name in _REJUDGED if now[name] != before[name]}
            content["judged"] = {**differing, "leading": dict(self.judged.leading)}
        if self.imported is not None:
            content["imported"] = self.imported.to_json()
        return content | ({"images": self.images} if self.images else {})

    @classmethod
    def from_json(cls, value: Json) -> RunFile:
        """From the whole file."""
        content = _object(value, "it")
        schema = _get(content, "schema", int, 1)
        if schema > SCHEMA:
            raise StoreError(f"run.json is of schema {schema}, and this salva reads up to {SCHEMA}; update salva")
        asked = _get(content, "asked", dict)
        judged = _get(content, "judged", dict) if "judged" in content else None
        return cls(
            asked=Asked.from_json(asked),
            choice=_get(content, "choice", dict) if "choice" in content else None,
            components=tuple(_resolved(_get(content, "components", dict, {}))),
            environment=_get(content, "environment", dict, {}),
            resumed_in=tuple(_object(part, "'resumed_in'") for part in _get(content, "resumed_in", list, [])),
            judged=None if judged is None else _judged(asked, judged),
            imported=Imported.from_json(content["imported"]) if "imported" in content else None,
            images=_get(content, "images", str, ""),
            more={name: part for name, part in content.items() if name not in _OUR_KEYS},
            schema=schema,
        )

    def judged_as(self) -> Judged:
        """How the run is judged now."""
        return self.judged or Judged(asked=self.asked)


_OUR_KEYS = {"schema", "asked", "choice", "components", "environment", "resumed_in", "judged", "imported", "images"}


def _judged(asked: dict[str, Json], judged: dict[str, Json]) -> Judged:
    changes = {name: judged[name] for name in _REJUDGED if name in judged}
    leading = {str(relation): str(who) for relation, who in _get(judged, "leading", dict, {}).items()}
    return Judged(asked=Asked.from_json({**asked, **changes}), leading=leading)


def _by_role(components: tuple[Resolved, ...]) -> dict[str, Json]:
    suites = (c for c in components if c.role == "suite")
    models = (c for c in components if c.role == "model")
    relations = (c for c in components if c.role == "relation")
    observers = (c for c in components if c.role not in ("suite", "model", "relation"))
    return {
        "suite": dict(next(suites).identity),
        "models": [{**model.identity, "component_id": model.component_id} for model in models],
        "observers": {f"{eye.role}:{eye.label or eye.identity['name']}": dict(eye.identity) for eye in observers},
        "relations": [dict(relation.identity) for relation in relations],
    }


def _resolved(content: dict[str, Json]) -> Iterator[Resolved]:
    if not content:
        return
    listed = [("suite:", _get(content, "suite", dict))]
    listed += [("model:", model) for model in _get(content, "models", list)]
    listed += list(_get(content, "observers", dict).items())
    listed += [("relation:", relation) for relation in _get(content, "relations", list)]
    for key, part in listed:
        role, _, label = key.partition(":")
        identity = _object(part, f"a {role} of 'components'")
        component_id = _get(identity, "component_id", str, "")
        rest = {name: value for name, value in identity.items() if name != "component_id"}
        yield Resolved(
            role=role, identity=rest, component_id=component_id, label=label if label != rest.get("name") else ""
        )


def _label(value: Json) -> tuple[str, str]:
    match value:
        case [str(name), str(text)]:
            return name, text
    raise ValueError(f"'only' holds {_short(value)}, where a label's name and value were expected")


def _object(value: Json, what: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} is {_short(value)}, where an object was expected")
    return value


def _get(content: Mapping[str, Json], key: str, kind: type[_T], default: _T | None = None) -> _T:
    if key not in content and default is not None:
        return default
    value: Any = content.get(key)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        state = f"is {_short(value)}" if key in content else "is missing"
        raise ValueError(f"{key!r} {state}, where {_WANTED[kind]} was expected")
    return value


def _short(value: Json) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
