"""Messages about components by name, plugins and extras."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "detector-missing": Entry("{problem}. Name one:\n  {example}\n{others}"),
    "extra-missing": Entry("{component} needs missing packages. Install them with: {install}"),
    "plugin-broken": Entry("{component} cannot be loaded: {why}.", "Everything else works."),
    "object-missing": Entry(
        "The model {name!r} is a Python object of another process. Use salva.run_suite(..., model=OBJECT, name={name!r})."
    ),
    "object-name-taken": Entry("Another model is named {name!r}. Choose another name=."),
    "plugin-name-taken": Entry("{first} and {second} both register the {role} {name!r}. Uninstall one."),
    "plugin-invalid": Entry("{component} is no valid {role}: {why}.", "`salva.testing` checks components."),
    "component-failed": Entry("{component} {what}: {why}.", "The same command continues once that is corrected."),
    "output-invalid": Entry("{component} gave {given}; it must give {wanted}.", "`salva.testing` checks components."),
    "price-missing": Entry("--max-cost needs the price of the {role} {name!r}. {instead}", "A price of 0 means free."),
    "needs-component": Entry("{component} needs a {role}. Name one with --{role}."),
    "target-unexpected": Entry("The {role} {name!r} takes nothing after a slash, got {typed!r}."),
    "target-missing": Entry("The {role} {name!r} needs more: {name}/<{target}>."),
}
