"""The reader of foreign tables: CSV, TSV, JSON and JSON lines.

A path comes in, rows of named cells go out, each with its line. It takes a byte order mark, UTF-16, `sep=` lines and
NaN (as missing); a duplicate key or column and whatever else is wrong is named with its place. It knows nothing of
what the cells mean.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from salva.core.cells import safe_cell
from salva.core.exchange import Flaw
from salva.core.fingerprint import Json
from salva.core.quantity import quantity
from salva.core.table import Cell
from salva.errors import UsageError
from salva.files.infiles import file_text
from salva.messages import message

Value = TypeVar("Value")
_DELIMITERS = ",\t;"
_HEADING_BYTES = 65_536
_MAX_SHOWN = 20


class Row(NamedTuple, Generic[Value]):
    """The cells of a row by column, and where it stands: line 3, or entry 3 of a JSON list."""

    where: str
    cells: dict[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A table of text."""

    columns: tuple[str, ...]
    """Empty for an empty file; a column may have no name."""
    rows: tuple[Row[str], ...]
    delimiter: str


def read_sheet(path: Path, flaws: list[Flaw] | None = None) -> Sheet:
    """A file of delimited text; its heading tells the delimiter.

    flaws: gets the rows with more or fewer cells than columns; without it they are an error.
    """
    text, n_skipped = _without_separator_line(file_text(path))
    delimiter = _delimiter(text)
    cells = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    ragged: list[Flaw] = []
    rows = []
    try:
        columns = tuple(name.strip() for name in next(cells, ()))
        if twice := [name for name in columns if name and columns.count(name) > 1]:
            raise UsageError(message("column-duplicate", path=str(path), column=twice[0]))
        start = cells.line_num + n_skipped + 1
        for row in cells:
            where, start = f"line {start}", cells.line_num + n_skipped + 1
            if not any(cell.strip() for cell in row):
                continue
            if len(row) == len(columns):
                named = zip(columns, row, strict=True)
                rows.append(Row(where, {name: _known(cell) for name, cell in named if name or cell.strip()}))
            else:
                what = f"{quantity(len(row), 'cells')} under {quantity(len(columns), 'columns')}"
                ragged.append(Flaw(file=path.name, where=where, what=what))
    except csv.Error as error:
        why = f"cannot be read as CSV: {error}; look for a quotation mark left open"
        where = f"line {cells.line_num + n_skipped}"
        raise UsageError(message("file-invalid", path=str(path), where=where, why=why)) from error
    if flaws is not None:
        flaws += ragged
    elif ragged:
        raise unusable(str(path), [f"{flaw.where}: {flaw.what}" for flaw in ragged])
    return Sheet(columns=columns, rows=tuple(rows), delimiter=delimiter)


def read_json(path: Path, flaws: list[Flaw] | None = None) -> Json:
    """A file of JSON; flaws: see parse_json."""
    return parse_json(path, file_text(path), flaws=flaws)


def read_json_lines(path: Path, flaws: list[Flaw] | None = None) -> list[Row[Json]]:
    """The objects of a file with one a line; flaws: see parse_json."""
    return _json_lines(path, file_text(path), flaws)


def read_rows(path: Path, flaws: list[Flaw] | None = None) -> list[Row[Json]]:
    """The rows of a table, JSON lines, or the objects in JSON: a list of them, or by their ids (column id).

    flaws: gets rows of a wrong length and duplicate keys; without it they are an error.
    """
    text = file_text(path)
    if not is_json(text):
        return [Row(where, dict[str, Json](cells)) for where, cells in read_sheet(path, flaws).rows]
    if text.lstrip().startswith("{") and (path.suffix.lower() == ".jsonl" or _has_several_objects(text)):
        return _json_lines(path, text, flaws)
    content = parse_json(path, text, flaws=flaws)
    if isinstance(content, dict):
        content = _objects_in(content)
    rows = [row for row in content if isinstance(row, dict)] if isinstance(content, list) else []
    if not isinstance(content, list) or len(rows) < len(content):
        raise UsageError(message("json-shape", path=str(path), where="", wanted="a list of objects, one a row"))
    return [Row(f"entry {number}", row) for number, row in enumerate(rows, 1)]


