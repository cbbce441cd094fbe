"""Specifications made of fakes, or of a plugin under test, without the registry."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from salva.core.about import address_of, options_of, weights_of
from salva.core.plan import Binding, Plan
from salva.core.run_spec import RunSpec
from salva.testing.fakes import FakeDetector, FakeGenerator, FakeSame, FakeSuite

_ASKED = {*RunSpec.__struct_fields__} - {"suite", "models", "observers", "checks"}


def bound(role: str, component: type[Any], label: str = "", **options: object) -> Binding:
    """A component bound as the registry would bind it, its options given as values."""
    made = options_of(component)(**options)
    return Binding(
        role=role,
        label=label or component.__name__.lower(),
        component=component,
        options=made,
        weights=weights_of(component, made),
        address=address_of(component, made),
    )


def fake_spec(n: int = 6, generator: dict[str, object] | None = None, **changes: Any) -> Plan:
    """A run of n cases with the fake generator, detector and check; changes replace fields.

    Nobody is tried beforehand, so that every call is one the run itself asks for.
    """
    fields: dict[str, Any] = {
        "suite": bound("suite", FakeSuite, "fake", n=n),
        "models": (bound("model", FakeGenerator, "fake", **(generator or {})),),
        "detector": bound("detector", FakeDetector, "fake-detector"),
        "checks": (bound("check", FakeSame, "fake-same"),),
    }
    asked = {name: changes.pop(name) for name in [*changes] if name in _ASKED}
    spec = structs.replace(RunSpec(size="full", preflight=False), **asked)
    return Plan(spec=spec, **{**fields, **changes})
