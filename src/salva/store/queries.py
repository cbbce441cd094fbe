"""A finished or running run, read for reports and exports: its records, its images and what it cost."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from salva.core.boxes import boxes_above
from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.judgements import Effort, SetFigure
from salva.core.observation import Answer, Detection, Detections, Reading, TextSpan
from salva.core.protocols import Query
from salva.core.run_file import Judging, RunFile
from salva.core.run_spec import NOTHING, RunSpec
from salva.core.source import ImportCopy, QuestionAnswer, RewrittenPrompt, RunRecords, RunSource, Seen, Spent
from salva.core.typed_record import checked
from salva.core.verdict import Observers, Verdict
from salva.errors import StoreError
from salva.messages import message
from salva.store.blobs import digest_of
from salva.store.reading import DATABASE, RunReader
from salva.store.records import (
    CONTRAST,
    FIGURES,
    GATE,
    IN_VAIN,
    MAX_ERRORS,
    PACE,
    PASSED,
    STOPPED,
    UNTRIED,
    WARNED,
)
from salva.store.reviews import read_reviews
from salva.store.runfile import read_run_file
from salva.store.sqlite import RunStore, open_run

_PREFLIGHT = {UNTRIED: "off", WARNED: "warned", PASSED: "passed", STOPPED: "stopped"}
"""The note of a run to the word for it; the first that is there counts: who ended a run may have passed later."""


class StoredImages:
    """The images of an open run.

    threshold: from which score on a box counts, where the run's checks say so.
    """

    def __init__(self, store: RunStore, threshold: float | None = None) -> None:
        self._store, self._threshold = store, threshold

    def file_bytes(self, image_id: str) -> bytes:
        """The stored file; StoreError where it is another, which would be shown as evidence for what it is not."""
        data = self._store.blobs.read(image_id)
        row = self._store.find_image(image_id)
        if row is not None and digest_of(data) != row.digest:
            raise StoreError(message("image-damaged", path=self._store.image_place(image_id)))
        return data

    def seen(self, image_id: str, observers: Observers) -> Seen:
        """What these observers saw; boxes, as far as they count."""
        boxes: tuple[Detection, ...] = ()
        texts: tuple[TextSpan, ...] = ()
        answers: list[QuestionAnswer] = []
        for look in self._store.observations_of(image_id, observers):
            if isinstance(look.observation, Detections):
                boxes = boxes_above(look.observation, self._threshold)
            elif isinstance(look.observation, Reading):
                texts = look.observation.spans
            elif isinstance(look.observation, Answer) and not look.query.repeat:
                answers += _questions_answered(look.query, look.observation)
        painted = tuple(_painted(self._store, image_id))
        return Seen(boxes=boxes, texts=texts, answers=tuple(answers), painted=painted)

    def detections(self, image_id: str, observers: Observers) -> Detections | None:
        """All boxes that the detector among these observers kept, whether they count or not."""
        looks = [look.observation for look in self._store.observations_of(image_id, observers)]
        return next((seen for seen in reversed(looks) if isinstance(seen, Detections)), None)

    def answers(self, image_id: str, observers: Observers) -> Mapping[str, Answer]:
        """Question to answer, as the judge among these observers gave it the first time it was asked."""
        return {
            look.query.text: look.observation
            for look in self._store.observations_of(image_id, observers)
            if look.query.kind == "answer" and not look.query.repeat and isinstance(look.observation, Answer)
        }


def _questions_answered(query: Query, answer: Answer) -> list[QuestionAnswer]:
    """A judge's answer as questions and answers; a grade answers one question a score."""
    if answer.problem:
        return [QuestionAnswer(question=query.text, answer=f"unreadable: {answer.problem}")]
    if query.kind == "grade":
        return [
            QuestionAnswer(
                question=question,
                answer=f"{answer.scores.get(f'q{number}', 0.0):g}",
                reason=answer.reasons.get(f"q{number}", ""),
                rubric=query.rubric,
            )
            for number, question in enumerate(query.questions, 1)
        ]
    scores = ", ".join(f"{name} {value:g}" for name, value in answer.scores.items())
    return [QuestionAnswer(question=query.text, answer=answer.text or scores)]


