"""Reader: the text in an image, by the two small networks in the rapidocr wheel.

Knows no prompts. The model files are named explicitly, because rapidocr would download files that it does not find.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy
from PIL import Image

from salva.core.foreign_errors import translate_errors
from salva.core.image import Picture
from salva.core.observation import Reading, TextSpan
from salva.core.options import NoOptions
from salva.core.protocols import ObserveRequest
from salva.core.scene import Box
from salva.errors import PluginError, SalvaError
from salva.imaging.files import as_image
from salva.messages import message
from salva.observers.networks import observe_each

_DETECTION_MODEL = "PP-OCRv6_det_small.onnx"
_RECOGNITION_MODEL = "PP-OCRv6_rec_small.onnx"
_MAX_SIDE = 2048
_MIN_SIDE = 32
_DETECTION_SIDE = 736
_MIN_LETTERS = 2
_MIN_SCORE = 0.6
# The least score by number of different letters: drawings are often misread as one to three characters (a bicycle as
# "300", a window as 田), rarely as more.
_SHORT_TEXT_SCORE = {1: 0.97, 2: 0.97, 3: 0.85, 4: 0.75}
# Three drawings in a column are misread as three ideographs (a cow as 年, a banana as 八), with scores of 0.70 to 0.76.
_FEW_IDEOGRAPHS = 4
_FEW_IDEOGRAPHS_SCORE = 0.9


class RapidOcr:
    """Reader: finds lines of text and reads them."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        # An engine has state during a call, so each thread gets its own.
        self._idle = [_new_engine()]

    @classmethod
    def weights(cls, options: NoOptions) -> str:  # noqa: ARG003  # one set of weights
        """The version of rapidocr, which determines the networks and the code around them."""
        with translate_errors(_broken_install):
            return f"rapidocr {version('rapidocr')}, PP-OCRv6 small"

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Reading | SalvaError]:
        """One reading per request."""
        try:
            engine = self._idle.pop()
        except IndexError:
            engine = _new_engine()
        try:
            return observe_each("rapidocr", requests, lambda request: self._read(engine, request.picture))
        finally:
            self._idle.append(engine)

    def _read(self, engine: Any, picture: Picture) -> Reading:
        pixels = _pixels(picture)
        output = engine(pixels)
        if output.txts is None:
            return Reading()
        height, width = pixels.shape[:2]
        spans = [
            TextSpan(text=text, score=round(float(score), 4), box=_fractions(corners, width, height))
            for corners, text, score in zip(output.boxes, output.txts, output.scores, strict=True)
            if _is_text(text, score)
        ]
        return Reading(spans=tuple(spans))


def _is_text(text: str, score: float) -> bool:
    n_letters = len({letter for letter in text.casefold() if letter.isalnum()})
    least = max(_MIN_SCORE, _SHORT_TEXT_SCORE.get(n_letters, 0.0))
    if n_letters <= _FEW_IDEOGRAPHS and not text.isascii():
        least = max(least, _FEW_IDEOGRAPHS_SCORE)
    return n_letters >= _MIN_LETTERS and score >= least


def _new_engine() -> Any:
    folder = _model_folder()
    for name in (_DETECTION_MODEL, _RECOGNITION_MODEL):
        if not (folder / name).is_file():
            raise _broken_install(f"version {version('rapidocr')} has no {name}")
    params = {
        "Global.log_level": "critical",
        "Global.use_cls": False,
        "Global.text_score": _MIN_SCORE,
        "Global.max_side_len": _MAX_SIDE,
        "Det.model_path": str(folder / _DETECTION_MODEL),
        # By default it enlarges small images to 736 pixels, which is slow and makes it misread drawings as letters.
        "Det.limit_type": "max",
        "Det.limit_side_len": _DETECTION_SIDE,
        "Rec.model_path": str(folder / _RECOGNITION_MODEL),
        # By default it pads every box to 320 pixels or the widest box: twice the time, more false letters, and a
        # reading that depends on the rest of the image.
        "Rec.rec_img_shape": [3, 48, 48],
        "Rec.rec_batch_num": 1,
        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    }
    # onnxruntime raises various errors for a damaged model file.
    with translate_errors(_broken_install):
        from rapidocr import RapidOCR

        engine = RapidOCR(params=params)
        # Each network is loaded at its first use: a blank image loads both now.
        blank = numpy.full((_MIN_SIDE, _MIN_SIDE, 3), 255, dtype=numpy.uint8)
        engine(blank, use_det=False)
        engine(blank, use_det=True)
    return engine


def _model_folder() -> Path:
    with translate_errors(_broken_install):
        import rapidocr

        return Path(str(rapidocr.__file__)).parent / "models"


def _broken_install(problem: object) -> PluginError:
    install = "pip install --force-reinstall 'rapidocr>=3.10'"
    return PluginError(message("reader-broken", why=problem, install=install))


def _pixels(picture: Picture) -> numpy.ndarray[Any, Any]:
    """The image in BGR, no side over 2048 pixels."""
    image = as_image(picture)
    if max(image.size) > _MAX_SIDE:
        image.thumbnail((_MAX_SIDE, _MAX_SIDE), Image.Resampling.BOX)
    return numpy.ascontiguousarray(numpy.asarray(image)[:, :, ::-1])


def _fractions(corners: Any, width: int, height: int) -> Box:
    xs, ys = corners[:, 0] / width, corners[:, 1] / height
    x0, y0, x1, y1 = (round(float(edge), 4) for edge in (xs.min(), ys.min(), xs.max(), ys.max()))
    return max(0.0, x0), max(0.0, y0), min(1.0, x1), min(1.0, y1)
