"""The file RUN/run.json; its content is a RunFile.

Replaced as a whole, so that a reader sees the old text or the new one and never half of one. The store keeps the digest
of its text, so that an edited one is found.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec

from salva.core.decoding import decoded
from salva.core.fingerprint import Json
from salva.core.run_file import FORMAT, RunFile
from salva.core.secrets import redact
from salva.errors import StoreError
from salva.messages import message
from salva.store.blobs import digest_of, read_beside, store_error
from salva.store.sqlite import RunStore

RUN_FILE = "run.json"
DIGESTS = "run_file"
"""The note of a run on its run.json: the digests of the last two texts, since a kill may leave either."""


class _Format(msgspec.Struct):
    format: int | str | None = None


def read_run_file(directory: Path) -> RunFile | None:
    """The content of run.json; None where there is none yet."""
    path = directory / RUN_FILE
    try:
        text = read_beside(path).decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise StoreError(message("file-invalid", path=str(path), where="as a whole", why=error)) from error
    except OSError as error:
        raise store_error(path, error) from error
    found = decoded(text, _Format, path, error=StoreError).format
    if found != FORMAT:
        raise StoreError(message("run-format", path=str(path), found=found or "unknown", known=FORMAT))
    content = decoded(text, RunFile, path, error=StoreError)
    if not content.spec.suite.name:
        raise StoreError(message("file-invalid", path=str(path), where="spec.suite", why="it is missing"))
    return content


def store_run_file(store: RunStore, content: RunFile) -> None:
    """Replace run.json, and note its digest in the store first."""
    digest, digests = digest_of(_text(content).encode()), _digests(store)
    if digests[-1:] != [digest]:
        store.set_meta(DIGESTS, [*digests[-1:], digest])
        store.flush()
    write_run_file(store.directory, content)


def is_run_file_ours(store: RunStore) -> bool | None:
    """Whether run.json is a text that this store saw written; None where the store has no note of it."""
    digests, path = _digests(store), store.directory / RUN_FILE
    if not digests:
        return None
    try:
        return digest_of(read_beside(path)) in digests
    except OSError as error:
        raise store_error(path, error) from error


def _digests(store: RunStore) -> list[Json]:
    digests = store.meta().get(DIGESTS)
    return digests if isinstance(digests, list) else []


def _text(content: RunFile) -> str:
    plain = msgspec.to_builtins(content)
    return redact(json.dumps(plain, indent=2, ensure_ascii=True, allow_nan=False, sort_keys=True)) + "\n"


def write_run_file(directory: Path, content: RunFile) -> None:
    """Replace run.json, if it does not say the same already; no secret is written."""
    path = directory / RUN_FILE
    temporary = directory / f".{RUN_FILE}.tmp"
    text = _text(content)
    try:
        if path.exists() and read_beside(path) == text.encode():
            return
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise store_error(path, error) from error
