"""YOLOX-style files: grids, images of any shape, labels and invalid files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from observers.onnx_files import save_fixed, save_means

from salva.assets.coco_names import COCO, in_full
from salva.core.boxes import boxes_above
from salva.core.image import Picture
from salva.core.observation import Detection, Detections
from salva.core.protocols import ObserveRequest, Query
from salva.core.run_spec import ComponentSpec
from salva.detectors.onnx_yolox import GREY, OnnxOptions, OnnxYolox, to_input
from salva.errors import UsageError
from salva.imaging.files import decode_picture
from salva.registry import bind
from salva.testing.conformance import check_observer

N_ROWS = 8 * 8 + 4 * 4 + 2 * 2
"""Cells of a 64 px input at strides 8, 16 and 32."""


def plain(width: int, height: int, colour: tuple[int, int, int] = (200, 30, 90)) -> Picture:
    return Picture(rgb=bytes(colour) * (width * height), width=width, height=height)


def rows(n_labels: int = 3) -> NDArray[np.float32]:
    return np.zeros((1, N_ROWS, 5 + n_labels), np.float32)


def detector(path: Path, **options: str) -> OnnxYolox:
    built: OnnxYolox = bind(ComponentSpec(role="detector", name=f"onnx/{path}", options=options)).build()
    return built


def observe(one: OnnxYolox, picture: Picture) -> tuple[Detection, ...]:
    (seen,) = one.observe([ObserveRequest(picture=picture, query=Query(role="detector"))])
    assert isinstance(seen, Detections), seen
    return boxes_above(seen)


@pytest.fixture
def labels(tmp_path: Path) -> str:
    path = tmp_path / "labels.txt"
    path.write_text("cat\npuppy\ntree\n")
    return str(path)


def test_each_grid_is_decoded_with_its_stride(tmp_path: Path, labels: str) -> None:
    given = rows()
    # Cell (3, 2) of stride 8: centre (3.5, 2.5) cells, sides 1 and 2 cells.
    given[0, 2 * 8 + 3] = (0.5, 0.5, 0, np.log(2), 0.9, 0, 0, 1)
    # Cell (2, 1) of stride 16 and cell (0, 1) of stride 32.
    given[0, 64 + 1 * 4 + 2] = (0.5, 0.5, 0, 0, 0.8, 0, 0.5, 0)
    given[0, 80 + 1 * 2 + 0] = (0.5, 0.5, np.log(0.5), np.log(0.5), 1.0, 0.6, 0.1, 0)
    seen = observe(detector(save_fixed(tmp_path / "n.onnx", given), labels_file=labels), plain(64, 64))
    assert seen == (
        Detection(label="tree", score=0.9, box=(0.375, 0.1875, 0.5, 0.4375)),
        Detection(label="cat", score=0.6, box=(0.125, 0.625, 0.375, 0.875)),
        Detection(label="dog", score=0.4, box=(0.5, 0.25, 0.75, 0.5), raw="puppy"),
    )


@pytest.mark.parametrize(("width", "height"), [(128, 64), (64, 128), (32, 16), (100, 7)])
def test_boxes_are_fractions_of_the_image_without_padding(tmp_path: Path, labels: str, width: int, height: int) -> None:
    given = rows()
    scale = 64 / max(width, height)
    # A box over the middle half of the picture, in pixels of the input.
    given[0, 0] = (width * scale / 2, height * scale / 2, width * scale / 2, height * scale / 2, 1, 1, 0, 0)
    path = save_fixed(tmp_path / "n.onnx", given)
    (seen,) = observe(detector(path, labels_file=labels), plain(width, height))
    assert seen.box == pytest.approx((0.25, 0.25, 0.75, 0.75), abs=1e-3)


def test_the_input_is_bgr_with_grey_padding() -> None:
    pixels, scale = to_input(plain(20, 10), 64, 64)
    assert scale == 3.2
    assert pixels.shape == (1, 3, 64, 64)
    assert pixels[0, :, 0, 0].tolist() == [90, 30, 200]
    assert pixels[0, :, 31, 63].tolist() == [90, 30, 200]
    assert np.all(pixels[0, :, 32:] == GREY)


def test_labels_come_from_the_files_metadata(tmp_path: Path) -> None:
    given = rows(2)
    given[0, 0] = (10, 10, 9, 9, 1, 0, 1)
    for text in ('["bird", "boat"]', "{0: 'bird', 1: 'boat'}", "bird, boat"):
        path = save_fixed(tmp_path / "n.onnx", given, metadata={"names": text})
        assert [box.label for box in observe(detector(path), plain(64, 64))] == ["boat"]


def test_eighty_classes_without_names_are_those_of_coco(tmp_path: Path) -> None:
    given = rows(80)
    given[0, 0, :5] = (10, 10, 9, 9, 1)
    given[0, 0, 5 + COCO.index("sports ball")] = 1
    cocos = detector(save_fixed(tmp_path / "n.onnx", given))
    (seen,) = observe(cocos, plain(64, 64))
    assert (seen.label, seen.raw) == ("ball", "sports ball")
    assert {"cat", "ball", "sports ball"} <= set(cocos.habits.names), "everyday names, and its own where asked for"


def test_names_that_geneval_writes_in_full_are_known_of_cocos_classes_alone(tmp_path: Path, labels: str) -> None:
    given = rows(80)
    given[0, 0, :5] = (10, 10, 9, 9, 1)
    given[0, 0, 5 + COCO.index("remote")] = 1
    path = save_fixed(tmp_path / "n.onnx", given)
    (seen,) = observe(detector(path), plain(64, 64))
    assert (seen.name_for({"tv remote"}), seen.name_for({"remote"})) == ("tv remote", "remote")
    names = OnnxYolox.names_at_hand(OnnxOptions(model=str(path)))
    assert {"computer mouse", "tv remote", "remote", "computer keyboard", "keyboard"} <= {*names}
    assert "mouse" not in names
    assert OnnxYolox.names_at_hand(OnnxOptions(model=str(tmp_path / "gone.onnx"))) == ()
    assert in_full(["mouse", "cat"]) == ("mouse", "cat")


def test_conformance(tmp_path: Path, labels: str) -> None:
    given = rows()
    given[0, 5] = (0, 0, 1, 1, 1, 1, 0, 0)
    path = save_fixed(tmp_path / "n.onnx", given)
    spec = ComponentSpec(role="detector", name=f"onnx/{path}", options={"labels_file": labels})
    check_observer(bind(spec), [plain(64, 64), plain(30, 40), plain(1, 1)])


def test_the_pin_depends_on_weights_and_labels(tmp_path: Path, labels: str) -> None:
    first = OnnxYolox.weights(OnnxOptions(model=str(save_fixed(tmp_path / "a.onnx", rows())), labels_file=labels))
    other = OnnxYolox.weights(OnnxOptions(model=str(save_fixed(tmp_path / "a.onnx", rows() + 1)), labels_file=labels))
    Path(labels).write_text("cat\ndog\ncow\n")
    third = OnnxYolox.weights(OnnxOptions(model=str(tmp_path / "a.onnx"), labels_file=labels))
    assert len({first, other, third}) == 3


def test_other_files_are_refused(tmp_path: Path, labels: str) -> None:
    with pytest.raises(UsageError, match=r"\[file-missing\]"):
        detector(tmp_path / "gone.onnx")
    (tmp_path / "page.onnx").write_text("<html>404</html>")
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        detector(tmp_path / "page.onnx")
    with pytest.raises(UsageError, match=r"\(1, 3, 1, 1\).*\[checkpoint-invalid\]"):
        detector(save_means(tmp_path / "means.onnx"))
    with pytest.raises(UsageError, match=r"50 rows.*64 x 64.*\[checkpoint-invalid\]"):
        detector(save_fixed(tmp_path / "odd.onnx", rows()[:, :50]), labels_file=labels)
    with pytest.raises(UsageError, match=r"4 classes.*labels\.txt' 3 .*\[labels-differ\]"):
        detector(save_fixed(tmp_path / "four.onnx", rows(4)), labels_file=labels)
    with pytest.raises(UsageError, match=r"4 classes.*'COCO' 80 .*\[labels-differ\]"):
        detector(tmp_path / "four.onnx")


def test_a_network_with_other_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"12 rows.*\[checkpoint-invalid\]"):
        detector(save_fixed(tmp_path / "turned.onnx", np.zeros((1, 12, N_ROWS), np.float32)))


def test_a_real_network_finds_entities_in_generated_images(foreign_data: Path) -> None:
    """YOLOX-nano is small and the images are generated, so these are lower bounds."""
    one = detector(foreign_data / "weights" / "yolox_nano_coco80.onnx")
    folder = foreign_data / "real_images" / "spatial"
    prompts = json.loads((folder / "prompts.json").read_text())
    seen: Counter[str] = Counter()
    for path in sorted(folder.glob("*/*_0.png")):
        asked = prompts[path.stem.split("_")[0]]
        names = {box.raw or box.label for box in observe(one, decode_picture(path.read_bytes()))}
        wanted = {asked["obj_1"], asked["obj_2"]}
        seen.update({"asked": 2, "found": len(names & wanted), "other": len(names - wanted)})
    # When written: 34 of 100 requested, 19 others. Models often omit one of two entities.
    assert seen["found"] > 27, seen
    assert seen["other"] < 30, seen
    cars = [
        [box.label for box in observe(one, decode_picture(path.read_bytes()))]
        for path in sorted((foreign_data / "real_images" / "commuted").glob("*.jpg"))
    ]
    assert sum("car" in labels for labels in cars) >= 12, cars
