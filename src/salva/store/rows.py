"""Records to rows of salva.db and back, without loss."""

from __future__ import annotations

import functools
import json
from typing import TypeAlias, cast

from salva.core.observation import observation_from_json
from salva.core.verdict import Failure, Outcome, Verdict
from salva.store.records import Status, StoredImage, StoredLook, StoredRender, query_from_json

Row: TypeAlias = tuple[str | int | None, ...]

# Escaped to ASCII: text read off a picture may hold lone surrogates, which SQLite does not take.
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def to_text(value: object) -> str:
    """A value as the JSON text a column holds."""
    return _ENCODER.encode(value)


def storable(text: str) -> str:
    """Text that any SQLite column takes."""
    return text.encode("utf-8", "replace").decode()


@functools.cache
def put_statement(table: str, key: str, n_values: int) -> str:
    """The statement that stores a row and counts how often it was tried."""
    marks = ",".join("?" * n_values)
    attempts = f"COALESCE((SELECT attempts FROM {table} WHERE {key} = ?1), 0) + 1"
    return f"INSERT OR REPLACE INTO {table} VALUES ({marks},{attempts})"


def image_from_row(row: Row) -> StoredImage:
    """An image from its row."""
    image_id, width, height, digest, n_bytes = row
    return StoredImage(
        image_id=str(image_id),
        width=cast(int, width),
        height=cast(int, height),
        digest=str(digest),
        n_bytes=cast(int, n_bytes),
    )


def render_from_row(row: Row) -> StoredRender:
    """A render from its row."""
    return StoredRender(
        component_id=cast(str, row[1]),
        text=cast(str, row[2]),
        formula=cast("str | None", row[3]),
        seed=cast(int, row[4]),
        repeat=cast(int, row[5]),
        status=Status(cast(str, row[6])),
        image_id=cast("str | None", row[7]),
        provenance=json.loads(cast(str, row[8])),
        error=cast(str, row[9]),
    )


def look_from_row(row: Row, label: str) -> StoredLook:
    """A look from its row."""
    return StoredLook(
        component_id=cast(str, row[1]),
        image_id=cast(str, row[2]),
        query=query_from_json(json.loads(cast(str, row[3]))),
        given=json.loads(cast(str, row[4])),
        status=Status(cast(str, row[5])),
        observation=None if row[6] is None else observation_from_json(json.loads(cast(str, row[6]))),
        error=cast(str, row[7]),
        label=label,
    )


def verdict_from_row(row: Row) -> Verdict:
    """A verdict from its row."""
    fields = ("error", "role", "message", "entity", "expected", "seen")
    return Verdict(
        case_id=cast(str, row[0]),
        repeat=cast(int, row[1]),
        arm=cast(str, row[2]),
        model=cast(str, row[3]),
        relation=cast(str, row[4]),
        observers=cast(str, row[5]),
        outcome=Outcome(cast(str, row[6])),
        errors=tuple(json.loads(cast(str, row[7]))),
        failures=tuple(Failure(**dict(zip(fields, f, strict=True))) for f in json.loads(cast(str, row[8]))),
        scores=json.loads(cast(str, row[9])),
        images=json.loads(cast(str, row[10])),
        reason=cast(str, row[11]),
    )
