"""One entry of the catalogue."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """What a code says."""

    template: str
    """At most two sentences, with the fields in braces; the first says what is wrong, the second what to do."""
    explanation: str = ""
    """What `salva explain CODE` adds: when it happens and what can be done; empty where the template says it all."""
