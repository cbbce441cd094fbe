"""Records to rows and back.

A row is a mapping from column to value both ways, so no column depends on its place.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, TypeAlias, TypeVar, cast

from salva.core.case import Case, case_from_json, case_to_json
from salva.core.fingerprint import Json
from salva.core.observation import Observation, observation_from_json, observation_to_json
from salva.core.protocols import Ticket
from salva.core.secrets import redact, redacted
from salva.core.verdict import Failure, Observers, Outcome, Verdict
from salva.store.records import (
    Status,
    StoredComponent,
    StoredImage,
    StoredObservation,
    StoredRender,
    query_from_json,
    query_to_json,
)
from salva.store.schema import COLUMNS, VERDICT_KEY

Value: TypeAlias = str | int | float | None
Row: TypeAlias = dict[str, Value]
_Kind = TypeVar("_Kind")

KEYS: Mapping[str, tuple[str, ...]] = {
    "meta": ("key",),
    "components": ("component_id",),
    "cases": ("case_id",),
    "images": ("image_id",),
    "renders": ("render_key",),
    "tickets": ("render_key",),
    "observations": ("observation_key",),
    "verdicts": VERDICT_KEY,
}
"""What tells the rows of a table apart."""

DIGESTED: Mapping[str, tuple[str, ...]] = {
    table: tuple(column for column in COLUMNS[table] if column not in ("digest", "attempts"))
    for table in ("meta", "components", "cases", "renders", "observations", "verdicts")
}
"""Tables whose rows carry a digest, and the columns it covers. How often work was tried is none of its content; images
have a digest of their file."""

_FAILURE_FIELDS = ("failure_type", "role", "message", "entity", "expected", "seen")

# Escaped to ASCII: text read off an image may hold lone surrogates, which SQLite does not take.
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def to_text(value: object) -> str:
    """A value as the JSON text a column holds."""
    return _ENCODER.encode(value)


def storable(text: str) -> str:
    """Text that any SQLite column takes."""
    return text.encode("utf-8", "replace").decode()


def quoted(columns: Iterable[str]) -> str:
    """Columns as SQL writes them; one of them is a word of SQL's own."""
    return ", ".join(f'"{column}"' for column in columns)


@functools.cache
def select(table: str, where: str = "") -> str:
    """The statement that reads whole rows of a table."""
    return f"SELECT {quoted(COLUMNS[table])} FROM {table} {where}"


@functools.cache
def insert(table: str, columns: tuple[str, ...], conflict: str = "REPLACE") -> str:
    """The statement that stores a row of these columns; a table that counts attempts counts one more."""
    values = [f":{column}" for column in columns]
    if "attempts" in COLUMNS[table]:
        (key,) = KEYS[table]
        columns = (*columns, "attempts")
        values.append(f"COALESCE((SELECT attempts FROM {table} WHERE {key} = :{key}), 0) + 1")
    return f"INSERT OR {conflict} INTO {table} ({quoted(columns)}) VALUES ({', '.join(values)})"


@functools.cache
def copy_of(table: str) -> str:
    """The statement that stores a whole row as it is, in place of one with its key."""
    columns = COLUMNS[table]
    return f"INSERT OR REPLACE INTO {table} ({quoted(columns)}) VALUES ({', '.join(f':{c}' for c in columns)})"


def digest_of_row(table: str, row: Mapping[str, Value]) -> str:
    """What a row's digest must be."""
    filled = [f"{column}:{value}" for column in DIGESTED[table] if (value := row.get(column)) is not None]
    return hashlib.blake2b("\0".join(filled).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def is_fit(table: str, row: sqlite3.Row) -> bool:
    """Whether a row's content has its digest; what it says counts as missing otherwise."""
    return bool(row["digest"] == digest_of_row(table, dict(row)))


def _digested(table: str, row: Row) -> Row:
    row["digest"] = digest_of_row(table, row)
    return row


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is no number")
    return number


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)


def parsed_json(text: str) -> Json:
    """What a JSON text says; NaN and infinities, which salva never writes, are a ValueError."""
    return cast(Json, _DECODER.decode(text))


def _parsed_as(kind: type[_Kind], text: str) -> _Kind:
    value = parsed_json(text)
    if not isinstance(value, kind):
        raise ValueError(f"{text[:40]!r} is not what stands in such a column")
    return value


_list: Callable[[str], list[Any]] = functools.partial(_parsed_as, list)
_object: Callable[[str], dict[str, Any]] = functools.partial(_parsed_as, dict)


def component_to_row(component: StoredComponent) -> Row:
    """A component as its row."""
    return _digested(
        "components",
        {
            "component_id": component.component_id,
            "role": component.role,
            "label": component.label,
            "is_formula_seen": int(component.is_formula_seen),
            "identity": to_text(component.identity),
        },
    )


def note_to_row(key: str, value: Json) -> Row:
    """A note of the run as its row."""
    return _digested("meta", {"key": key, "value": to_text(redacted(value))})


def component_from_row(row: sqlite3.Row) -> StoredComponent:
    """A component from its row."""
    return StoredComponent(
        component_id=row["component_id"],
        role=row["role"],
        label=row["label"],
        is_formula_seen=bool(row["is_formula_seen"]),
        identity=_object(row["identity"]),
    )


def case_to_row(ordinal: int, case: Case, primary: str = "") -> Row:
    """A case as its row; primary: its primary check in this run."""
    record = to_text(case_to_json(case))
    return _digested("cases", {"ordinal": ordinal, "case_id": case.case_id, "record": record, "primary_check": primary})


