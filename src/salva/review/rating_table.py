"""Ratings as one table.

Files and the flags that name columns come in, a RatingTable goes out. There is one rule for several files: each gives
ratings of items by raters, an item is the same where its item columns say the same, and the first rating counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from salva.core.exchange import Flaw
from salva.core.fingerprint import Json
from salva.errors import UsageError
from salva.files.infiles import file_text
from salva.files.tables import is_json, read_rows, read_sheet, shown_problems
from salva.messages import message
from salva.review.annotated_rows import ANNOTATIONS, annotated_rows
from salva.review.cells import FileRow, as_number, is_silent
from salva.review.columns import FAILED, LABEL, RATING, Columns, Layout, Scale, column_missing, layout_of
from salva.review.dsg_answers import is_question_file, is_rated, is_raw, scored_rows

CANNOT_TELL = 0.5
_VERDICTS = {"yes": 1.0, "true": 1.0, "fail": 1.0, "no": 0.0, "false": 0.0, "pass": 0.0, "cannot tell": CANNOT_TELL}
"""What a cell of the column `failed` may say, and what it is as a rating."""
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_MAX_NAMED = 5


class Rating(NamedTuple):
    """What one person or judge says of an item."""

    item: str
    measure: str
    who: str
    parts: tuple[float, ...]
    """One number, or several whose sum is the rating."""
    line: FileRow

    @property
    def value(self) -> float:
        """The rating as one number."""
        return sum(self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingTable:
    """Ratings of items; whoever did not rate an item has no rating of it."""

    item_columns: tuple[str, ...]
    items: Mapping[str, FileRow]
    """Item to the first row about it, with what later files add."""
    ratings: tuple[Rating, ...]
    people: tuple[str, ...]
    judges: tuple[str, ...]
    scales: Mapping[tuple[str, str], Scale]
    """Who and measure to the scale that the columns are documented to have."""
    flaws: tuple[Flaw, ...] = ()
    """What could not be used."""

    @property
    def measures(self) -> tuple[str, ...]:
        """What people rated."""
        return tuple(dict.fromkeys(rating.measure for rating in self.ratings if rating.who in self.people))

    def rated_by_people(self) -> RatingTable:
        """Without the items that judges alone rated."""
        rated = {rating.item for rating in self.ratings if rating.who in self.people}
        return replace(self, items={item: line for item, line in self.items.items() if item in rated})

    def columns(self, measure: str) -> dict[str, list[float | None]]:
        """The ratings of each person and judge, by item."""
        given: dict[str, dict[str, float]] = {who: {} for who in (*self.people, *self.judges)}
        for rating in self.ratings:
            if rating.measure == measure:
                given[rating.who][rating.item] = rating.value
        return {who: [of_item.get(item) for item in self.items] for who, of_item in given.items()}

    @property
    def notes(self) -> list[str]:
        """What was read, for the user to check, and what of it could not be used."""
        people, judges = _short(self.people), _short(self.judges)
        item = " + ".join(self.item_columns)
        read = message("ratings-read", n=len(self.items), item=item, people=people, judges=judges)
        return [read, *problem_notes(self.flaws)]


def problem_notes(flaws: Sequence[Flaw]) -> list[str]:
    """One note of all that could not be used; none where all was."""
    shown = "".join(f"\n  {line}" for line in shown_problems(flaws))
    return [message("ratings-unused", n=len(flaws), shown=shown)] if flaws else []


def read_ratings(
    files: Sequence[Path], columns: Columns | None = None, *, names: Sequence[str] = (), scores: Collection[str] = ()
) -> RatingTable:
    """The ratings in files; names: what to call the files in messages, scores: columns that are known to be ratings."""
    columns = columns or Columns()
    if len({path.resolve() for path in files}) < len(files):
        raise UsageError(message("file-twice", files=", ".join(map(str, files))))
    reader = _RatingReader(columns, scores)
    paths = dict(zip(names or map(str, files), files, strict=True))
    lines = {name: _lines(path, name) for name, path in paths.items()}
    questions = [line for of in lines.values() if is_question_file(_header(of)) for line in of]
    rated = [line for of in lines.values() if is_rated(_header(of)) for line in of]
    for name, of in lines.items():
        if is_raw(_header(of)):
            of, flaws = scored_rows(of, questions, columns.judges, rated)
            reader.flaws += flaws
        elif is_question_file(_header(of)):
            continue
        elif {*_header(of)} >= ANNOTATIONS:
            of, flaws = annotated_rows(paths[name], name)
            reader.flaws += flaws
        reader.add(name, of)
    return reader.table()


class _RatingReader:
    """Collects the rows of files."""

    def __init__(self, columns: Columns, scores: Collection[str]) -> None:
        self._columns, self._scores = columns, scores
        self.flaws: list[Flaw] = []
        self._item_columns: tuple[str, ...] = ()
        self._items: dict[str, FileRow] = {}
        self._ratings: dict[tuple[str, str, str], Rating] = {}
        self._people: dict[str, None] = {}
        self._judges: dict[str, None] = {}
        self._raters: set[str] = set()
        self._scales: dict[tuple[str, str], Scale] = {}
        self._headers: dict[str, Sequence[str]] = {}

    def add(self, name: str, lines: Sequence[FileRow]) -> None:
        """The rows of one file."""
        header = self._headers[name] = _header(lines)
        layout = layout_of(name, header, self._columns, self._scores)
        used = tuple(column for column in layout.item if any(line.cell(column) for line in lines))
        if odd := {*used} ^ {*(self._item_columns or used)}:
            column = min(odd)
            lacking = next(file for file in (name, *self._headers) if column not in self._headers[file] or file == name)
            raise column_missing(lacking, column, self._headers[lacking], "--item")
        self._item_columns = self._item_columns or used
        self._raters |= {line.cell(layout.rater) for line in lines} if layout.rater else set()
        for line in lines:
            self._add_line(layout, line)

    def _add_line(self, layout: Layout, line: FileRow) -> None:
        item = " / ".join(line.cell(name) for name in self._item_columns)
        if not item.replace("/", "").strip():
            self.flaws.append(line.flaw(f"{' + '.join(layout.item)} is empty"))
            return
        known = self._items.get(item, line)
        self._items[item] = known._replace(cells={**line.cells, **known.cells})
        for who, columns in layout.people.items():
            self._people[who] = None
            self._rate(layout, line, item, RATING, who, columns)
        main = RATING if RATING in layout.measures or not layout.measures else next(iter(layout.measures))
        for who, columns in layout.judges.items():
            self._judges[who] = None
            self._rate(layout, line, item, main, who, columns)
        who = (line.cell(layout.rater) if layout.rater else "") or Path(line.file).stem
        is_judge = layout.are_judges or (who in self._columns.judges and who not in layout.judges)
        for measure, columns in layout.measures.items():
            if self._rate(layout, line, item, measure, who, columns):
                (self._judges if is_judge else self._people)[who] = None

    def _rate(self, layout: Layout, line: FileRow, item: str, measure: str, who: str, columns: tuple[str, ...]) -> bool:
        """Keep a rating, if the row has one."""
        if measure == RATING and line.cell("image_role") and line.cell("question") == LABEL:
            measure = LABEL
        limits = layout.limits.get(columns)
        parts = self._parts(line, columns, limits, measure)
        if parts is None:
            return False
        if limits:
            self._scales[who, measure] = len(columns) * limits[0], len(columns) * limits[1]
        new = Rating(item, measure, who, parts, line)
        first = self._ratings.setdefault((item, measure, who), new)
        # A column of scores may repeat in every row about an item; a row that names its rater is a rating of its own.
        if first is not new and (first.parts != parts or columns in layout.measures.values()):
            self.flaws.append(line.flaw(f"{who!r} rated {item!r} twice; the first rating counts"))
        return True

    def _parts(
        self, line: FileRow, columns: Sequence[str], limits: Scale | None, measure: str
    ) -> tuple[float, ...] | None:
        silent = [name for name in columns if is_silent(line.cell(name))]
        numbers = []
        for name in columns:
            cell = line.cell(name)
            value = None if name in silent else as_number(cell, _VERDICTS) if measure == FAILED else as_number(cell)
            if value is None and name not in silent:
                self.flaws.append(line.flaw(f"{name} is {cell!r}, which is no number"))
            elif measure == FAILED and value is not None and value not in _VERDICTS.values():
                self.flaws.append(line.flaw(f"{name} is {cell!r}; it must be yes, no or cannot tell"))
            elif value is not None and limits and not limits[0] <= value <= limits[1]:
                what = f"{name} is {cell!r}; it must be from {limits[0]:g} to {limits[1]:g}"
                self.flaws.append(line.flaw(what))
            elif value is not None:
                numbers.append(value)
        if numbers and silent and len(numbers) + len(silent) == len(columns):
            given = " and ".join(name for name in columns if name not in silent)
            self.flaws.append(line.flaw(f"{given} without {' and '.join(silent)} is no rating"))
        return tuple(numbers) if len(numbers) == len(columns) else None

    def table(self) -> RatingTable:
        """All of it."""
        wanted = (*self._columns.people, *self._columns.judges)
        header = [name for names in self._headers.values() for name in names]
        files = ", ".join(self._headers)
        for name in (*wanted, *((self._columns.rater,) if self._columns.rater else ())):
            if name not in header and name not in self._raters and not {*name.split("+")} <= {*header}:
                raise column_missing(files, name, header, "--people, --judge or --rater")
        people = tuple(who for who in self._people if who not in self._judges)
        if both := [who for who in self._people if who in self._judges]:
            raise UsageError(message("rater-is-judge", name=both[0]))
        ratings = tuple(self._ratings.values())
        if not any(rating.who in people for rating in ratings):
            raise UsageError(message("ratings-missing", path=files, header=", ".join(dict.fromkeys(header))))
        return RatingTable(
            item_columns=self._item_columns,
            items=self._items,
            ratings=ratings,
            people=people,
            judges=tuple(self._judges),
            scales=self._scales,
            flaws=tuple(self.flaws),
        )


def _header(lines: Sequence[FileRow]) -> list[str]:
    return list(dict.fromkeys(name for line in lines for name in line.cells))


def _lines(path: Path, name: str) -> list[FileRow]:
    """The rows of a file, every cell as text."""
    if is_json(file_text(path)):
        return [FileRow(name, where, _flat(cells)) for where, cells in read_rows(path)]
    sheet = read_sheet(path)
    if not sheet.rows:
        raise UsageError(message("file-empty", path=name))
    # Where semicolons part the cells, the comma is the decimal point.
    has_commas = sheet.delimiter == ";"
    return [
        FileRow(name, where, {column: _with_point(cell) for column, cell in cells.items()} if has_commas else cells)
        for where, cells in sheet.rows
    ]


def _with_point(cell: str) -> str:
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell.strip()) else cell


def _flat(row: Mapping[str, Json], prefix: str = "") -> dict[str, str]:
    """Cells as text; lists become numbered columns, such as rating_1."""
    flat: dict[str, str] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list):
            flat |= {f"{prefix}{name}_{number}": _text(part) for number, part in enumerate(value, 1)}
        else:
            flat[prefix + name] = _text(value)
    return flat


def _text(value: Json) -> str:
    return str(int(value)) if isinstance(value, bool) else "" if value is None else str(value)


def _short(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MAX_NAMED]) + (", ..." if len(names) > _MAX_NAMED else "")
    return f"{len(names)} ({shown})" if names else "none"
