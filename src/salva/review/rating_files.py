"""A file of ratings to rows of text: tables, and JSON in the shapes that notebooks and benchmarks write it.

Rows with where they stand go out, every cell as text. Knows nothing of what the cells mean.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from salva.errors import UsageError
from salva.files import tables
from salva.files.infiles import file_text

Row = dict[str, str]

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def read_rows(path: Path) -> list[tables.Row[str]]:
    """The rows of a file, every cell as text; lists become numbered columns."""
    text = file_text(path)
    if not text.strip():
        raise UsageError(f"{str(path)!r} is empty; a table with one row a rating is wanted")
    if tables.is_json(text):
        return [
            tables.Row(f"entry {number}", _flat(row))
            for number, whole in enumerate(_json_rows(path, text), 1)
            for row in _unfolded(whole)
        ]
    sheet = tables.read_sheet(path)
    if not sheet.rows:
        raise UsageError(f"{str(path)!r} has a heading and no rows")
    # Where semicolons part the cells, the comma is free to be the decimal point, and is.
    has_commas = sheet.delimiter == ";"
    return [
        tables.Row(where, {name or "row": _with_point(cell) if has_commas else cell for name, cell in cells.items()})
        for where, cells in sheet.rows
    ]


def column_names(rows: Iterable[Row]) -> list[str]:
    """Every column that occurs, in order."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _with_point(cell: str) -> str:
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell.strip()) else cell


def _json_rows(path: Path, text: str) -> list[Mapping[str, object]]:
    try:
        content = json.loads(text)
    except json.JSONDecodeError:
        try:
            content = [json.loads(line) for line in text.splitlines() if line.strip()]
        except json.JSONDecodeError as error:
            raise UsageError(f"{str(path)!r} is neither JSON nor JSON lines: {error}") from error
    if isinstance(content, dict):
        content = _rows_of_object(content)
    if not content or not all(isinstance(row, dict) for row in content):
        raise UsageError(f"{str(path)!r} holds no list of objects; one object a rating is wanted")
    return list(content)


def _rows_of_object(content: Mapping[str, object]) -> list[object]:
    """The rows in one JSON object: by their ids, by their columns, or under the one name that holds a list."""
    values = list(content.values())
    if values and all(isinstance(value, dict) for value in values):
        inner = [list(value) for value in values if isinstance(value, dict)]
        if all(keys == [str(i) for i in range(len(inner[0]))] for keys in inner):
            return [
                {name: value[key] for name, value in content.items() if isinstance(value, dict)} for key in inner[0]
            ]
        return [{"id": key, **value} for key, value in content.items() if isinstance(value, dict)]
    lists = [value for value in values if isinstance(value, list)]
    if len(lists) == len(values) > 1 and len({len(rows) for rows in lists}) == 1:
        return [dict(zip(content, row, strict=True)) for row in zip(*lists, strict=True)]
    tables = [rows for rows in lists if rows and all(isinstance(row, dict) for row in rows)]
    return tables[0] if len(tables) == 1 else [content]


def _unfolded(row: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """The row; or, where it maps several names to lists of ratings, one row each: `"models": {"x": [5, 4, 5]}`."""
    for name, value in row.items():
        if isinstance(value, dict) and value and all(_is_ratings(given) for given in value.values()):
            rest = {key: cell for key, cell in row.items() if key != name}
            for key, ratings in value.items():
                yield {**rest, name.removesuffix("s"): key, "rater": ratings}
            return
    yield row


def _is_ratings(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(rating, int | float | None) for rating in value)


def _flat(row: Mapping[str, object], prefix: str = "") -> Row:
    flat: Row = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list):
            flat |= {f"{prefix}{name}_{number}": _text(part) for number, part in enumerate(value, 1)}
        else:
            flat[prefix + name] = _text(value)
    return flat


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return "" if value is None else str(value)
