"""A faithfulness run in the files and folders of the TIFA-lite project.

Prompts, answers, CLIP scores and category means as CSV in the published columns, pictures as
Images/<law>/<category>/<dimension>/<pair>_A.png. What is written here `salva import --as tifa-lite` reads again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from salva.core.about import About
from salva.core.asked import Asked
from salva.core.case import Case
from salva.core.exchange import Written
from salva.core.options import NoOptions
from salva.core.source import ImageSource, RunSource
from salva.core.table import Cell, Table
from salva.core.verdict import PAIR, Outcome, Verdict
from salva.errors import StoreError, UsageError
from salva.files.outfiles import told_apart, write_bytes, write_text
from salva.files.tables import csv_text
from salva.judging.headline import join
from salva.logic.questions import NO, YES, Question, expected_answer, questions_about
from salva.suites.faithfulness.tables import category_table

PROMPT_COLUMNS = ("pair_id", "category_id", "logical_law", "semantic_dimension", "prompt_A", "prompt_B")
ANSWER_COLUMNS = (
    *("pair_id", "logical_law", "category_id", "semantic_dimension", "image_variant", "image_path", "question"),
    *("expected_answer", "predicted_answer_raw", "predicted_answer_norm", "is_correct"),
)
CLIP_SCORES = ("clip_A", "clip_B", "clip_mean", "clip_diff", "clip_stability", "image_similarity")
METRIC_COLUMNS = ("n_pairs", "mean_faith_A", "mean_faith_B", "mean_faith", "mean_faith_stability")
_RELATIONS = ("same-answers", "must-differ")
RECKONED = "Is the picture one of those the prompt allows?"
_NAMES = {"de-morgan": "DeMorgan"}


def names_of(case: Case) -> tuple[str, str, str, str]:
    """Pair id, category id, law and dimension as the project spells them."""
    labels = case.labels
    if "pair_id" not in labels or len(case.prompts) != 2:
        raise UsageError(
            f"case {case.case_id!r} of the suite {case.suite!r} has no pair id; this form is for the suite faithfulness"
        )
    law = labels.get("logical_law") or _NAMES.get(labels["law"], labels["law"].capitalize())
    dimension = labels.get("semantic_dimension") or labels["dimension"].capitalize()
    return labels["pair_id"], labels.get("category_id", ""), law, dimension


def prompt_rows(cases: Iterable[Case]) -> Iterator[list[Cell]]:
    """The pairs under PROMPT_COLUMNS, header first."""
    yield list(PROMPT_COLUMNS)
    for case in cases:
        pair_id, category_id, law, dimension = names_of(case)
        yield [pair_id, category_id, law, dimension, *(prompt.text for prompt in case.prompts)]


class TifaExport:
    """A folder: prompts, pictures, answers and scores in the layout of the TIFA-lite project."""

    version: ClassVar[str] = "1"
    about: ClassVar[About] = About(case_rows=prompt_rows)

    def __init__(self, options: NoOptions) -> None:
        """Nothing can be chosen."""

    def write(self, source: RunSource, out: Path) -> Written:
        """A run's prompts, pictures, answers and scores; a folder a model where there are several."""
        records = source.records
        write_text(out / "prompts_metalogic.csv", csv_text(prompt_rows(records.cases)))
        reading = _reading(records.asked)
        for model in records.models:
            verdicts = [verdict for verdict in records.verdicts if verdict.model == model]
            folder = out if len(records.models) == 1 else out / _safe(model)
            pairs = [verdict for verdict in verdicts if _is_pair(verdict)]
            _write_model(source.images, records.cases, pairs, folder, _safe(model), reading)
            table = category_table(join(records.cases, verdicts, PAIR))
            if table is not None:
                write_text(folder / "category_metrics.csv", csv_text(_metric_rows(records.cases, table)))
        return Written(n=len(records.cases), what="pairs")


def _metric_rows(cases: Iterable[Case], table: Table) -> Iterator[list[Cell]]:
    at = {name: table.columns.index(name) for name in table.columns}
    spelled = {case.labels.get("category_id", ""): names_of(case)[1:] for case in cases}
    yield ["category_id", "logical_law", "semantic_dimension", *METRIC_COLUMNS]
    for row in table.rows:
        if row[at["n_pairs"]]:
            yield [*spelled[str(row[at["category_id"]])], *(row[at[name]] for name in METRIC_COLUMNS)]


def _is_pair(verdict: Verdict) -> bool:
    return verdict.arm == PAIR and verdict.relation in _RELATIONS


