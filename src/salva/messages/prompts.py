"""Messages about prompt files."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "accepted-unknown": Entry("accepted is {value!r}. Write yes or no, or leave it empty."),
    "proposals-open": Entry(
        "{n} proposed formulas are not used. Write yes under accepted beside those that are right.",
        "`salva write formulas` lists what a text model proposes; a formula is used once a person has accepted it.",
    ),
}
