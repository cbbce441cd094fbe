"""Detector: what Scene-Graph-Benchmark saw, from its files: boxes, and how they stand to each other.

A folder with custom_prediction.json and custom_data_info.json (or several such folders in it) comes in, and the
images they are about; detections with typed relations go out. An image is known by its pixels, whatever its file is
called now. Observes nothing itself: of an image that is not in the files it says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from salva.core.about import About, Habits, Naming
from salva.core.observation import Detection, Detections, SeenRelation
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.core.scene import Box
from salva.errors import BackendError, SalvaError, UsageError
from salva.hardware.checkpoints import digest_of_files
from salva.imaging.files import SUFFIXES, decode_picture
from salva.messages import message

NAME = "scene-graph"
PREDICTION, INFO = "custom_prediction.json", "custom_data_info.json"
_SHORTER, _LONGER = 600, 1000
"""The network sees images scaled to these sides, and its boxes are in their pixels."""
_N_TOP = 20
"""Of so many boxes the released ACTesting program looks at relations; as many of those are always kept."""
_N_KEPT = 200
"""An image has thousands of relations, nearly all of them guesses; of all boxes so many are kept, the strongest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneGraphOptions:
    """What can be set with --set detector.NAME=VALUE."""

    folder: str = option("", f"The folder with {PREDICTION} and {INFO}, or with folders of them.", target=True)
    images: str = option("", "Where the images are; empty for the same folder.", reaches="file")
    threshold: float = option(0.3, "What check.threshold is unless set.")

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ValueError(message("option-invalid", name="threshold", value=self.threshold, wanted="from 0 to 1"))


class SceneGraphFiles:
    """Detector: a scene graph model's boxes and relations, as its files have them."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        names=Naming.LOADED, made_for="The images that Scene-Graph-Benchmark has looked at, and no others."
    )
    Options: ClassVar[type[SceneGraphOptions]] = SceneGraphOptions

    def __init__(self, options: SceneGraphOptions) -> None:
        self._threshold = options.threshold
        self._by_image: dict[str, Detections] = {}
        pictures = _pictures(Path(options.images or options.folder))
        classes: set[str] = set()
        for folder in _folders(options.folder):
            info, predictions = _read(folder / INFO), _read(folder / PREDICTION)
            names, predicates = _names(info, "ind_to_classes", folder), _names(info, "ind_to_predicates", folder)
            classes |= {*names}
            for number, listed in enumerate(_names(info, "idx_to_files", folder)):
                path = _found(listed, pictures, folder)
                picture = decode_picture(path.read_bytes())
                try:
                    prediction = predictions[str(number)]
                    seen = _detections(prediction, names, predicates, picture.width, picture.height, self._threshold)
                except (KeyError, IndexError, TypeError, ValueError) as error:
                    raise _invalid(folder / PREDICTION, f"image {number} ({listed})", repr(error)) from error
                self._by_image[picture.image_id()] = seen
        self.habits = Habits(batch_size=64, names=tuple(sorted(classes - {"__background__"})))

    @classmethod
    def weights(cls, options: SceneGraphOptions) -> str:
        """The digest of the files."""
        files = [folder / name for folder in _folders(options.folder) for name in (PREDICTION, INFO)]
        return digest_of_files(files, Path(options.folder))

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        """What the files say of each image."""
        return [self._by_image.get(request.picture.image_id(), _unknown()) for request in requests]


def _unknown() -> BackendError:
    return BackendError(message("image-unknown", component=NAME), is_retryable=False)


def _invalid(path: Path, where: str, why: str) -> UsageError:
    return UsageError(message("file-invalid", path=str(path), where=where, why=why))


def _folders(folder: str) -> list[Path]:
    folders = sorted(path.parent for path in Path(folder).rglob(PREDICTION)) if folder else []
    lacking = [path for path in folders if not (path / INFO).is_file()]
    if not folders or lacking:
        absent = lacking[0] / INFO if lacking else Path(folder) / PREDICTION
        raise UsageError(message("file-missing", path=str(absent)))
    return folders


def _read(path: Path) -> dict[str, Any]:
    try:
        read = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(message("file-unreadable", path=str(path), why=error)) from error
    if not isinstance(read, dict):
        raise UsageError(message("json-shape", path=str(path), where="", wanted="an object"))
    return read


def _names(info: Mapping[str, Any], key: str, folder: Path) -> list[str]:
    names = info.get(key)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UsageError(message("json-shape", path=str(folder / INFO), where=f", {key}", wanted="a list of names"))
    return names


def _pictures(root: Path) -> dict[str, list[Path]]:
    """Image files by name. The files of others name paths on others' disks, which are never opened."""
    paths: dict[str, list[Path]] = {}
    for path in sorted(root.rglob("*")):
        if path.suffix.lower() in SUFFIXES and path.is_file():
            paths.setdefault(path.name, []).append(path)
    return paths


def _found(listed: str, pictures: Mapping[str, list[Path]], folder: Path) -> Path:
    parts = Path(listed.replace("\\", "/")).parts
    alike = pictures.get(parts[-1], []) if parts else []
    nearest = [path for path in alike if path.parts[-2:] == parts[-2:]] or alike
    if len(nearest) != 1:
        why = f"{len(nearest)} images match; name their folder with --set detector.images=FOLDER"
        raise _invalid(folder / INFO, repr(listed), why)
    return nearest[0]


def _detections(
    prediction: Mapping[str, Any], names: Sequence[str], predicates: Sequence[str], width: int, height: int, at: float
) -> Detections:
    # By number, so that one below 0 is no name counted from the end.
    class_of, predicate_of = dict(enumerate(names)), dict(enumerate(predicates))
    scale = min(_SHORTER / min(width, height), _LONGER / max(width, height))
    boxes = [
        Detection(label=class_of[label], score=float(score), box=_fractions(box, width * scale, height * scale))
        for box, label, score in zip(
            prediction["bbox"], prediction["bbox_labels"], prediction["bbox_scores"], strict=True
        )
    ]
    order = sorted(range(len(boxes)), key=lambda place: -boxes[place].score)
    place_of = {old: new for new, old in enumerate(order)}
    related = [
        SeenRelation(
            subject=place_of[subject], predicate=predicate_of[label], object=place_of[object_], score=float(score)
        )
        for (subject, object_), label, score in zip(
            prediction["rel_pairs"], prediction["rel_labels"], prediction["rel_scores"], strict=True
        )
    ]
    return Detections(
        boxes=tuple(boxes[place] for place in order), floor=0.0, threshold=at, relations=tuple(_kept(related))
    )


def _kept(related: Sequence[SeenRelation]) -> Iterator[SeenRelation]:
    """The strongest of all, and the strongest between the strongest boxes, in the order of the file."""
    n_top = 0
    for place, relation in enumerate(related):
        is_top = max(relation.subject, relation.object) < _N_TOP
        if place < _N_KEPT or (is_top and n_top < _N_TOP):
            yield relation
        n_top += is_top


def _fractions(box: Sequence[float], width: float, height: float) -> Box:
    x0, y0, x1, y1 = (
        min(1.0, max(0.0, float(edge) / side)) for edge, side in zip(box, (width, height, width, height), strict=True)
    )
    return (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
