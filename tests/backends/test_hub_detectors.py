"""Detectors from the hub: pinned, downloaded once, found again offline; what cannot be had says why."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from backends.fake_hub import COMMIT, FakeHub
from backends.test_pixels import drawn
from backends.tiny_models import save_florence2

from salva.core.protocols import ObserveRequest, Query
from salva.core.run_spec import ComponentSpec
from salva.errors import SalvaError, UsageError
from salva.hardware import checkpoints
from salva.registry import bind


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    answer = ("cat", "<loc_100>", "<loc_200>", "<loc_400>", "<loc_600>")
    served = FakeHub(save_florence2(tmp_path / "served", answer), monkeypatch, tmp_path / "hub")
    checkpoints._hub_commit.cache_clear()
    yield served
    served.close()
    checkpoints._hub_commit.cache_clear()


def seen_by(target: str) -> object:
    spec = ComponentSpec(role="detector", name=f"florence2/{target}", options={"max_tokens": "60"})
    binding = bind(spec)
    assert binding.weights.startswith(COMMIT)
    return binding.build().observe([ObserveRequest(picture=drawn(32, 32), query=Query(role="detector"))])[0]


def test_a_hub_id_is_pinned_downloaded_and_found_again_offline(hub: FakeHub) -> None:
    online = seen_by("lab/model")
    assert not isinstance(online, SalvaError)
    hub.go_away()
    checkpoints._hub_commit.cache_clear()
    assert seen_by("lab/model") == online


@pytest.mark.parametrize(("model", "told"), [("lab/none", r"\[hub-refused\]"), ("lab/gated", r"\[hub-refused\]")])
def test_a_model_that_cannot_be_had_says_why(hub: FakeHub, model: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        seen_by(model)


def test_a_pickle_on_the_hub_is_refused_and_not_downloaded(hub: FakeHub) -> None:
    (hub.folder / "model.safetensors").rename(hub.folder / "pytorch_model.bin")
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        seen_by("lab/model")
    assert not [path for path in hub.asked if path.endswith(".bin") and "resolve" in path]


def test_a_download_that_breaks_off_stops_the_run_with_a_reason(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)  # the hub's library waits before it asks again
    checkpoints.locate("florence2", "lab/model")
    hub.point_at("http://127.0.0.1:9")  # the port of "discard", where nobody listens
    with pytest.raises(SalvaError, match=r"\[hub-unreachable\]"):
        seen_by("lab/model")
