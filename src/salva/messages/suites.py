"""Messages about suites and their files."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "judge-constant": Entry(
        "One score for all images of a level ({scores}): the model never varies, or the judge ignores the image.",
        "PRR and RRR cannot show a constant judge: one that always says 1 gives both the value 1.",
    ),
    "judge-unsteady": Entry(
        "Asked again about {n} images, the judge graded {flipped} of them differently.",
    ),
}
