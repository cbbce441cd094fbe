"""Scene-Graph-Benchmark's files as a detector: boxes and relations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from salva.core.image import Picture
from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest, Query
from salva.detectors.scene_graph_files import INFO, PREDICTION, SceneGraphFiles, SceneGraphOptions
from salva.errors import BackendError, UsageError
from salva.imaging.files import decode_picture

_INFO: dict[str, Any] = {
    "idx_to_files": ["/media/user/EC/7_a.png"],
    "ind_to_classes": ["__background__", "man", "horse"],
    "ind_to_predicates": ["__background__", "riding", "near"],
}
_SEEN: dict[str, Any] = {
    "bbox": [[0, 0, 300, 600], [600, 300, 1000, 500]],
    "bbox_labels": [2, 1],
    "bbox_scores": [0.4, 0.9],
    "rel_pairs": [[1, 0], [0, 1]],
    "rel_labels": [1, 2],
    "rel_scores": [0.8, 0.3],
}


def folder(root: Path, info: object = None, prediction: object = None) -> Path:
    made = root / "EC"
    made.mkdir(parents=True)
    # Twice as wide as high: scaled to 1000 x 500, since 1200 x 600 would be too wide.
    Image.new("RGB", (200, 100), (9, 9, 9)).save(made / "7_a.png")
    (made / INFO).write_text(json.dumps(_INFO if info is None else info))
    (made / PREDICTION).write_text(json.dumps({"0": _SEEN} if prediction is None else prediction))
    return made


def observe(detector: SceneGraphFiles, picture: Picture) -> object:
    return detector.observe([ObserveRequest(picture=picture, query=Query(role="detector"))])[0]


def test_boxes_and_relations_are_those_of_the_files(tmp_path: Path) -> None:
    made = folder(tmp_path)
    detector = SceneGraphFiles(SceneGraphOptions(folder=str(tmp_path)))
    seen = observe(detector, decode_picture((made / "7_a.png").read_bytes()))
    assert isinstance(seen, Detections)
    assert [(box.label, box.score) for box in seen.boxes] == [("man", 0.9), ("horse", 0.4)]
    assert seen.boxes[0].box == (0.6, 0.6, 1.0, 1.0)
    assert seen.relations is not None
    named = [(seen.boxes[r.subject].label, r.predicate, seen.boxes[r.object].label) for r in seen.relations]
    assert named == [("man", "riding", "horse"), ("horse", "near", "man")]
    assert detector.habits.names == ("horse", "man")


def test_an_unknown_image_is_an_error(tmp_path: Path) -> None:
    folder(tmp_path)
    detector = SceneGraphFiles(SceneGraphOptions(folder=str(tmp_path)))
    unknown = observe(detector, Picture(rgb=bytes(12), width=2, height=2))
    assert isinstance(unknown, BackendError)
    assert unknown.code == "image-unknown"


def test_the_strongest_relations_and_those_of_the_strongest_boxes_are_kept(tmp_path: Path) -> None:
    n = 30
    weak_first = [[20 + i % 10, i % 10] for i in range(300)]
    crowd = {
        "bbox": [[0, 0, 10, 10]] * n,
        "bbox_labels": [1] * n,
        "bbox_scores": [1 - i / 100 for i in range(n)],
        "rel_pairs": [*weak_first, *([0, 1] for _ in range(50))],
        "rel_labels": [1] * 350,
        "rel_scores": [0.5] * 350,
    }
    made = folder(tmp_path, prediction={"0": crowd})
    detector = SceneGraphFiles(SceneGraphOptions(folder=str(tmp_path)))
    seen = observe(detector, decode_picture((made / "7_a.png").read_bytes()))
    assert isinstance(seen, Detections)
    assert seen.relations is not None
    assert len(seen.relations) == 220
    assert sum(max(r.subject, r.object) < 20 for r in seen.relations) == 20


@pytest.mark.parametrize(
    ("info", "prediction", "code"),
    [
        ([], None, "file-invalid"),
        ({**_INFO, "ind_to_classes": None}, None, "file-invalid"),
        ({**_INFO, "idx_to_files": ["elsewhere/8.png"]}, None, "file-invalid"),
        (None, {}, "file-invalid"),
        (None, {"0": {**_SEEN, "bbox_scores": [1.0]}}, "file-invalid"),
        (None, {"0": {**_SEEN, "rel_pairs": [[0, 9], [0, 1]]}}, "file-invalid"),
        (None, {"0": {**_SEEN, "bbox_labels": [7, 1]}}, "file-invalid"),
        (None, {"0": {**_SEEN, "bbox_labels": [-1, 1]}}, "file-invalid"),
    ],
)
def test_invalid_files_are_refused(tmp_path: Path, info: object, prediction: object, code: str) -> None:
    folder(tmp_path, info, prediction)
    with pytest.raises(UsageError, match=rf"\[{code}\]"):
        SceneGraphFiles(SceneGraphOptions(folder=str(tmp_path)))


def test_a_folder_without_the_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"custom_prediction\.json.*\[file-missing\]"):
        SceneGraphFiles(SceneGraphOptions(folder=str(tmp_path)))
    (tmp_path / PREDICTION).write_text("{}")
    with pytest.raises(UsageError, match=r"custom_data_info\.json.*\[file-missing\]"):
        SceneGraphFiles.weights(SceneGraphOptions(folder=str(tmp_path)))
