"""Executor: components work in actors of a Ray cluster.

This process alone owns the store; what actors do may be done twice and is stored once. What waits for an endpoint stays
in threads here: its limiter, its keys and its connections are one process's, and it needs no core. The only file that
knows Ray; whatever that raises leaves as one of our errors, or as the loss of an actor.
"""

from __future__ import annotations

import logging
import math
import os
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from salva.core.foreign_errors import describe_error, one_line, translate_errors
from salva.core.options import option
from salva.core.plan import Binding
from salva.core.threads import start_thread
from salva.engine.executors.actor_pool import MOST_SEATS, ActorPool, LostError, UnsentError
from salva.engine.executors.actor_worker import ActorWorker
from salva.engine.executors.local import LocalLane
from salva.engine.executors.shares import ResourceRequests, Share, n_cpus_at_gpu, numbers_by_role, share_of
from salva.errors import MissingExtraError, UnusableError, UsageError, invalid_option
from salva.hardware.cores import n_cores
from salva.messages import message

_STORE_BYTES = 512 * 2**20
_KNOCK_S = 10.0
_START_S = 180.0
"""How long its own cluster may take to start, on a machine that others use."""
_RESERVE_S = 30.0
"""How long to wait for GPUs before whatever needs none is given its cores."""
_WATCH_S = 5.0
"""So often a call that takes long looks whether the cluster is still there."""
_ANSWER_S = 20.0
"""How long a cluster that is well may take to say so."""
_ADDRESS = "RAY_ADDRESS"
_AUTH = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN")
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
_TOO_SLOW = "timed out during startup"


@dataclass(frozen=True, slots=True, kw_only=True)
class RayOptions:
    """Where the cluster is, and what each component takes of it."""

    address: str = option(
        "",
        "HOST:PORT of a cluster that this machine is part of, or auto; else RAY_ADDRESS, else one on this machine.",
        keyed=False,
        reaches="endpoint",
    )
    actors: tuple[str, ...] = option(
        (), "Actors by role, as in model:4,detector:2; default: as many as there is room for.", keyed=False
    )
    gpus: tuple[str, ...] = option(
        (),
        "GPUs an actor by role, as in model:1,detector:0.5; default: every GPU holds an actor of all who can use one.",
        keyed=False,
    )
    cpus: tuple[str, ...] = option((), "Cores an actor by role, as in model:2; default: an equal share.", keyed=False)

    def __post_init__(self) -> None:
        if self.address.startswith("ray://"):
            wanted = "HOST:PORT of the head on a machine of the cluster; elsewhere: ray job submit -- salva run ..."
            raise invalid_option("executor.address", self.address, wanted)
        self.requests()

    def requests(self) -> ResourceRequests:
        """What is asked for by role."""
        actors = numbers_by_role(self.actors, "actors")
        for role, number in actors.items():
            if number < 1 or number % 1:
                raise invalid_option("executor.actors", f"{role}:{number:g}", "ROLE:NUMBER with whole numbers from 1")
        return ResourceRequests(
            actors={role: int(number) for role, number in actors.items()},
            gpus=numbers_by_role(self.gpus, "gpus"),
            cpus=numbers_by_role(self.cpus, "cpus"),
        )


class _SlowStartError(UsageError):
    """A node was not up in time."""


