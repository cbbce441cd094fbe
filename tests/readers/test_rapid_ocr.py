"""The reader: words in images, drawings without text, no network."""

from __future__ import annotations

import logging
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy
import pytest
from PIL import Image, ImageDraw, ImageFont

from salva.core.case import Prompt
from salva.core.image import Picture
from salva.core.observation import Reading
from salva.core.options import NoOptions
from salva.core.protocols import ObserveRequest, Query, Rendered, RenderRequest
from salva.core.run_spec import ComponentSpec
from salva.errors import PluginError
from salva.generators.painter.component import Painter, PainterOptions, random_scene
from salva.readers import rapid_ocr
from salva.readers.rapid_ocr import RapidOcr
from salva.registry import bind

SENTENCE = "There is a cat"


@pytest.fixture(scope="module")
def reader() -> RapidOcr:
    return RapidOcr(NoOptions())


def drawing(side: int = 256) -> Image.Image:
    """Shapes that could be misread as O or H."""
    image = Image.new("RGB", (side, side), (200, 220, 240))
    draw = ImageDraw.Draw(image)
    draw.ellipse((40, 60, 120, 140), fill=(220, 120, 30))
    draw.ellipse((60, 80, 100, 120), fill=(200, 220, 240))
    draw.rectangle((150, 150, 165, 230), fill=(30, 120, 60))
    draw.rectangle((195, 150, 210, 230), fill=(30, 120, 60))
    draw.rectangle((150, 185, 210, 195), fill=(30, 120, 60))
    return image


def written(text: str, *, size: int = 18, at: tuple[int, int] = (20, 20)) -> Image.Image:
    image = drawing()
    ImageDraw.Draw(image).text(at, text, fill=(10, 10, 10), font=ImageFont.load_default(size))
    return image


def request_for(image: Image.Image) -> ObserveRequest:
    rgb = image.convert("RGB")
    picture = Picture(rgb=rgb.tobytes(), width=rgb.width, height=rgb.height)
    return ObserveRequest(picture=picture, query=Query(role="reader"))


def read(reader: RapidOcr, image: Image.Image) -> Reading:
    (reading,) = reader.observe([request_for(image)])
    assert isinstance(reading, Reading)
    return reading


def squeezed(reading: Reading) -> str:
    return "".join(span.text for span in reading.spans).replace(" ", "").lower()


def test_words_have_boxes(reader: RapidOcr) -> None:
    (span,) = read(reader, written(SENTENCE, at=(100, 20))).spans
    assert span.text == SENTENCE
    assert span.score > 0.9
    x0, y0, x1, y1 = span.box
    assert 0.3 < x0 < 0.42
    assert 0.8 < x1 < 0.95
    assert 0 <= y0 < 0.12
    assert 0.12 < y1 < 0.25
    assert span.box == tuple(round(value, 4) for value in span.box)


def test_light_text_on_dark_in_two_lines(reader: RapidOcr) -> None:
    image = Image.new("RGB", (256, 256), (40, 40, 60))
    draw = ImageDraw.Draw(image)
    for y, line in ((30, "two red apples"), (200, "a banana")):
        draw.text((20, y), line, fill=(250, 250, 240), font=ImageFont.load_default(20))
    reading = read(reader, image)
    assert [span.text for span in reading.spans] == ["two red apples", "a banana"]


def test_text_of_another_colour_but_similar_brightness(reader: RapidOcr) -> None:
    image = Image.new("RGB", (256, 128), (250, 60, 60))
    ImageDraw.Draw(image).text((20, 40), "horse", fill=(20, 20, 250), font=ImageFont.load_default(30))
    assert squeezed(read(reader, image)) == "horse"


def test_drawings_are_no_text(reader: RapidOcr) -> None:
    assert read(reader, drawing()).spans == ()


@pytest.mark.parametrize(
    ("text", "score", "is_text"),
    [
        ("300", 0.95, False),
        ("ao", 0.91, False),
        ("no", 0.98, True),
        ("cow", 0.84, False),
        ("cow", 0.86, True),
        ("apple", 0.74, False),
        ("apple", 0.76, True),
        ("banana bread", 0.59, False),
        ("banana bread", 0.62, True),
    ],
)
def test_short_text_needs_a_higher_score(
    monkeypatch: pytest.MonkeyPatch, text: str, score: float, is_text: bool
) -> None:
    """Wheels and windows are misread as a few characters: a bicycle as "300" or "ao"."""
    corners = numpy.array([[[10, 10], [60, 10], [60, 30], [10, 30]]], dtype=numpy.float32)
    found = SimpleNamespace(boxes=corners, txts=(text,), scores=(score,))
    monkeypatch.setattr(rapid_ocr, "_new_engine", lambda: lambda _: found)
    assert bool(read(RapidOcr(NoOptions()), drawing()).spans) is is_text