def case_from_row(row: sqlite3.Row) -> Case:
    """A case from its row."""
    return case_from_json(_object(row["record"]))


def image_to_row(image: StoredImage) -> Row:
    """An image as its row."""
    return {column: getattr(image, column) for column in COLUMNS["images"]}


def image_from_row(row: sqlite3.Row) -> StoredImage:
    """An image from its row."""
    return StoredImage(
        image_id=row["image_id"],
        width=row["width"],
        height=row["height"],
        digest=row["digest"],
        n_bytes=row["n_bytes"],
    )


def render_to_row(render: StoredRender, key: str) -> Row:
    """A render as its row, under its key."""
    return _digested(
        "renders",
        {
            "render_key": key,
            "component_id": render.component_id,
            "text": render.text,
            "formula": render.formula,
            "seed": render.seed,
            "repeat": render.repeat,
            "status": str(render.status),
            "image_id": render.image_id,
            "provenance": to_text(redacted(dict(render.provenance))),
            "error": storable(redact(render.error)),
            "passes_over": int(render.passes_over),
        },
    )


def render_from_row(row: sqlite3.Row) -> StoredRender:
    """A render from its row."""
    return StoredRender(
        component_id=row["component_id"],
        text=row["text"],
        formula=row["formula"],
        seed=row["seed"],
        repeat=row["repeat"],
        status=Status(row["status"]),
        image_id=row["image_id"],
        provenance=_object(row["provenance"]),
        error=row["error"],
        passes_over=bool(row["passes_over"]),
    )


def ticket_to_row(ticket: Ticket, key: str, component_id: str) -> Row:
    """A ticket as its row, under the key of its render."""
    return {
        "render_key": key,
        "component_id": component_id,
        "place": ticket.place,
        "expires_at": ticket.expires_at,
        "provenance": to_text(redacted(dict(ticket.provenance))),
    }


def ticket_from_row(row: sqlite3.Row) -> Ticket:
    """A ticket from its row."""
    return Ticket(place=row["place"], expires_at=row["expires_at"], provenance=_object(row["provenance"]))


def observation_to_row(look: StoredObservation, key: str) -> Row:
    """An observation as its row, under its key."""
    seen = None if look.observation is None else to_text(redacted(observation_to_json(look.observation)))
    return _digested(
        "observations",
        {
            "observation_key": key,
            "component_id": look.component_id,
            "image_id": look.image_id,
            "query": to_text(query_to_json(look.query)),
            "given": to_text(look.given),
            "status": str(look.status),
            "observation": seen,
            "error": storable(redact(look.error)),
        },
    )


def observation_of(seen: str) -> Observation:
    """What was observed, from its column, unchecked."""
    return observation_from_json(json.loads(seen))


def observation_from_row(row: sqlite3.Row, label: str) -> StoredObservation:
    """An observation from its row."""
    return StoredObservation(
        component_id=row["component_id"],
        image_id=row["image_id"],
        query=query_from_json(_object(row["query"])),
        given=_object(row["given"]),
        status=Status(row["status"]),
        observation=None if row["observation"] is None else observation_of(row["observation"]),
        error=row["error"],
        label=label,
    )


@functools.cache
def observers_to_text(observers: Observers) -> str:
    """Observers as their column holds them."""
    # Not escaped, so that rows stand in the order of the names.
    return storable(json.dumps(observers, ensure_ascii=False, separators=(",", ":")))


def observers_from_text(text: str) -> Observers:
    """Observers from their column."""
    return tuple(_list(text))


def _failures_to_text(failures: Iterable[Failure]) -> str:
    return to_text(redacted([[getattr(failure, name) for name in _FAILURE_FIELDS] for failure in failures]))


def _failures_from_text(text: str) -> tuple[Failure, ...]:
    return tuple(Failure(**dict(zip(_FAILURE_FIELDS, values, strict=True))) for values in _list(text))


def _scores_from_text(text: str) -> dict[str, float]:
    # Whole numbers and yes or no too, as a check may give them; what else stands there is refused later.
    return {name: float(score) if isinstance(score, int) else score for name, score in _object(text).items()}


_VERDICT_FIELDS: Mapping[str, tuple[Callable[[Any], Value], Callable[[Any], Any]]] = {
    "observers": (observers_to_text, observers_from_text),
    "outcome": (str, Outcome),
    "failure_types": (to_text, lambda text: tuple(_list(text))),
    "failures": (_failures_to_text, _failures_from_text),
    "scores": (lambda scores: to_text(dict(scores)), _scores_from_text),
    "images": (lambda images: to_text(dict(images)), _object),
    "reason": (lambda reason: storable(redact(reason)), lambda reason: reason),
    "is_refused": (int, bool),
}
"""How a field of a verdict becomes its column and back; texts and numbers that are not here stay as they are."""
_AS_IT_IS: tuple[Callable[[Any], Value], Callable[[Any], Any]] = (lambda value: value, lambda value: value)
_VERDICT_CODECS = tuple((field.name, *_VERDICT_FIELDS.get(field.name, _AS_IT_IS)) for field in fields(Verdict))


def verdict_to_row(verdict: Verdict) -> Row:
    """A verdict as its row."""
    return _digested("verdicts", {name: encode(getattr(verdict, name)) for name, encode, _ in _VERDICT_CODECS})


def verdict_from_row(row: sqlite3.Row) -> Verdict:
    """A verdict from its row."""
    return Verdict(**{name: decode(row[name]) for name, _, decode in _VERDICT_CODECS})
