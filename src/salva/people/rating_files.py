"""A table file to rows: CSV, TSV, JSON and JSON lines, as spreadsheets, notebooks and benchmarks write them.

Bytes come in, rows of text cells go out. Knows nothing of what the cells mean; whatever cannot be a table is named,
with what to do about it.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from salva.errors import UsageError

Row = dict[str, str]

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def read_rows(path: Path) -> list[Row]:
    """The rows of a table file, every cell as text; lists become numbered columns."""
    text = _text_of(path)
    if not text.strip():
        raise UsageError(f"{str(path)!r} is empty; a table with one row a rating is wanted")
    if text.lstrip()[0] in "[{":
        return [_flat(row) for whole in _json_rows(path, text) for row in _unfolded(whole)]
    return _table_rows(path, text)


def column_names(rows: list[Row]) -> list[str]:
    """Every column that occurs, in order."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _text_of(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error
    if data.startswith(b"PK\x03\x04"):
        raise UsageError(f"{str(path)!r} is a spreadsheet or another packed file; save its sheet as CSV (UTF-8)")
    try:
        return data.decode("utf-16" if data.startswith(_UTF16_MARKS) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{str(path)!r} is not in UTF-8 ({error}); save it as CSV (UTF-8)") from error


def _table_rows(path: Path, text: str) -> list[Row]:
    """Rows under a heading; the heading says by what cells are parted."""
    if (hint := text.splitlines()[0].strip()).lower().startswith("sep=") and len(hint) == len("sep=,"):
        text = text.partition("\n")[2]
    heading = re.sub(r'"[^"]*"', "", text.partition("\n")[0])
    delimiter = max(",\t;", key=heading.count)
    cells = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    try:
        names = [name.strip() for name in next(cells)]
        if twice := [name for name, n in Counter(names).items() if name and n > 1]:
            raise UsageError(f"{str(path)!r} has several columns named {twice[0]!r}; give each a name of its own")
        for row in cells:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(names):
                where = f"{str(path)!r}, line {cells.line_num}"
                raise UsageError(f"{where}: {len(row)} cells under {len(names)} columns")
            rows.append({name or "row": cell for name, cell in zip(names, row, strict=True) if name or cell.strip()})
    except csv.Error as error:
        raise UsageError(f"{str(path)!r}, line {cells.line_num}: {error}") from error
    if not rows:
        raise UsageError(f"{str(path)!r} has a heading and no rows")
    if delimiter == ";":
        # Where semicolons part the cells, the comma is free to be the decimal point, and is.
        return [
            {
                name: cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell.strip()) else cell
                for name, cell in r.items()
            }
            for r in rows
        ]
    return rows


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
    if len(lists) == len(values) > 1 and len({len(one) for one in lists}) == 1:
        return [dict(zip(content, row, strict=True)) for row in zip(*lists, strict=True)]
    tables = [one for one in lists if one and all(isinstance(row, dict) for row in one)]
    return tables[0] if len(tables) == 1 else [content]


def _unfolded(row: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """The row; or, where it maps several names to lists of ratings, one row each: `"models": {"x": [5, 4, 5]}`."""
    for name, value in row.items():
        if isinstance(value, dict) and value and all(_is_ratings(one) for one in value.values()):
            rest = {key: cell for key, cell in row.items() if key != name}
            for key, ratings in value.items():
                yield {**rest, name.removesuffix("s"): key, "rater": ratings}
            return
    yield row


def _is_ratings(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, int | float | None) for one in value)


def _flat(row: Mapping[str, object], prefix: str = "") -> Row:
    flat: Row = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list):
            flat |= {f"{prefix}{name}_{number}": _text(one) for number, one in enumerate(value, 1)}
        else:
            flat[prefix + name] = _text(value)
    return flat


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return "" if value is None else str(value)
