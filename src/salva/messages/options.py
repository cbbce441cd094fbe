"""Messages about options and flags."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "option-unknown": Entry(
        "{owner} has no option {name!r}.{meant}",
        "`salva list ROLE -v` shows the options of every component.",
    ),
    "option-invalid": Entry(
        "{name} is {value!r}; it must be {wanted}.",
    ),
    "options-conflict": Entry(
        "{first} and {second} cannot be given together: {why}.",
    ),
    "flag-needed": Entry(
        "{flag} is needed: {why}.",
    ),
}
