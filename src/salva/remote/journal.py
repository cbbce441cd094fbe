"""Replies that were paid for, kept in a file beside what is written, so that the same command pays for none twice.

A line a reply, on disk before the next is asked for. What a killed command left half written is passed over.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from salva.core.fingerprint import Json, fingerprint
from salva.core.secrets import redacted
from salva.errors import UsageError
from salva.messages import message


class Journal:
    """The replies of one file, by what was asked."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._replies: dict[str, Json] = {}
        try:
            content = path.read_bytes() if path.exists() else b""
        except OSError as error:
            raise UsageError(message("file-unreadable", path=str(path), why=error.strerror or error)) from error
        self._is_torn = bool(content) and not content.endswith(b"\n")
        for line in content.decode(errors="replace").splitlines():
            try:
                entry = json.loads(line)
                self._replies[str(entry["asked"])] = entry["reply"]
            except (ValueError, TypeError, KeyError, RecursionError):
                continue

    def find(self, *asked: Json) -> Json | None:
        """The reply to what was asked before; None where it was not, or nothing could be made of the reply."""
        return self._replies.get(fingerprint([*asked]))

    def keep(self, reply: Json, *asked: Json) -> None:
        """Keep a reply that is of use."""
        key = fingerprint([*asked])
        if key in self._replies:
            return
        line = json.dumps({"asked": key, "reply": redacted(reply)}, ensure_ascii=False)
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write("\n" * self._is_torn + line + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UsageError(message("file-unwritable", path=str(self._path), why=error.strerror or error)) from error
        self._is_torn = False
        self._replies[key] = reply
