"""Features by an ONNX file: the right pixels go in, one vector comes out, wrong files are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from observers.onnx_files import save_fixed, save_means

from salva.core.image import Picture
from salva.core.observation import Vector
from salva.core.protocols import ObserveRequest, Query
from salva.core.run_spec import ComponentSpec
from salva.errors import UsageError
from salva.registry import bind
from salva.testing.conformance import check_observer


def plain(colour: tuple[int, int, int], width: int = 8, height: int = 8) -> Picture:
    return Picture(rgb=bytes(colour) * (width * height), width=width, height=height)


def features(path: Path, picture: Picture, **options: str) -> Vector:
    built = bind(ComponentSpec(role="embedder", name=f"inception/{path}", options=options)).build()
    (seen,) = built.observe([ObserveRequest(picture=picture, query=Query(role="embedder"))])
    assert isinstance(seen, Vector), seen
    return seen


@pytest.mark.parametrize(
    ("pixels", "wanted"),
    [
        ("signed", (1.0, -1.0, 0.2)),
        ("unit", (1.0, 0.0, 0.6)),
        ("byte", (255.0, 0.0, 153.0)),
        ("imagenet", ((1 - 0.485) / 0.229, -0.456 / 0.224, (0.6 - 0.406) / 0.225)),
    ],
)
def test_pixels_are_scaled_and_maps_are_averaged(
    tmp_path: Path, pixels: str, wanted: tuple[float, float, float]
) -> None:
    path = save_means(tmp_path / "means.onnx")
    assert features(path, plain((255, 0, 153)), pixels=pixels).values == pytest.approx(wanted, abs=1e-5)


def test_images_of_any_size_and_an_open_input_side(tmp_path: Path) -> None:
    path = save_means(tmp_path / "open.onnx", side="side")
    picture = plain((51, 51, 51), 31, 17)
    assert features(path, picture, side="16", pixels="unit").values == pytest.approx((0.2, 0.2, 0.2), abs=1e-6)


def test_conformance(tmp_path: Path) -> None:
    spec = ComponentSpec(role="embedder", name="inception" + "/" + str(save_means(tmp_path / "means.onnx")))
    check_observer(bind(spec), [plain((1, 2, 3)), plain((9, 8, 7), 20, 30)])


def test_texts_and_invalid_files_are_refused(tmp_path: Path) -> None:
    path = save_means(tmp_path / "means.onnx")
    with pytest.raises(UsageError, match=r"'logits'.*\[checkpoint-invalid\]"):
        features(path, plain((0, 0, 0)), output="logits")
    with pytest.raises(UsageError, match=r"\[file-missing\]"):
        features(tmp_path / "gone.onnx", plain((0, 0, 0)))
    (tmp_path / "page.onnx").write_text("<html>")
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        features(tmp_path / "page.onnx", plain((0, 0, 0)))
    built = bind(ComponentSpec(role="embedder", name=f"inception/{path}")).build()
    with pytest.raises(UsageError, match=r"\[texts-unsupported\]"):
        built.observe([ObserveRequest(picture=plain((0, 0, 0)), query=Query(role="embedder", text="a cat"))])


def test_features_that_are_not_finite_are_an_error(tmp_path: Path) -> None:
    path = save_fixed(tmp_path / "nan.onnx", [[float("nan"), 1.0]])
    built = bind(ComponentSpec(role="embedder", name=f"inception/{path}")).build()
    (seen,) = built.observe([ObserveRequest(picture=plain((0, 0, 0)), query=Query(role="embedder"))])
    assert seen.code == "numbers-invalid"
