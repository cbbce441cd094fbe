"""What was asked of a run, as run.json has it: JSON goes in and comes out here and nowhere else.

The resolved ask holds every option, so that a run can be finished by the rules it was made with. Runs are told apart
by less: what the user chose. What is not as salva writes it is a ValueError that names the place; whoever knows the
file says which one it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from salva.core.fingerprint import Json
from salva.core.secrets import redact
from salva.core.typed_json import as_object, entry, shortened

OWN = "each case's own"
"""In place of a leading check: the one that each case names."""
Choice = Mapping[str, Json]
"""What the user chose, in the words of the command line: a flag, or ROLE.OPTION, to its value."""
Defaults = Callable[[str, str], Mapping[str, Json]]
"""Role and name of a component to its options when nobody sets any; empty where nobody knows them."""
CANARY, ON, OFF = "run.preflight", "on", "off"
"""The setting of the run itself, and what it can be."""
PASSED, TOLD, STOPPED = "passed", "told", "stopped"
"""What else a report can say of it, besides off: told where somebody failed who could not be held to it."""


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
        content = as_object(value, f"a {role}")
        return cls(
            role=role,
            name=entry(content, "name", str),
            options=entry(content, "options", dict),
            typed=entry(content, "typed", str, ""),
            group=entry(content, "group", str, ""),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Everything that was asked of a run, every option resolved."""

    suite: AskedComponent = AskedComponent(role="suite", name="")
    models: tuple[AskedComponent, ...] = ()
    observers: tuple[AskedComponent, ...] = ()
    """Whoever looked, in whatever role."""
    checks: tuple[AskedComponent, ...] = ()
    headline: str = ""
    """The check the user chose to lead with; empty leaves it to each case."""
    size: str = ""
    repeats: int = 1
    seed: int = 0
    control: bool = False
    only: tuple[tuple[str, str], ...] = ()
    """Labels a case must have, as (name, value)."""
    imported: str = ""
    """The format of the files the run was made of; empty for a run of our own."""
    preflight: bool = True
    """Whether observers are tried on pictures of salva's own first; changes no picture and no verdict, so that no run
    is known by it."""
    injection_reader: bool = False
    """Whether pictures are read for text that tells a judge what to say by somebody nobody named; changes no outcome
    by default, so that no run is known by it, and a run made without goes on without."""
    shard: str = ""
    """Which share of the cases this is, as I/N; empty for all of them."""

    def components(self) -> Iterator[AskedComponent]:
        """All of them, the suite first and the checks last."""
        yield from (self.suite, *self.models, *self.observers, *self.checks)

    def chosen(self, defaults: Defaults) -> Asked:
        """The same less the options that stand at their default, and less the checks that have no other."""

        def less(component: AskedComponent) -> AskedComponent:
            standing = defaults(component.role, component.typed or component.name)
            options = {k: v for k, v in component.options.items() if k not in standing or standing[k] != v}
            return replace(component, options=options)

        return replace(
            self,
            suite=less(self.suite),
            models=tuple(map(less, self.models)),
            observers=tuple(map(less, self.observers)),
            checks=tuple(check for check in map(less, self.checks) if check.options),
        )

    def words(self) -> Choice:
        """In the words of the command line, where an option of checks goes to all that know it."""
        words: dict[str, Json] = {"suite": self.suite.name, "model": [model.spelled for model in self.models]}
        for role in sorted({observer.role for observer in self.observers}):
            words[role] = list[Json](sorted(observer.spelled for observer in self.observers if observer.role == role))
        words |= {"size": self.size, "repeats": self.repeats, "seed": self.seed, "control": self.control}
        words |= {"only": [list(pair) for pair in self.only], "check": self.headline}
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
            "checks": [check.to_json() for check in self.checks],
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
            | ({} if self.preflight else {"preflight": OFF})
            | ({"injection_reader": ON} if self.injection_reader else {})
            | ({"shard": self.shard} if self.shard else {})
        )

    @classmethod
    def from_json(cls, value: Json) -> Asked:
        """From what run.json has."""
        content = as_object(value, "'asked'")
        return cls(
            suite=AskedComponent.from_json("suite", entry(content, "suite", dict)),
            models=tuple(AskedComponent.from_json("model", model) for model in entry(content, "models", list)),
            observers=tuple(
                AskedComponent.from_json(key.partition(":")[0], observer)
                for key, observer in entry(content, "observers", dict).items()
            ),
            checks=tuple(AskedComponent.from_json("check", part) for part in entry(content, "checks", list)),
            headline=entry(content, "headline", str),
            size=entry(content, "size", str),
            repeats=entry(content, "repeats", int),
            seed=entry(content, "seed", int),
            control=entry(content, "control", bool),
            only=tuple(_label(pair) for pair in entry(content, "only", list)),
            imported=entry(content, "imported", str, ""),
            preflight=entry(content, "preflight", str, ON) != OFF,
            injection_reader=entry(content, "injection_reader", str, OFF) == ON,
            shard=entry(content, "shard", str, ""),
        )


NOTHING = Asked()
"""What was asked of a run that has lost its run.json."""


def _label(value: Json) -> tuple[str, str]:
    match value:
        case [str(name), str(text)]:
            return name, text
    raise ValueError(f"'only' holds {shortened(value)}, where a label's name and value were expected")
