"""Detector: a YOLOX-style network in an ONNX file, on the CPU; needs only the base install.

The network takes one image (BGR, 0 to 255, in the top left corner of a grey square) and gives a row for each cell of
its grids: centre and sides of a box, the chance of any entity, and the chance of each class. Its output for a grey
image shows whether boxes are in cells or in pixels.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from salva.assets.coco_names import COCO, in_full
from salva.core.about import About, Habits, Naming
from salva.core.foreign_errors import one_line, translate_errors
from salva.core.image import Picture
from salva.core.observation import Detections
from salva.core.options import option
from salva.core.protocols import ObserveRequest
from salva.detectors.boxes import BoxRules, FloorOptions, NameOptions, ScoreScale, check_floor, from_centres
from salva.errors import SalvaError, UsageError, invalid_option
from salva.hardware.checkpoints import digest_of_files, invalid_checkpoint
from salva.hardware.networks import open_users_network, users_file
from salva.imaging.files import as_image
from salva.messages import message
from salva.observers.networks import image_input, observe_each

NAME = "onnx"
GREY = 114
SCALE = ScoreScale(threshold=0.3, doubt=0.5)
NMS_IOU = 0.45
STRIDES = ((8, 16, 32), (8, 16, 32, 64))
"""The grids of the usual networks and of the larger ones."""
_LARGEST_LOGARITHM = 8.0
"""e^8 cells are 24,000 pixels."""
_LABEL_KEYS = ("names", "labels", "classes")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxOptions(NameOptions, FloorOptions):
    """What can be set with --set detector.NAME=VALUE."""

    model: str = option("", "The ONNX file.", target=True)
    labels_file: str = option("", "Names, one a line; by default the model's own, else COCO's 80.", reaches="file")
    side: int = option(640, "Side of the input, if the model leaves it open; a multiple of 32.", least=32)

    def __post_init__(self) -> None:
        NameOptions.__post_init__(self)
        if self.side % 32:
            raise invalid_option("detector.side", self.side, "a multiple of 32")


class OnnxYolox:
    """Detector: a YOLOX-style ONNX file."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(
        names=Naming.LOADED,
        floor="floor",
        made_for="Mostly photographs of everyday scenes.",
    )
    Options: ClassVar[type[OnnxOptions]] = OnnxOptions

    def __init__(self, options: OnnxOptions) -> None:
        self._session = open_users_network(NAME, users_file(options.model))
        self._input, self._height, self._width = image_input(NAME, self._session, options.model, options.side)
        rows = self._output_for_grey(options.model)
        n_rows, n_columns = rows.shape
        self._grid = None if _is_decoded(rows) else grid(self._height, self._width, n_rows)
        if self._grid is None and not _is_decoded(rows):
            size = f"{self._width} x {self._height}"
            raise invalid_checkpoint(NAME, options.model, f"its {n_rows} rows do not fit a {size} input")
        self._labels = _labels(self._session, options, n_columns - 5)
        self._rules = BoxRules(SCALE, floor=options.floor, names=options.names, nms_iou=NMS_IOU)
        self.habits = Habits(batch_size=4, names=self._rules.names_of(self._labels))

    @classmethod
    def weights(cls, options: OnnxOptions) -> str:
        """The digest of the file and of its labels, and the table of names."""
        check_floor(options.floor, SCALE.threshold)
        files = [users_file(name) for name in (options.model, options.labels_file) if name]
        return " ".join((*(digest_of_files([path], path.parent) for path in files), options.pin())).strip()

    @classmethod
    def names_at_hand(cls, options: OnnxOptions) -> Sequence[str]:
        """What it can name, for a dry run; nothing where the file is not here."""
        return cls(options).habits.names if Path(options.model).expanduser().is_file() else ()

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Detections | SalvaError]:
        """The boxes of each image, strongest first."""
        return observe_each(NAME, requests, self._detect)

    def _detect(self, request: ObserveRequest) -> Detections | SalvaError:
        picture = request.picture
        pixels, scale = to_input(picture, self._height, self._width)
        rows = self._session.run(None, {self._input: pixels})[0][0]
        centres = rows[:, :4].astype("float64")
        if self._grid is not None:
            centres = decode(centres, self._grid)
        chances = rows[:, 5:]
        which = chances.argmax(1)
        scores = rows[:, 4] * chances.max(1)
        corners = from_centres(centres) / scale / ((picture.width, picture.height) * 2)
        return self._rules.detections(corners, scores, [self._labels[i] for i in which])

    def _output_for_grey(self, model: str) -> NDArray[np.float64]:
        """The rows for a grey image. They also show the shape of the output, which a file may leave open."""

        image = np.full((1, 3, self._height, self._width), GREY, np.float32)
        with translate_errors(lambda error: invalid_checkpoint(NAME, model, one_line(error))):
            outputs = self._session.run(None, {self._input: image})
        shape = np.shape(outputs[0])
        if len(outputs) != 1 or len(shape) != 3 or shape[0] != 1 or shape[2] < 6:
            shapes = ", ".join(str(np.shape(output)) for output in outputs)
            raise invalid_checkpoint(NAME, model, f"it gives {shapes} instead of (1, rows, 5 + classes)")
        return np.asarray(outputs[0][0], np.float64)


