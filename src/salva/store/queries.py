"""Where a report gets its records and pictures: the run directory, read only.

Everything above this file works on plain records and an ImageSource, so a report can be made
in a test without a store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.observation import Answer, Detection, Detections, Reading, TextSpan
from salva.core.protocols import Query
from salva.core.verdict import Verdict
from salva.store.records import WHOLE
from salva.store.runfile import read_run_file
from salva.store.sqlite import RunStore, open_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a judge was asked about an image and what it said, in plain words."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the observers of a verdict saw in one image."""

    boxes: tuple[Detection, ...] = ()
    texts: tuple[TextSpan, ...] = ()
    answers: tuple[Asked, ...] = ()


class ImageSource(Protocol):
    """Pictures by image id."""

    def file_bytes(self, image_id: str) -> bytes:
        """The stored file."""

    def seen(self, image_id: str, observers: str) -> Seen:
        """What these observers, as a verdict names them, saw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecords:
    """All that a report reads of a run, less the pictures."""

    cases: tuple[Case, ...]
    verdicts: tuple[Verdict, ...]
    asked: Mapping[str, Json] = field(default_factory=dict)
    name: str = ""
    """The run directory's own name."""
    is_whole: bool = False
    """Whether no verdict is missing: what has none is a case that the relation does not apply to."""


class StoredImages:
    """The pictures of an open run."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    def file_bytes(self, image_id: str) -> bytes:
        """The stored file."""
        return self._store.blobs.read(image_id)

    def seen(self, image_id: str, observers: str) -> Seen:
        """What these observers, as a verdict names them, saw."""
        boxes: tuple[Detection, ...] = ()
        texts: tuple[TextSpan, ...] = ()
        answers: list[Asked] = []
        for look in self._store.observations_of(image_id):
            # Labels may hold a "+" themselves, so the joined names are searched and not split.
            if f"+{look.label}+" not in f"+{observers}+":
                continue
            if isinstance(look.observation, Detections):
                boxes = look.observation.boxes
            elif isinstance(look.observation, Reading):
                texts = look.observation.spans
            elif isinstance(look.observation, Answer) and not look.query.repeat:
                answers += _asked(look.query, look.observation)
        return Seen(boxes=boxes, texts=texts, answers=tuple(answers))


def _asked(query: Query, answer: Answer) -> list[Asked]:
    """A judge's answer as questions and answers; a grade answers one question a score."""
    if answer.problem:
        return [Asked(question=query.text, answer=f"unreadable: {answer.problem}")]
    if query.kind == "grade":
        return [
            Asked(question=question, answer=f"{answer.scores.get(f'q{number}', 0.0):g}")
            for number, question in enumerate(query.questions, 1)
        ]
    scores = ", ".join(f"{name} {value:g}" for name, value in answer.scores.items())
    return [Asked(question=query.text, answer=answer.text or scores)]


def read_records(directory: Path) -> RunRecords:
    """The cases and verdicts of a run, and what was asked of it."""
    with open_source(directory) as (records, _):
        return records


@contextmanager
def open_source(directory: Path) -> Iterator[tuple[RunRecords, ImageSource]]:
    """The records and the pictures of a run; closed again afterwards."""
    with open_run(directory) as store:
        run_file = read_run_file(directory) or {}
        asked, judged = run_file.get("asked"), run_file.get("judged")
        asked = asked if isinstance(asked, dict) else {}
        judged = judged if isinstance(judged, dict) else {}
        leading = judged.get("leading")
        records = RunRecords(
            cases=tuple(store.cases()),
            verdicts=_leading_first(store.verdicts(), leading if isinstance(leading, dict) else {}),
            asked={**asked, **{name: value for name, value in judged.items() if name in asked}},
            name=directory.resolve().name,
            is_whole=WHOLE in store.meta(),
        )
        yield records, StoredImages(store)


def _leading_first(verdicts: Iterable[Verdict], leading: Mapping[str, Json]) -> tuple[Verdict, ...]:
    """Verdicts of the observers named last before the others: of two equally busy detectors the first counts."""
    return tuple(sorted(verdicts, key=lambda verdict: leading.get(verdict.relation) != verdict.observers))
