"""Checks that each key of a run goes to one server, before anything is sent. Knows no kit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from salva.core.about import key_use_of
from salva.core.addresses import KeyUse
from salva.core.plan import Around, Binding
from salva.errors import UsageError
from salva.messages import message
from salva.remote.keys import named_key
from salva.remote.urls import is_own_network, server_of


class _Use(NamedTuple):
    binding: Binding
    key: KeyUse

    @property
    def server(self) -> str:
        return server_of(self.key.url)

    @property
    def is_at_home(self) -> bool:
        """Whether it goes to the server of the provider itself."""
        return self.server == server_of(self.key.own_url)


def check_keys(bindings: Iterable[Binding]) -> None:
    """UsageError where a default key would go to two public servers, or the variable of a key is not set."""
    uses = [_Use(binding, key) for binding in bindings if not binding.is_foreign for key in _keys_of(binding)]
    for use in uses:
        if use.key.variable:
            named_key(use.binding.label, use.key.variable)
    by_default = sorted((use for use in uses if not use.key.variable), key=lambda use: use.key.defaults)
    for defaults, group in groupby(by_default, key=lambda use: use.key.defaults):
        _check_one_server(defaults, list(group))


def _check_one_server(defaults: tuple[str, ...], uses: list[_Use]) -> None:
    if len({use.server for use in uses}) < 2:
        return
    # Looked up only now: a plan with one server asks nobody anything.
    public = [use for use in uses if use.is_at_home or not is_own_network(use.key.url)]
    public.sort(key=lambda use: not use.is_at_home)
    for use in public:
        if use.server != public[0].server:
            binding = use.binding
            owner = binding.label if binding.typed else binding.role
            values = {"component": binding.label, "server": use.server, "other": public[0].server}
            values |= {"variable": " or ".join(defaults), "option": f"{owner}.{use.key.option}"}
            raise UsageError(message("key-of-another", **values))


def _keys_of(binding: Binding) -> Iterator[KeyUse]:
    """The keys that a component sends, and those of one that it wraps."""
    component = binding.component
    if isinstance(component, Around):
        yield from _keys_of(component.inner)
        component = component.outer
    if (use := key_use_of(component, binding.options)) is not None:
        yield use
