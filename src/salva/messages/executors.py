"""Messages about processes and clusters."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "cluster-unavailable": Entry(
        "Ray could not {what}: {why}. {instead}",
    ),
    "room-missing": Entry(
        "{component} found no room for an actor within {seconds:g} s: it takes {wanted}, and {free} are free. "
        "Wait, or take less with --set executor.actors=N, executor.gpus=N or executor.cpus=N.",
    ),
    "processes-lost": Entry(
        "{component} lost {n} processes in a row, the last time: {why}. "
        "See that it works and fits into memory, then run the same command again.",
    ),
    "machines-differ": Entry(
        "{what}: {there} on {origin!r}, {here} on {machine!r}. Make both machines the same.",
        "Images and answers of two versions must not mix in one run.",
    ),
    "not-sendable": Entry(
        "{component} cannot be sent to another process ({why}). "
        "Use --executor local, or make it a class of an installed package or of a --plugin file.",
    ),
}
