"""Mask2Former: masks, scores and boxes against a slow computation, names, and the origin of weights."""

from __future__ import annotations

import json
import math
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backends.test_pixels import drawn
from backends.tiny_models import save_detr, save_mask2former
from numpy.typing import NDArray

from salva.api import run_suite
from salva.core.about import PUBLISHED_WEIGHTS
from salva.core.image import Picture
from salva.core.masks import rows_of
from salva.core.observation import Detection, Detections
from salva.core.plan import Binding
from salva.core.protocols import ObserveRequest, Query
from salva.core.run_spec import ComponentSpec
from salva.detectors.instance_masks import MEAN, STD, Frame, find, frame_of, to_input
from salva.detectors.mask2former import Mask2Former
from salva.errors import BackendError, UsageError
from salva.hardware.origins import NOTE, write_origin
from salva.registry import bind
from salva.testing.conformance import check_observer

torch: Any = pytest.importorskip("torch", reason="needs the extra torch")
transformers: Any = pytest.importorskip("transformers", reason="needs the extra torch")

PICTURES = [drawn(40, 60, 1), drawn(40, 60, 2), drawn(64, 48, 3)]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batch sizes and digests do not reach the user's cache; small inputs are faster."""
    monkeypatch.setattr(Mask2Former, "shortest", 64)
    monkeypatch.setattr(Mask2Former, "longest", 64)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_mask2former(tmp_path_factory.mktemp("checkpoints") / "mask2former")


def bound(folder: Path, **options: str) -> Binding:
    return bind(ComponentSpec(role="detector", name=f"mask2former/{folder}", options=options))


def observe(detector: Any, pictures: list[Picture]) -> list[Detections]:
    seen = detector.observe([ObserveRequest(picture=one, query=Query(role="detector")) for one in pictures])
    assert all(isinstance(one, Detections) for one in seen), seen
    return list(seen)


def pixels_of(box: Detection, picture: Picture) -> NDArray[np.bool_]:
    """A box's mask in the whole picture."""
    whole = np.zeros((picture.height, picture.width), bool)
    mask = box.mask
    assert mask is not None
    assert mask.fits(picture.width, picture.height)
    rows = np.frombuffer(b"".join(rows_of(mask)), np.uint8).reshape(mask.height, mask.width)
    whole[mask.top : mask.top + mask.height, mask.left : mask.left + mask.width] = rows
    return whole


# An independent, slow computation, from the documentation.


def _shares(old: int, new: int) -> NDArray[np.float64]:
    """What each old pixel gives to each new one on one axis: the middle of the new lies between middles of the old."""
    shares = np.zeros((new, old))
    for place in range(new):
        where = min(max((place + 0.5) * old / new - 0.5, 0), old - 1)
        before = int(where)
        shares[place, before] += 1 - (where - before)
        shares[place, min(before + 1, old - 1)] += where - before
    return shares


def _resized(values: NDArray[np.float64], height: int, width: int) -> NDArray[np.float64]:
    """Bilinear, as two products."""
    return _shares(values.shape[0], height) @ values @ _shares(values.shape[1], width).T


def _slowly(classes: NDArray[np.float64], masks: NDArray[np.float64], frame: Frame, floor: float) -> list[Any]:
    """(score, class, box in pixels, mask), strongest first."""
    pairs = []
    for query, row in enumerate(classes):
        total = sum(math.exp(value) for value in row)
        pairs += [(math.exp(row[label]) / total, query, label) for label in range(len(row) - 1)]
    found = []
    for chance, query, label in sorted(pairs, reverse=True)[:100]:
        large = _resized(masks[query], *frame.padded)[: frame.resized[0], : frame.resized[1]]
        large = _resized(large, *frame.original)
        ys, xs = np.nonzero(large > 0)
        if not len(ys):
            continue
        score = chance * sum(1 / (1 + math.exp(-value)) for value in large[ys, xs]) / (len(ys) + 1e-6)
        if score >= floor:
            found.append((score, label, (min(xs), min(ys), max(xs) + 1, max(ys) + 1), large > 0))
    return sorted(found, key=lambda one: -one[0])


