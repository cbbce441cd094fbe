"""Where the answers of a run come from: one address a component, from the first answer to the last.

Work that was stored before addresses were part of keys keeps its keys. The address such a run names must be the one in
use; one that names none takes the address in use for its own from then on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from salva.core.addresses import plain_address
from salva.core.fingerprint import Json
from salva.core.options import endpoint_options
from salva.core.spec import Binding, RunSpec
from salva.engine.cast import Cast
from salva.errors import UsageError
from salva.store.records import StoredComponent
from salva.store.sqlite import RunStore

_KEY = "endpoint"


def at_addresses(spec: RunSpec, components: Sequence[StoredComponent]) -> RunSpec:
    """The specification with the keys that a run has; UsageError where its answers came from elsewhere."""

    def at(binding: Binding) -> Binding:
        kept, elsewhere = _kept(binding, components)
        if elsewhere:
            raise UsageError(
                f"the {binding.role} {binding.label!r} of this run answered at {elsewhere}, and now it would be "
                f"{binding.address}: answers of two endpoints must not mix. Name the former again, in the environment "
                f"or with --set {binding.role}.{endpoint_options(type(binding.options))[0]}=..., or choose another "
                "directory with --out"
            )
        return kept

    return spec.with_each(at)


def beside(spec: RunSpec, components: Sequence[StoredComponent]) -> tuple[RunSpec, dict[tuple[str, str], str]]:
    """The same where others may stand beside those who looked: by role and name, a label for whoever is elsewhere."""
    labels: dict[tuple[str, str], str] = {}

    def at(binding: Binding) -> Binding:
        kept, elsewhere = _kept(binding, components)
        if elsewhere:
            labels[binding.role, binding.label] = f"{binding.label}(endpoint={binding.address})"
        return kept

    return spec.with_each(at), labels


def keep_addresses(store: RunStore, cast_: Cast) -> Iterator[str]:
    """Write down where the answers come from; a sentence for each component that did not say so before."""
    stored = {component.component_id: component for component in store.components()}
    for actor in cast_.actors():
        component = stored.get(actor.component_id)
        if actor.binding is None or not actor.binding.address or component is None or component.endpoint:
            continue
        store.set_endpoint(actor.component_id, actor.binding.address)
        if not _named(component, actor.binding):
            yield (
                f"the {actor.role} {actor.label!r}: nothing stored says which endpoint its answers came from; "
                f"{actor.binding.address} counts as that one from now on"
            )


def _kept(binding: Binding, components: Sequence[StoredComponent]) -> tuple[Binding, str]:
    """A binding with the key its work has in a run, and where that came from if not from where it would now."""
    if not binding.address:
        return binding, ""
    elsewhere = ""
    for component in components:
        if component.role != binding.role or not _is_same(component, binding):
            continue
        before = component.identity.get(_KEY) or component.endpoint or _named(component, binding)
        if before and before != binding.address:
            elsewhere = elsewhere or str(before)
        else:
            return (binding if _KEY in component.identity else replace(binding, goes_by=component.identity)), ""
    return binding, elsewhere


def _named(component: StoredComponent, binding: Binding) -> str:
    """The address that an identity from before addresses were part of it has among its options."""
    options = component.identity.get("options")
    said = [options.get(name) for name in endpoint_options(type(binding.options))] if isinstance(options, dict) else []
    return next((plain_address(value) for value in said if isinstance(value, str) and value), "")


def _is_same(component: StoredComponent, binding: Binding) -> bool:
    """Whether only the address may differ."""
    now = replace(binding, goes_by=None).identity()
    return _less_address(component.identity, binding) == _less_address(now, binding)


def _less_address(identity: Mapping[str, Json], binding: Binding) -> dict[str, Json]:
    named, options = endpoint_options(type(binding.options)), identity.get("options")
    kept: Json = {name: v for name, v in options.items() if name not in named} if isinstance(options, dict) else {}
    return {**{name: value for name, value in identity.items() if name != _KEY}, "options": kept}
