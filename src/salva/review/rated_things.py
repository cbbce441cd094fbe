"""Which case, model, repeat and pair of text and picture a rated thing is about, told from its row.

Ratings come in, a place for each thing and a case for each subject go out. Roles of text and picture that a check
scores make its cases; anything else is a case of its own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from salva.component_facts import pair_scorings
from salva.core.case import Case, Prompt
from salva.core.exchange import Flaw
from salva.core.scoring import Pair, PairScoring
from salva.english.words import number_word
from salva.errors import UsageError
from salva.review.rating_cells import Place as RowPlace
from salva.review.rating_cells import column_key
from salva.review.rating_files import Row, column_names
from salva.review.ratings import MODEL, ROLE_COLUMNS, THING, Ratings
from salva.review.role_codes import IMAGE, TEXT, plain_role

UNNAMED_MODEL = "unnamed"
RATED = "rated"
"""The check of things that were rated; a rating alone decides none."""
RATINGS = "ratings"
"""The suite of things that no check scores."""

_CASE_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TEXT = ("text", "prompt", "caption", "sentence")
_CATEGORY = ("category", "categories")
_LABELS = ("category", "categories", "dimension", "aspect", "split", "question", "subset", "law")
_FEWEST_ROLES = 2
_NO_CASE = re.compile(r"(text|image|picture).*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a rated thing is about."""

    case_id: str
    model: str
    repeat: int
    pair: Pair | None = None
    """The roles of text and picture, where a check scores such pairs."""


@dataclass(slots=True, kw_only=True)
class Placed:
    """Where every rated thing belongs."""

    suite: str
    check: str
    places: list[Place | None] = field(default_factory=list)
    """One a thing; None where its row does not say enough."""
    cases: dict[str, Case] = field(default_factory=dict)
    flaws: list[Flaw] = field(default_factory=list)

    @property
    def models(self) -> tuple[str, ...]:
        """Every model, in order of appearance."""
        return tuple(dict.fromkeys(place.model for place in self.places if place))


def place_all(ratings: Ratings, model: str) -> Placed:
    """A place for every thing and the cases they make; model: who painted where no column says."""
    names = {column_key(name): name for name in reversed(column_names(ratings.rows))}
    text_role, image_role = map(names.get, ROLE_COLUMNS)
    model_column = next((name for name in names if MODEL.fullmatch(name)), "")
    reader = _Reader(ratings, names, names.get(model_column, ""), model or UNNAMED_MODEL)
    scorings = pair_scorings()
    if not text_role or not image_role or not scorings:
        return reader.single_things()
    known_roles = dict.fromkeys(role for scoring in scorings.values() for pair in scoring.pairs for role in pair)
    roles = []
    for row in ratings.rows:
        case_id = row.get(names.get("case_id", ""), "").strip()
        text = plain_role(case_id, TEXT, row.get(text_role, ""), known_roles)
        roles.append((_role(text), _role(plain_role(case_id, IMAGE, row.get(image_role, ""), known_roles))))
    check = max(scorings, key=lambda name: sum(pair in scorings[name].pairs for pair in roles))
    own = {role for pair in scorings[check].pairs for role in pair}
    named = {role for pair in roles for role in pair if role in own}
    if len(named) < _FEWEST_ROLES and all(text == image for text, image in roles):
        # Every suite has a picture "a" of its own text; only a check that scores several texts has more such roles.
        reader.check_named()
        return reader.single_things()
    return reader.scored_pairs(check, scorings[check], (text_role, image_role), roles)


