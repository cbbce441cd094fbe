"""Rating sheets for people: which image to compare with which text or question.

`salva agree RUN --ratings SHEET` reads it when it is filled in, `salva import` makes a run of it. The sheet is blind:
it states no model, no score and not which image was generated from which text.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from salva.component_facts import pair_scorings
from salva.core.case import Case
from salva.core.exchange import ExportCount
from salva.core.options import option
from salva.core.quantity import quantity
from salva.core.score_rubric import HALVES
from salva.core.scoring import Pair, PairScoring
from salva.core.source import RunRecords, RunSource
from salva.core.table import Cell
from salva.core.verdict import PAIR
from salva.errors import UsageError
from salva.files.infiles import file_bytes
from salva.files.outfiles import write_bytes, write_text
from salva.files.tables import csv_text
from salva.imaging.files import png_of
from salva.messages import message
from salva.review.calibration import RatedImage
from salva.review.chances import CHANCE, drawn_cases
from salva.review.question_sheets import QUESTION_COLUMNS, QUESTION_HINT, graded_images, question_rows
from salva.review.role_codes import IMAGE, TEXT, role_code
from salva.review.run_join import model_code

_Row = tuple[tuple[str, str, str, str, str], tuple[str, str, str]]
"""Case, repeat, model and the roles of text and image; category and text, and the image's id."""

COLUMNS = (
    *("case_id", "repeat", "model", "category", "text_role", "image_role", "text", "image"),
    *("rater", "objects", "relations"),
)
_HINT = """Compare each image with its text and fill in, for every row:

rater
{indent}your name, the same in all your rows

{halves}

Numbers between two steps are for images between them. Style does not matter.
Several raters: each fills in a copy; `salva agree RUN --ratings COPY --ratings COPY` reads them.
"""
_INDENT = " " * 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingSheetOptions:
    """Which images people rate."""

    roles: tuple[str, ...] = option((), "Only images of these roles, such as l1; all otherwise.")
    sample: int = option(0, "Number of images, mostly doubtful ones; 0 for all.")
    per_category: int = option(0, "Number of cases (review: results) of each category.")
    seed: int = option(0, "Which are drawn at random.")

    def __post_init__(self) -> None:
        for flag, value in (("--sample", self.sample), ("--per-category", self.per_category)):
            if value < 0:
                raise UsageError(message("option-invalid", name=flag, value=value, wanted="a number, or 0 for all"))
        if self.sample and self.per_category:
            why = "one chooses images by doubt, the other cases by category"
            raise UsageError(message("options-conflict", first="--sample", second="--per-category", why=why))


class RatingSheet:
    """A folder: images and an empty sheet for people to rate them, for salva agree."""

    version: ClassVar[str] = "1"
    Options = RatingSheetOptions

    def __init__(self, options: RatingSheetOptions) -> None:
        self._options = options

    def write(self, source: RunSource, out: Path) -> ExportCount:
        """OUT/ratings.csv, OUT/README.txt and OUT/images/*.png."""
        records, chances = _drawn(source.records, self._options)
        graded = graded_images(records, self._options.roles, self._options.sample)
        rows = [] if graded else _rows(records)
        image_ids = graded.values() if graded else (image_id for _, (*_, image_id) in rows)
        numbers = {image_id: number for number, image_id in enumerate(dict.fromkeys(image_ids), 1)}
        if not numbers:
            raise UsageError(message("images-missing", path=source.records.name))
        lines = _question_sheet(records, graded, numbers) if graded else _sheet(rows, numbers)
        sheet = csv_text(_with_chances(lines, chances) if chances else lines)
        check_unfilled(out / "ratings.csv", sheet)
        for image_id, number in numbers.items():
            data = png_of(source.images, image_id)
            write_bytes(out / "images" / f"{number:05}.png", data)
        write_text(out / "ratings.csv", sheet)
        write_text(out / "README.txt", QUESTION_HINT if graded else _hint())
        return ExportCount(n=len(numbers), what=f"images, {quantity(len(lines) - 1, 'rows')} to rate")