class RayCluster:
    """Ray as a pool's backend."""

    def __init__(self, address: str) -> None:
        self._ray = _import_ray(is_local=not address and not os.environ.get(_ADDRESS))
        self._is_ours = not self._ray.is_initialized()
        if self._is_ours:
            self._join(address or os.environ.get(_ADDRESS, ""))
        self._group: Any = None
        self._node = str(self._ray.get_runtime_context().get_node_id())
        self._watch = threading.Lock()
        self._watched_at = time.monotonic()
        self._worker = self._ray.remote(ActorWorker)
        there = self._ray.cluster_resources()
        self.n_cpus, self.n_gpus = float(there.get("CPU", 0.0)), int(there.get("GPU", 0))
        """Of all nodes, as the run finds them."""

    def free(self) -> str:
        """What nobody has taken, in words."""
        there = self._ray.available_resources()
        return f"{there.get('CPU', 0.0):g} cores and {there.get('GPU', 0.0):g} GPUs"

    def create_actor(self, share: Share, number: int) -> Any:
        """An actor with a ActorWorker, there as soon as there is room for it."""
        settings: dict[str, Any] = {
            # One that dies is followed by one of the pool's, which counts them: Ray's own would go on forever.
            "max_restarts": 0,
            "max_task_retries": 0,
            "max_concurrency": MOST_SEATS + 1,
            "num_cpus": share.n_cpus,
            "num_gpus": share.n_gpus,
        }
        strategy = self._at_gpu(share.places[number]) if share.places else "SPREAD"
        return self._worker.options(**settings, scheduling_strategy=strategy).remote()

    def call(self, actor: Any, method: str, *arguments: object) -> Any:
        """What a ActorWorker answers; LostError when it never will, UnsentError when it cannot be told."""
        errors = self._ray.exceptions
        try:
            reply = getattr(actor, method).remote(*arguments)
            while True:
                with suppress(errors.GetTimeoutError):
                    return self._ray.get(reply, timeout=_WATCH_S)
                self._check_alive()
        except errors.RayTaskError as error:
            raise UnsentError(describe_error(error.cause or error)) from None
        except errors.RayError as error:
            raise LostError(one_line(error)) from None

    def tell(self, actor: Any, method: str) -> None:
        """The same without waiting, ignoring the result."""
        with suppress(self._ray.exceptions.RayError):
            getattr(actor, method).remote()

    def kill_actor(self, actor: Any) -> None:
        """End an actor; one that is gone already is no trouble."""
        with suppress(self._ray.exceptions.RayError):
            self._ray.kill(actor)

    def reserve_gpus(self, n_cpus_beside: float) -> None:
        """Take every GPU, with cores beside it, before others take all cores of a machine that has one."""
        if self._group is None:
            each = {"GPU": 1.0} | ({"CPU": n_cpus_beside} if n_cpus_beside else {})
            self._group = self._ray.util.placement_group([each] * self.n_gpus, strategy="PACK")
            self._group.wait(_RESERVE_S)

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        if self._group is not None:
            with suppress(self._ray.exceptions.RayError):
                self._ray.util.remove_placement_group(self._group)
        if self._is_ours:
            self._ray.shutdown()

    def _join(self, address: str) -> None:
        """Connect to the cluster at an address, or to one of our own."""
        is_main = threading.current_thread() is threading.main_thread()
        on_term = signal.getsignal(signal.SIGTERM)
        if address:
            self._connect(address)
        else:
            self._start()
        if is_main:
            # Ray would turn it into an exception, and a run told to end would wait for its answers.
            signal.signal(signal.SIGTERM, on_term)

    def _connect(self, address: str) -> None:
        what = f"join a cluster at {address!r}"
        with translate_errors(lambda error: _unavailable(what, error, _remedy(error))):
            if ":" in address:
                _knock(address)
            self._ray.init(address=address, **_QUIET)

    def _start(self) -> None:
        # Of a cluster that somebody else runs these are its own affair.
        own = {"num_cpus": n_cores(), "include_dashboard": False, "object_store_memory": _STORE_BYTES}
        deadline = time.monotonic() + _START_S
        while True:
            try:
                with translate_errors(_not_started):
                    self._ray.init(address="local", **own, **_QUIET)
                return
            except _SlowStartError:
                # Ray gives a node half a minute, which nobody can change; what it has started ends with us.
                if time.monotonic() > deadline:
                    raise

    def _at_gpu(self, place: int) -> Any:
        """At one GPU of the cluster, the same one for that place of every component."""
        strategy = self._ray.util.scheduling_strategies.PlacementGroupSchedulingStrategy
        return strategy(self._group, placement_group_bundle_index=place)

    def _check_alive(self) -> None:
        """Raise when the cluster has lost this machine's node, or does not answer: Ray would wait without end."""
        with self._watch:
            if time.monotonic() - self._watched_at < _WATCH_S:
                return
            nodes: list[dict[str, Any]] = []
            asking = start_thread(lambda: nodes.extend(self._ray.nodes()), "a look at the cluster")
            asking.join(_ANSWER_S)
            if not any(node["NodeID"] == self._node and node["Alive"] for node in nodes):
                raise UnusableError(message("cluster-lost"))
            self._watched_at = time.monotonic()


