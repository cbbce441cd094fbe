"""Tables that people and other programs wrote, as rows of named cells: CSV, TSV, JSON and JSON lines.

A path comes in, rows go out, each with where it stands. Whatever cannot be a table is one error that says what and
where. Knows nothing of what the cells mean.
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
from salva.core.counted import counted
from salva.core.exchange import Flaw
from salva.core.fingerprint import Json
from salva.core.table import Cell
from salva.errors import UsageError
from salva.files.infiles import file_text

Value = TypeVar("Value")
_DELIMITERS = ",\t;"
_HEADING_BYTES = 65_536
_N_SHOWN = 20
_VALUES = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")


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


def read_sheet(path: Path, ragged: list[Flaw] | None = None) -> Sheet:
    """A file of delimited text; the heading says by what cells are parted.

    ragged: gets the rows with more or fewer cells than columns; without it they are an error.
    """
    text, n_skipped = _without_hint(file_text(path))
    delimiter = _delimiter(text)
    cells = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    flaws: list[Flaw] = []
    rows = []
    try:
        columns = tuple(name.strip() for name in next(cells, ()))
        if twice := [name for name in columns if name and columns.count(name) > 1]:
            raise UsageError(f"{str(path)!r} has the column {twice[0]!r} twice; give each column a name of its own")
        start = cells.line_num + n_skipped + 1
        for row in cells:
            where, start = f"line {start}", cells.line_num + n_skipped + 1
            if len(row) == len(columns):
                named = {name: cell for name, cell in zip(columns, row, strict=True) if name or cell.strip()}
                if any(cell.strip() for cell in row):
                    rows.append(Row(where, named))
            elif any(cell.strip() for cell in row):
                what = f"{counted(len(row), 'cells')} under {counted(len(columns), 'columns')}"
                flaws.append(Flaw(file=path.name, where=where, what=what))
    except csv.Error as error:
        line = cells.line_num + n_skipped
        raise UsageError(
            f"{str(path)!r}, line {line}: cannot be read as CSV: {error}; look for a quotation mark left open"
        ) from error
    if ragged is not None:
        ragged += flaws
    elif flaws:
        raise unusable(str(path), [f"{flaw.where}: {flaw.what}" for flaw in flaws])
    return Sheet(columns=columns, rows=tuple(rows), delimiter=delimiter)


def read_json_lines(path: Path) -> list[Row[Json]]:
    """The objects of a file with one a line."""
    return _json_lines(path, file_text(path))


def read_rows(path: Path) -> list[Row[Json]]:
    """The rows of a table, or the objects of a JSON list or of JSON lines, whichever the file holds."""
    text = file_text(path)
    if not is_json(text):
        return [Row(where, dict[str, Json](cells)) for where, cells in read_sheet(path).rows]
    if text.lstrip().startswith("{") and path.suffix.lower() == ".jsonl":
        return _json_lines(path, text)
    content = parse_json(path, text)
    rows = [row for row in content if isinstance(row, dict)] if isinstance(content, list) else []
    if not isinstance(content, list) or len(rows) < len(content):
        raise UsageError(f"{str(path)!r} must hold a list of objects, one a row")
    return [Row(f"entry {number}", row) for number, row in enumerate(rows, 1)]


def columns_of(path: Path) -> tuple[str, ...]:
    """The heading of a table, without reading the rest; empty for a file that has none."""
    try:
        with path.open("rb") as file:
            text, _ = _without_hint(file.read(_HEADING_BYTES).decode("utf-8-sig"))
        return tuple(name.strip() for name in next(csv.reader(io.StringIO(text), delimiter=_delimiter(text)), ()))
    except (OSError, UnicodeDecodeError, csv.Error):
        return ()


def is_json(text: str) -> bool:
    """Whether a text is meant as JSON."""
    return text.lstrip()[:1] in ("[", "{")


def parse_json(path: Path, text: str, where: str = "") -> Json:
    """A text of a file as JSON."""
    try:
        content: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{str(path)!r}{where} is no JSON: {error}") from error
    return content


def unusable(name: str, problems: Sequence[str], what: str = "rows") -> UsageError:
    """The error that names what is wrong with a file."""
    shown = "".join(f"\n  {line}" for line in by_kind(problems))
    return UsageError(f"{name!r} has {counted(len(problems), what)} that cannot be used:{shown}")


def by_kind(found: Sequence[str] | Sequence[Flaw]) -> list[str]:
    """Problems such as "line 3: no id", one a line; where they are many, a line for each kind, the commonest first."""
    problems = list(map(str, found))
    if len(problems) <= _N_SHOWN:
        return problems
    kinds: dict[str, list[str]] = {}
    for problem in problems:
        # What is quoted or counted differs from row to row; what is wrong does not.
        kinds.setdefault(_VALUES.sub("_", problem.partition(": ")[2] or problem), []).append(problem)
    ordered = sorted(kinds.values(), key=len, reverse=True)
    lines = [f"{group[0]}{f' (and {len(group) - 1} more of this kind)' if len(group) > 1 else ''}" for group in ordered]
    n_left = sum(map(len, ordered[_N_SHOWN:]))
    return lines[:_N_SHOWN] + ([f"and {n_left} more of {len(ordered) - _N_SHOWN} other kinds"] if n_left else [])


def csv_text(rows: Iterable[Sequence[Cell]]) -> str:
    """Rows as CSV, no cell of which a spreadsheet takes for a formula."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([safe_cell(cell) for cell in row] for row in rows)
    return buffer.getvalue()


def _json_lines(path: Path, text: str) -> list[Row[Json]]:
    rows = []
    # Cut at newlines alone: a sentence may hold other characters that count as ends of lines.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            content = parse_json(path, line, f", line {number}")
            if not isinstance(content, dict):
                raise UsageError(f"{str(path)!r}, line {number}: an object was expected, got {line[:80]!r}")
            rows.append(Row(f"line {number}", content))
    return rows


def _without_hint(text: str) -> tuple[str, int]:
    """The text after a line such as `sep=;`, which spreadsheets write for themselves, and how many lines that was."""
    first, _, rest = text.partition("\n")
    return (rest, 1) if re.fullmatch(r"sep=.", first.strip().lower()) else (text, 0)


def _delimiter(text: str) -> str:
    heading = re.sub(r'"[^"]*"', "", text.partition("\n")[0])
    return max(_DELIMITERS, key=heading.count)
