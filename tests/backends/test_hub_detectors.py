"""Detectors on the hub: pinned, downloaded once, found offline, or refused."""

from __future__ import annotations

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


def test_a_hub_id_is_pinned_downloaded_and_found_offline(hub: FakeHub) -> None:
    online = seen_by("lab/model")
    assert not isinstance(online, SalvaError)
    hub.go_away()
    checkpoints._hub_commit.cache_clear()
    assert seen_by("lab/model") == online


@pytest.mark.parametrize(("model", "told"), [("lab/none", r"\[hub-refused\]"), ("lab/gated", r"\[hub-refused\]")])
def test_missing_and_gated_models_are_refused(hub: FakeHub, model: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        seen_by(model)


def test_a_pickle_is_refused_without_a_download(hub: FakeHub) -> None:
    (hub.folder / "model.safetensors").rename(hub.folder / "pytorch_model.bin")
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        seen_by("lab/model")
    assert not [path for path in hub.asked if path.endswith(".bin") and "resolve" in path]


def test_an_interrupted_download_is_an_error(hub: FakeHub) -> None:
    checkpoints.locate("florence2", "lab/model")
    hub.point_at("http://127.0.0.1:9")  # the port of "discard", where no server listens
    with pytest.raises(SalvaError, match=r"\[hub-unreachable\]"):
        seen_by("lab/model")
