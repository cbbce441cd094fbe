"""On the way to a cluster: addresses where nobody answers as Ray does, and machines too busy to start one in time.

No cluster runs here, and none is started.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from salva.engine.executors import ray as ray_executor
from salva.engine.executors.ray import RayCluster
from salva.errors import UsageError

TOO_SLOW = Exception("The current node timed out during startup. This could happen because some of the raylet failed")


class Ray:
    """As much of Ray as it takes to join a cluster; problems: what its next calls raise."""

    exceptions = SimpleNamespace(RayError=RuntimeError)

    def __init__(self, *problems: Exception) -> None:
        self.problems = list(problems)
        self.asked: list[dict[str, Any]] = []

    def init(self, **settings: Any) -> None:
        self.asked.append(settings)
        if self.problems:
            raise self.problems.pop(0)

    def is_initialized(self) -> bool:
        return False

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(get_node_id=lambda: "here")

    def remote(self, component: type) -> type:
        return component

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 4.0}


@pytest.fixture
def with_ray(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ray]:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray_executor, "_KNOCK_S", 0.3)

    def use(*problems: Exception) -> Ray:
        ray = Ray(*problems)
        monkeypatch.setattr(ray_executor, "_import_ray", lambda **_: ray)
        return ray

    return use


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:", "127.0.0.1:head", "127.0.0.1:99999", ":::"])
def test_an_address_that_is_none_is_said(with_ray: Callable[..., Ray], address: str) -> None:
    ray = with_ray()
    with pytest.raises(UsageError, match=r"\[cluster-unavailable\]"):
        RayCluster(address)
    assert ray.asked == []


@pytest.fixture
def listener() -> Iterator[str]:
    """The address of somebody who listens."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        yield f"127.0.0.1:{door.getsockname()[1]}"


@pytest.mark.parametrize("is_in_environment", [False, True])
def test_a_head_is_joined_as_it_is(
    with_ray: Callable[..., Ray],
    listener: str,
    monkeypatch: pytest.MonkeyPatch,
    is_in_environment: bool,
) -> None:
    ray, address = with_ray(), listener
    if is_in_environment:
        monkeypatch.setenv("RAY_ADDRESS", address)
    assert RayCluster("" if is_in_environment else address).n_cpus == 4.0
    (settings,) = ray.asked
    assert settings["address"] == address
    assert "num_cpus" not in settings, "a cluster of somebody else's keeps its own"


def test_another_python_or_ray_is_named_as_such(with_ray: Callable[..., Ray]) -> None:
    with_ray(RuntimeError("Version mismatch: The cluster was started with:\n    Ray: 2.52.0\n    Python: 3.13.1"))
    with pytest.raises(UsageError) as caught:
        RayCluster("auto")
    assert "Ray: 2.52.0 Python: 3.13.1. Use the same" in str(caught.value)


def test_a_busy_machine_is_given_another_try(with_ray: Callable[..., Ray]) -> None:
    ray = with_ray(TOO_SLOW, TOO_SLOW)
    RayCluster("")
    assert [settings["address"] for settings in ray.asked] == ["local"] * 3


def test_but_not_for_ever(with_ray: Callable[..., Ray], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_executor, "_START_S", 1e-9)
    ray = with_ray(*[TOO_SLOW] * 9)
    with pytest.raises(UsageError, match=r"\[cluster-unavailable\]"):
        RayCluster("")
    assert len(ray.asked) == 1


def test_what_another_try_cannot_mend_is_said_at_once(with_ray: Callable[..., Ray]) -> None:
    ray = with_ray(ValueError("The configured object store size is too small"), TOO_SLOW)
    with pytest.raises(UsageError, match="object store size is too small"):
        RayCluster("")
    assert len(ray.asked) == 1
