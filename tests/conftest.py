"""What every test shares: no network but loopback, and a clean environment."""

from __future__ import annotations

import gc
import hashlib
import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from salva import registry
from salva.core.image import Picture
from salva.core.observation import Observation
from salva.detectors.pocket_detector import PocketDetector
from salva.engine import guard
from salva.errors import SalvaError
from salva.readers import rapid_ocr
from salva.readers.rapid_ocr import RapidOcr
from salva.store import images

# The same examples on every run, and none of them timed: a red test means a changed program. SALVA_EXPLORE=1
# looks for new ones.
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=not os.environ.get("SALVA_EXPLORE"),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")

# Two workers with two threads each wait for one another on two cores, and wait by spinning.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

_connect = socket.socket.connect


def _connect_to_loopback_only(self: socket.socket, address: Any) -> None:
    if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in {"127.0.0.1", "::1", "localhost"}:
        raise AssertionError(f"a test tried to reach {address}; tests stay on loopback")
    _connect(self, address)


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any connection to elsewhere fails the test that made it."""
    monkeypatch.setattr(socket.socket, "connect", _connect_to_loopback_only)


@pytest.fixture(scope="session")
def foreign_data() -> Path:
    """The folder of data that others made, which is no part of the project."""
    folder = os.environ.get("SALVA_TEST_DATA")
    if not folder:
        pytest.skip("SALVA_TEST_DATA names no folder of foreign data")
    return Path(folder)


@pytest.fixture(scope="session", autouse=True)
def no_waiting() -> Iterator[None]:
    """Nobody waits for the disk, or long before a request is repeated: no test here cuts the power.

    Processes that tests start, and kill, do wait for the disk.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        patch.setattr(guard, "FIRST_DELAY_S", 0.01)
        yield


class SharedEngine:
    """An engine of rapidocr, which takes a tenth of a second to build and serves one caller at a time."""

    def __init__(self, engine: Any) -> None:
        self._engine, self._lock = engine, threading.Lock()

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        with self._lock:
            return self._engine(*arguments, **settings)


@pytest.fixture(scope="session", autouse=True)
def seen_once() -> Iterator[None]:
    """What the embedded detector and reader saw in an image holds for all tests: half of it was shown before."""
    observe, seen = PocketDetector._detect, {}
    read, texts = RapidOcr._read, {}
    build, engines = rapid_ocr._new_engine, {}

    def observe_once(self: PocketDetector, image: Picture) -> Observation | SalvaError:
        key = (hashlib.sha256(image.rgb).digest(), image.width, image.height, self._floor)
        if key not in seen:
            seen[key] = observe(self, image)
        return seen[key]

    def read_once(self: RapidOcr, engine: Any, image: Picture) -> Observation | SalvaError:
        if not isinstance(engine, SharedEngine):
            return read(self, engine, image)
        key = (hashlib.sha256(image.rgb).digest(), image.width, image.height)
        if key not in texts:
            texts[key] = read(self, engine, image)
        return texts[key]

    def build_once() -> SharedEngine:
        files = (rapid_ocr._model_folder(), rapid_ocr._DETECTION_MODEL, rapid_ocr._RECOGNITION_MODEL)
        key = (id(sys.modules.get("rapidocr")), *files)
        if key not in engines:
            engines[key] = SharedEngine(build())
        return engines[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PocketDetector, "_detect", observe_once)
        patch.setattr(RapidOcr, "_read", read_once)
        patch.setattr(rapid_ocr, "_new_engine", build_once)
        yield


@pytest.fixture(autouse=True)
def no_salva_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own SALVA_ settings must not change what is tested."""
    for name in list(os.environ):
        if name.startswith("SALVA_") and name != "SALVA_TEST_DATA":
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def own_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loose plugin that a test names is there for that test alone."""
    monkeypatch.setattr(registry, "_loose", {role: dict(names) for role, names in registry._loose.items()})


@pytest.fixture(autouse=True)
def own_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address of images that a test names is named for that test alone."""
    monkeypatch.setattr(images, "_allowed", set())


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that a test learns about a machine or a hub is remembered in the user's own cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


def pytest_collection_finish() -> None:
    """What is loaded by now stays loaded: the garbage collector looks at what came later alone, and seldom.

    It took a sixth of the time of tests that make many small objects.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
