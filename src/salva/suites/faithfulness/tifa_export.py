"""Writes TIFA-lite folders.

Prompts, answers, CLIP scores and category means as CSV in the published columns, images as
Images/<law>/<category>/<dimension>/<pair>_A.png. What is written here `salva import --as tifa-lite` reads again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from salva.checks.answers import AnswerOptions, leaves_open, marks, questions_for, read_answers
from salva.checks.question_files import read_questions
from salva.core.about import About
from salva.core.case import Case
from salva.core.exchange import ExportCount
from salva.core.judgements import CaseVerdict
from salva.core.options import option
from salva.core.run_spec import RunSpec
from salva.core.source import ImageSource, RunSource
from salva.core.table import Cell, Table
from salva.core.verdict import Verdict
from salva.english.questions import NO, YES
from salva.errors import UsageError
from salva.files.outfiles import unique_name, write_bytes, write_text
from salva.files.tables import csv_text
from salva.imaging.files import png_of
from salva.messages import message
from salva.results.deciding import join
from salva.suites.faithfulness.tables import answered_pairs, category_table
from salva.suites.faithfulness.templates import LAW_NAMES
from salva.suites.faithfulness.tifa_files import (
    ANSWER_COLUMNS,
    CLIP_COLUMNS,
    CLIP_SCORES,
    CLUSTER,
    CONTRAST_OF,
    GROUNDED,
    METRIC_COLUMNS,
    PROMPT_COLUMNS,
    REPEAT,
)
from salva.suites.faithfulness.tifa_verdicts import MUST_DIFFER, SAME_ANSWERS

_ASKING = (SAME_ANSWERS, MUST_DIFFER)
"""The checks whose answers are written."""
_PROMPTS, _MEANS = "prompts_metalogic.csv", "category_metrics.csv"
RECKONED = "Is the image one of those the prompt allows?"
_NOT_ASKED = "not asked: no such thing"


def names_of(case: Case) -> tuple[str, str, str, str]:
    """Pair id, category id, law and dimension as the project spells them."""
    labels = case.labels
    if "pair_id" not in labels or len(case.prompts) != 2:
        raise UsageError(message("case-of-other-suite", case=case.case_id, suite="faithfulness"))
    law = labels.get("logical_law") or LAW_NAMES.get(labels["law"], labels["law"].capitalize())
    dimension = labels.get("semantic_dimension") or labels["dimension"].capitalize()
    return labels["pair_id"], labels.get("category_id", ""), law, dimension


def prompt_rows(cases: Iterable[Case]) -> Iterator[list[Cell]]:
    """The pairs under PROMPT_COLUMNS, header first; then CLUSTER and CONTRAST_OF where they say something."""
    cases = list(cases)
    more: dict[str, Callable[[Case], str]] = {}
    if any(case.cluster != names_of(case)[0] for case in cases):
        more[CLUSTER] = lambda case: case.cluster
    if any(CONTRAST_OF in case.labels for case in cases):
        more[CONTRAST_OF] = lambda case: case.labels.get(CONTRAST_OF, "")
    yield [*PROMPT_COLUMNS, *more]
    for case in cases:
        texts = (prompt.text for prompt in case.prompts)
        pair_id, category_id, law, dimension = names_of(case)
        yield [pair_id, category_id, law, dimension, *texts, *(said(case) for said in more.values())]


class TifaExport:
    """A folder: prompts, images, answers and scores in the layout of the TIFA-lite project."""

    version: ClassVar[str] = "2"
    about: ClassVar[About] = About(case_rows=prompt_rows)

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """What a run cannot say of itself."""

        questions: str = option("", "The run's question file (check.questions).", reaches="file")

    def __init__(self, options: Options) -> None:
        self._questions = options.questions

    def write(self, source: RunSource, out: Path) -> ExportCount:
        """A run's prompts, images, answers and scores; a folder a model where there are several."""
        records = source.records
        if not any(verdict.images for verdict in records.verdicts):
            raise UsageError(message("run-without-images"))
        write_text(out / _PROMPTS, csv_text(prompt_rows(records.cases)))
        options = _asked_with(records.asked, self._questions)
        for model in records.models:
            verdicts = [verdict for verdict in records.verdicts if verdict.model == model]
            pairs = answered_pairs(join(records.cases, verdicts, records.deciding))
            folder = out if len(records.models) == 1 else out / _safe(model)
            _ModelFolder(images=source.images, folder=folder, options=options).write(pairs, _safe(model))
            table = category_table(pairs)
            if table is not None:
                write_text(folder / _MEANS, csv_text(_metric_rows(records.cases, table)))
        return ExportCount(n=len(records.cases), what="pairs")


