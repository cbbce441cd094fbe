"""Messages about the run directory."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "run-missing": Entry(
        "{path!r} is no run: it has no {file}. Give the directory that `salva run` printed.",
    ),
    "run-format": Entry(
        "{path!r} was written by another version of salva (format {found}, this one reads {known}). Choose another directory with --out.",
        "The format changes while salva is not released. Runs of another format are refused and left as they are.",
    ),
    "store-damaged": Entry(
        "{path!r} cannot be used: {why}.",
        "The database or a file of the run was edited or damaged. Restore it from a copy, or start a new run.",
    ),
    "disk-full": Entry(
        "{path!r} cannot be written: the disk is full. Free some space and run the same command again.",
        "What was stored before is kept.",
    ),
    "run-locked": Entry(
        "Another process writes to {path!r}. Wait for it, or stop it.",
        "Only one process writes to a run at a time.",
    ),
}
