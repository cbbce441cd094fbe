"""Our own starter set for CF-World: one JSON-lines file a discipline and one for each probe, read from this package.

The texts are data of this package and ours; docs/explanation/cfworld-starter.md says how they were written.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from salva.suites.cfworld.groups import ATTRIBUTE, RULE, Entry, LevelGroup, Probe, read_entries

DISCIPLINES = (
    *("mechanics", "optics", "thermodynamics", "astronomy", "electromagnetism"),
    *("biology", "chemistry", "geography", "sociology"),
)
_PROBE_FILES = {RULE: "rules.jsonl", ATTRIBUTE: "attributes.jsonl"}


def starter_groups() -> Iterator[LevelGroup]:
    """The groups of all disciplines, discipline by discipline."""
    for discipline in DISCIPLINES:
        yield from (entry for entry in _entries(f"{discipline}.jsonl") if isinstance(entry, LevelGroup))


def starter_probes(part: str) -> Iterator[Probe]:
    """The probes of a part: rule or attribute."""
    yield from (entry for entry in _entries(_PROBE_FILES[part]) if isinstance(entry, Probe))


def _entries(name: str) -> Iterator[Entry]:
    text = files("salva.suites.cfworld").joinpath("starter", name).read_text(encoding="utf-8")
    yield from read_entries(text.splitlines(), name)
