"""Messages about options and flags."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "name-unknown": Entry(
        "There is no {kind} named {name!r}. Known: {known}.{meant}",
    ),
    "name-otherwise": Entry(
        "There is no {role} named {name!r}. Did you mean --{role} {likely}?",
        "Models and judges are named by what runs them, then what it runs: diffusers/<id or path>, openai/<model>, "
        "anthropic/<model>, google/<model>, transformers/<id>, folder/<path>. `salva list models` shows all.",
    ),
    "not-a-fraction": Entry(
        "{name} is {value}; it takes a fraction from 0 to 1. Did you mean {meant:g}?",
    ),
    "suite-is-path": Entry(
        "{path!r} is a {kind}, and the first word is a suite. Did you mean: {command}",
    ),
    "code-unknown": Entry(
        "No message has the code {code!r}.{meant}",
    ),
    "option-unknown": Entry(
        "{owner} has no option {name!r}.{meant}",
        "`salva list ROLE NAME` shows the options of a component.",
    ),
    "option-invalid": Entry(
        "{name} is {value!r}; it must be {wanted}.",
    ),
    "options-invalid": Entry(
        "The options of {owner} do not fit: {why}.",
    ),
    "options-conflict": Entry(
        "{first} and {second} cannot be given together: {why}.",
    ),
    "flag-needed": Entry(
        "{flag} is needed: {why}.",
    ),
    "path-unused": Entry(
        "The suite {suite!r} reads no file, got {path!r}.",
    ),
    "command-unknown": Entry(
        "There is no command {name!r}.{meant} `salva --help` lists all commands.",
    ),
    "output-is-folder": Entry(
        "-o names the folder {path!r}. Name the file to write in it.",
    ),
    "output-to-stdout": Entry(
        "-o needs the name of a file. Leave it out to print.",
    ),
    "folder-missing": Entry(
        "There is no folder {folder!r} to write {name!r} to. Make it first.",
    ),
    "images-in-memory": Entry(
        "--images {url!r} is lost when the command ends. Name a folder that stays.",
    ),
    "number-not-finite": Entry(
        "{value!r} is no finite number.",
    ),
    "keyword-invalid": Entry(
        "{name}= is {value}, {kind}; it must be {wanted}.",
        "model= takes a name, a diffusers pipeline, a function (prompt, seed) -> image, `batched` of "
        "one, or several of these. A class is a plugin: --plugin FILE:CLASS.",
    ),
}