def _drawn(records: RunRecords, options: RatingSheetOptions) -> tuple[RunRecords, dict[str, float]]:
    """The records of the cases to rate, and the chance that each had; no chances where all are to be rated."""
    if not options.per_category:
        return records, {}
    generated = {verdict.case_id for verdict in records.verdicts if verdict.arm == PAIR and verdict.images}
    chances = drawn_cases((c for c in records.cases if c.case_id in generated), options.per_category, options.seed)
    verdicts = tuple(verdict for verdict in records.verdicts if verdict.case_id in chances)
    return replace(records, cases=tuple(c for c in records.cases if c.case_id in chances), verdicts=verdicts), chances


def _with_chances(lines: Sequence[tuple[Cell, ...]], chances: Mapping[str, float]) -> list[tuple[Cell, ...]]:
    """The sheet with a last column that `salva agree` needs and no rater fills in."""
    heading, *rows = lines
    return [(*heading, CHANCE), *((*row, chances[str(row[0])]) for row in rows)]


def _hint() -> str:
    """The instructions for raters: the rubric that judges get too."""
    halves = (f"{half.key}\n{_INDENT}{half.lines(indent=_INDENT)}" for half in HALVES)
    return _HINT.format(indent=_INDENT, halves="\n\n".join(halves))


def _rows(records: RunRecords) -> list[_Row]:
    """What to rate: every image against its own text, and against others' as well where a check scores that."""
    scorings = tuple(pair_scorings().values())
    cases = {case.case_id: case for case in records.cases}
    wanted: dict[tuple[str, str, str, str, str], tuple[str, str, str]] = {}
    for verdict in records.verdicts:
        if verdict.arm != PAIR:
            continue
        case = cases[verdict.case_id]
        for text_role, image_role in _pairs(case, scorings):
            if image_role in verdict.images:
                key = (case.case_id, str(verdict.repeat), verdict.model, text_role, image_role)
                category = case.labels.get("category", case.category)
                wanted[key] = (category, case.prompt(text_role).text, verdict.images[image_role])
    rows = list(wanted.items())
    # Shuffled, so that no rater sees the images of one case in a row; seeded, so that a sheet can be made again.
    random.Random(len(rows)).shuffle(rows)
    return rows


def _pairs(case: Case, scorings: Sequence[PairScoring]) -> Sequence[Pair]:
    roles = [prompt.role for prompt in case.prompts]
    scored = (scoring.pairs for scoring in scorings if {role for pair in scoring.pairs for role in pair} <= set(roles))
    return next(scored, [(role, role) for role in roles])


def _sheet(rows: list[_Row], numbers: Mapping[str, int]) -> list[tuple[Cell, ...]]:
    is_one_model = len({model for (_, _, model, _, _), _ in rows}) == 1
    # Where every image is compared with its own text there is nothing to hide.
    is_crossed = any(text_role != image_role for (*_, text_role, image_role), _ in rows)
    lines: list[tuple[Cell, ...]] = [COLUMNS]
    for (case_id, repeat, model, text_role, image_role), (category, text, image_id) in rows:
        named = "" if is_one_model else model_code(model)
        image = f"images/{numbers[image_id]:05}.png"
        codes = role_code(case_id, TEXT, text_role), role_code(case_id, IMAGE, image_role)
        roles = codes if is_crossed else (text_role, image_role)
        lines.append((case_id, repeat, named, category, *roles, text, image, "", "", ""))
    return lines


def _question_sheet(
    records: RunRecords, images: Mapping[RatedImage, str], numbers: Mapping[str, int]
) -> list[tuple[Cell, ...]]:
    """The questions about an image stand together."""
    cases = {case.case_id: case for case in records.cases}
    is_one_model = len({model for _, _, model, _ in images}) == 1
    lines: list[tuple[Cell, ...]] = [QUESTION_COLUMNS]
    for (case_id, repeat, model, role), image_id in images.items():
        case, named = cases[case_id], "" if is_one_model else model_code(model)
        item = (case_id, repeat, named, case.labels.get("category", case.category), role)
        image = f"images/{numbers[image_id]:05}.png"
        lines += [(*item, *asked, image, "", "") for asked in question_rows(case, role)]
    return lines


def check_unfilled(path: Path, sheet: str) -> None:
    """Refuse to replace a sheet that may be filled in."""
    if path.exists() and file_bytes(path) != sheet.encode():
        raise UsageError(message("sheet-filled", path=str(path)))
