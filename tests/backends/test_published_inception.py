"""The Inception network of published scores, by torch-fidelity."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from salva.core.image import Picture
from salva.core.observation import Vector
from salva.core.plan import Binding
from salva.core.protocols import ObserveRequest, Query
from salva.core.run_spec import ComponentSpec
from salva.errors import UsageError
from salva.registry import bind
from salva.testing.conformance import check_observer

torch: Any = pytest.importorskip("torch", reason="needs the extra torch")

RED = Picture(rgb=bytes((200, 10, 30)) * 35, width=7, height=5)
GREY = Picture(rgb=bytes([90]) * 192, width=8, height=8)


class Extractor(torch.nn.Module):  # type: ignore[misc]  # torch is imported as Any
    """A network with the constructor and the call of torch-fidelity's, three numbers wide."""

    def __init__(self, name: str, features_list: list[str], feature_extractor_weights_path: Any = None) -> None:
        super().__init__()
        assert name
        self.features_list = features_list
        self.fc = torch.nn.Linear(3, 2, bias=False)
        # As the library does it: whatever is in there would be run.
        self.load_state_dict(torch.load(feature_extractor_weights_path, weights_only=False))

    def forward(self, x: Any) -> Any:
        assert x.dtype == torch.uint8
        means = x.double().mean((2, 3))
        made = {"2048": means, "logits_unbiased": means.float() @ self.fc.weight.T}
        return tuple(made[name] for name in self.features_list)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("torch_fidelity.feature_extractor_inceptionv3")
    module.FeatureExtractorInceptionV3 = Extractor  # type: ignore[attr-defined]  # what the library has there
    monkeypatch.setitem(sys.modules, "torch_fidelity", ModuleType("torch_fidelity"))
    monkeypatch.setitem(sys.modules, "torch_fidelity.feature_extractor_inceptionv3", module)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "weights.pth"
    torch.save({"fc.weight": torch.tensor([[1.0, 0.0, -1.0], [0.5, 0.5, 0.0]])}, path)
    return path


def bound(path: Path, **options: str) -> Binding:
    given = {"device": "cpu", **options}
    return bind(ComponentSpec(role="embedder", name=f"published-inception/{path}", options=given))


def features(binding: Binding, picture: Picture) -> tuple[float, ...]:
    (seen,) = binding.build().observe([ObserveRequest(picture=picture, query=Query(role="embedder"))])
    assert isinstance(seen, Vector), seen
    return seen.values


@pytest.mark.usefixtures("library")
def test_features_and_logits(weights: Path) -> None:
    assert features(bound(weights), RED) == pytest.approx((200, 10, 30))
    assert features(bound(weights, output="logits_unbiased"), RED) == pytest.approx((170, 105))


@pytest.mark.usefixtures("library")
def test_conformance(weights: Path) -> None:
    check_observer(bound(weights), [RED, GREY])


@pytest.mark.usefixtures("library")
def test_the_key_depends_on_weights_and_output(weights: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.pth"
    torch.save({"fc.weight": torch.zeros(2, 3)}, other)
    identities = [bound(weights), bound(other), bound(weights, output="logits")]
    assert len({str(one.weights) + str(one.options.output) for one in identities}) == 3
    published = bind(ComponentSpec(role="embedder", name="published-inception"))
    assert published.weights == "weights-inception-2015-12-05-6726825d"


class Trap:
    """Something in a pickle that would run when it is loaded."""

    def __init__(self, touched: str) -> None:
        self._touched = touched

    def __reduce__(self) -> Any:
        return Path.touch, (Path(self._touched),)


@pytest.mark.usefixtures("library")
def test_code_in_the_file_is_not_run(tmp_path: Path) -> None:
    torch.save({"fc.weight": torch.zeros(2, 3), "more": Trap(str(tmp_path / "ran"))}, tmp_path / "trap.pth")
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        bound(tmp_path / "trap.pth").build()
    assert not (tmp_path / "ran").exists()


@pytest.mark.usefixtures("library")
def test_invalid_files_and_texts_are_refused(weights: Path, tmp_path: Path) -> None:
    (tmp_path / "page.pth").write_text("<html>")
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        bound(tmp_path / "page.pth").build()
    torch.save({"other.weight": torch.zeros(1)}, tmp_path / "other.pth")
    with pytest.raises(UsageError, match=r"other\.pth.*\[checkpoint-invalid\]"):
        bound(tmp_path / "other.pth").build()
    torch.save([torch.zeros(1)], tmp_path / "list.pth")
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        bound(tmp_path / "list.pth").build()
    with pytest.raises(UsageError, match=r"\[file-missing\]"):
        bound(tmp_path / "gone.pth")
    with pytest.raises(UsageError, match=r"\[texts-unsupported\]"):
        bound(weights).build().observe([ObserveRequest(picture=RED, query=Query(role="embedder", text="a cat"))])


@pytest.mark.usefixtures("library")
def test_a_failed_download_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def no_network(*_: object, **__: object) -> None:
        raise OSError("no route to host")

    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setattr("torch.hub.download_url_to_file", no_network)
    with pytest.raises(UsageError, match=r"\[download-failed\]"):
        bind(ComponentSpec(role="embedder", name="published-inception")).build()


@pytest.mark.usefixtures("library")
def test_the_file_is_downloaded_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, weights: Path) -> None:
    asked: list[str] = []

    def downloaded(url: str, path: str, *, hash_prefix: str, progress: bool) -> None:
        assert hash_prefix == Path(url).stem.rpartition("-")[2]
        assert not progress
        asked.append(url)
        Path(path).write_bytes(weights.read_bytes())

    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "none" / "yet"))
    monkeypatch.setattr("torch.hub.download_url_to_file", downloaded)
    for _ in range(2):
        bind(ComponentSpec(role="embedder", name="published-inception")).build()
    assert len(asked) == 1


@pytest.mark.skipif(
    find_spec("torch_fidelity") is not None, reason="torch-fidelity is installed, so nothing is missing"
)
def test_a_missing_library_is_an_error(weights: Path) -> None:
    with pytest.raises(UsageError, match=r"\[package-needed\]"):
        bound(weights).build()
