"""What will run: components found by name with their options parsed, and the plan made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import structs

from salva.core.about import About, about_of, expect, options_of
from salva.core.addresses import plain_words
from salva.core.fingerprint import Json, fingerprint
from salva.core.options import default_options, endpoint_options, keyed_options, pinned_options
from salva.core.run_spec import Choice, ComponentSpec, RunSpec
from salva.core.shard import Shard
from salva.errors import UsageError
from salva.messages import message


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A component found and its options parsed, but nothing loaded yet."""

    role: str
    label: str
    """What it is called: its name as typed, unless the user gave it another."""
    component: Any
    """A class, or what can be called like one."""
    options: Any
    """An instance of the component's Options class."""
    weights: str = ""
    """Pins whatever was trained or downloaded; empty for components that are code alone."""
    typed: str = ""
    """Its name as typed, where the user gave it another."""
    group: str = field(default="", compare=False)
    """What other models it is shown together with; changes no outcome."""
    address: str = ""
    """Where its answers come from, or the user's label for that; empty for what works here."""
    stored_identity: Mapping[str, Json] | None = None
    """The identity its work is stored under, for one that is only looked up."""
    is_foreign: bool = False
    """Whether only a run directory names it: its stored answers are looked up, and it is never built."""
    n_expected: int = field(default=0, compare=False)
    """About how many images or observations it will be asked for; 0 where that is unknown."""

    @property
    def about(self) -> About:
        """What the component states about itself."""
        return about_of(self.component)

    def build(self) -> Any:
        """The working component; this is where weights load."""
        built = self.component(self.options)
        expect(built, self.n_expected)
        return built

    def spec(self) -> ComponentSpec:
        """As run.json lists it, without versions."""
        options = keyed_options(self.options)
        return ComponentSpec(role=self.role, name=self.label, options=options, typed=self.typed, group=self.group)

    def identity(self) -> dict[str, Json]:
        """Everything about this component that can change an outcome; what the user calls it cannot."""
        if self.stored_identity is not None:
            return dict(self.stored_identity)
        named = pinned_options(type(self.options))
        if self.address:
            # The address in use stands for the options that may name one, so flag and environment give one key.
            named += endpoint_options(type(self.options))
        options = {name: value for name, value in keyed_options(self.options).items() if name not in named}
        return {
            "name": self.typed or self.label,
            "options": options,
            "version": str(self.component.version),
            "weights": self.weights,
            **({"endpoint": self.address} if self.address else {}),
        }


@dataclass(frozen=True)
class Around:
    """A component that wraps another: called with its options, it builds both."""

    outer: Any
    inner: Binding

    def __post_init__(self) -> None:
        if self.inner.about.sees_formula:
            raise UsageError(message("wrap-needs-text", model=self.inner.label))
        # As of a class, for lists and messages.
        object.__setattr__(self, "__doc__", self.outer.__doc__)
        object.__setattr__(self, "__name__", self.outer.__name__)

    @property
    def version(self) -> str:
        """Another version of either is another component."""
        return f"{self.outer.version} around {self.inner.component.version}"

    @property
    def about(self) -> About:
        """What the inner component states."""
        return self.inner.about

    @property
    def Options(self) -> type[Any]:  # noqa: N802  # as a component's class has it
        """Those of the outer component."""
        return options_of(self.outer)

    def weights(self, options: object) -> str:
        """Pins everything about the inner component that can change an outcome."""
        return fingerprint(self.inner.identity())

    def __call__(self, options: object) -> Any:
        """Build both."""
        return self.outer(options, self.inner.build())


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that will run, with nothing loaded yet."""

    spec: RunSpec
    """What was asked: numbers and labels; the components below are what its names stand for."""
    suite: Binding
    models: tuple[Binding, ...]
    detector: Binding | None = None
    reader: Binding | None = None
    embedder: Binding | None = None
    judges: tuple[Binding, ...] = ()
    colour_reader: Binding | None = None
    """Names the colours in the detector's boxes; not chosen by the user, so no part of what is asked."""
    checks: tuple[Binding, ...] = ()
    """Every check whose roles are bound."""
    wanting: tuple[Binding, ...] = ()
    """Checks that lack only a detector, where none was named and there is no default."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What to tell the user before anything happens."""

    @property
    def shard(self) -> Shard | None:
        """Which share of the cases; None for all of them."""
        return Shard.parse(self.spec.shard) if self.spec.shard else None

    def asking(self, **changes: Any) -> Plan:
        """The same with fields of the specification changed."""
        return replace(self, spec=structs.replace(self.spec, **changes))

    def observers(self) -> tuple[Binding, ...]:
        """Every bound observer."""
        singles = (self.detector, self.reader, self.embedder)
        return tuple(binding for binding in singles if binding is not None) + self.judges

    def bindings(self) -> tuple[Binding, ...]:
        """Every component."""
        return (self.suite, *self.models, *self.observers(), *self.checks)

    def run_spec(self) -> RunSpec:
        """What was asked, with every component and option filled in."""
        return structs.replace(
            self.spec,
            suite=self.suite.spec(),
            models=tuple(binding.spec() for binding in self.models),
            observers=tuple(binding.spec() for binding in self.observers()),
            checks=tuple(binding.spec() for binding in self.checks),
            settings={},
        )

    def choice(self) -> Choice:
        """What makes this run a different one from another: what the user chose."""
        return plain_words(self.run_spec().redacted().without_defaults(self.defaults).choice())

    def with_each(self, change: Callable[[Binding], Binding]) -> Plan:
        """The same with every component but the checks changed."""

        def one(binding: Binding | None) -> Binding | None:
            return binding and change(binding)

        return replace(
            self,
            suite=change(self.suite),
            models=tuple(map(change, self.models)),
            detector=one(self.detector),
            reader=one(self.reader),
            embedder=one(self.embedder),
            judges=tuple(map(change, self.judges)),
        )

    def defaults(self, role: str, name: str) -> dict[str, Json]:
        """A component's options when only its name is typed; none where it is not of this run."""
        bound = (b for b in self.bindings() if (b.role, b.typed or b.label) == (role, name))
        return next((default_options(type(b.options), name, b.about.default_target) for b in bound), {})

    def directory_name(self) -> str:
        """The name of the run's directory when the user gave none."""
        model = "+".join(binding.label for binding in self.models)
        safe = "".join(c if c.isalnum() or c in "+.-" else "-" for c in model)[:60]
        share = f"-shard-{self.spec.shard.replace('/', '-of-')}" if self.spec.shard else ""
        return f"{self.suite.label}-{safe}-{self.spec.size}{share}-{fingerprint(self.choice())[:8]}"