class RayExecutor:
    """Actors on a Ray cluster: one that runs already, or one on this machine that ends with the run."""

    version: ClassVar[str] = "1"
    Options: ClassVar[type[RayOptions]] = RayOptions

    def __init__(self, options: RayOptions | None = None) -> None:
        self.options = options or RayOptions()
        self._requests = self.options.requests()
        self._cluster = RayCluster(self.options.address)
        self._lanes: list[LocalLane | ActorPool] = []
        self._at_gpus = [0] * self._cluster.n_gpus

    def open(self, binding: Binding, crowd: Sequence[Binding]) -> LocalLane | ActorPool:
        """Put a component to work, in as many actors as its share of the cluster allows."""
        lane: LocalLane | ActorPool
        in_actors = [other for other in crowd if not other.about.is_remote]
        self._requests.check(other.role for other in in_actors)
        if binding.about.is_remote:
            lane = LocalLane(binding)
        else:
            n_cpus_beside = n_cpus_at_gpu(in_actors, self._requests, self._cluster.n_gpus)
            if n_cpus_beside is not None:
                self._cluster.reserve_gpus(n_cpus_beside)
            share = share_of(binding, in_actors, self._requests, self._cluster.n_cpus, self._at_gpus)
            each = math.ceil(binding.n_expected / share.n_actors)
            lane = ActorPool(self._cluster, replace(binding, n_expected=each), share)
            for place in share.places:
                self._at_gpus[place] += 1
        self._lanes.append(lane)
        return lane

    def stop(self) -> None:
        """Begin no more calls; those under way are still reported."""
        for lane in self._lanes:
            lane.stop()

    def close(self) -> None:
        """Stop everything; safe to call twice."""
        while self._lanes:
            self._lanes.pop().close()
        self._cluster.close()


def _knock(address: str) -> None:
    """Raise where nothing listens, which Ray itself would try for minutes on end."""
    host, _, port = address.rpartition(":")
    socket.create_connection((host, int(port)), _KNOCK_S).close()


def _not_started(error: Exception) -> UsageError:
    return _unavailable("start a cluster", error, "Try again when the machine is less busy, or use --executor local.")


def _unavailable(what: str, error: Exception, instead: str) -> UsageError:
    kind = _SlowStartError if _TOO_SLOW in str(error) else UsageError
    return kind(message("cluster-unavailable", what=what, why=one_line(error), instead=instead))


def _remedy(error: BaseException) -> str:
    if "ersion mismatch" in str(error):
        return "Use the same Python and Ray on all machines."
    return "Start one with `ray start --head`, and give the HOST:PORT that it prints."


def _import_ray(*, is_local: bool) -> Any:
    # Or a thread that asks too late would start a cluster by asking.
    os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")
    if is_local and "ray" not in sys.modules:
        # A cluster listens on every interface and runs what it is sent: one of our own listens to this process alone,
        # and tells nobody about itself. Ray reads both when it is loaded.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if not any(name in os.environ for name in _AUTH):
            os.environ.update(zip(_AUTH, ("token", secrets.token_hex(32)), strict=True))
    try:
        import ray
        import ray.util.scheduling_strategies
    except ImportError as error:
        raise MissingExtraError("the executor 'ray'", "ray") from error
    return ray
