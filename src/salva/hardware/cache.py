"""Small things worth remembering between runs, in the user's cache folder: batch sizes, digests of large files.

Nothing here decides an outcome. A cache that is missing, damaged or cannot be written costs time and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from pathlib import Path

from salva.core.fingerprint import Json


def cache_folder() -> Path:
    """Where caches of this user lie; XDG_CACHE_HOME moves it."""
    if home := os.environ.get("XDG_CACHE_HOME"):
        return Path(home) / "salva"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "salva"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "salva"
    return Path.home() / ".cache" / "salva"


def recall(topic: str, key: str) -> Json:
    """What was remembered, or None."""
    return _read(topic).get(key)


def remember(topic: str, key: str, value: Json) -> None:
    """Keep a value for the next run; two processes at once may lose one of the two, never the file."""
    folder = cache_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        entries = {**_read(topic), key: value}
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
            json.dump(entries, file, indent=1, sort_keys=True)
        Path(file.name).replace(folder / f"{topic}.json")


def _read(topic: str) -> dict[str, Json]:
    try:
        entries = json.loads((cache_folder() / f"{topic}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}