def spent(store: RunReader) -> tuple[Spent, ...]:
    """What the work of every component came to: images, answers and readings, failed and refused ones too."""
    in_vain = store.note(IN_VAIN)
    components = {component.component_id: component for component in store.components()}
    places = (("renders", "$", "provenance"), ("observations", "$.usage", "observation"))
    rows = [dict(row) for place in places for row in store.rows(_SPENT.format(*place))]
    # Of one that ended the run with its first answer there is no row.
    without = in_vain.keys() - {row["component_id"] for row in rows}
    rows += [{"component_id": component_id, "n": 0, "n_done": 0} for component_id in without]
    lines = []
    for row in rows:
        component, vain = components.get(row["component_id"]), in_vain.get(row["component_id"], {})
        usage = {name: row[name] for name in _USAGE if row.get(name) is not None}
        for name, value in vain.items() if isinstance(vain, dict) else ():
            if isinstance(value, int | float):
                usage[name] = usage.get(name, 0.0) + value
        if component is not None:
            lines.append(
                Spent(
                    role=component.role,
                    label=component.label,
                    n_done=row["n_done"],
                    n_failed=row["n"] - row["n_done"],
                    usage=usage,
                )
            )
    return tuple(sorted(lines, key=lambda line: (line.role != "model", line.role, line.label)))


_PAINTED = """
    SELECT min(render_key) AS render_key, label, text, count(*) AS n, json_group_array(DISTINCT repeat) AS repeats,
        coalesce(nullif(coalesce(
            json_extract(provenance, '$.deduced'), json_extract(provenance, '$.revised_prompt')), text), '') AS said,
        iif(json_type(provenance, '$.unknown_words') = 'array', json_extract(provenance, '$.unknown_words'), '[]')
            AS words
    FROM renders JOIN components USING (component_id)
    WHERE status = 'done' AND (said <> '' OR words <> '[]'){}
    GROUP BY label, text, said, words ORDER BY min(renders.rowid)
"""


def _painted(store: RunReader, image_id: str | None = None) -> Iterator[RewrittenPrompt]:
    """What became of prompts before they were generated: of all images, or of one."""
    # Two texts: a parameter that may be empty would keep SQLite from using the index of images.
    chosen, values = ("", ()) if image_id is None else (" AND image_id = ?", (image_id,))
    for row in store.rows(_PAINTED.format(chosen), values):
        yield store.parsed("renders", row, _painted_from_row)


def _painted_from_row(row: sqlite3.Row) -> RewrittenPrompt:
    return RewrittenPrompt(
        model=str(row["label"]),
        prompt=str(row["text"]),
        text=str(row["said"]),
        passed_over=tuple(map(str, json.loads(row["words"]))),
        n=row["n"],
        repeats=tuple(sorted(map(int, json.loads(row["repeats"])))),
    )


_PARAMETERS = """
    SELECT label, json_extract(provenance, '$.parameters') AS parameters
    FROM renders JOIN components USING (component_id)
    WHERE renders.rowid IN (SELECT min(rowid) FROM renders WHERE status = 'done' GROUP BY component_id)
        AND json_type(provenance, '$.parameters') = 'object'
    ORDER BY renders.rowid
"""


def _parameters(store: RunReader) -> dict[str, dict[str, int]]:
    """The parameters of models, from their first images."""
    found = {str(row["label"]): json.loads(row["parameters"]) for row in store.rows(_PARAMETERS)}
    return {model: {name: n for name, n in of.items() if isinstance(n, int)} for model, of in found.items()}


_USAGE = ("n_calls", "input_tokens", "output_tokens", "cost_usd")
_SPENT = (
    "SELECT component_id, count(*) AS n, sum(status = 'done') AS n_done, "
    + ", ".join(f"sum(json_extract({{2}}, '{{1}}.{name}')) AS {name}" for name in _USAGE)
    + " FROM {0} GROUP BY component_id"
)


def read_records(directory: Path) -> RunRecords:
    """The cases and verdicts of a run, and what was asked of it."""
    with open_source(directory) as (records, _):
        return records


