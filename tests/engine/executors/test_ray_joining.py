"""On the way to a cluster: addresses where nobody answers as Ray does, and machines too busy to start one in time.

No cluster runs here, and none is started.
"""

from __future__ import annotations

import math
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from salva.engine.executors import ray as ray_executor
from salva.engine.executors.ray import RayCluster, RayOptions
from salva.errors import UsageError

TOO_SLOW = Exception("The current node timed out during startup. This could happen because some of the raylet failed")
NO_SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])


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


@pytest.fixture
def listener() -> Iterator[Callable[[bytes | None], str]]:
    """Somebody who answers whatever is said with the same bytes; with None, never."""
    doors: list[socket.socket] = []
    threads: list[threading.Thread] = []
    is_over = threading.Event()

    def listen(answer: bytes | None) -> str:
        doors.append(door := socket.create_server(("127.0.0.1", 0)))

        def serve() -> None:
            # Whoever knocked may be gone, and so may the test.
            with suppress(OSError), door.accept()[0] as guest:
                if answer is None:
                    is_over.wait()
                else:
                    guest.recv(1024)
                    guest.sendall(answer)

        threads.append(thread := threading.Thread(target=serve, daemon=True))
        thread.start()
        return f"127.0.0.1:{door.getsockname()[1]}"

    yield listen
    is_over.set()
    for door in doors:
        # Closing alone would leave a thread that waits for a guest waiting.
        with suppress(OSError):
            door.shutdown(socket.SHUT_RDWR)
        door.close()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (None, "timed out"),
        (b"", "no head of"),
        (b"\0\0", "no head of"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "no head of"),
        (b"-ERR unknown command\r\n", "no head of"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "no head of"),
    ],
)
def test_whoever_does_not_answer_as_a_head_is_left_at_once(
    with_ray: Callable[..., Ray], listener: Callable[[bytes | None], str], answer: bytes | None, told: str
) -> None:
    ray, address = with_ray(), listener(answer)
    with pytest.raises(UsageError) as caught:
        RayCluster(address, 1.0)
    assert caught.value.code == "cluster-unavailable"
    assert told in str(caught.value)
    assert ray.asked == [], "it would try for minutes"


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:", "127.0.0.1:head", "127.0.0.1:99999", ":::"])
def test_an_address_that_is_none_is_said(with_ray: Callable[..., Ray], address: str) -> None:
    ray = with_ray()
    with pytest.raises(UsageError, match=r"\[cluster-unavailable\]"):
        RayCluster(address, 1.0)
    assert ray.asked == []


def test_a_port_beyond_the_last_is_not_wrapped_to_a_head_that_listens(
    with_ray: Callable[..., Ray], listener: Callable[[bytes | None], str]
) -> None:
    ray = with_ray()
    host, port = listener(NO_SETTINGS).split(":")
    with pytest.raises(UsageError, match="the highest is 65535"):
        RayCluster(f"{host}:{int(port) + 2**16}", 1.0)
    assert ray.asked == []


@pytest.mark.parametrize("is_in_environment", [False, True])
def test_a_head_is_joined_as_it_is(
    with_ray: Callable[..., Ray],
    listener: Callable[[bytes | None], str],
    monkeypatch: pytest.MonkeyPatch,
    is_in_environment: bool,
) -> None:
    ray, address = with_ray(), listener(NO_SETTINGS)
    if is_in_environment:
        monkeypatch.setenv("RAY_ADDRESS", address)
    assert RayCluster("" if is_in_environment else address, 1.0).n_cpus == 4.0
    (settings,) = ray.asked
    assert settings["address"] == address
    assert "num_cpus" not in settings, "a cluster of somebody else's keeps its own"


def test_a_head_that_speaks_in_secret_is_asked_by_ray_itself(
    with_ray: Callable[..., Ray], listener: Callable[[bytes | None], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_USE_TLS", "1")
    ray = with_ray()
    RayCluster(listener(None), 1.0)
    assert len(ray.asked) == 1


def test_another_python_or_ray_is_named_as_such(with_ray: Callable[..., Ray]) -> None:
    with_ray(RuntimeError("Version mismatch: The cluster was started with:\n    Ray: 2.52.0\n    Python: 3.13.1"))
    with pytest.raises(UsageError) as caught:
        RayCluster("auto", 1.0)
    assert "Ray: 2.52.0 Python: 3.13.1. Use the same" in str(caught.value)


def test_a_busy_machine_is_given_another_try(with_ray: Callable[..., Ray]) -> None:
    ray = with_ray(TOO_SLOW, TOO_SLOW)
    RayCluster("", 180.0)
    assert [settings["address"] for settings in ray.asked] == ["local"] * 3


def test_but_not_for_ever(with_ray: Callable[..., Ray]) -> None:
    ray = with_ray(*[TOO_SLOW] * 9)
    with pytest.raises(UsageError, match=r"executor.start_s=.*\[cluster-unavailable\]"):
        RayCluster("", 1e-9)
    assert len(ray.asked) == 1


def test_what_another_try_cannot_mend_is_said_at_once(with_ray: Callable[..., Ray]) -> None:
    ray = with_ray(ValueError("The configured object store size is too small"), TOO_SLOW)
    with pytest.raises(UsageError, match="object store size is too small"):
        RayCluster("", 180.0)
    assert len(ray.asked) == 1


@pytest.mark.parametrize("start_s", [0.0, -1.0, math.nan, math.inf])
def test_a_time_that_is_none_is_refused(start_s: float) -> None:
    with pytest.raises(UsageError, match=r"start_s is .*\[option-invalid\]"):
        RayOptions(start_s=start_s)