@pytest.mark.parametrize("floor", [0.0, 0.05, 0.3])
@pytest.mark.parametrize(("height", "width"), [(30, 21), (16, 40), (25, 25)])
def test_scores_masks_and_boxes_agree_with_a_slow_computation(height: int, width: int, floor: float) -> None:
    rng = np.random.default_rng(7)
    frame = frame_of(Picture(rgb=bytes(3 * height * width), width=width, height=height), 40, 56)
    classes = rng.normal(0, 2, (5, 4))
    masks = rng.normal(-1, 2, (5, frame.padded[0] // 4, frame.padded[1] // 4))
    masks[2] = -3  # a query that finds nothing
    found = find(torch.tensor(classes), torch.tensor(masks), frame, floor)
    strong = [i for i in np.argsort(-found.scores) if found.scores[i] >= floor and found.corners[i].any()]
    wanted = _slowly(classes, masks, frame, floor)
    assert wanted
    assert len(strong) == len(wanted)
    for i, (score, label, corners, mask) in zip(strong, wanted, strict=True):
        assert found.scores[i] == pytest.approx(score, abs=1e-5)
        assert found.labels[i] == label
        assert tuple(found.corners[i]) == corners
        assert (found.masks[found.which[i]] == mask).all()
        packed = found.mask(int(i))
        assert (packed.left, packed.top, packed.left + packed.width, packed.top + packed.height) == corners
        x0, y0, x1, y1 = corners
        assert b"".join(rows_of(packed)) == mask[y0:y1, x0:x1].tobytes()


def test_overlapping_masks_keep_all_their_pixels() -> None:
    masks = torch.full((2, 8, 8), -5.0)
    masks[0, :, :6], masks[1, :, 2:] = 5.0, 9.0
    found = find(torch.tensor([[4.0, 0, 0], [0, 4.0, 0]]), masks, Frame(**dict.fromkeys(Frame.__slots__, (8, 8))), 0.3)
    assert [found.masks[i].sum() for i in found.which] == [48, 48]


@pytest.mark.parametrize(
    ("size", "resized", "padded"),
    [
        ((512, 512), (800, 800), (800, 800)),
        ((480, 640), (800, 1067), (800, 1088)),
        ((640, 480), (1067, 800), (1088, 800)),
        ((1024, 1024), (800, 800), (800, 800)),
        ((500, 1500), (444, 1333), (448, 1344)),
        ((1, 3000), (1, 1333), (32, 1344)),
    ],
)
def test_the_frame_is_that_of_the_published_pipeline(
    size: tuple[int, int], resized: tuple[int, int], padded: tuple[int, int]
) -> None:
    picture = Picture(rgb=bytes(3 * size[0] * size[1]), width=size[1], height=size[0])
    assert frame_of(picture, 800, 1333) == Frame(original=size, resized=resized, padded=padded)


def test_the_input_is_resized_without_antialiasing_and_padded() -> None:
    picture = drawn(50, 30, 4)  # made smaller, where antialiasing would show
    frame = frame_of(picture, 20, 40)
    given = to_input([picture], frame, "cpu", torch.float32)[0].numpy()
    original = np.frombuffer(picture.rgb, np.uint8).reshape(30, 50, 3)
    for channel in range(3):
        wanted = _resized(original[:, :, channel].astype(float), *frame.resized).round()
        seen = given[channel] * STD[channel] + MEAN[channel]
        assert np.abs(seen[: frame.resized[0], : frame.resized[1]] - wanted).max() <= 1, "rounding"
        filled = np.ones(seen.shape, bool)
        filled[: frame.resized[0], : frame.resized[1]] = False
        assert np.abs(seen[filled] - 128).max() < 1e-3


def test_conformance(folder: Path) -> None:
    check_observer(bound(folder), PICTURES, query=Query(role="detector"))
    check_observer(bound(folder, batch_size="4"), PICTURES, query=Query(role="detector"))


def test_boxes_enclose_their_masks(folder: Path) -> None:
    for picture, seen in zip(PICTURES, observe(bound(folder).build(), PICTURES), strict=True):
        assert seen.boxes
        assert (seen.floor, seen.threshold, seen.doubt) == (0.05, 0.5, 0.7)
        for box in seen.boxes:
            ys, xs = np.nonzero(pixels_of(box, picture))
            size = np.array([picture.width, picture.height] * 2)
            wanted = np.array([xs.min(), ys.min(), xs.max() + 1, ys.max() + 1]) / size
            assert np.abs(np.array(box.box) - wanted).max() < 1e-6


def test_detections_agree_with_the_model(folder: Path) -> None:
    """Through the model's own class, our pixels, and the slow route."""
    model = transformers.Mask2FormerForUniversalSegmentation.from_pretrained(folder).eval()
    for picture, seen in zip(PICTURES, observe(bound(folder, names="none").build(), PICTURES), strict=True):
        frame = frame_of(picture, 64, 64)
        with torch.inference_mode():
            output = model(pixel_values=to_input([picture], frame, "cpu", torch.float32))
        classes, masks = output.class_queries_logits[0].double(), output.masks_queries_logits[0].double()
        wanted = _slowly(classes.numpy(), masks.numpy(), frame, 0.05)
        assert [box.score for box in seen.boxes] == pytest.approx([one[0] for one in wanted], abs=1e-4)
        assert [box.label for box in seen.boxes] == [model.config.id2label[one[1]] for one in wanted]


def test_observations_do_not_depend_on_the_batch(folder: Path) -> None:
    pictures = [drawn(40, 60, seed) for seed in range(5)]
    together = observe(bound(folder, batch_size="5").build(), pictures)
    single = bound(folder, batch_size="1").build()
    alone = [observe(single, [picture])[0] for picture in pictures]
    for one, other, picture in zip(together, alone, pictures, strict=True):
        assert [box.label for box in one.boxes] == [box.label for box in other.boxes]
        for box, same in zip(one.boxes, other.boxes, strict=True):
            assert box.score == pytest.approx(same.score, abs=1e-4)
            assert (pixels_of(box, picture) != pixels_of(same, picture)).mean() < 0.002, "the last digits"


def test_images_are_rotated_by_their_exif(folder: Path, tmp_path: Path) -> None:
    from PIL import Image

    from salva.imaging.files import decode_picture

    upright = Image.frombytes("RGB", (40, 60), drawn(40, 60, 1).rgb)
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: show it by a quarter to the right
    file = tmp_path / "turned.png"
    upright.transpose(Image.Transpose.ROTATE_90).save(file, exif=exif)
    turned = decode_picture(file.read_bytes())
    assert (turned.width, turned.height) == (40, 60)
    detector = bound(folder).build()
    assert observe(detector, [turned]) == observe(detector, [drawn(40, 60, 1)])


def test_a_high_floor_gives_no_boxes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mask2Former, "scale", replace(Mask2Former.scale, threshold=1.0))
    for seen in observe(bound(folder, floor="1").build(), PICTURES):
        assert isinstance(seen, Detections)
        assert (seen.boxes, seen.floor) == ((), 1.0)


def test_nan_weights_are_an_error(folder: Path) -> None:
    for part in ("class_predictor", "model.transformer_module.decoder.mask_predictor.mask_embedder"):
        detector = bound(folder).build()
        for parameter in detector._loaded.model.get_submodule(part).parameters():
            parameter.fill_(math.nan)
        (seen,) = detector.observe([ObserveRequest(picture=PICTURES[0], query=Query(role="detector"))])
        assert isinstance(seen, BackendError), part


def test_coco_names_are_spelled_as_in_geneval(tmp_path: Path) -> None:
    labels = dict(enumerate(("person", "mouse", "remote", "keyboard", "dining table")))
    detector = bound(save_mask2former(tmp_path / "coco", labels)).build()
    names = detector.habits.names
    assert {"computer mouse", "tv remote", "computer keyboard", "dining table", "person"} <= set(names)
    assert "mouse" not in names, "nobody says which of the two mice is meant"
    animals = bound(save_mask2former(tmp_path / "animals", {0: "mouse", 1: "cat", 2: "dog"})).build()
    assert "mouse" in animals.habits.names


def test_all_official_names_are_known(tmp_path: Path, foreign_data: Path) -> None:
    official = (foreign_data / "geneval" / "object_names.txt").read_text().split("\n")
    official = [name for name in official if name]
    assert len(official) == 80
    coco = {"computer mouse": "mouse", "tv remote": "remote", "computer keyboard": "keyboard"}
    labels = {i: coco.get(name, name) for i, name in enumerate(official)}
    detector = bound(save_mask2former(tmp_path / "coco", labels)).build()
    assert set(official) <= set(detector.habits.names)


def test_other_checkpoints_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'detr'.*\[checkpoint-invalid\]"):
        bound(save_detr(tmp_path / "detr")).build()
    with pytest.raises(UsageError, match=r"\[checkpoint-invalid\]"):
        bound(save_mask2former(tmp_path / "nameless", {0: "LABEL_0", 1: "LABEL_1"})).build()


def test_published_weights_are_recognised_by_their_origin(tmp_path: Path) -> None:
    folder = save_mask2former(tmp_path / "m")
    assert PUBLISHED_WEIGHTS not in bound(folder).weights
    write_origin(folder, "another.pth", "0" * 64)
    assert PUBLISHED_WEIGHTS not in bound(folder).weights
    write_origin(folder, "mask2former.pth", "743b7d99" + "0" * 56)
    assert PUBLISHED_WEIGHTS in bound(folder).weights
    model = transformers.Mask2FormerForUniversalSegmentation.from_pretrained(folder)
    with torch.no_grad():
        model.class_predictor.bias += 1
    model.save_pretrained(folder)
    assert json.loads((folder / NOTE).read_text())["sha256"].startswith("743b7d99")
    assert PUBLISHED_WEIGHTS not in bound(folder).weights, "trained further"


def test_a_run_stores_masks(folder: Path, tmp_path: Path) -> None:
    settings = {
        "check.threshold": "0.1",
        "check.doubt": "0",
        "run.preflight": "off",
        "suite.entities": "cat,dog,ball",
    }
    run = run_suite(
        "metalogic",
        "painter",
        out=tmp_path / "run",
        size="2",
        detector=f"mask2former/{folder}",
        reader="none",
        settings=settings,
    )
    assert set(run.verdicts["outcome"]) <= {"PASS", "FAIL"}
    with closing(sqlite3.connect(tmp_path / "run" / "salva.db")) as database:
        looks = [json.loads(seen) for (seen,) in database.execute("SELECT observation FROM observations")]
    assert looks
    assert all("mask" in box for seen in looks for box in seen["boxes"])
