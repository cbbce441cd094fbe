"""Two looks put together: both have it, or one does."""

from __future__ import annotations

import numpy as np

from salva.core.image import Picture
from salva.core.observation import Detection, Detections
from salva.core.scene import Box
from salva.detectors.two_passes import agreed, mirror, turned_back

LEFT: Box = (0.1, 0.2, 0.4, 0.6)
NEARLY: Box = (0.12, 0.2, 0.42, 0.6)
RIGHT: Box = (0.6, 0.2, 0.9, 0.6)


def seen(*things: tuple[str, Box]) -> Detections:
    return Detections(boxes=tuple(Detection(label=label, score=1.0, box=box) for label, box in things))


def scores(together: Detections) -> list[tuple[str, Box, float]]:
    return [(box.label, box.box, box.score) for box in together.boxes]


def test_what_both_have_is_sure_and_stands_where_the_first_has_it() -> None:
    together = agreed(seen(("cat", LEFT)), seen(("cat", NEARLY)))
    assert scores(together) == [("cat", LEFT, 1.0)]
    assert (together.floor, together.threshold, together.doubt) == (0.5, 0.5, 1.0)


def test_what_one_has_is_in_doubt_whichever_it_is() -> None:
    together = agreed(seen(("dog", RIGHT), ("cat", LEFT)), seen(("cat", LEFT), ("cow", RIGHT)))
    assert scores(together) == [("cat", LEFT, 1.0), ("dog", RIGHT, 0.5), ("cow", RIGHT, 0.5)]


def test_two_boxes_do_not_share_one_double() -> None:
    together = agreed(seen(("cat", LEFT), ("cat", NEARLY)), seen(("cat", LEFT)))
    assert scores(together) == [("cat", LEFT, 1.0), ("cat", NEARLY, 0.5)]


def test_elsewhere_it_is_another_thing() -> None:
    assert [score for *_, score in scores(agreed(seen(("cat", LEFT)), seen(("cat", RIGHT))))] == [0.5, 0.5]


def test_nothing_twice_is_nothing_and_no_doubt() -> None:
    assert agreed(seen(), seen()).boxes == ()


def test_a_mirror_twice_is_the_picture() -> None:
    pixels = np.arange(4 * 6 * 3, dtype=np.uint8)
    picture = Picture(rgb=pixels.tobytes(), width=6, height=4)
    once = mirror(picture)
    assert np.frombuffer(once.rgb, np.uint8)[:3].tolist() == pixels.reshape(4, 6, 3)[0, 5].tolist()
    assert mirror(once) == picture
    assert turned_back(turned_back(seen(("cat", LEFT)))) == seen(("cat", LEFT))
    assert turned_back(seen(("cat", LEFT))).boxes[0].box == RIGHT
