"""Ratings by people and scores by judges, read from whatever table somebody keeps them in.

CSV, TSV, JSON or JSON lines; one row a rated thing with a column a rater (wide), or one row a rating with a column
that names the rater (long). Which column is which is found by its name and can always be said. Rows that cannot be
used are named and counted, never dropped in silence.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from salva.errors import UsageError

PERSON = re.compile(r"^(human|person|people|rater|annotator|annotation|annot|worker|expert|likert)", re.IGNORECASE)
_AVERAGE = re.compile(r"(avg|average|mean|majority|median)", re.IGNORECASE)
_RATER = ("rater", "rater_id", "annotator", "annotator_id", "worker", "worker_id", "user", "user_id", "coder")
_THING = ("item", "item_id", "case_id", "id", "sample_id", "image_id", "image", "text_id", "key", "unit", "name")
_VALUE = ("total", "score", "rating", "value", "label", "answer", "human_score", "overall")
_PARTS = (("objects", "relations"), ("object", "relevance"), ("object_accuracy", "relevance"))
_NO_SCORE = re.compile(r"(^|_)(id|index|seed|repeat|row|no|number)$", re.IGNORECASE)
_MAX_SHOWN = 5

Row = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which column is what; empty leaves it to the names."""

    things: tuple[str, ...] = ()
    """The columns that together name a rated thing."""
    rater: str = ""
    people: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """Ratings of the same things by people and by judges; None where somebody was silent."""

    things: tuple[str, ...]
    people: Mapping[str, Sequence[float | None]]
    judges: Mapping[str, Sequence[float | None]]
    groups: tuple[str, ...]
    """The group of each thing; all empty without one."""
    problems: tuple[str, ...] = ()
    """What could not be used, in sentences."""
    found: Mapping[str, str] = field(default_factory=dict)
    """Which columns were taken for what, for the reader to check."""

    def people_mean(self) -> list[float | None]:
        """The mean rating of each thing over those who rated it."""
        columns = list(self.people.values())
        means: list[float | None] = []
        for row in zip(*columns, strict=True):
            known = [value for value in row if value is not None]
            means.append(sum(known) / len(known) if known else None)
        return means


def read_ratings(path: Path, columns: Columns | None = None) -> Ratings:
    """The ratings in a file."""
    rows = read_rows(path)
    wanted = columns or Columns()
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in (*wanted.things, *wanted.people, *wanted.judges, wanted.rater, wanted.group):
        if name and name not in names:
            raise UsageError(f"{str(path)!r} has no column {name!r}; it has {', '.join(names)}")
    rater = wanted.rater or next((name for name in names if name.lower() in _RATER), "")
    return _long(path, rows, names, wanted, rater) if rater else _wide(path, rows, names, wanted)