def current_judging(directory: Path) -> Judging:
    """How a run is judged now, and what it would be asked to be judged so."""
    content = read_run_file(directory)
    return content.current_judging() if content else Judging(spec=NOTHING)


@contextmanager
def open_source(directory: Path) -> Iterator[RunSource]:
    """The records and the images of a run; closed again afterwards."""
    with open_run(directory) as store:
        judging, run_file = current_judging(directory), read_run_file(directory)
        with store.read_transaction():
            cases, verdicts = tuple(store.cases()), tuple(store.verdicts())
            primaries = store.primaries()
        _check_cases(store, cases, verdicts)
        records = RunRecords(
            cases=cases,
            verdicts=verdicts,
            primaries=primaries,
            deciding=judging.deciding,
            asked=judging.spec,
            name=directory.resolve().name,
            gates=store.note(GATE),
            contrast=store.note(CONTRAST),
            max_errors=most if isinstance(most := store.meta().get(MAX_ERRORS), int) else 0,
            preflight_about=_names(next((store.meta()[note] for note in _PREFLIGHT if note in store.meta()), None)),
            preflight=next((word for note, word in _PREFLIGHT.items() if note in store.meta()), ""),
            figures=_figures(store.note(FIGURES)),
            weights={component.label: str(component.identity.get("weights", "")) for component in store.components()},
            parameters=_parameters(store),
            is_whole=store.is_whole(),
            written_at=last_written(directory),
            made_by=str(store.meta().get("salva_version") or ""),
            spent=spent(store),
            painted=tuple(_painted(store)),
            effort=_effort(store.note(PACE), run_file),
            import_copies=_import_copies(directory, run_file),
            reviews=read_reviews(directory),
        )
        yield RunSource(records, StoredImages(store, _threshold(records.asked)))


def _import_copies(directory: Path, run_file: RunFile | None) -> tuple[ImportCopy, ...]:
    if run_file is None or run_file.imported is None:
        return ()
    from salva.files.import_copies import import_copies

    return import_copies(directory, run_file.imported)


def _check_cases(store: RunReader, cases: Iterable[Case], verdicts: Iterable[Verdict]) -> None:
    """Refuse verdicts on cases that are not stored: readers look their cases up."""
    unknown = {verdict.case_id for verdict in verdicts} - {case.case_id for case in cases}
    if unknown:
        why = f"it has verdicts on {min(unknown)!r}, which is none of its cases"
        raise StoreError(message("store-damaged", path=str(store.path), why=why))


def _effort(pace: Mapping[str, Json], run_file: RunFile | None) -> Effort | None:
    """How long the images took, and where; None where either was not written down."""
    seconds, n_images = pace.get("seconds"), pace.get("n_images")
    if not isinstance(seconds, int | float) or not isinstance(n_images, int) or run_file is None:
        return None
    places = (run_file.environment, *run_file.resumed_in)
    named = dict.fromkeys(f"{place.get('n_cores', '?')} cores, {place.get('platform', '?')}" for place in places)
    return Effort(seconds=float(seconds), n_images=n_images, where="; ".join(named))


def last_written(directory: Path) -> datetime | None:
    """When something was last written to a run; None where there is none."""
    try:
        return datetime.fromtimestamp((directory / DATABASE).stat().st_mtime, tz=UTC)
    except (OSError, OverflowError, ValueError):
        return None


def _names(stored: Json) -> tuple[str, ...]:
    return tuple(map(str, stored)) if isinstance(stored, list) else ()


def _threshold(asked: RunSpec) -> float | None:
    """The threshold of boxes that was set for the checks, which goes to all that know it."""
    # Checks over boxes have a doubt as well; the threshold of another check is one of something else.
    stated = (check.options.get("threshold") for check in asked.checks if "doubt" in check.options)
    return next((value for value in stated if isinstance(value, int | float)), None)


def _figures(stored: Mapping[str, Json]) -> dict[str, tuple[SetFigure, ...]]:
    by_model = cast("dict[str, list[dict[str, Any]]]", stored)
    try:
        return {m: tuple(checked(SetFigure(**figure)) for figure in figures) for m, figures in by_model.items()}
    except (TypeError, ValueError) as error:
        raise StoreError(message("note-invalid", name=FIGURES, why=error)) from error
