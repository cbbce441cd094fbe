"""What stands in the cells of a rating table: numbers, silence, two halves of one rating, and what is none of them.

Cells come in, numbers go out; whatever is no rating is kept as a flaw with its file and row, never dropped in silence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from salva.core.exchange import Flaw
from salva.core.score_rubric import HIGHEST
from salva.review.rating_files import Row

_OBJECTS = re.compile(r"(^|_)obj(ect)?s?(_accuracy)?(_score)?(?=_|$)")
_RELATIONS = re.compile(r"(^|_)((semantic_)?relevance|rel(ation)?s?(_accuracy)?)(_score)?(?=_|$)")
_SILENT = ("", "na", "n/a", "nan", "null", "none", "-", "–", "—", ".", "?", "#n/a")
_WORDS = {"yes": 1.0, "true": 1.0, "failed": 1.0, "no": 0.0, "false": 0.0, "holds": 0.0}
Place = tuple[str, str]
"""A file, and where in it a row stands."""


def column_key(name: str) -> str:
    """A column's name as it is compared: small letters, no range in brackets, words joined by underscores."""
    return re.sub(r"[\W_]+", "_", re.sub(r"\(.*?\)", "", name.lower())).strip("_")


def parts(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Columns by whose rating they hold; two that rate objects and relations make one rating together."""
    names = list(names)
    keys = {name: column_key(name) for name in names}
    checks = {_RELATIONS.sub("", keys[name]).strip("_"): name for name in names if _RELATIONS.search(keys[name])}
    owners: dict[str, tuple[str, ...]] = {}
    for name in names:
        whose = _OBJECTS.sub("", keys[name]).strip("_")
        if _OBJECTS.search(keys[name]) and whose in checks:
            owners[whose or f"{name} + {checks[whose]}"] = (name, checks[whose])
    taken = {name for pair in owners.values() for name in pair}
    return owners | {name: (name,) for name in names if name not in taken}


def rating_columns(names: Iterable[str]) -> tuple[str, ...]:
    """The columns that rate objects and relations; empty without both."""
    return next((columns for columns in parts(names).values() if len(columns) > 1), ())


def as_number(cell: str) -> float | None:
    """A cell as a finite number; yes and no, and what they say of a check, are 1 and 0."""
    try:
        value = float(cell)
    except ValueError:
        return _WORDS.get(cell.strip().lower())
    return value if value == value and abs(value) != float("inf") else None


def is_numeric(rows: list[Row], name: str) -> bool:
    """Whether most filled cells of a column are numbers; a few bad ones are reported, not hidden."""
    filled = [cell for row in rows if not is_silent(cell := row.get(name, ""))]
    return bool(filled) and sum(as_number(cell) is not None for cell in filled) >= 0.9 * len(filled)


def no_numbers(rows: list[Row], name: str) -> str:
    """How many filled cells of a column are no numbers, in words."""
    filled = [cell for row in rows if not is_silent(cell := row.get(name, ""))]
    n_bad = sum(as_number(cell) is None for cell in filled)
    return "holds no numbers" if n_bad == len(filled) else f"{n_bad} of its {len(filled)} cells are no numbers"


def is_silent(cell: str) -> bool:
    """Whether a cell says that nobody rated."""
    return cell.strip().lower() in _SILENT


def silence(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Why columns hold no rating, in words: left empty, or filled with what says that nobody rated."""
    words = Counter(cell for row in rows for name in names if (cell := row.get(name, "").strip()))
    if not words:
        return "nobody has filled it in yet"
    told = ", ".join(map(repr, dict(words.most_common(3))))
    return f"no cell is a rating; {told} and the like are read as no rating at all, so write numbers, or yes and no"


class Problems:
    """What goes wrong while a table is read."""

    def __init__(self, file: str, places: Sequence[Place]) -> None:
        self._file = file
        self._places = places
        self.flaws: list[Flaw] = []

    def rating(self, row: Row, columns: Sequence[str], index: int) -> float | None:
        """One rating; of objects and relations the sum, and both must be there and from 0 to 50."""
        highest = HIGHEST if len(columns) > len(parts(columns)) else None
        numbers = {name: self._number(row, name, index, highest) for name in columns}
        given = {name: number for name, number in numbers.items() if number is not None}
        silent = [name for name in columns if is_silent(row.get(name, ""))]
        if given and silent and len(given) + len(silent) == len(columns):
            told = " and ".join(f"{name} is {row[name].strip()!r}" for name in given)
            self.add(f"{told}, and {' and '.join(silent)} is empty; a rating takes them together: left out", index)
        return sum(given.values()) if len(given) == len(columns) else None

    def _number(self, row: Row, name: str, index: int, highest: float | None) -> float | None:
        """A cell as a number; an empty one is silence, any other is a problem."""
        cell = row.get(name, "").strip()
        if is_silent(cell):
            return None
        value = as_number(cell)
        if value is None:
            self.add(f"{name} is {cell!r}, which is no number", index)
        elif highest is not None and not 0 <= value <= highest:
            self.add(f"{name} is {cell!r}; it must be from 0 to {highest:g}", index)
            return None
        return value

    def add(self, what: str, index: int | None = None) -> None:
        """Note a problem, of a row or of the whole table."""
        file, where = (self._file, "") if index is None else self._places[index]
        self.flaws.append(Flaw(file=file, where=where, what=what))
