"""The reader on painter pictures: time against rapidocr out of the box, false alarms, words found.

    python bench/reader.py [N_PICTURES]

One core, one picture at a time, everything included. A false alarm is any text read in a picture
that has none; a word counts as found when any text is read in a picture that has some.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice

import numpy
from rapidocr import RapidOCR

from salva.assets.files import read_asset
from salva.core.image import Picture
from salva.core.observation import Reading
from salva.core.options import NoOptions
from salva.core.protocols import ObserveRequest, Query, Rendered, RenderRequest
from salva.core.run_spec import ComponentSpec
from salva.generators.painter.component import random_scene
from salva.readers.rapid_ocr import RapidOcr
from salva.registry import bind

LIMIT_MS = 60.0
LIMIT_FALSE_ALARMS = 0.002
LEAST_FOUND = 0.99
N_TIMED = 100
SIDE = 256


def main(n_pictures: int) -> None:
    """Print one table."""
    reader = RapidOcr(NoOptions())
    plain = list(scenes(min(n_pictures, N_TIMED)))
    tuned_ms = middle_ms(plain, lambda picture: read(reader, picture))
    default = RapidOCR(
        params={"Global.log_level": "critical", "EngineConfig.onnxruntime.intra_op_num_threads": 1},
    )
    default_ms = middle_ms(plain[:20], lambda picture: default(as_array(picture)))
    row("what", "measured", "limit", "ratio")
    row(f"ms a picture of {SIDE} px, one core", f"{tuned_ms:.1f}", f"{LIMIT_MS:.0f}", f"{tuned_ms / LIMIT_MS:.2f}")
    row("  rapidocr out of the box", f"{default_ms:.1f}", f"{tuned_ms:.1f}", f"{default_ms / tuned_ms:.2f}")
    for name, pictures in (("all things", scenes(n_pictures)), ("MetaLogic", metalogic(n_pictures, ""))):
        alarms = [text for text in (read(reader, picture) for picture in pictures) if text]
        rate = len(alarms) / n_pictures
        row(f"false alarms, {name}", f"{rate:.4f}", f"{LIMIT_FALSE_ALARMS:.4f}", f"{rate / LIMIT_FALSE_ALARMS:.2f}")
        print(f"  {alarms}")
    found = sum(bool(read(reader, picture)) for picture in metalogic(n_pictures, "optical-character:1"))
    row("words found", f"{found / n_pictures:.4f}", f"{LEAST_FOUND:.4f}", f"{found / n_pictures / LEAST_FOUND:.2f}")


def row(*cells: str) -> None:
    """One line of the table."""
    print(f"{cells[0]:34} {cells[1]:>10} {cells[2]:>8} {cells[3]:>7}", flush=True)


def scenes(n: int) -> Iterator[Picture]:
    """Text-free pictures of everything the painter has, 1 to 11 things each."""
    rng = random.Random(1)
    entities = sorted(json.loads(read_asset("sprites/index.json"))["entities"])
    for i in range(n):
        yield random_scene(rng, entities, 1 + i % 11, SIDE)[0]


def metalogic(n: int, faults: str) -> Iterator[Picture]:
    """Pictures of MetaLogic prompts, spread over the suite."""
    painter = bind(ComponentSpec(role="model", name="painter", options={"faults": faults, "side": str(SIDE)})).build()
    cases = list(bind(ComponentSpec(role="suite", name="metalogic")).build().cases("full"))
    random.Random(1).shuffle(cases)
    prompts = cycle(prompt for case in cases for prompt in case.prompts)
    for seed, prompt in enumerate(islice(prompts, n)):
        (rendered,) = painter.render([RenderRequest(prompt=prompt, seed=seed)])
        assert isinstance(rendered, Rendered), rendered
        yield rendered.picture


def read(reader: RapidOcr, picture: Picture) -> tuple[tuple[str, float], ...]:
    """What is read in a picture."""
    (reading,) = reader.observe([ObserveRequest(picture=picture, query=Query(role="reader"))])
    assert isinstance(reading, Reading), reading
    return tuple((span.text, span.score) for span in reading.spans)


def as_array(picture: Picture) -> numpy.ndarray:
    """The picture as rapidocr takes it."""
    return numpy.frombuffer(picture.rgb, dtype=numpy.uint8).reshape(picture.height, picture.width, 3)[:, :, ::-1].copy()


def middle_ms(pictures: Sequence[Picture], look: Callable[[Picture], object]) -> float:
    """The median time of a look."""
    times = []
    for picture in pictures:
        started = time.perf_counter()
        look(picture)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
