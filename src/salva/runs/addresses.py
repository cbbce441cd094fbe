"""Which endpoints answered: one address a component, from the first answer to the last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from salva.core.fingerprint import Json
from salva.core.options import endpoint_options
from salva.core.plan import Binding, Plan
from salva.errors import UsageError
from salva.messages import message
from salva.store.records import StoredComponent

_KEY = "endpoint"


def refuse_moved(plan: Plan, components: Iterable[StoredComponent]) -> None:
    """UsageError where a component of this run answered at another address before."""
    for binding in (*plan.models, *plan.observers()):
        if elsewhere := _address_before(binding, components):
            option = f"{binding.role}.{endpoint_options(type(binding.options))[0]}"
            values = {"role": binding.role, "name": binding.label, "before": elsewhere, "now": binding.address}
            raise UsageError(message("endpoint-moved", **values, option=option))


def moved_labels(plan: Plan, components: Iterable[StoredComponent]) -> dict[tuple[str, str], str]:
    """By role and name, a label for each observer whose earlier answers came from another address."""
    return {
        (binding.role, binding.label): f"{binding.label}(endpoint={binding.address})"
        for binding in plan.observers()
        if _address_before(binding, components)
    }


def _address_before(binding: Binding, components: Iterable[StoredComponent]) -> str:
    """The other address of a component that differs in nothing else; empty where there is none."""
    if not binding.address or binding.stored_identity is not None:
        return ""
    now = binding.identity()
    alike = [c for c in components if c.role == binding.role and _less_address(c.identity) == _less_address(now)]
    if not alike or any(component.endpoint == binding.address for component in alike):
        return ""
    return alike[0].endpoint


def _less_address(identity: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in identity.items() if name != _KEY}
