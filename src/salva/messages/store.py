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
    "disk-error": Entry(
        "Cannot use {path!r} ({why}): {advice}.",
        "The disk, the storage or the database refused. What was stored before is kept.",
    ),
    "disk-full": Entry(
        "{path!r} cannot be written: the disk is full. Free some space and run the same command again.",
        "What was stored before is kept.",
    ),
    "image-file-damaged": Entry(
        "{path!r} is damaged: {why}. Delete it, and the same `salva run` makes it again.",
    ),
    "row-invalid": Entry(
        "{path!r}, table {table}, row {row!r} is not what salva wrote ({why}). Restore the file from a copy.",
        "`salva verify` lists everything that is wrong with a run.",
    ),
    "rows-contradict": Entry(
        "{path!r} contradicts {table}, row {row!r}, which was merged before it. Merge one of them alone.",
        "The two were not generated or observed by the same components, so their rows must not mix.",
    ),
    "note-invalid": Entry(
        "The run's note {name!r} is not what salva wrote ({why}). Restore the run from a copy, or make the note anew.",
    ),
    "images-not-named": Entry(
        "The images of {path!r} are at {address}, which only the run names; nothing was contacted. "
        "If you trust it, add --images {quoted}.",
        "A run directory is data: an address that only it names is contacted by no command.",
    ),
    "images-elsewhere": Entry(
        "The images of {path!r} are {place}, and --images names {address}. "
        "Leave --images as it was, or choose another directory with --out.",
    ),
    "image-remote": Entry(
        "{place} is no file of this machine. Read its bytes instead.",
    ),
    "case-missing": Entry(
        "There is no case {case!r} in {path!r}.",
    ),
    "case-twice": Entry(
        "The suite {suite!r} gives two cases the id {case!r}. Ids must differ.",
    ),
    "run-locked": Entry(
        "Process {holder} writes to {path!r}. Wait for it, stop it, or choose another directory with --out.",
        "Only one process writes to a run at a time.",
    ),
}
