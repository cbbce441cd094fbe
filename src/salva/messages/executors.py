"""Messages about processes and clusters."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "cluster-unavailable": Entry("Ray could not {what}: {why}. {instead}"),
    "cluster-lost": Entry(
        "the cluster does not answer, or has lost the node of this machine. The same command continues."
    ),
    "room-missing": Entry(
        "{component} waited {seconds:g} s for {wanted} ({free} free). Lower executor.actors, executor.gpus or executor.cpus."
    ),
    "processes-lost": Entry("{component} lost {n} processes in a row, last: {why}. Check its memory."),
    "machines-differ": Entry("{what}: {there} on {origin!r}, {here} on {machine!r}."),
    "not-sendable": Entry(
        "{component} cannot be sent to another process ({why}). Use --executor local, an installed package or --plugin file."
    ),
}
