"""Messages about components by name, plugins and extras."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "detector-missing": Entry(
        "{problem}. Name one:\n  {example}\n{others}",
        "The embedded detector knows the images of painter and pocket alone. For every other model name a detector, or a "
        "judge where the suite can be judged by questions.",
    ),
    "extra-missing": Entry(
        "{component} needs missing packages. Install them with: {install}",
    ),
    "plugin-broken": Entry(
        "{component} cannot be loaded: {why}.",
        "Everything else works. Reinstall or remove the distribution that is named.",
    ),
    "object-missing": Entry(
        "The model {name!r} is a Python object of another process. Generate with salva.run_suite(..., "
        "model=OBJECT, name={name!r}).",
        "What is stored can be reported, judged, exported and verified without it.",
    ),
    "object-name-taken": Entry(
        "Another run in this program has a model named {name!r}. Choose another name=.",
    ),
    "plugin-name-taken": Entry(
        "The {role} {name!r} is registered by {first} and {second}. Uninstall or rename one.",
    ),
    "plugin-invalid": Entry(
        "{component} is no valid {role}: {why}.",
        "`salva.testing` checks what a component must provide.",
    ),
    "component-failed": Entry(
        "{component} {what}: {why}.",
        "The component or a library raised an error. The same command continues once it is corrected.",
    ),
    "output-invalid": Entry(
        "{component} gave {given}; it must give {wanted}.",
        "`salva.testing` checks what a component must return.",
    ),
    "price-missing": Entry(
        "--max-cost needs the price of the {role} {name!r}. {instead}",
        "A price of 0 means free, as on your own machine.",
    ),
    "needs-component": Entry(
        "{component} needs a {role}. Name one with --{role}.",
    ),
    "target-unexpected": Entry(
        "The {role} {name!r} takes nothing after a slash, got {typed!r}.",
    ),
    "target-missing": Entry(
        "The {role} {name!r} needs something after a slash: {name}/<{target}>.",
    ),
}
