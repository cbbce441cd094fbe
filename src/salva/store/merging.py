"""Copies rows and images between runs: what is the same stays once, what failed gives way.

Row by row and file by file, each held against its digest before it is taken; whatever is there already is not written
again, so that the same call goes on where it was stopped. Rows that contradict each other are refused.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from salva.errors import StoreError, UsageError
from salva.messages import message
from salva.store.blobs import digest_of
from salva.store.reading import RunReader, key_of
from salva.store.records import Status, StoredImage
from salva.store.rows import DIGESTED, image_from_row, is_fit, select
from salva.store.sqlite import RunStore

TABLES = ("components", "cases", "images", "renders", "tickets", "observations", "verdicts")
"""In the order they are taken: whatever a row names is there before it."""
_RANKS = {Status.DONE: 2, Status.REFUSED: 1, Status.UNKNOWN: 1, Status.ERROR: 0}
"""Of two rows about the same work the one that came further counts."""
_DIFFERS = "its digest differs"


def merge_rows(store: RunStore, part: RunReader, advance: Callable[[int], None]) -> None:
    """Take all that a part has; advance: told how many images more are there."""
    for table in TABLES:
        for row in part.rows(select(table)):
            if table in DIGESTED and not is_fit(table, row):
                raise StoreError(
                    message("row-invalid", path=str(part.path), table=table, row=key_of(table, row), why=_DIFFERS)
                )
            if table == "images":
                _take_file(store, part, part.parsed(table, row, image_from_row))
                advance(1)
            if not part.parsed(table, row, partial(_taken, store, table)):
                raise UsageError(
                    message("rows-contradict", path=str(part.directory), table=table, row=key_of(table, row))
                )


def _taken(store: RunStore, table: str, row: sqlite3.Row) -> bool:
    """Store a row unless what is there says as much or more; False where it contradicts it."""
    if table == "tickets" and (store.render_outcome(row["render_key"]) or (None,))[0] is Status.DONE:
        return True
    present = store.row_like(table, row)
    if present is None or _is_further(row, present):
        store.put_row(table, dict(row))
        return True
    return _agree(store, table, present, row)


def _is_further(row: sqlite3.Row, present: sqlite3.Row) -> bool:
    """Whether a row about the same work as another came further than that."""
    names = row.keys()
    if "status" in names:
        return _RANKS[Status(row["status"])] > _RANKS[Status(present["status"])]
    return "outcome" in names and present["outcome"] == "ERROR" and row["outcome"] != "ERROR"


def _agree(store: RunStore, table: str, present: sqlite3.Row, row: sqlite3.Row) -> bool:
    """Whether two rows with one key say the same, or the one that is there said more."""
    if _is_further(present, row):
        return True
    match table:
        case "components":
            return bool(present["identity"] == row["identity"])
        case "images":
            # The id is that of the pixels; another version of an encoder may write the same ones otherwise.
            return (present["width"], present["height"]) == (row["width"], row["height"])
        case "renders":
            return bool(present["image_id"] == row["image_id"])
        case "observations":
            # Images of salva's own, which observers are tried on, are no images of a run and decide nothing in it.
            return _seen(present) == _seen(row) or store.find_image(row["image_id"]) is None
        case "tickets":
            return True
        case "verdicts":
            return bool(present["outcome"] == row["outcome"] == "ERROR" or present["digest"] == row["digest"])
        case _:
            return bool(present["digest"] == row["digest"])


def _seen(row: sqlite3.Row) -> object:
    """What was seen, less what it took."""
    seen = json.loads(row["observation"]) if row["observation"] is not None else None
    return {name: value for name, value in seen.items() if name != "usage"} if isinstance(seen, dict) else seen


def _take_file(store: RunStore, part: RunReader, image: StoredImage) -> None:
    """Link or copy an image's file, unless it is there and whole; runs with one place for their images share it."""
    if store.images_at():
        return
    present, path = store.find_image(image.image_id), store.image_path(image.image_id)
    if present is not None and _has_digest(path, present.digest):
        return
    source = part.image_path(image.image_id)
    data = part.blobs.read(image.image_id)
    if digest_of(data) != image.digest:
        raise StoreError(message("image-file-damaged", path=str(source), why=_DIFFERS))
    if present is None:
        # A second name takes no room; where that cannot be, a copy must do.
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            os.link(source, path)
            return
    store.blobs.write(image.image_id, data)


def _has_digest(path: Path, digest: str) -> bool:
    try:
        return digest_of(path.read_bytes()) == digest
    except OSError:
        return False
