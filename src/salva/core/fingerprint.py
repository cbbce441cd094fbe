"""Canonical JSON and hashes: the key of every stored thing.

Two values get one fingerprint exactly when their canonical JSON is the same text, so a key
means the same on every machine and in every version of Python.
"""

from __future__ import annotations

import hashlib
import json
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces; tuples become lists, NaN is refused."""
    return _encode(value)


def fingerprint(value: object) -> str:
    """The 32 hex digits that stand for a JSON value wherever it is a key."""
    return hashlib.blake2b(canonical_json(value).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def derive_seed(run_seed: int, painting: str, repeat: int) -> int:
    """The seed of every image of a case in one repeat, in [0, 2^31); painting: its painting key, mostly its id.

    The prompt and the model are left out on purpose: every wording of a case starts from the
    same noise, so a difference between two images comes from the words and not from luck.
    """
    return int(fingerprint([run_seed, painting, repeat])[:8], 16) & 0x7FFFFFFF