class _Reader:
    """Rows to places; knows which column says what."""

    def __init__(self, ratings: Ratings, names: Mapping[str, str], model_column: str, model: str) -> None:
        self._ratings, self._names = ratings, names
        self._model_column, self._model = model_column, model
        self._repeat_column = names.get("repeat") or names.get("seed") or ""
        self._repeats: dict[tuple[str, str], dict[str, int]] = {}

    def scored_pairs(self, check: str, scoring: PairScoring, columns: tuple[str, str], roles: Sequence[Pair]) -> Placed:
        """A case for each set of texts and pictures that a check scores against each other."""
        placed = Placed(suite=scoring.suite, check=check)
        column, roles_named = self._case_column(), _listed(dict.fromkeys(role for role, _ in scoring.pairs))
        rows_of: dict[str, list[tuple[Row, str, RowPlace]]] = {}
        taken: dict[Place, int] = {}
        for index, (row, pair) in enumerate(zip(self._ratings.rows, roles, strict=True)):
            key, what = row.get(column, "").strip(), ""
            if not key:
                what = f"no {column}; its ratings are in no verdict"
            elif pair not in scoring.pairs:
                shown = " and ".join(repr(row.get(name, "")) for name in columns)
                n_pairs = number_word(len(scoring.pairs))
                what = (
                    f"text_role and image_role are {shown}, none of the {n_pairs} pairs of {roles_named}; in no verdict"
                )
            place = None
            if not what:
                model, repeat = self._painted(row, key)
                place = Place(case_id=_case_id(key), model=model, repeat=repeat, pair=pair)
                if taken.setdefault(place, index) != index:
                    what, place = f"the pair of {key!r} stands in another row too; in no verdict", None
                else:
                    rows_of.setdefault(key, []).append((row, pair[0], self._ratings.places[index]))
            placed.places.append(place)
            if what:
                placed.flaws.append(self._flaw(index, what))
        if not rows_of:
            raise UsageError(
                f"{self._ratings.places[0][0]!r}: no row has a text_role and an image_role among {roles_named} "
                f"(also with T_ or I_ in front); {placed.flaws[0].what}"
            )
        for key, rows in rows_of.items():
            placed.cases[_case_id(key)] = self._scored_case(scoring, key, rows, placed.flaws)
        return placed

    def single_things(self) -> Placed:
        """Anything else: a case a thing, under each model that painted it."""
        placed = Placed(suite=RATINGS, check=RATED)
        columns = [name for name in self._ratings.named_by if name not in (self._model_column, self._repeat_column)]
        taken: set[Place] = set()
        for index, row in enumerate(self._ratings.rows):
            key = " / ".join(filter(None, (row.get(name, "").strip() for name in columns))) or f"row {index + 1}"
            model, repeat = self._painted(row, key)
            place = Place(case_id=_case_id(key), model=model, repeat=repeat)
            while place in taken:
                # A table of one row a thing may name several alike; each row is still a thing of its own.
                place = replace(place, repeat=place.repeat + 1)
            taken.add(place)
            placed.places.append(place)
            if place.case_id not in placed.cases:
                placed.cases[place.case_id] = self._single(place.case_id, key, row)
        return placed

    def check_named(self) -> None:
        """A role alone does not say whose text or picture it is."""
        self._case_column()

    def _case_column(self) -> str:
        named = [name for name in self._ratings.named_by if THING.fullmatch(column_key(name))]
        free = [name for name in self._names.values() if THING.fullmatch(column_key(name))]
        column = next((name for name in (*named, *reversed(free)) if not _NO_CASE.fullmatch(column_key(name))), "")
        if not column:
            here = ", ".join(self._names.values())
            raise UsageError(f"no column among {here} names the triple, such as case_id; say which with --item")
        return column

    def _painted(self, row: Row, key: str) -> tuple[str, int]:
        """Model and repeat."""
        model = row.get(self._model_column, "").strip() or self._model
        cell = row.get(self._repeat_column, "").strip()
        seen = self._repeats.setdefault((key, model), {})
        is_number = column_key(self._repeat_column) == "repeat" and cell.isdecimal()
        return model, int(cell) if is_number else seen.setdefault(cell, len(seen))

    def _scored_case(
        self,
        scoring: PairScoring,
        key: str,
        rows: Sequence[tuple[Row, str, RowPlace]],
        flaws: list[Flaw],
    ) -> Case:
        roles = dict.fromkeys(role for role, _ in scoring.pairs)
        texts: dict[str, str] = {}
        for row, own, (file, where) in rows:
            for role, name in ((own, self._first(_TEXT)), *((r, self._names.get(f"t_{r}", "")) for r in roles)):
                text = row.get(name, "").strip()
                if text and texts.setdefault(role, text) != text:
                    what = f"another text of {role!r} of {key!r} than before; the first stands"
                    flaws.append(Flaw(file=file, where=where, what=what))
        category = next((cell for row, _, _ in rows if (cell := row.get(self._first(_CATEGORY), "").strip())), "")
        return scoring.rated_case(_case_id(key), key, texts, category)

    def _single(self, case_id: str, key: str, row: Row) -> Case:
        labels = {name: row.get(self._names[name], "").strip() for name in _LABELS if name in self._names}
        return Case(
            case_id=case_id,
            suite=RATINGS,
            category=labels.get("category") or labels.get("categories") or RATED,
            prompts=(Prompt(role="a", text=row.get(self._first(_TEXT), "").strip()),),
            check=RATED,
            labels={"id": key, **{name: cell for name, cell in labels.items() if cell}},
        )

    def _first(self, words: Sequence[str]) -> str:
        return next((self._names[word] for word in words if word in self._names), "")

    def _flaw(self, index: int, what: str) -> Flaw:
        file, where = self._ratings.places[index]
        return Flaw(file=file, where=where, what=what)


def _listed(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _role(cell: str) -> str:
    """A role of whatever names it: a, pv, also T_pv, I_pi."""
    return re.sub(r"^[ti]_", "", column_key(cell))


def _case_id(key: str) -> str:
    if _CASE_ID.fullmatch(key):
        return key
    slug = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")[:60].strip("-")
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{slug}-{digest}" if slug else f"case-{digest}"
