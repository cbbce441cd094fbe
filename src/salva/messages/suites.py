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
    "files-duplicate": Entry(
        "Several files are about {what}: {files}. Give one.",
    ),
    "import-empty": Entry(
        "These files hold no {what}. Wanted: {wanted}.",
    ),
    "model-name-ambiguous": Entry(
        "--model {model!r} names one model, and there are {n} files of a kind. Leave it out, or import one file.",
    ),
    "repeats-gap": Entry(
        "There is a {column} {highest} and none {missing}. Number repeats from 0 without a gap.",
    ),
}
