"""Divides a cluster among components: how many actors each has, and what each actor takes.

Arithmetic over roles, cores and GPUs; knows no cluster.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from salva.core.options import value_of
from salva.core.plan import Binding
from salva.errors import invalid_option

_PAINTS = "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What the actors of one component take."""

    n_actors: int
    n_cpus: float
    """Of each actor; so are GPUs."""
    n_gpus: float = 0.0
    places: tuple[int, ...] = ()
    """Which GPUs its actors stand at, one each, beside the actors of others; empty for wherever there is room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceRequests:
    """What a user asks for by role; whatever is not named is shared out."""

    actors: Mapping[str, int] = field(default_factory=dict)
    gpus: Mapping[str, float] = field(default_factory=dict)
    cpus: Mapping[str, float] = field(default_factory=dict)

    def check(self, roles: Iterable[str]) -> None:
        """Refuse roles that nobody plays."""
        there = sorted(set(roles))
        for role in sorted({*self.actors, *self.gpus, *self.cpus} - {*there}):
            raise invalid_option("a role of executor", role, f"one of {', '.join(there)}")


def numbers_by_role(pairs: Sequence[str], name: str) -> dict[str, float]:
    """ROLE:NUMBER pairs to a mapping."""
    numbers: dict[str, float] = {}
    for pair in pairs:
        role, _, text = pair.partition(":")
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not role or not math.isfinite(number) or number < 0:
            raise invalid_option(f"executor.{name}", pair, "ROLE:NUMBER, as in model:4")
        if role in numbers:
            raise invalid_option(f"executor.{name}", ",".join(pairs), "one number a role")
        numbers[role] = number
    return numbers


def share_of(
    binding: Binding, crowd: Sequence[Binding], requests: ResourceRequests, n_cpus: float, at_gpus: Sequence[int]
) -> Share:
    """What a component takes of a cluster; crowd: all that work in actors, itself among them.

    at_gpus: how many actors stand at each GPU so far.
    """
    role, n_gpus = binding.role, len(at_gpus)
    if requests.gpus.get(role):
        return _by_request(role, crowd, requests, n_gpus)
    if uses_gpu(binding) and n_cpus_at_gpu(crowd, requests, n_gpus) is not None:
        # One GPU holds an actor of everyone who can use it, as it would without a cluster.
        n_actors = requests.actors.get(role, n_gpus)
        if n_actors > n_gpus:
            share = f"--set executor.gpus={role}:{n_gpus / n_actors:.2g}"
            raise invalid_option("executor.actors", n_actors, f"at most {n_gpus}, the number of GPUs, without {share}")
        each = _down(1 / sum(uses_gpu(other) for other in crowd))
        emptiest = sorted(range(n_gpus), key=lambda gpu: at_gpus[gpu])[:n_actors]
        return Share(
            n_actors=n_actors,
            n_cpus=requests.cpus.get(role, 0.0),
            n_gpus=each,
            places=tuple(sorted(emptiest)),
        )
    n_each = [requests.actors.get(other.role, _usual(other.role, crowd, n_cpus)) for other in crowd]
    equal = min(1.0, _down(n_cpus / sum(n_each)))
    return Share(n_actors=requests.actors.get(role, _usual(role, crowd, n_cpus)), n_cpus=requests.cpus.get(role, equal))


def n_cpus_at_gpu(crowd: Sequence[Binding], requests: ResourceRequests, n_gpus: int) -> float | None:
    """Cores that all who stand at one GPU take together; None when GPUs are not shared out by place."""
    at_gpu = [other for other in crowd if uses_gpu(other)]
    if requests.gpus or not n_gpus or not at_gpu:
        return None
    return sum(requests.cpus.get(other.role, 0.0) for other in at_gpu)


def uses_gpu(binding: Binding) -> bool:
    """Whether a component can be told a device, and is not told to keep to the CPU."""
    return value_of(binding.options, "device") not in (None, "cpu")


def _by_request(role: str, crowd: Sequence[Binding], requests: ResourceRequests, n_gpus: int) -> Share:
    each = requests.gpus[role]
    if each > n_gpus:
        raise invalid_option("executor.gpus", each, f"at most {n_gpus}, the number of GPUs")
    taken = sum(requests.gpus.get(other.role, 0.0) for other in crowd)
    n_actors = requests.actors.get(role, max(1, int(n_gpus / taken)))
    return Share(n_actors=n_actors, n_cpus=requests.cpus.get(role, 0.0), n_gpus=each)


def _usual(role: str, crowd: Sequence[Binding], n_cpus: float) -> int:
    """Generating takes longest: an actor a core. The observers share as many again."""
    n_observing = sum(other.role != _PAINTS for other in crowd)
    return max(1, math.ceil(n_cpus if role == _PAINTS else n_cpus / max(1, n_observing)))


def _down(share: float) -> float:
    """Rounded down to what Ray tells apart, so that all shares together are never too much."""
    return math.floor(1000 * share) / 1000