def read_rows(path: Path) -> list[Row]:
    """The rows of a table file, every cell as text; lists become numbered columns."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error}") from error
    if not text.strip():
        raise UsageError(f"{str(path)!r} is empty; a table with one row a rating is wanted")
    if text.lstrip()[0] in "[{":
        return [_flat(row) for row in _json_rows(path, text)]
    first = text.splitlines()[0]
    delimiter = "\t" if first.count("\t") > first.count(",") else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = []
    try:
        for row in reader:
            if None in row or None in row.values():
                raise UsageError(
                    f"{str(path)!r}, line {reader.line_num}: {len([v for v in row.values() if v is not None])} cells "
                    f"under {len(reader.fieldnames or ())} columns"
                )
            rows.append({name or "row": value for name, value in row.items()})
    except csv.Error as error:
        raise UsageError(f"{str(path)!r}, line {reader.line_num}: {error}") from error
    if not rows:
        raise UsageError(f"{str(path)!r} has a heading and no rows")
    return rows


def _json_rows(path: Path, text: str) -> list[dict[str, object]]:
    try:
        content = json.loads(text)
    except json.JSONDecodeError:
        try:
            content = [json.loads(line) for line in text.splitlines() if line.strip()]
        except json.JSONDecodeError as error:
            raise UsageError(f"{str(path)!r} is neither JSON nor JSON lines: {error}") from error
    if isinstance(content, dict) and content and all(isinstance(value, dict) for value in content.values()):
        content = [{"id": key, **value} for key, value in content.items()]
    if isinstance(content, dict):
        content = [content]
    if not content or not all(isinstance(row, dict) for row in content):
        raise UsageError(f"{str(path)!r} holds no list of objects; one object a rating is wanted")
    return list(content)


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


def _wide(path: Path, rows: list[Row], names: list[str], wanted: Columns) -> Ratings:
    things = wanted.things or tuple(name for name in names if name.lower() in _THING)[:1]
    taken = {*things, wanted.group}
    numeric = [name for name in names if name not in taken and _is_numeric(rows, name)]
    people = wanted.people or _raters([name for name in numeric if PERSON.search(name)])
    judges = wanted.judges or tuple(
        name for name in numeric if name not in people and not PERSON.search(name) and not _NO_SCORE.search(name)
    )
    if not people:
        raise UsageError(
            f"{str(path)!r}: no column of people's ratings among {', '.join(names)}; name them with --people"
        )
    problems = _Problems(str(path))
    numbered = list(enumerate(rows, 1))
    table = {name: [problems.number(row, name, line) for line, row in numbered] for name in (*people, *judges)}
    return Ratings(
        things=tuple(_thing(row, things, line) for line, row in numbered),
        people={name: table[name] for name in people},
        judges={name: table[name] for name in judges},
        groups=tuple(row.get(wanted.group, "") for row in rows),
        problems=problems.told(),
        found={"things": " + ".join(things) or "rows", "people": ", ".join(people), "judges": ", ".join(judges)},
    )


def _long(path: Path, rows: list[Row], names: list[str], wanted: Columns, rater: str) -> Ratings:
    values = wanted.people or _value_columns(path, names, rater)
    things = wanted.things or tuple(name for name in names if name.lower() in _THING and name != rater)
    if not things:
        raise UsageError(f"{str(path)!r}: no column names the rated thing; say which with --item")
    taken = {*things, rater, *values, wanted.group}
    judges = wanted.judges or tuple(
        name for name in names if name not in taken and _is_numeric(rows, name) and not _NO_SCORE.search(name)
    )
    problems = _Problems(str(path))
    order: dict[str, int] = {}
    rated: dict[str, dict[str, float | None]] = {}
    scored: dict[str, dict[str, float | None]] = {name: {} for name in judges}
    groups: dict[str, str] = {}
    for line, row in enumerate(rows, 1):
        thing = _thing(row, things, line)
        order.setdefault(thing, len(order))
        groups.setdefault(thing, row.get(wanted.group, ""))
        parts = [problems.number(row, name, line) for name in values]
        mine = rated.setdefault(row.get(rater, "") or "?", {})
        if thing in mine:
            problems.add(f"line {line}: {row.get(rater)!r} rated {thing!r} twice; the first rating stands")
        else:
            mine[thing] = None if None in parts else sum(part for part in parts if part is not None)
        for name in judges:
            score = problems.number(row, name, line)
            if scored[name].setdefault(thing, score) != score:
                problems.add(f"line {line}: {name!r} gives {thing!r} another score than before; the first stands")
    return Ratings(
        things=tuple(order),
        people={name: [mine.get(thing) for thing in order] for name, mine in rated.items()},
        judges={name: [given.get(thing) for thing in order] for name, given in scored.items()},
        groups=tuple(groups[thing] for thing in order),
        problems=problems.told(),
        found={
            "things": " + ".join(things),
            "people": f"{len(rated)} raters in {rater}, rating {' + '.join(values)}",
            "judges": ", ".join(judges),
        },
    )


def _raters(named: list[str]) -> tuple[str, ...]:
    """Single raters where there are any; their average, which is no further person, only without them."""
    single = [name for name in named if not _AVERAGE.search(name)]
    return tuple(single or named)


def _value_columns(path: Path, names: list[str], rater: str) -> tuple[str, ...]:
    by_lower = {name.lower(): name for name in names if name != rater}
    for parts in _PARTS:
        if all(part in by_lower for part in parts):
            return tuple(by_lower[part] for part in parts)
    found = next((by_lower[name] for name in _VALUE if name in by_lower), None)
    if found is None:
        raise UsageError(f"{str(path)!r}: no column of ratings among {', '.join(names)}; name it with --people")
    return (found,)


def _thing(row: Row, things: tuple[str, ...], line: int) -> str:
    return " / ".join(row.get(name, "") for name in things) if things else str(line)


def _is_numeric(rows: list[Row], name: str) -> bool:
    """Whether most filled cells of a column are numbers; a few bad ones are reported, not hidden."""
    filled = [cell for row in rows if (cell := row.get(name, "").strip())]
    return bool(filled) and sum(_as_number(cell) is not None for cell in filled) >= 0.9 * len(filled)


def _as_number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}.get(cell.strip().lower())
    return value if value == value and abs(value) != float("inf") else None


class _Problems:
    """What went wrong in a file, counted, the first few in full."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._all: list[str] = []

    def number(self, row: Row, name: str, line: int) -> float | None:
        """A cell as a number; an empty one is silence, any other is a problem."""
        cell = row.get(name, "").strip()
        if not cell:
            return None
        value = _as_number(cell)
        if value is None:
            self.add(f"row {line}: {name} is {cell!r}, which is no number")
        return value

    def add(self, problem: str) -> None:
        """Note a problem."""
        self._all.append(problem)

    def told(self) -> tuple[str, ...]:
        """The first few problems, and how many more there are."""
        shown = [f"{self._where}, {problem}" for problem in self._all[:_MAX_SHOWN]]
        if len(self._all) > _MAX_SHOWN:
            shown.append(f"{self._where}: {len(self._all) - _MAX_SHOWN} more rows like these")
        return tuple(shown)