def _metric_rows(cases: Iterable[Case], table: Table) -> Iterator[list[Cell]]:
    at = {name: table.columns.index(name) for name in table.columns}
    spelled = {case.labels.get("category_id", ""): names_of(case)[1:] for case in cases}
    yield ["category_id", "logical_law", "semantic_dimension", *METRIC_COLUMNS]
    for row in table.rows:
        if row[at["n_pairs"]]:
            yield [*spelled[str(row[at["category_id"]])], *(row[at[name]] for name in METRIC_COLUMNS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ModelFolder:
    """What one model generated, on its way into its folder."""

    images: ImageSource
    folder: Path
    options: AnswerOptions

    def write(self, pairs: Sequence[CaseVerdict], name: str) -> None:
        """Images, answers and CLIP scores of pairs, each repeat of each."""
        # Published files know neither repeats nor dependencies.
        has_repeats = any(pair.verdict.repeat for pair in pairs)
        more = (REPEAT,) if has_repeats else ()
        answers: list[Sequence[Cell]] = [(*ANSWER_COLUMNS, GROUNDED, *more)]
        clips: list[Sequence[Cell]] = [(*CLIP_COLUMNS, *more)]
        for case, verdict in pairs:
            pair_id, category_id, law, dimension = names_of(case)
            named = (pair_id, law, category_id, dimension)
            paths = _write_images(self.images, case, verdict, self.folder)
            last = (verdict.repeat,) if has_repeats else ()
            # Without the score some answers are missing: means over the rest would be of other pairs.
            for row in self._answers(case, verdict, paths) if "faith_mean" in verdict.scores else ():
                answers.append((*named, *row, *last))
            if "clip_A" in verdict.scores:
                scores = (verdict.scores.get(score) for score in CLIP_SCORES)
                clips.append((*named, *paths.values(), *scores, *last))
        for kind, rows in (("vqa_raw_results", answers), ("clip_results", clips)):
            if len(rows) > 1:
                write_text(self.folder / f"{kind}_{name}.csv", csv_text(rows))

    def _answers(self, case: Case, verdict: Verdict, paths: dict[str, str]) -> Iterator[tuple[Cell, ...]]:
        """What the judge of a verdict answered about its images, with what each prompt calls for."""
        file = read_questions(self.options.questions) if self.options.questions else None
        questions = questions_for(case, self.options, file)
        for prompt in case.prompts:
            image_id = verdict.images.get(prompt.role)
            if image_id is None:
                continue
            said = self.images.answers(image_id, verdict.observers)
            heard = {asked.query: said[asked.question.text] for asked in questions if asked.question.text in said}
            read = read_answers(questions, heard)
            side, path = prompt.role.upper(), paths[prompt.role]
            for mark in marks(questions, read, prompt.role):
                text = mark.asked.question.text
                reply = said[text].reply or said[text].text if text in said else _NOT_ASKED
                marked = int(mark.is_right), int(mark.is_grounded)
                yield side, path, text, mark.expected, reply, mark.answer or _NOT_ASKED, *marked
            score = verdict.scores.get(f"satisfied_{side}")
            if score is not None and leaves_open(questions, prompt.role):
                # What the prompt leaves open counts as one question more, reckoned from the answers to the others.
                reckoned = YES if score else NO
                yield side, path, RECKONED, YES, "computed from the answers", reckoned, int(score), int(score)


def _write_images(images: ImageSource, case: Case, verdict: Verdict, folder: Path) -> dict[str, str]:
    """Write the images of a pair; role to path below the folder, empty where there is none."""
    pair_id, category_id, law, dimension = map(_safe, names_of(case))
    top = "Images" if verdict.repeat == 0 else f"Images_repeat_{verdict.repeat}"
    paths = {}
    for prompt in case.prompts:
        image_id = verdict.images.get(prompt.role)
        paths[prompt.role] = ""
        if image_id is not None:
            path = f"{top}/{law}/{category_id}/{dimension}/{pair_id}_{prompt.role.upper()}.png"
            write_bytes(folder / path, png_of(images, image_id))
            paths[prompt.role] = path
    return paths


def _asked_with(asked: RunSpec, questions: str) -> AnswerOptions:
    """How a run's images were asked about; questions: the file of questions, named anew."""
    used = next((check.options for check in asked.checks if check.name in _ASKING), {})
    if used.get("questions") and not questions:
        why = f"the run used questions from {used['questions']!r}"
        raise UsageError(message("flag-needed", flag="--questions", why=why))
    return AnswerOptions(counts=str(used.get("counts") or "exact"), questions=questions)


def _safe(name: str) -> str:
    """A file name for any name; the project's own stay as they are."""
    return unique_name(re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("."), name)
