"""What was asked for: components by name and options, and the run made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from salva.core.about import About, about_of, expect, options_of
from salva.core.addresses import plain_words
from salva.core.asked import Asked, AskedComponent, Choice
from salva.core.fingerprint import Json, fingerprint
from salva.core.options import default_options, endpoint_options, keyed_options, pinned_options
from salva.core.shard import Shard
from salva.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentSpec:
    """A component as the user named it, e.g. diffusers/my-checkpoint with two options."""

    role: str
    """suite, model, detector, reader, embedder, judge, check or executor."""
    name: str
    target: str = ""
    """What follows the first slash of a model string."""
    options: Mapping[str, str] = field(default_factory=dict)
    """As given with --set, without the role."""
    alias: str = ""
    """What the user calls it, as in strict=openai/gpt; empty for its name as typed."""
    group: str = ""
    """What other models it is shown together with."""

    @property
    def typed(self) -> str:
        """Its name as typed, whatever it is called."""
        return f"{self.name}/{self.target}" if self.target else self.name

    @property
    def label(self) -> str:
        """How the component is called in tables."""
        return self.alias or self.typed


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A component found and its options parsed, but nothing loaded yet."""

    role: str
    label: str
    """What it is called: its name as typed, unless the user gave it another."""
    component: Any
    """A class, or what is called as one and says the same of itself."""
    options: Any
    """An instance of the component's Options class."""
    weights: str = ""
    """Pins whatever was trained or downloaded; empty for components that are code alone."""
    typed: str = ""
    """Its name as typed, where the user calls it otherwise."""
    group: str = field(default="", compare=False)
    """What other models it is shown together with; changes no outcome."""
    address: str = ""
    """Where its answers come from, or the user's label for that; empty for what works here."""
    stored_identity: Mapping[str, Json] | None = None
    """The identity its work is stored under, for one that is only looked up."""
    is_foreign: bool = False
    """Whether a run names it that nobody here named it for: what it said is looked up, and it is never built."""
    n_expected: int = field(default=0, compare=False)
    """How many pictures or looks it will be asked for, about; 0 where nobody knows."""

    @property
    def about(self) -> About:
        """What the component says of itself."""
        return about_of(self.component)

    def build(self) -> Any:
        """The working component; this is where weights load."""
        built = self.component(self.options)
        expect(built, self.n_expected)
        return built

    def asked(self) -> AskedComponent:
        """As it was asked for, without versions."""
        options = keyed_options(self.options)
        return AskedComponent(role=self.role, name=self.label, options=options, typed=self.typed, group=self.group)

    def identity(self) -> dict[str, Json]:
        """Everything about this component that can change an outcome; what the user calls it cannot."""
        if self.stored_identity is not None:
            return dict(self.stored_identity)
        named = pinned_options(type(self.options))
        if self.address:
            # The address in use stands for the options that may name one: set or from the environment, it is one key.
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
    """A component's class put round another component: called with its options, it makes both."""

    outer: Any
    inner: Binding

    def __post_init__(self) -> None:
        if self.inner.about.sees_formula:
            raise UsageError(
                f"{self.inner.label} paints what a formula says and not what a text does, so that a text model would "
                "change nothing; name a model that reads its prompt"
            )
        # Said as a class says it, for lists and messages.
        object.__setattr__(self, "__doc__", self.outer.__doc__)
        object.__setattr__(self, "__name__", self.outer.__name__)

    @property
    def version(self) -> str:
        """Another version of either is another component."""
        return f"{self.outer.version} around {self.inner.component.version}"

    @property
    def about(self) -> About:
        """What the component inside says of itself."""
        return self.inner.about

    @property
    def Options(self) -> type[Any]:  # noqa: N802  # as a component's class has it
        """Those of the one outside."""
        return options_of(self.outer)

    def weights(self, options: object) -> str:
        """Pins everything about the component inside that can change an outcome."""
        return fingerprint(self.inner.identity())

    def __call__(self, options: object) -> Any:
        """Both at work."""
        return self.outer(options, self.inner.build())


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """All that is needed to repeat a run."""

    suite: Binding
    models: tuple[Binding, ...]
    detector: Binding | None = None
    reader: Binding | None = None
    embedder: Binding | None = None
    judges: tuple[Binding, ...] = ()
    colour_reader: Binding | None = None
    """Who tells the colours in the detector's boxes; no choice of the user's, so no part of what is asked."""
    injection_reader: Binding | None = None
    """Who reads pictures only for text that tells a judge what to say, where a judge looks at them and no reader is
    named."""
    checks: tuple[Binding, ...] = ()
    """Every check whose roles are bound."""
    wanting: tuple[Binding, ...] = ()
    """Checks that want for a detector alone, where nobody was named and nobody looks by default."""
    set_for_checks: Mapping[str, str] = field(default_factory=dict, compare=False)
    """What is set for checks, as typed: of one that is not bound, nothing else tells."""
    headline: str = ""
    """The check the user chose to lead with; empty leaves it to each case."""
    size: str = "quick"
    repeats: int = 1
    seed: int = 0
    control: bool = False
    only: tuple[tuple[str, str], ...] = ()
    """Labels a case must have, as (name, value)."""
    shard: Shard | None = None
    """Which share of the cases; None for all of them."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What whoever asked should hear before anything happens."""
    preflight: bool = True
    """Whether judges and detectors show on pictures of salva's own that they are awake before anything is painted."""

    def observers(self) -> tuple[Binding, ...]:
        """Every bound observer."""
        singles = (self.detector, self.reader, self.embedder)
        return tuple(binding for binding in singles if binding is not None) + self.judges

    def bindings(self) -> tuple[Binding, ...]:
        """Every component."""
        return (self.suite, *self.models, *self.observers(), *self.checks)

    def asked(self) -> Asked:
        """All that is asked, every option resolved."""
        return Asked(
            suite=self.suite.asked(),
            models=tuple(binding.asked() for binding in self.models),
            observers=tuple(binding.asked() for binding in self.observers()),
            checks=tuple(binding.asked() for binding in self.checks),
            headline=self.headline,
            size=self.size,
            repeats=self.repeats,
            seed=self.seed,
            control=self.control,
            only=self.only,
            preflight=self.preflight,
            injection_reader=self.injection_reader is not None,
            shard=str(self.shard or ""),
        )

    def choice(self) -> Choice:
        """What makes this run a different one from another: what the user chose."""
        return plain_words(self.asked().chosen(self.defaults).words())

    def with_each(self, change: Callable[[Binding], Binding]) -> RunSpec:
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
        return next((default_options(type(b.options), name) for b in bound), {})

    def directory_name(self) -> str:
        """The name of the run's directory when the user gave none."""
        model = "+".join(binding.label for binding in self.models)
        safe = "".join(c if c.isalnum() or c in "+.-" else "-" for c in model)[:60]
        share = f"-shard-{self.shard.index}-of-{self.shard.n}" if self.shard else ""
        return f"{self.suite.label}-{safe}-{self.size}{share}-{fingerprint(self.choice())[:8]}"