def test_painter_scenes_have_no_text(reader: RapidOcr) -> None:
    entities = ["bicycle", "bus", "chair", "clock", "house", "scissors", "train"]
    rng = random.Random(3)
    requests = [
        ObserveRequest(picture=random_scene(rng, entities, 6)[0], query=Query(role="reader")) for _ in range(20)
    ]
    assert reader.observe(requests) == [Reading()] * len(requests)


@pytest.mark.parametrize("size", [(1, 1), (16, 16), (3, 700), (5000, 40), (2500, 2500)])
def test_images_of_any_size_are_accepted(reader: RapidOcr, size: tuple[int, int]) -> None:
    assert read(reader, Image.new("L", size, 128)).spans == ()


def test_boxes_of_low_strips_and_large_images_are_inside(reader: RapidOcr) -> None:
    strip = Image.new("RGB", (200, 20), "white")
    ImageDraw.Draw(strip).text((20, 0), SENTENCE, fill="black", font=ImageFont.load_default(15))
    large = written(SENTENCE).resize((2600, 2600))
    small_box = read(reader, written(SENTENCE)).spans[0].box
    for image in (strip, large):
        reading = read(reader, image)
        assert squeezed(reading) == "thereisacat"
        assert all(0 <= value <= 1 for value in reading.spans[0].box)
    assert read(reader, large).spans[0].box == pytest.approx(small_box, abs=0.03)
    # A low strip is enlarged and padded before it is read; the box is in fractions of the image.
    assert read(reader, strip).spans[0].box[3] > 0.75


def test_a_reading_does_not_depend_on_its_batch(reader: RapidOcr) -> None:
    images = [written("cat"), drawing(), written("There are two cats and a dog", size=16)]
    together = reader.observe([request_for(image) for image in images])
    alone = [read(reader, image) for image in images]
    assert together == alone


def test_a_reading_does_not_depend_on_the_thread(reader: RapidOcr) -> None:
    images = [written(word, size=20) for word in ("cat", "dog", "apple", "banana", "cow", "horse")]
    expected = [read(reader, image) for image in images]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda image: read(reader, image), images)) == expected


def test_the_pin_names_the_weights() -> None:
    one = bind(ComponentSpec(role="reader", name="rapidocr"))
    assert "PP-OCR" in one.weights
    assert pickle.loads(pickle.dumps(one)) == one


def test_missing_models_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rapid_ocr, "_RECOGNITION_MODEL", "gone.onnx")
    with pytest.raises(PluginError, match=r"gone\.onnx.*pip install"):
        RapidOcr(NoOptions())


def test_nothing_is_downloaded_or_logged(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    from rapidocr.utils.download_file import DownloadFile

    def refuse(*_: object) -> None:
        raise AssertionError("the reader tried to download something")

    monkeypatch.setattr(DownloadFile, "run", refuse)
    reader = RapidOcr(NoOptions())
    read(reader, written(SENTENCE))
    read(reader, drawing())
    assert capfd.readouterr() == ("", "")
    assert not logging.getLogger("RapidOCR").isEnabledFor(logging.ERROR)


@pytest.mark.parametrize(
    ("text", "formula", "seed"),
    [
        (
            "There is both a dog on the bottom and a cow on top, along with a banana in the middle",
            "(dog@bottom & cow@top) & banana@middle",
            404788384,
        ),
        (
            "There is either a dog and a cow and a banana or a dog and a banana and a cow, "
            "otherwise there is a cow and a dog and a banana",
            "((dog & cow & banana) | (dog & banana & cow)) | (cow & dog & banana)",
            1638034948,
        ),
    ],
)
def test_a_column_of_drawings_is_not_read_as_ideographs(reader: RapidOcr, text: str, formula: str, seed: int) -> None:
    prompt = Prompt(role="a", text=text, formula=formula)
    rendered = Painter(PainterOptions()).render([RenderRequest(prompt=prompt, seed=seed)])[0]
    assert isinstance(rendered, Rendered)
    assert reader.observe([ObserveRequest(picture=rendered.picture, query=Query(role="reader"))]) == [Reading()]
