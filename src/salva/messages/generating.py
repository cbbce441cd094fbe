"""Messages about generators."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "image-missing": Entry("{model} answered without an image: {answer!r}."),
    "prompt-refused": Entry(
        "{model} refused the prompt: {why}.",
        "A provider's policy declined the prompt; the case counts as refused and is not tried again.",
    ),
    "generation-failed": Entry("{model} could not generate an image: {why}."),
    "function-failed": Entry("{function} {what}."),
    "workflow-place-missing": Entry("{name} has no clear place for the {what}. Write {mark} where it belongs."),
    "arrangement-missing": Entry(
        "The painter found no arrangement for {formula!r}. It draws at most {n} entities without overlap.",
    ),
    "entities-too-many": Entry("The painter draws at most {n} entities, got {given}."),
    "colour-unavailable": Entry("The painter cannot colour {entity!r}. It can colour {names}."),
    "style-unavailable": Entry("The painter has no {entity!r} in the style {style}. Its styles are {available}."),
    "formula-needed": Entry(
        "The painter needs a formula, and none can be read from the prompt {text!r}. Give one, or use another model.",
    ),
    "prompt-list-missing": Entry(
        "The folder {folder!r} has no {wanted}. Name the list of prompts with --set model.listing=PATH.",
    ),
}