def _is_decoded(rows: NDArray[np.float64]) -> bool:
    """Whether boxes are in pixels. Otherwise sides are logarithms, mostly below 0 and never large."""
    return bool(rows[:, 2:4].min() >= 0 and rows[:, 2:4].max() > _LARGEST_LOGARITHM)


def to_input(picture: Picture, height: int, width: int) -> tuple[NDArray[np.float32], float]:
    """The network's input for an image, and the scale of the image in it."""

    scale = min(height / picture.height, width / picture.width)
    size = max(1, int(picture.width * scale)), max(1, int(picture.height * scale))
    field = np.full((height, width, 3), GREY, np.float32)
    field[: size[1], : size[0]] = np.asarray(as_image(picture).resize(size, Image.Resampling.BILINEAR))
    return np.ascontiguousarray(field[:, :, ::-1].transpose(2, 0, 1))[None], scale


def grid(height: int, width: int, n_rows: int) -> NDArray[np.float64] | None:
    """The place of each row's cell and the cell's side; None if the number of rows fits no grids."""

    for strides in STRIDES:
        if n_rows == sum((height // stride) * (width // stride) for stride in strides):
            parts = []
            for stride in strides:
                y, x = np.mgrid[: height // stride, : width // stride]
                parts.append(np.stack((x.ravel(), y.ravel(), np.full(x.size, stride)), 1))
            return np.concatenate(parts).astype(np.float64)
    return None


def decode(centres: NDArray[np.float64], cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centres and sides in pixels, from offsets in cells and logarithms of sides in cells."""

    places = (centres[:, :2] + cells[:, :2]) * cells[:, 2:]
    # No box is e^12 cells wide; a damaged file must not overflow.
    return np.concatenate((places, np.exp(centres[:, 2:].clip(-12, 12)) * cells[:, 2:]), 1)


def _labels(session: Any, options: OnnxOptions, n_wanted: int) -> tuple[str, ...]:
    if options.labels_file:
        text = users_file(options.labels_file).read_text(encoding="utf-8")
        labels, where = tuple(line.strip() for line in text.splitlines() if line.strip()), options.labels_file
    else:
        labels, where = _labels_within(session.get_modelmeta().custom_metadata_map), options.model
        if not labels:
            labels, where = COCO, "COCO"
    if len(labels) != n_wanted:
        values = {"model": options.model, "n": n_wanted, "names": where, "m": len(labels)}
        raise UsageError(message("labels-differ", **values))
    return in_full(labels)


def _labels_within(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """Names in the file's metadata: a list or mapping as Python or JSON write it, or a line with commas."""
    text = next((metadata[key] for key in _LABEL_KEYS if metadata.get(key)), "")
    try:
        names = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        names = [part.strip() for part in text.split(",") if part.strip()]
    if isinstance(names, Mapping):
        return tuple(str(names[key]) for key in sorted(names, key=int))
    return tuple(str(label) for label in names)
