"""Review sheets: results drawn at random, for people to say which of them failed.

`salva agree RUN --ratings SHEET` corrects the failure rate by it. The sheet is blind: it states no result, no model and
no score.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from salva.core.exchange import ExportCount
from salva.core.judgements import Judgements
from salva.core.options import option
from salva.core.result import Result
from salva.core.source import RunSource
from salva.core.table import Cell
from salva.core.verdict import Outcome
from salva.errors import UsageError
from salva.files.outfiles import write_bytes, write_text
from salva.files.tables import csv_text
from salva.imaging.files import encode_picture, side_by_side, stored_picture
from salva.messages import message
from salva.registry import entries
from salva.review.columns import FAILED, PEOPLE, SAMPLE
from salva.review.rating_sheets import check_unfilled
from salva.review.result_samples import BY_CATEGORY, BY_RESULT, drawn_results, images_of, sample_token, unit_key
from salva.review.run_join import model_code
from salva.run_results import judgements_by_model

_RESULTS = tuple(str(outcome).lower() for outcome in Outcome)
_QUESTIONS = {1: "Is this image really wrong?", 2: "Is this pair really misaligned?"}
"""By the images of a row."""
_HINT = """Each row asks one question: {question} Look at its image beside its prompts, and fill in:

rater      your name, the same in all your rows
failed     yes, no, or "cannot tell"

Several images of a row stand side by side, in the order of their prompts.
yes: an image does not show what its prompt asks for (what, how many, where, which colour), or shows other text. Where
the column rule is filled, yes means that the images break it. Style does not matter. The last column is for salva.

Start at the top, and leave no row out. Several raters, best three: each fills in a copy, and
`salva agree RUN --ratings COPY --ratings COPY` reads them.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSheetOptions:
    """Which results people review."""

    per_result: int = option(20, "Number of results of each kind: fail, pass, undecided, error.", least=1)
    per_category: int = option(0, "Number of results of each kind and category instead.", least=0)
    result: tuple[str, ...] = option((), "Only results of these kinds, such as fail; all otherwise.")
    seed: int = option(0, "Which results are drawn.")

    def __post_init__(self) -> None:
        if unknown := [name for name in self.result if name not in _RESULTS]:
            raise UsageError(message("option-invalid", name="--result", value=unknown[0], wanted=", ".join(_RESULTS)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _DrawnResult:
    """A drawn result, with its images and how it was drawn."""

    result: Result
    images: Mapping[str, str]
    rule: str
    """What passes, where images are compared with each other."""
    sample: str


class ReviewSheet:
    """A folder: results drawn at random with their images, and an empty sheet for people to review them."""

    version: ClassVar[str] = "1"
    Options = ReviewSheetOptions

    def __init__(self, options: ReviewSheetOptions) -> None:
        self._options = options

    def write(self, source: RunSource, out: Path) -> ExportCount:
        """OUT/review.csv, OUT/README.txt and OUT/images/*.png."""
        by_model = judgements_by_model(source.records)
        rows = [row for judged in by_model.values() for row in self._drawn(judged)]
        if not rows:
            raise UsageError(message("review-empty", path=source.records.name))
        rows = self._mixed(rows)
        sheet = csv_text(_lines(rows, is_one_model=len(by_model) == 1))
        check_unfilled(out / "review.csv", sheet)
        for number, row in enumerate(rows, 1):
            pictures = [stored_picture(source.images, image_id) for image_id in row.images.values()]
            write_bytes(out / _file(number), encode_picture(side_by_side(pictures)))
        write_text(out / "review.csv", sheet)
        question = _QUESTIONS.get(max(len(row.images) for row in rows), "Are these images really misaligned?")
        write_text(out / "README.txt", _HINT.format(question=question))
        return ExportCount(n=len(rows), what="results to review")

    def _mixed(self, rows: Sequence[_DrawnResult]) -> list[_DrawnResult]:
        """Shuffled, so that no rater sees results of one kind in a row; those of one kind stay in drawn order."""
        by_category = bool(self._options.per_category)
        kinds = [(one.model, one.outcome, by_category and one.case.category) for one in (row.result for row in rows)]
        by_kind = {kind: iter([row for row, its in zip(rows, kinds, strict=True) if its == kind]) for kind in kinds}
        # Seeded, so that a sheet can be made again.
        random.Random(self._options.seed).shuffle(kinds)
        return [next(by_kind[kind]) for kind in kinds]

    def _drawn(self, judged: Judgements) -> list[_DrawnResult]:
        wanted = self._options
        drawn = drawn_results(
            judged,
            wanted.result,
            wanted.per_category or wanted.per_result,
            by_category=bool(wanted.per_category),
            seed=wanted.seed,
        )
        rules = {entry.name: entry.summary for entry in entries("check")}
        images, sample = images_of(judged), sample_token(judged, BY_CATEGORY if wanted.per_category else BY_RESULT)
        return [
            _DrawnResult(
                result=result,
                images={prompt.role: images[unit_key(result)][prompt.role] for prompt in result.case.prompts},
                rule=rules.get(result.check, "") if result.is_compared_only else "",
                sample=f"{sample}{wanted.seed}",
            )
            for result in drawn
        ]


def _lines(rows: Sequence[_DrawnResult], *, is_one_model: bool) -> list[list[Cell]]:
    roles = list(dict.fromkeys(role for row in rows for role in row.images))
    shown = [f"prompt.{role}" for role in roles]
    lines: list[list[Cell]] = [["case_id", "repeat", "model", *shown, "image", "rule", PEOPLE, FAILED, SAMPLE]]
    for number, row in enumerate(rows, 1):
        prompts = [row.result.case.prompt(role).text if role in row.images else "" for role in roles]
        model = "" if is_one_model else model_code(row.result.model)
        named = (row.result.case.case_id, row.result.repeat, model)
        lines.append([*named, *prompts, _file(number), row.rule, "", "", row.sample])
    return lines


def _file(number: int) -> str:
    return f"images/{number:05}.png"
