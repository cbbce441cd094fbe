"""Messages about planning and running."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "out-is-file": Entry(
        "{path!r} is a file. --out takes a directory.",
    ),
    "out-not-empty": Entry(
        "{path!r} is not a run and not empty (it holds {name!r}). Choose another directory with --out.",
    ),
    "run-differs": Entry(
        "{path!r} holds a run with other settings ({differences}). "
        "Repeat its settings to go on with it, or choose another directory with --out.",
        "A directory keeps one specification: what changes images, observations or results.",
    ),
    "resumed-with-recorded-options": Entry(
        "{path!r} goes on with the options it was made with ({options}). Another --out takes today's.",
        "Defaults changed since the run was made. An option that the command sets itself is compared and not replaced.",
    ),
    "option-not-named": Entry(
        "The run was made with {option} {value!r}, and this command does not name it. "
        "If you trust the run, add --set {option}={value}.",
        "A run directory is data: no file or endpoint is used because only the directory names it.",
    ),
    "endpoint-moved": Entry(
        "The {role} {name!r} of this run answered at {before}, and now it would answer at {now}. "
        "Name the earlier address with --set {option}=..., or choose another directory with --out.",
        "Answers of two endpoints never mix in one run, unless the endpoint has a name of its own.",
    ),
}
