"""Where a report gets its records and pictures: the run directory, read only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from salva.core.asked import NOTHING, RunFile
from salva.core.observation import Answer, Detection, Detections, Reading, TextSpan
from salva.core.protocols import Query
from salva.core.source import QuestionAnswer, RunRecords, RunSource, Seen
from salva.core.verdict import Observers, Verdict, observers_text
from salva.store.records import WHOLE
from salva.store.runfile import read_run_file
from salva.store.sqlite import RunStore, open_run


class StoredImages:
    """The pictures of an open run."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    def file_bytes(self, image_id: str) -> bytes:
        """The stored file."""
        return self._store.blobs.read(image_id)

    def seen(self, image_id: str, observers: Observers) -> Seen:
        """What these observers saw."""
        boxes: tuple[Detection, ...] = ()
        texts: tuple[TextSpan, ...] = ()
        answers: list[QuestionAnswer] = []
        for look in self._store.observations_of(image_id):
            if look.label not in observers:
                continue
            if isinstance(look.observation, Detections):
                boxes = look.observation.boxes
            elif isinstance(look.observation, Reading):
                texts = look.observation.spans
            elif isinstance(look.observation, Answer) and not look.query.repeat:
                answers += _questions_answered(look.query, look.observation)
        return Seen(boxes=boxes, texts=texts, answers=tuple(answers))

    def answers(self, image_id: str, observers: Observers) -> Mapping[str, Answer]:
        """Question to answer, as the judge among these observers gave it the first time it was asked."""
        return {
            look.query.text: look.observation
            for look in self._store.observations_of(image_id)
            if look.label in observers
            and look.query.kind == "answer"
            and not look.query.repeat
            and isinstance(look.observation, Answer)
        }


def _questions_answered(query: Query, answer: Answer) -> list[QuestionAnswer]:
    """A judge's answer as questions and answers; a grade answers one question a score."""
    if answer.problem:
        return [QuestionAnswer(question=query.text, answer=f"unreadable: {answer.problem}")]
    if query.kind == "grade":
        return [
            QuestionAnswer(question=question, answer=f"{answer.scores.get(f'q{number}', 0.0):g}")
            for number, question in enumerate(query.questions, 1)
        ]
    scores = ", ".join(f"{name} {value:g}" for name, value in answer.scores.items())
    return [QuestionAnswer(question=query.text, answer=answer.text or scores)]


def read_records(directory: Path) -> RunRecords:
    """The cases and verdicts of a run, and what was asked of it."""
    with open_source(directory) as (records, _):
        return records


@contextmanager
def open_source(directory: Path) -> Iterator[RunSource]:
    """The records and the pictures of a run; closed again afterwards."""
    with open_run(directory) as store:
        judged = (read_run_file(directory) or RunFile(asked=NOTHING)).judged_as()
        records = RunRecords(
            cases=tuple(store.cases()),
            verdicts=_leading_first(store.verdicts(), judged.leading),
            asked=judged.asked,
            name=directory.resolve().name,
            is_whole=WHOLE in store.meta(),
        )
        yield RunSource(records, StoredImages(store))


def _leading_first(verdicts: Iterable[Verdict], leading: Mapping[str, str]) -> tuple[Verdict, ...]:
    """Verdicts of the observers named last before the others: of two equally busy detectors the first counts."""
    return tuple(
        sorted(verdicts, key=lambda verdict: leading.get(verdict.relation) != observers_text(verdict.observers))
    )
