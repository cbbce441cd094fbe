"""The seal of a finished run: the author's signature over all that it says, for those who have the author's key.

Digests find accidents. Whoever edits a run can mend them; the signature they cannot make again.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

import msgspec

from salva.core.fingerprint import canonical_json
from salva.errors import MissingExtraError, UsageError
from salva.files.outfiles import write_text
from salva.messages import message
from salva.store.blobs import digest_of, read_beside, store_error
from salva.store.images import IMAGES_AT
from salva.store.reading import RunReader
from salva.store.reviews import review_digests
from salva.store.rows import KEYS, quoted
from salva.store.runfile import DIGESTS, RUN_FILE
from salva.store.schema import COLUMNS

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SEAL = "seal.json"
_PLACES = (DIGESTS, IMAGES_AT)
"""Notes on where files are, which may move."""
_IMAGES_LINE = re.compile(rb'(^  "format": [0-9]+,\n)  "images": "[^"\n]*",\n', re.MULTILINE)
"""The same in run.json, where salva writes it."""


class Seal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of seal.json."""

    statement: dict[str, str | int]
    """What is signed: the digests of run.json, of all rows and of the reviews, and how many those are."""
    key_id: str
    """Names the key; the seal is checked with the key that the reader has, never with one from the run."""
    signature: str


def sign(store: RunReader, private: Path) -> str:
    """Write the seal of a run; returns the id of the key."""
    key = _private_key(private)
    stated = _statement(store)
    signature = base64.b64encode(key.sign(_signed(stated))).decode()
    seal = Seal(statement=stated, key_id=_key_id(key.public_key()), signature=signature)
    write_text(store.directory / SEAL, json.dumps(msgspec.to_builtins(seal), indent=2, sort_keys=True) + "\n")
    return seal.key_id


def has_seal(directory: Path) -> bool:
    """Whether somebody sealed a run; who, only the key can tell."""
    return (directory / SEAL).is_file()


def seal_problems(store: RunReader, public: Path) -> list[str]:
    """How a run differs from what the owner of a key sealed; none where it is the same."""
    from cryptography.exceptions import InvalidSignature

    key = _public_key(public)
    try:
        seal = msgspec.json.decode(read_beside(store.directory / SEAL), type=Seal)
        key.verify(base64.b64decode(seal.signature, validate=True), _signed(seal.statement))
    except FileNotFoundError:
        return [f"the run has no {SEAL}: nobody sealed it"]
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        return [f"{SEAL} cannot be read: {error}"]
    except InvalidSignature:
        return [f"{SEAL} was not made with the key {_key_id(key)} of {public}, or was edited"]
    now = _statement(store, int(seal.statement.get("n_reviews", 0)))
    return [
        f"{name} of the run differ from what was sealed"
        for name in sorted({*now, *seal.statement})
        if now.get(name) != seal.statement.get(name)
    ]


def _statement(store: RunReader, n_reviews: int | None = None) -> dict[str, str | int]:
    """All that a run says; n_reviews: how many labels count, since more may be appended later."""
    reviews = review_digests(store.directory)[:n_reviews]
    return {
        "format": "salva-seal-1",
        "run_file": digest_of(_run_file(store.directory / RUN_FILE)),
        "rows": _rows_digest(store),
        "n_reviews": len(reviews),
        "reviews": reviews[-1] if reviews else "",
    }


def _run_file(path: Path) -> bytes:
    """The text of run.json but for where the images are; empty where there is none."""
    try:
        return _IMAGES_LINE.sub(rb"\1", read_beside(path), count=1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise store_error(path, error) from error


def _rows_digest(store: RunReader) -> str:
    """Of every row but where files are; images are in it by the digests of their files."""
    digest = hashlib.sha256()
    for table, columns in COLUMNS.items():
        for row in store.rows(f"SELECT {quoted(columns)} FROM {table} ORDER BY {quoted(KEYS[table])}"):
            if table != "meta" or row["key"] not in _PLACES:
                digest.update(json.dumps([table, *row], default=_blob).encode() + b"\n")
    return digest.hexdigest()


def _blob(value: bytes) -> list[str]:
    """Bytes where salva writes text or numbers: as no text or number is written."""
    return [value.hex()]


def _signed(statement: dict[str, str | int]) -> bytes:
    return canonical_json(statement).encode("utf-8", "surrogatepass")


def _key_id(key: Ed25519PublicKey) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:16]


def _private_key(path: Path) -> Ed25519PrivateKey:
    ed25519, load = _library()

    def load_private(data: bytes) -> object:
        return (load.load_ssh_private_key if b"OPENSSH" in data else load.load_pem_private_key)(data, None)

    return cast("Ed25519PrivateKey", _key(path, "private", load_private, ed25519.Ed25519PrivateKey))


def _public_key(path: Path) -> Ed25519PublicKey:
    ed25519, load = _library()

    def load_public(data: bytes) -> object:
        return (load.load_ssh_public_key if data.startswith(b"ssh-") else load.load_pem_public_key)(data)

    return cast("Ed25519PublicKey", _key(path, "public", load_public, ed25519.Ed25519PublicKey))


def _library() -> tuple[ModuleType, ModuleType]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise MissingExtraError("salva verify --sign and --key", "sign") from error
    return ed25519, serialization


def _key(path: Path, kind: str, load: Callable[[bytes], object], wanted: type[object]) -> object:
    try:
        with path.open("rb") as file:
            key = load(file.read(1 << 16))
    except OSError as error:
        raise UsageError(message("file-unreadable", path=str(path), why=error.strerror)) from error
    except (ValueError, TypeError) as error:
        raise UsageError(message("key-unusable", path=str(path), kind=kind, why=error)) from error
    if not isinstance(key, wanted):
        raise UsageError(message("key-unusable", path=str(path), kind=kind, why="it is of another kind"))
    return key