def columns_of(path: Path) -> tuple[str, ...]:
    """The heading of a table, without reading the rest; empty for a file that has none."""
    try:
        with path.open("rb") as file:
            text, _ = _without_separator_line(file.read(_HEADING_BYTES).decode("utf-8-sig"))
        return tuple(name.strip() for name in next(csv.reader(io.StringIO(text), delimiter=_delimiter(text)), ()))
    except (OSError, UnicodeDecodeError, csv.Error):
        return ()


def is_json(text: str) -> bool:
    """Whether a text is meant as JSON."""
    return text.lstrip()[:1] in ("[", "{")


def parse_json(path: Path, text: str, where: str = "", flaws: list[Flaw] | None = None) -> Json:
    """A text of a file as JSON, with null for NaN.

    flaws: gets keys that an object has twice, of which the last counts; without it they are an error.
    """
    twice: list[str] = []

    def pairs(items: list[tuple[str, Json]]) -> dict[str, Json]:
        found = dict(items)
        if len(found) < len(items):
            names = [name for name, _ in items]
            twice.extend(dict.fromkeys(name for name in names if names.count(name) > 1))
        return found

    try:
        content: Json = json.loads(text, object_pairs_hook=pairs, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise UsageError(message("json-invalid", path=str(path), where=where, why=error)) from error
    if twice and flaws is None:
        raise UsageError(message("key-duplicate", path=str(path), where=where, key=twice[0]))
    if flaws is not None:
        what = "the key {!r} twice in one object; the last one counts"
        flaws += [Flaw(file=path.name, where=where.removeprefix(", "), what=what.format(key)) for key in twice]
    return content


def unusable(name: str, problems: Sequence[str], what: str = "rows") -> UsageError:
    """The error that names what is wrong with a file."""
    shown = "".join(f"\n  {line}" for line in shown_problems(problems))
    return UsageError(message("rows-invalid", path=name, n=quantity(len(problems), what), shown=shown))


def shown_problems(found: Sequence[str] | Sequence[Flaw]) -> list[str]:
    """Problems such as "line 3: no id", one a line, and how many more there are."""
    n_more = len(found) - _MAX_SHOWN
    return [*map(str, found[:_MAX_SHOWN]), *([f"and {n_more} more"] if n_more > 0 else [])]


def csv_text(rows: Iterable[Sequence[Cell]]) -> str:
    """Rows as CSV, no cell of which a spreadsheet takes for a formula."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([safe_cell(cell) for cell in row] for row in rows)
    return buffer.getvalue()


def _known(cell: str) -> str:
    """A cell; empty for NaN, which notebooks write for what is missing."""
    return "" if cell.strip() in ("NaN", "nan") else cell


def _json_lines(path: Path, text: str, flaws: list[Flaw] | None) -> list[Row[Json]]:
    rows = []
    # Cut at newlines alone: a sentence may hold other characters that count as ends of lines.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            content = parse_json(path, line, f", line {number}", flaws)
            if not isinstance(content, dict):
                raise UsageError(message("json-shape", path=str(path), where=f", line {number}", wanted="an object"))
            rows.append(Row(f"line {number}", content))
    return rows


def _has_several_objects(text: str) -> bool:
    """Whether a text has one object a line, whatever the file is called."""
    lines = [line for line in text.split("\n", 3)[:3] if line.strip()]
    return len(lines) > 1 and all(line.strip().startswith("{") and line.strip().endswith("}") for line in lines[:2])


def _objects_in(content: dict[str, Json]) -> Json:
    """The rows in one object: by their ids, under the one key that holds a list of objects, or the object itself."""
    values = list(content.values())
    if values and all(isinstance(value, dict) for value in values):
        return [{"id": key, **value} for key, value in content.items() if isinstance(value, dict)]
    lists = [value for value in values if isinstance(value, list) and value and isinstance(value[0], dict)]
    return lists[0] if len(lists) == 1 else None


def _without_separator_line(text: str) -> tuple[str, int]:
    """The text after a line such as `sep=;`, which spreadsheets write for themselves, and how many lines that was."""
    first, _, rest = text.partition("\n")
    return (rest, 1) if re.fullmatch(r"sep=.", first.strip().lower()) else (text, 0)


def _delimiter(text: str) -> str:
    heading = re.sub(r'"[^"]*"', "", text.partition("\n")[0])
    return max(_DELIMITERS, key=heading.count)