def _write_model(
    images: ImageSource, cases: Sequence[Case], verdicts: Sequence[Verdict], folder: Path, model: str, reading: str
) -> None:
    by_id = {case.case_id: case for case in cases}
    answers: list[list[Cell]] = [list(ANSWER_COLUMNS)]
    clips: list[list[Cell]] = [[*ANSWER_COLUMNS[:4], "image_A_path", "image_B_path", *CLIP_SCORES]]
    for verdict in verdicts:
        case = by_id[verdict.case_id]
        paths = _pictures(images, case, verdict, folder)
        pair_id, category_id, law, dimension = names_of(case)
        named: list[Cell] = [pair_id, law, category_id, dimension]
        if verdict.repeat == 0:
            # Of a pair that nobody could decide, some answers are missing: means over the rest would be of other pairs.
            is_decided = verdict.outcome in (Outcome.HOLDS, Outcome.VIOLATED)
            answers += [] if not is_decided else _answers(images, case, verdict, paths, named, reading)
            if "clip_A" in verdict.scores:
                clips.append([*named, *paths.values(), *(verdict.scores.get(name) for name in CLIP_SCORES)])
    for name, rows in (("vqa_raw_results", answers), ("clip_results", clips)):
        if len(rows) > 1:
            write_text(folder / f"{name}_{model}.csv", csv_text(rows))


def _pictures(images: ImageSource, case: Case, verdict: Verdict, folder: Path) -> dict[str, str]:
    """Write the pictures of a pair; role to path below the folder, empty where there is none."""
    from salva.imaging.files import decode_picture, encode_picture

    pair_id, category_id, law, dimension = map(_safe, names_of(case))
    top = "Images" if verdict.repeat == 0 else f"Images_repeat_{verdict.repeat}"
    paths = {}
    for prompt in case.prompts:
        image_id = verdict.images.get(prompt.role)
        paths[prompt.role] = ""
        if image_id is not None:
            path = f"{top}/{law}/{category_id}/{dimension}/{pair_id}_{prompt.role.upper()}.png"
            try:
                picture = decode_picture(images.file_bytes(image_id))
            except ValueError as error:
                raise StoreError(f"image {image_id!r} is damaged ({error}); `salva verify` lists what is") from error
            write_bytes(folder / path, encode_picture(picture))
            paths[prompt.role] = path
    return paths


def _answers(
    images: ImageSource, case: Case, verdict: Verdict, paths: dict[str, str], named: Sequence[Cell], reading: str
) -> Iterator[list[Cell]]:
    """What the judge of a verdict answered about its pictures, with what each prompt calls for."""
    formulas = [prompt.formula for prompt in case.prompts if prompt.formula is not None]
    asked = questions_about(tuple(formulas), reading) if len(formulas) == len(case.prompts) else ()
    questions: dict[str, Question | None] = {question.text: question for question in asked}
    for prompt in case.prompts:
        image_id = verdict.images.get(prompt.role)
        if image_id is None:
            continue
        said = images.answers(image_id, verdict.observers)
        for text, question in (questions or dict.fromkeys(said)).items():
            expected = expected_answer(question, prompt.formula, reading) if question and prompt.formula else ""
            if expected is None:
                # Right pictures differ in this, so no answer to it is right or wrong.
                continue
            answer = said.get(text)
            raw, norm = (answer.reply or answer.text, answer.text) if answer else ("not asked: no such thing", "no")
            is_right = int(norm == expected) if expected and norm else ""
            yield [*named, prompt.role.upper(), paths[prompt.role], text, expected, raw, norm, is_right]
        score = verdict.scores.get(f"satisfied_{prompt.role.upper()}")
        if score is not None and any(q.literal and _is_open(q, prompt.formula, reading) for q in asked):
            # What the prompt leaves open counts as one question more, reckoned from the answers to the others.
            side: list[Cell] = [*named, prompt.role.upper(), paths[prompt.role], RECKONED]
            yield [*side, YES, "reckoned from the answers", YES if score else NO, int(score)]


def _is_open(question: Question, formula: str | None, reading: str) -> bool:
    return formula is not None and expected_answer(question, formula, reading) is None


def _reading(asked: Asked) -> str:
    readings = (relation.options.get("reading") for relation in asked.relations if relation.name in _RELATIONS)
    return str(next(readings, None) or "exact")


def _safe(name: str) -> str:
    """A file name for any name; the project's own stay as they are."""
    return told_apart(re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("."), name)
