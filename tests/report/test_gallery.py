"""What is drawn over a picture of the page."""

from __future__ import annotations

from salva.core.observation import Detection, TextSpan
from salva.core.source import Seen
from salva.report.gallery import Thumbnail, _overlays

BOX = (0.1, 0.1, 0.4, 0.2)
EVERYWHERE = (0.0, 0.0, 1.0, 1.0)


def test_texts_without_a_place_of_their_own_are_named_together() -> None:
    spans = [("stop", EVERYWHERE), ("42", EVERYWHERE), ("exit", BOX)]
    texts = tuple(TextSpan(text=text, score=1.0, box=box) for text, box in spans)
    drawn = _overlays(Seen(texts=texts), [], Thumbnail("", 100, 100))
    assert [(one.label, one.width) for one in drawn] == [("“stop” “42”", 100.0), ("“exit”", 30.0)]


def test_a_name_that_was_put_in_place_of_another_is_shown_with_it() -> None:
    boxes = (Detection(label="cat", score=0.93, box=BOX, raw="kitten"), Detection(label="dog", score=0.5, box=BOX))
    drawn = _overlays(Seen(boxes=boxes), [], Thumbnail("", 100, 100))
    assert [one.label for one in drawn] == ["cat (kitten) 93", "dog 50"]
