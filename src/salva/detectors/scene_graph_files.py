"""Detector: boxes and relations from files of Scene-Graph-Benchmark.

Reads a folder with custom_prediction.json and custom_data_info.json, or several such folders, and their images. An
image is identified by its pixels, so its file may be renamed; for any other image it gives an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import msgspec

from salva.core.about import About, Habits, Naming
from salva.core.decoding import decoded
from salva.core.image import Picture
from salva.core.observation import Detection, Detections, SeenRelation
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.core.scene import Box
from salva.errors import BackendError, SalvaError, UsageError
from salva.files.infiles import file_text
from salva.hardware.checkpoints import digest_of_files
from salva.imaging.files import SUFFIXES, decode_picture
from salva.messages import message

NAME = "scene-graph"
PREDICTION, INFO = "custom_prediction.json", "custom_data_info.json"
_SHORTER, _LONGER = 600, 1000
"""The network's images are scaled to these sides, and its boxes are in their pixels."""
_N_TOP = 20
"""The released ACTesting program uses relations of this many boxes; as many of those are always kept."""
_N_KEPT = 200
"""The strongest relations that are kept. An image has thousands, nearly all of them guesses."""
_THRESHOLD = 0.3


class _Info(msgspec.Struct, frozen=True):
    """What the numbers of the predictions mean."""

    ind_to_classes: list[str]
    ind_to_predicates: list[str]
    idx_to_files: list[str]


class _Prediction(msgspec.Struct, frozen=True):
    """The boxes and relations of one image."""

    bbox: list[Box]
    bbox_labels: list[int]
    bbox_scores: list[float]
    rel_pairs: list[tuple[int, int]]
    rel_labels: list[int]
    rel_scores: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneGraphOptions:
    """What can be set with --set detector.NAME=VALUE."""

    folder: str = option("", f"A folder with {PREDICTION} and {INFO}, or of such folders.", target=True)
    images: str = option("", "The folder of images; empty for the same.", reaches="file")


class SceneGraphFiles:
    """Detector: boxes and relations from a scene graph model's files."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(names=Naming.LOADED, made_for="The images that its files cover.")
    Options: ClassVar[type[SceneGraphOptions]] = SceneGraphOptions

    def __init__(self, options: SceneGraphOptions) -> None:
        self._by_image: dict[str, Detections] = {}
        pictures = _pictures(Path(options.images or options.folder))
        classes: set[str] = set()
        for folder in _folders(options.folder):
            info = decoded(file_text(folder / INFO), _Info, folder / INFO)
            predictions = decoded(file_text(folder / PREDICTION), dict[str, _Prediction], folder / PREDICTION)
            classes |= {*info.ind_to_classes}
            for number, listed in enumerate(info.idx_to_files):
                path = _image_file(listed, pictures, folder)
                picture = decode_picture(path.read_bytes())
                try:
                    self._by_image[picture.image_id()] = _detections(predictions[str(number)], info, picture)
                except (KeyError, ValueError) as error:
                    raise _invalid(folder / PREDICTION, f"image {number} ({listed})", repr(error)) from error
        self.habits = Habits(batch_size=64, names=tuple(sorted(classes - {"__background__"})))

    @classmethod
    def weights(cls, options: SceneGraphOptions) -> str:
        """The digest of the files."""
        files = [folder / name for folder in _folders(options.folder) for name in (PREDICTION, INFO)]
        return digest_of_files(files, Path(options.folder))

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        """The files' boxes and relations of each image."""
        unknown = BackendError(message("image-unknown", component=NAME), is_retryable=False)
        return [self._by_image.get(request.picture.image_id(), unknown) for request in requests]


def _invalid(path: Path, where: str, why: str) -> UsageError:
    return UsageError(message("file-invalid", path=str(path), where=where, why=why))


def _folders(folder: str) -> list[Path]:
    folders = sorted(path.parent for path in Path(folder).rglob(PREDICTION)) if folder else []
    lacking = [path for path in folders if not (path / INFO).is_file()]
    if not folders or lacking:
        absent = lacking[0] / INFO if lacking else Path(folder) / PREDICTION
        raise UsageError(message("file-missing", path=str(absent)))
    return folders


def _pictures(root: Path) -> dict[str, list[Path]]:
    """Image files by name. The listed paths are of another machine and are never opened."""
    paths: dict[str, list[Path]] = {}
    for path in sorted(root.rglob("*")):
        if path.suffix.lower() in SUFFIXES and path.is_file():
            paths.setdefault(path.name, []).append(path)
    return paths


def _image_file(listed: str, pictures: Mapping[str, list[Path]], folder: Path) -> Path:
    parts = Path(listed.replace("\\", "/")).parts
    by_name = pictures.get(parts[-1], []) if parts else []
    matches = [path for path in by_name if path.parts[-2:] == parts[-2:]] or by_name
    if len(matches) != 1:
        why = f"{len(matches)} images match; name their folder with --set detector.images=FOLDER"
        raise _invalid(folder / INFO, repr(listed), why)
    return matches[0]


def _detections(prediction: _Prediction, info: _Info, picture: Picture) -> Detections:
    # Dictionaries, so that a negative number is an error.
    class_of, predicate_of = dict(enumerate(info.ind_to_classes)), dict(enumerate(info.ind_to_predicates))
    width, height = picture.width, picture.height
    scale = min(_SHORTER / min(width, height), _LONGER / max(width, height))
    boxes = [
        Detection(label=class_of[label], score=score, box=_fractions(box, width * scale, height * scale))
        for box, label, score in zip(prediction.bbox, prediction.bbox_labels, prediction.bbox_scores, strict=True)
    ]
    order = sorted(range(len(boxes)), key=lambda i: -boxes[i].score)
    place_of = {old: new for new, old in enumerate(order)}
    relations = [
        SeenRelation(subject=place_of[subject], predicate=predicate_of[label], object=place_of[object_], score=score)
        for (subject, object_), label, score in zip(
            prediction.rel_pairs, prediction.rel_labels, prediction.rel_scores, strict=True
        )
    ]
    return Detections(
        boxes=tuple(boxes[i] for i in order), floor=0.0, threshold=_THRESHOLD, relations=tuple(_strongest(relations))
    )


def _strongest(relations: Sequence[SeenRelation]) -> Iterator[SeenRelation]:
    """The strongest of all relations, and the strongest between the strongest boxes, in the order of the file."""
    n_top = 0
    for i, relation in enumerate(relations):
        is_top = max(relation.subject, relation.object) < _N_TOP
        if i < _N_KEPT or (is_top and n_top < _N_TOP):
            yield relation
        n_top += is_top


def _fractions(box: Box, width: float, height: float) -> Box:
    x0, y0, x1, y1 = (
        min(1.0, max(0.0, edge / side)) for edge, side in zip(box, (width, height, width, height), strict=True)
    )
    return (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
