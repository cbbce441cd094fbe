"""Cases of a rating table.

A rating table comes in; a case for each subject and a place for each item go out. Where a check scores pairs of text
and image, their roles make the check's cases; anything else is a case of its own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from salva.component_facts import pair_scorings
from salva.core.case import Case, Prompt
from salva.core.exchange import Flaw
from salva.core.scoring import Pair, PairScoring
from salva.errors import UsageError
from salva.messages import message
from salva.review.cells import FileRow
from salva.review.rating_table import RatingTable
from salva.review.run_join import pair_of

UNNAMED_MODEL = "unnamed"
RATED = "rated"
"""The check of items that no other check scores; a rating alone decides nothing."""
RATINGS = "ratings"
"""The suite of such items."""
_CASE_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_MODEL = ("model", "t2i_model")
_REPEAT = ("repeat", "seed")
_ROLES = ("text_role", "image_role")
_TEXT = ("text", "prompt")
_LABELS = ("category", "dimension", "question", "law")


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedItem:
    """What a rated item is about."""

    case_id: str
    model: str
    repeat: int
    pair: Pair | None = None
    """The roles of text and image, where a check scores such pairs."""


@dataclass(slots=True, kw_only=True)
class RatedItems:
    """Where every rated item belongs."""

    suite: str = RATINGS
    check: str = RATED
    places: dict[str, RatedItem] = field(default_factory=dict)
    """By item; those whose row does not say enough are missing."""
    cases: dict[str, Case] = field(default_factory=dict)
    flaws: list[Flaw] = field(default_factory=list)

    @property
    def models(self) -> tuple[str, ...]:
        """Every model, in order of appearance."""
        return tuple(dict.fromkeys(place.model for place in self.places.values()))


def place_all(table: RatingTable, model: str) -> RatedItems:
    """A place for every item and the cases they make; model: the one of rows that name none."""
    scorings = pair_scorings()
    known = dict.fromkeys(role for scoring in scorings.values() for pair in scoring.pairs for role in pair)
    pairs = {item: pair_of(line, line.cell("case_id"), known) for item, line in table.items.items()}
    roles = {role for pair in pairs.values() for role in pair}
    is_crossed = any(text != image and text and image for text, image in pairs.values())
    # Every suite has images held against their own text; only a check that scores pairs has several such roles.
    if not scorings or not (is_crossed or len(roles & {*known}) > 1):
        return _single_items(table, model)
    check = max(scorings, key=lambda name: sum(pair in scorings[name].pairs for pair in pairs.values()))
    return _scored_pairs(table, model, check, scorings[check], pairs)


def _scored_pairs(
    table: RatingTable, model: str, check: str, scoring: PairScoring, pairs: Mapping[str, Pair]
) -> RatedItems:
    """A case for each set of texts and images that a check scores against each other."""
    placed, repeats = RatedItems(suite=scoring.suite, check=check), _Repeats()
    column = table.item_columns[0]
    rows: dict[str, list[tuple[FileRow, str]]] = {}
    for item, line in table.items.items():
        key, pair = line.cell(column), pairs[item]
        if pair not in scoring.pairs:
            shown = " and ".join(repr(line.cell(name)) for name in _ROLES)
            placed.flaws.append(line.flaw(f"text_role and image_role are {shown}, no pair of {check}"))
            continue
        rows.setdefault(key, []).append((line, pair[0]))
        name = _first(line, _MODEL) or model or UNNAMED_MODEL
        repeat = repeats.number(key, name, line)
        placed.places[item] = RatedItem(case_id=_case_id(key), model=name, repeat=repeat, pair=pair)
    if not rows:
        known = ", ".join("/".join(pair) for pair in scoring.pairs)
        raise UsageError(message("role-unknown", pairs=known))
    for key, lines in rows.items():
        texts: dict[str, str] = {}
        for line, role in lines:
            text = _first(line, _TEXT)
            if text and texts.setdefault(role, text) != text:
                placed.flaws.append(line.flaw(f"another text of {role!r} of {key!r} than before; the first counts"))
        category = next((cell for line, _ in lines if (cell := line.cell("category"))), "")
        placed.cases[_case_id(key)] = scoring.rated_case(_case_id(key), key, texts, category)
    return placed


def _single_items(table: RatingTable, model: str) -> RatedItems:
    """Anything else: a case an item, under each model that generated it."""
    placed, repeats = RatedItems(), _Repeats()
    columns = [name for name in table.item_columns if name not in (*_MODEL, *_REPEAT)] or table.item_columns
    for item, line in table.items.items():
        key = " / ".join(filter(None, map(line.cell, columns)))
        name = _first(line, _MODEL) or model or UNNAMED_MODEL
        case_id = _case_id(key)
        placed.places[item] = RatedItem(case_id=case_id, model=name, repeat=repeats.number(key, name, line))
        labels = {label: cell for label in _LABELS if (cell := line.cell(label))}
        placed.cases.setdefault(
            case_id,
            Case(
                case_id=case_id,
                suite=RATINGS,
                category=labels.get("category") or RATED,
                prompts=(Prompt(role="a", text=_first(line, _TEXT)),),
                checks=(RATED,),
                labels={"id": key, **labels},
            ),
        )
    return placed


class _Repeats:
    """Numbers of repeats: as they stand under `repeat`; seeds in order of appearance."""

    def __init__(self) -> None:
        self._seeds: dict[tuple[str, str], dict[str, int]] = {}

    def number(self, key: str, model: str, line: FileRow) -> int:
        """The repeat of a row."""
        repeat = line.cell("repeat")
        seeds = self._seeds.setdefault((key, model), {})
        return int(repeat) if repeat.isdecimal() else seeds.setdefault(_first(line, _REPEAT), len(seeds))


def _first(line: FileRow, names: Iterable[str]) -> str:
    return next(filter(None, map(line.cell, names)), "")


def _case_id(key: str) -> str:
    if _CASE_ID.fullmatch(key):
        return key
    slug = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")[:60].strip("-")
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{slug}-{digest}" if slug else f"case-{digest}"
