"""Checkpoints on the hub: pinned to a commit, found offline, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("huggingface_hub", reason="the hub is reached through its own library")
pytest.importorskip("diffusers", reason="what is downloaded is loaded with diffusers")

from backends.fake_hub import COMMIT, FakeHub
from backends.tiny_pipelines import save_stable_diffusion

from salva.core.case import Prompt
from salva.core.protocols import Rendered, RenderRequest
from salva.errors import UnusableError, UsageError
from salva.generators.diffusers_pipeline import DiffusersOptions, DiffusersPipeline
from salva.hardware import checkpoints
from salva.hardware.checkpoints import locate

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    served = FakeHub(save_stable_diffusion(tmp_path / "served"), monkeypatch, tmp_path / "hub")
    checkpoints._hub_commit.cache_clear()
    yield served
    served.close()
    checkpoints._hub_commit.cache_clear()


def _paint(options: DiffusersOptions) -> Rendered:
    request = RenderRequest(prompt=Prompt(role="a", text="a cat"), seed=1)
    (outcome,) = DiffusersPipeline(options).render([request])
    assert isinstance(outcome, Rendered), outcome
    return outcome


OPTIONS = DiffusersOptions(checkpoint="lab/model", size="32", steps=1, device="cpu")


def test_a_hub_id_is_pinned_downloaded_and_found_offline(hub: FakeHub) -> None:
    assert DiffusersPipeline.weights(OPTIONS) == COMMIT
    online = _paint(OPTIONS)
    local = _paint(DiffusersOptions(checkpoint=str(hub.folder), size="32", steps=1, device="cpu"))
    assert online.picture == local.picture
    hub.go_away()
    checkpoints._hub_commit.cache_clear()
    assert DiffusersPipeline.weights(OPTIONS) == COMMIT
    assert _paint(OPTIONS).picture == online.picture


def test_a_commit_is_not_looked_up(hub: FakeHub) -> None:
    assert locate("diffusers/lab/model", f"lab/model@{'f' * 40}").commit == "f" * 40
    assert hub.asked == []


def test_an_unknown_model_without_network_is_unusable(hub: FakeHub) -> None:
    hub.go_away()
    with pytest.raises(UnusableError, match=r"'lab/model' at 'main'.*\[hub-unreachable\]"):
        DiffusersPipeline.weights(OPTIONS)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("lab/none", r"'lab/none' .*\[hub-refused\]"),
        ("lab/gated", r"'lab/gated' .*/lab/gated .*hf auth login.*\[hub-refused\]"),
        ("lab/private", r"'lab/private'.*\[hub-refused\]"),
        ("lab/model@v9", r"'lab/model' .*'v9'.*\[hub-refused\]"),
    ],
)
def test_missing_gated_and_private_models_are_refused(hub: FakeHub, model: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        DiffusersPipeline.weights(DiffusersOptions(checkpoint=model))


def test_a_model_that_became_gated_is_refused(hub: FakeHub) -> None:
    DiffusersPipeline(OPTIONS)
    checkpoints._hub_commit.cache_clear()
    hub.is_gated = True
    with pytest.raises(UsageError, match=r"\[hub-refused\]"):
        DiffusersPipeline.weights(OPTIONS)


def test_an_incomplete_download_is_unusable(hub: FakeHub, tmp_path: Path) -> None:
    DiffusersPipeline(OPTIONS)
    checkpoints._hub_commit.cache_clear()
    hub.go_away()
    next((tmp_path / "hub").rglob("unet/*.safetensors")).unlink()
    with pytest.raises(UnusableError, match=r"\[hub-unreachable\]"):
        DiffusersPipeline(OPTIONS)


def test_pickles_are_refused_without_a_download(hub: FakeHub) -> None:
    for file in hub.folder.rglob("*.safetensors"):
        file.rename(file.with_suffix(".bin"))
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        DiffusersPipeline(OPTIONS)
    assert not [path for path in hub.asked if path.endswith(".bin")]
