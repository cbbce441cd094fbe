"""Messages about options and flags."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "name-unknown": Entry("There is no {kind} named {name!r}. Known: {known}.{meant}"),
    "name-otherwise": Entry(
        "There is no {role} named {name!r}. Did you mean --{role} {likely}?",
        "`salva list models` and `salva list judges` show the names.",
    ),
    "not-a-fraction": Entry("{name} is {value}; it takes a fraction from 0 to 1. Did you mean {meant:g}?"),
    "suite-is-path": Entry("{path!r} is a {kind}, not a suite. Did you mean: {command}"),
    "code-unknown": Entry("No message has the code {code!r}.{meant}"),
    "option-unknown": Entry(
        "{owner} has no option {name!r}.{meant}", "`salva list ROLE NAME` shows the options of a component."
    ),
    "option-invalid": Entry("{name} is {value!r}; it must be {wanted}."),
    "options-invalid": Entry("The options of {owner} do not fit: {why}."),
    "options-conflict": Entry("{first} and {second} exclude each other: {why}."),
    "flag-needed": Entry("{flag} is needed: {why}."),
    "path-unused": Entry("The suite {suite!r} reads no file, got {path!r}."),
    "command-unknown": Entry("There is no command {name!r}.{meant} `salva --help` lists all commands."),
    "output-is-folder": Entry("-o names the folder {path!r}."),
    "output-to-stdout": Entry("-o needs a file name."),
    "folder-missing": Entry("There is no folder {folder!r} for {name!r}."),
    "images-in-memory": Entry("--images {url!r} is lost when the command ends."),
    "number-not-finite": Entry("{value!r} is not a finite number."),
    "keyword-invalid": Entry(
        "{name}= is {value}, {kind}; it must be {wanted}.",
        "model= takes names, diffusers pipelines, functions (prompt, seed) -> image, and `batched` ones. A class needs --plugin FILE:CLASS.",
    ),
}
