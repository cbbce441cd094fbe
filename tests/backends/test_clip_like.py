"""CLIP and SigLIP on tiny checkpoints: vectors of length 1, the library's own, and errors for what does not fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from backends.test_pixels import drawn
from backends.tiny_models import save_clip, save_siglip
from PIL import Image

from salva.core.observation import Vector
from salva.core.plan import Binding
from salva.core.protocols import ObserveRequest, Query
from salva.core.run_spec import ComponentSpec
from salva.errors import BackendError
from salva.registry import bind
from salva.stats.similarity import cosine
from salva.testing.conformance import check_observer

torch: Any = pytest.importorskip("torch", reason="needs the extra torch")
transformers: Any = pytest.importorskip("transformers", reason="needs the extra torch")

PICTURES = [drawn(40, 60, 1), drawn(40, 60, 2), drawn(64, 48, 3)]
SAVERS: dict[str, Callable[[Path], Path]] = {"clip": save_clip, "siglip": save_siglip}
LONG = "a photo of a cat and a dog and a horse and a cow"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("checkpoints")
    return {name: save(root / name) for name, save in SAVERS.items()}


def bound(name: str, folder: Path, **options: str) -> Binding:
    return bind(ComponentSpec(role="embedder", name=f"{name}/{folder}", options=options))


def of_picture(number: int) -> ObserveRequest:
    return ObserveRequest(picture=PICTURES[number], query=Query(role="embedder"))


def of_text(text: str) -> ObserveRequest:
    return ObserveRequest(picture=PICTURES[0], query=Query(role="embedder", text=text))


@pytest.mark.parametrize("name", SAVERS)
def test_conformance(name: str, folders: dict[str, Path]) -> None:
    check_observer(bound(name, folders[name]), PICTURES)
    check_observer(bound(name, folders[name], batch_size="4"), PICTURES, query=Query(role="embedder", text="a cat"))


@pytest.mark.parametrize("name", SAVERS)
def test_vectors_have_length_one_and_are_those_of_transformers(name: str, folders: dict[str, Path]) -> None:
    embedder = bound(name, folders[name]).build()
    seen = embedder.observe([of_picture(0), of_text("a photo of a cat"), of_picture(2), of_text("a dog")])
    assert all(math.hypot(*vector.values) == pytest.approx(1, abs=1e-6) for vector in seen)
    model = transformers.AutoModel.from_pretrained(folders[name]).eval()
    processor = transformers.AutoProcessor.from_pretrained(folders[name])
    images = [Image.frombytes("RGB", (p.width, p.height), p.rgb) for p in (PICTURES[0], PICTURES[2])]
    with torch.inference_mode():
        pixels = [processor(images=[image], return_tensors="pt") for image in images]
        wanted = [model.get_image_features(**one).pooler_output[0].tolist() for one in pixels]
        words = processor(text=["a photo of a cat", "a dog"], padding="max_length", return_tensors="pt")
        if name == "siglip":
            words.pop("attention_mask", None)
        texts = model.get_text_features(**words).pooler_output.tolist()
    assert cosine(seen[0].values, wanted[0]) > 0.9999
    assert cosine(seen[2].values, wanted[1]) > 0.9999
    assert cosine(seen[1].values, texts[0]) > 0.999999
    assert cosine(seen[3].values, texts[1]) > 0.999999
    assert cosine(seen[0].values, seen[2].values) < 0.999
    assert cosine(seen[1].values, seen[3].values) < 0.999


@pytest.mark.parametrize("name", SAVERS)
def test_a_text_that_is_too_long_is_an_error_for_its_own_request(name: str, folders: dict[str, Path]) -> None:
    long, short = bound(name, folders[name]).build().observe([of_text(LONG), of_text("a cat")])
    assert isinstance(long, BackendError)
    assert not long.is_retryable
    assert long.code == "too-many-tokens"
    assert "10 tokens" in str(long)
    assert "takes 16" in str(long)
    assert isinstance(short, Vector)


@pytest.mark.parametrize("name", SAVERS)
def test_truncation_embeds_the_beginning(name: str, folders: dict[str, Path]) -> None:
    embedder = bound(name, folders[name], truncate="true").build()
    long, same = embedder.observe([of_text(LONG), of_text("a photo of a cat and a dog with a car")])
    assert long == same


def test_a_text_does_not_depend_on_the_image(folders: dict[str, Path]) -> None:
    embedder = bound("clip", folders["clip"]).build()
    requests = [ObserveRequest(picture=picture, query=Query(role="embedder", text="a cat")) for picture in PICTURES]
    assert len(set(embedder.observe(requests))) == 1
