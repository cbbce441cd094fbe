"""What runs in an actor: one component, built when it is told to be.

Errors are given back as values: an exception would leave its traceback, with whatever it holds, in the cluster's logs.
Knows no cluster.
"""

from __future__ import annotations

import math
import os
import pickle
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from salva.core.about import weights_of
from salva.core.blame import blaming, one_line, translating
from salva.core.protocols import Orders
from salva.core.spec import Binding
from salva.engine.executors.shares import uses_gpu
from salva.engine.parcels import delivered
from salva.engine.stations import Station
from salva.errors import SalvaError, UsageError
from salva.registry import add_loose_plugin, loose_plugins


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """A component on its way to an actor, with all that must be the same there as here."""

    name: str
    sent: bytes
    """The binding, to be opened once loose plugins are known."""
    version: str
    plugins: tuple[str, ...]
    folder: str
    """Where paths begin."""
    machine: str
    n_cpus: float
    """The actor's share of cores."""

    @classmethod
    def of(cls, binding: Binding, n_cpus: float) -> Errand:
        """An errand from this process."""
        name = f"the {binding.role} {binding.label!r}"
        with translating(
            lambda error: UsageError(
                f"{name} lives in the memory of this process and cannot be sent to another ({one_line(error)}); have "
                "it run here with --executor local, or make it a class in an installed package or in a --plugin file"
            )
        ):
            sent = pickle.dumps(binding)
        return cls(
            name=name,
            sent=sent,
            version=str(binding.component.version),
            plugins=tuple(loose_plugins()),
            folder=os.getcwd(),
            machine=os.uname().nodename,
            n_cpus=n_cpus,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """What an actor says of the component it has built."""

    batch_size: int
    depth: int
    """How many batches it works at."""


class Bench:
    """A component's place in an actor's process."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._station: Station | None = None
        self._name = "a component"
        self._turns = threading.Semaphore(1)

    def greet(self) -> int:
        """Says that there is a process, and which."""
        return os.getpid()

    def start(self, errand: Errand) -> Started | SalvaError:
        """Build the component."""
        self._name = errand.name
        try:
            binding = _unpacked(errand)
            self._station = Station(binding, self._stopping)
        except SalvaError as error:
            return error
        own = self._station.habits.depth or 1
        depth = own if uses_gpu(binding) else min(own, max(1, math.ceil(errand.n_cpus)))
        self._turns = threading.Semaphore(depth)
        return Started(batch_size=self._station.batch_size, depth=depth)

    def work(self, orders: Orders) -> Sequence[object] | SalvaError:
        """One outcome an order; an error in their place ends the run."""
        assert self._station is not None, "an actor is started before it is asked"
        try:
            with blaming(self._name, "cannot be given or give pictures"):
                with self._turns:
                    outcomes = self._station(orders)
                # Encoded while the next batch has the component.
                return delivered(outcomes)
        except SalvaError as error:
            return error

    def stop(self) -> None:
        """Begin no more attempts."""
        self._stopping.set()


def _unpacked(errand: Errand) -> Binding:
    with suppress(OSError):
        os.chdir(errand.folder)
    for plugin in errand.plugins:
        add_loose_plugin(plugin)
    machine = os.uname().nodename
    with blaming(errand.name, f"cannot be loaded on {machine!r}"):
        binding: Binding = pickle.loads(errand.sent)
    if str(binding.component.version) != errand.version:
        raise UsageError(
            f"{errand.name} has the version {binding.component.version} on {machine!r}, and {errand.version} on "
            f"{errand.machine!r}; install the same packages on all machines"
        )
    if machine != errand.machine and weights_of(binding.component, binding.options) != binding.weights:
        raise UsageError(
            f"{errand.name} has other weights on {machine!r} than on {errand.machine!r}; put the same in the same "
            "place on all machines, since pictures of two models must not mix"
        )
    return binding
