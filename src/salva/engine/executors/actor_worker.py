"""What runs in an actor: one component, built on request.

Errors are given back as values: an exception would leave its traceback, with whatever it holds, in the cluster's logs.
Knows no cluster.
"""

from __future__ import annotations

import hashlib
import math
import os
import pickle
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from salva.core.about import weights_of
from salva.core.foreign_errors import one_line, plugin_errors, translate_errors
from salva.core.plan import Around, Binding
from salva.core.protocols import Orders
from salva.core.versions import installed_version
from salva.engine.component_runner import ComponentRunner
from salva.engine.executors.shares import uses_gpu
from salva.engine.transfer import delivered
from salva.errors import SalvaError, UsageError
from salva.messages import message
from salva.registry import add_loose_plugin, loose_plugins


class PluginFile(NamedTuple):
    """A plugin file that must be the same wherever its class is at work."""

    source: str
    """FILE:CLASS."""
    digest: str
    """Of the file; what it registers may change without a new version."""

    @classmethod
    def of(cls, source: str) -> PluginFile:
        """As it is on this machine."""
        path = Path(source.rpartition(":")[0])
        return cls(source, hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSpec:
    """A component on its way to an actor, with all that must be the same there as here."""

    name: str
    sent: bytes
    """The binding, to be opened once loose plugins are known."""
    version: str
    salva: str | None
    """The version of salva here."""
    plugins: tuple[PluginFile, ...]
    folder: str
    """Where paths begin."""
    machine: str
    n_cpus: float
    """The actor's share of cores."""

    @classmethod
    def of(cls, binding: Binding, n_cpus: float) -> WorkerSpec:
        """An worker_spec from this process."""
        name = f"the {binding.role} {binding.label!r}"
        with translate_errors(lambda error: UsageError(message("not-sendable", component=name, why=one_line(error)))):
            sent = pickle.dumps(binding)
        return cls(
            name=name,
            sent=sent,
            version=str(binding.component.version),
            salva=installed_version("salva"),
            plugins=tuple(PluginFile.of(source) for source in loose_plugins()),
            folder=os.getcwd(),
            machine=os.uname().nodename,
            n_cpus=n_cpus,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerInfo:
    """What an actor says of the component it has built."""

    batch_size: int
    depth: int
    """How many batches it works at."""


class ActorWorker:
    """A component's place in an actor's process."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._runner: ComponentRunner | None = None
        self._name = "a component"
        self._turns = threading.Semaphore(1)

    def greet(self) -> int:
        """Says that there is a process, and which."""
        return os.getpid()

    def start(self, worker_spec: WorkerSpec) -> WorkerInfo | SalvaError:
        """Build the component."""
        self._name = worker_spec.name
        try:
            binding = _unpacked(worker_spec)
            self._runner = ComponentRunner(binding, self._stopping)
        except SalvaError as error:
            return error
        own = self._runner.habits.depth or 1
        depth = own if uses_gpu(binding) else min(own, max(1, math.ceil(worker_spec.n_cpus)))
        self._turns = threading.Semaphore(depth)
        return WorkerInfo(batch_size=self._runner.batch_size, depth=depth)

    def work(self, orders: Orders) -> Sequence[object] | SalvaError:
        """One outcome an order; an error in their place ends the run."""
        assert self._runner is not None, "an actor is started before it is asked"
        try:
            with plugin_errors(self._name, "cannot take or return images"):
                with self._turns:
                    outcomes = self._runner(orders)
                # Encoded while the next batch has the component.
                return delivered(outcomes)
        except SalvaError as error:
            return error

    def stop(self) -> None:
        """Begin no more attempts."""
        self._stopping.set()


def _unpacked(worker_spec: WorkerSpec) -> Binding:
    """The binding, once everything about it is the same on this machine."""
    with suppress(OSError):
        os.chdir(worker_spec.folder)
    _check_same("salva", worker_spec, worker_spec.salva, installed_version("salva"))
    for plugin in worker_spec.plugins:
        _check_same(plugin.source, worker_spec, plugin.digest, PluginFile.of(plugin.source).digest)
        add_loose_plugin(plugin.source)
    machine = os.uname().nodename
    with plugin_errors(worker_spec.name, f"cannot be loaded on {machine!r}"):
        binding: Binding = pickle.loads(worker_spec.sent)
        weights = "those of the run" if worker_spec.machine == machine or _has_its_weights(binding) else "others"
    _check_same(worker_spec.name, worker_spec, worker_spec.version, str(binding.component.version))
    _check_same(f"the weights of {worker_spec.name}", worker_spec, "those of the run", weights)
    return binding


def _check_same(what: str, worker_spec: WorkerSpec, there: object, here: object) -> None:
    """Refuse what is not the same on this machine."""
    if here != there:
        values = {"what": what, "there": there or "missing", "here": here or "missing"}
        raise UsageError(message("machines-differ", **values, origin=worker_spec.machine, machine=os.uname().nodename))


def _has_its_weights(binding: Binding) -> bool:
    component = binding.component
    # What stands round another component pins that by what it was bound with, wherever it is.
    is_inside_right = not isinstance(component, Around) or _has_its_weights(component.inner)
    return is_inside_right and weights_of(component, binding.options) == binding.weights
