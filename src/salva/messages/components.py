"""Messages about components by name, plugins and extras."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "component-unknown": Entry(
        "There is no {role} named {name!r}. Known: {known}.{meant}",
        "Components are found by role and name. `salva list` shows those that are installed; a plugin registers its own by an entry point.",
    ),
    "role-unset": Entry(
        "{problem}. Name one:\n  {example}\n{others}",
        "The suite needs a component in this role, and the model that is tested has no default for it.",
    ),
    "extra-missing": Entry(
        "{component} needs packages that are not installed. Install them with: {install}",
        "The base installation is small; what a component needs besides is an extra.",
    ),
    "plugin-broken": Entry(
        "{component} cannot be loaded: {why}.",
        "A plugin that cannot be imported is left out; everything else works. Reinstall or remove the distribution that is named.",
    ),
    "object-missing": Entry(
        "The model {name!r} is a Python object that this process does not have. Generate with salva.run_suite(..., "
        "model=OBJECT, name={name!r}).",
        "A function or a pipeline in memory cannot be made again from its name. What is stored is reported, judged, "
        "exported and verified without it.",
    ),
    "object-name-taken": Entry(
        "Another run in this program has a model named {name!r}. Give this one another name=.",
    ),
    "plugin-name-taken": Entry(
        "The {role} {name!r} is registered twice, by {first} and {second}. Uninstall or rename one of them.",
    ),
    "plugin-invalid": Entry(
        "{component} is no valid {role}: {why}.",
        "The page on adding a component lists what each protocol needs; `salva.testing` checks it.",
    ),
    "component-failed": Entry(
        "{component} {what}: {why}.",
        "A component raised an error of its own or of a library. Correct the component or what it was given; the "
        "same command goes on.",
    ),
    "output-invalid": Entry(
        "{component} gave {given}; it must give {wanted}.",
        "The page on adding a component lists what each protocol needs; `salva.testing` checks it.",
    ),
    "price-missing": Entry(
        "--max-cost needs the price of the {role} {name!r}. {instead}",
        "A limit can only be kept when the price of each request is known. 0 means free, as on your own machine.",
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
