"""What was asked of a run: as typed, and with every component and option filled in, as run.json keeps it.

One record for the command line, the Python API, gate files and run.json. A new flag of `salva run` is a field here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import structs
from msgspec.structs import replace

from salva.core.fingerprint import Json
from salva.core.result import Rule
from salva.core.secrets import redact
from salva.errors import UsageError
from salva.messages import message

NOBODY = "none"
"""What stands for a role left empty."""
PREFLIGHT, CONTRAST, ON, OFF = "run.preflight", "run.contrast", "on", "off"
"""The settings of the run itself, and their values."""
GROUP = "group"
"""The setting of a named model that says what other models it is shown together with."""
SETTABLE = ("suite", "model", "detector", "reader", "embedder", "judge", "check", "run", "executor")
"""What --set takes before the dot, besides names that the user gave."""
ROLES = (*SETTABLE, "metric", "importer", "exporter")
"""No component may be given one of these names."""
PASSED, WARNED, STOPPED = "passed", "warned", "stopped"
"""What else a report can say of the preflight, besides off: warned where a check failed but was not enforced."""
Choice = Mapping[str, Json]
"""What the user chose, in the words of the command line: a flag, or ROLE.OPTION, to its value."""
Defaults = Callable[[str, str], Mapping[str, Json]]
"""Role and name of a component to its default options; empty where they are not known."""
_NO_FLAGS = ("shard", "preflight", "contrast", "imported")
"""Plain fields that no `salva run` line repeats."""
_NAMED = re.compile(r"([A-Za-z0-9][\w.-]*)=(.+)", re.ASCII)


class ComponentSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A component as the user names it, e.g. diffusers/my-checkpoint, with options."""

    role: str
    """suite, model, detector, reader, embedder, judge, check, executor, importer or exporter."""
    name: str
    """As typed, unless the user gave it another name, as in strict=openai/gpt."""
    options: Mapping[str, Any] = {}
    typed: str = ""
    """Its name as typed, where the user gave it another."""
    group: str = ""
    """What other models it is shown together with; changes no outcome."""

    @classmethod
    def parse(cls, role: str, text: str, options: Mapping[str, Json] | None = None) -> ComponentSpec:
        """From the form NAME, NAME/TARGET or ALIAS=NAME/TARGET."""
        alias, typed = split_name(text)
        return cls(role=role, name=alias or typed, typed=typed if alias else "", options=options or {})

    @property
    def full_name(self) -> str:
        """Its name as typed, whatever the user calls it."""
        return self.typed or self.name

    @property
    def registered_name(self) -> str:
        """What the registry knows it by."""
        return self.full_name.partition("/")[0]

    @property
    def target(self) -> str:
        """What follows the first slash."""
        return self.full_name.partition("/")[2]

    @property
    def text(self) -> str:
        """As a flag takes it."""
        return f"{self.name}={self.typed}" if self.typed else self.name

    @property
    def prefix(self) -> str:
        """What its options are set under: its role, or its own name where the user gave it one."""
        return self.name if self.typed else self.role


class RunSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everything that was asked of a run."""

    suite: ComponentSpec = ComponentSpec(role="suite", name="")
    models: tuple[ComponentSpec, ...] = ()
    observers: tuple[ComponentSpec, ...] = ()
    """As typed, a role that is missing goes to the default and one named `none` to nobody."""
    checks: tuple[ComponentSpec, ...] = ()
    settings: Mapping[str, str] = {}
    """ROLE.OPTION, or NAME.OPTION, to value, as --set gives them; empty once options stand with their components."""
    check: str = ""
    """The check that makes every result; empty for the primary check of each case."""
    published: bool = False
    """Whether the run follows the rule of the suite's paper."""
    size: str = ""
    """Empty for the default size."""
    repeats: int = 1
    seed: int = 0
    control: bool = False
    only: tuple[tuple[str, str], ...] = ()
    """Labels a case must have, as (name, value)."""
    shard: str = ""
    """Which share of the cases, as I/N; empty for all of them."""
    preflight: bool = True
    """Whether observers are first tried on known images; changes no verdict, so it makes no other run."""
    contrast: bool = True
    """Whether judges are asked control questions about images of other prompts; changes no verdict."""
    imported: str = ""
    """The format of the files the run was made from; empty for a run of our own."""

    @classmethod
    def of(
        cls,
        suite: str,
        *,
        models: Sequence[str] = (),
        detector: str = "",
        reader: str = "",
        embedder: str = "",
        judges: Sequence[str] = (),
        only: Iterable[str] = (),
        counts: str = "",
        settings: Mapping[str, str] | None = None,
        **others: Any,
    ) -> RunSpec:
        """From texts as flags give them."""
        single = (("detector", detector), ("reader", reader), ("embedder", embedder))
        named = [(role, text) for role, text in (*single, *(("judge", judge) for judge in judges)) if text]
        return cls(
            suite=ComponentSpec(role="suite", name=suite),
            models=tuple(ComponentSpec.parse("model", text) for text in models),
            observers=tuple(ComponentSpec.parse(role, text) for role, text in named),
            only=tuple(split_settings(only).items()),
            settings={**({"check.counts": counts} if counts else {}), **(settings or {})},
            **others,
        )

    def with_observers(self, role: str, texts: Sequence[str]) -> RunSpec:
        """The same with these components in a role."""
        others = tuple(observer for observer in self.observers if observer.role != role)
        return replace(self, observers=(*others, *(ComponentSpec.parse(role, text) for text in texts)))

    def named(self, role: str) -> tuple[str, ...]:
        """The observers of a role, as a flag takes them."""
        return tuple(observer.text for observer in self.observers if observer.role == role)

    def components(self) -> Iterator[ComponentSpec]:
        """All of them, the suite first and the checks last."""
        yield from (self.suite, *self.models, *self.observers, *self.checks)

    def plain_flags(self) -> dict[str, str | int | bool]:
        """Every flag that is one text, number or switch: a new field is in run lines and run names by itself."""
        fields = (field for field in structs.fields(type(self)) if field.type in (str, int, bool))
        return {field.name: getattr(self, field.name) for field in fields if field.name not in _NO_FLAGS}

    def without_defaults(self, defaults: Defaults) -> RunSpec:
        """The same without options at their default, and without checks that have no other."""

        def less(component: ComponentSpec) -> ComponentSpec:
            standard = defaults(component.role, component.full_name)
            options = {k: v for k, v in component.options.items() if k not in standard or standard[k] != v}
            return replace(component, options=options)

        return replace(
            self,
            suite=less(self.suite),
            models=tuple(map(less, self.models)),
            observers=tuple(map(less, self.observers)),
            checks=tuple(check for check in map(less, self.checks) if check.options),
        )

    def choice(self) -> Choice:
        """In the words of the command line, where an option of checks goes to all that know it."""
        words: dict[str, Json] = {"suite": self.suite.name, "model": [model.text for model in self.models]}
        for role in sorted({observer.role for observer in self.observers}):
            words[role] = list[Json](sorted(self.named(role)))
        words |= self.plain_flags()
        words |= {"only": [list(pair) for pair in self.only]}
        words |= {name: value for name, value in (("shard", self.shard), ("imported", self.imported)) if value}
        for component in self.components():
            for option, value in component.options.items():
                if words.setdefault(f"{component.prefix}.{option}", value) != value:
                    words[f"{component.role}.{option} of {component.name}"] = value
        return words

    def with_groups_of(self, other: RunSpec) -> RunSpec:
        """With models shown together as another specification says."""
        groups = {model.name: model.group for model in other.models}
        models = tuple(replace(model, group=groups.get(model.name, model.group)) for model in self.models)
        return replace(self, models=models)

    def redacted(self) -> RunSpec:
        """As it may be stored."""
        return msgspec.json.decode(redact(msgspec.json.encode(self).decode()), type=RunSpec)

    @property
    def rule(self) -> Rule:
        """Which check makes the results."""
        return Rule(check=self.check, is_published=self.published)


NOTHING = RunSpec()
"""What was asked of a run that has lost its run.json."""


def split_name(text: str) -> tuple[str, str]:
    """A component's string as the name the user gives it, empty for none, and what it stands for."""
    named = _NAMED.fullmatch(text)
    if named is None:
        return "", text
    alias, spec = named.groups()
    if alias in ROLES or "=" in spec.partition("/")[0]:
        raise UsageError(message("name-invalid", text=text, roles=", ".join(ROLES)))
    return alias, spec


def split_settings(pairs: Iterable[str]) -> dict[str, str]:
    """KEY=VALUE strings to a mapping; a key given twice is an error."""
    settings: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(message("setting-invalid", pair=pair))
        if key in settings:
            raise UsageError(message("setting-twice", key=key, first=settings[key], second=value))
        settings[key] = value
    return settings
