"""Messages about generators."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "image-missing": Entry("{model} answered without an image: {answer!r}."),
    "prompt-refused": Entry(
        "{model} refused the prompt: {why}.",
    ),
    "generation-failed": Entry("{model} could not generate an image: {why}."),
    "function-failed": Entry("{function} {what}."),
    "folder-empty": Entry(
        "{folder!r} has no image in a layout that is known. Name each image by its prompt ('a cat.png'), or write a list "
        "of those to generate with --set model.missing=FILE.",
        "`salva list models folder` has the layouts. A folder that is still to be filled takes model.missing.",
    ),
    "folder-incomplete": Entry(
        "{images} of {prompts} missing in {folder!r} (layout {layout}): {shown}. {instead}",
    ),
    "image-not-listed": Entry(
        "There is no image of {prompt!r} (seed {seed}, repeat {repeat}): {where}.",
        "Images are found by id or prompt, then by seed or repeat.",
    ),
    "images-blank": Entry(
        "{images} of one colour: {shown}. Some programs write these on failure.",
    ),
    "file-names-ambiguous": Entry(
        "A file name cannot distinguish {prompt!r} from {other!r}. Write a manifest with the columns prompt and path.",
    ),
    "pattern-invalid": Entry(
        "model.pattern={pattern!r} does not fit: {why}.",
        "Placeholders, each once: {index} and {number} count prompts from 0 and 1, {sample} counts the "
        "images of a prompt; {prompt}, {seed} and column names.",
    ),
    "words-unknown": Entry(
        "{component} does not know {words}{meant}; it knows {known}. To ignore other words, use --set "
        "model.unknown=ignore.",
    ),
    "workflow-place-missing": Entry(
        "{name} has no clear place for the {what}. Write {mark} there.",
    ),
    "arrangement-missing": Entry(
        "The painter cannot arrange {formula!r}. It draws at most {n} entities without overlap.",
    ),
    "entities-too-many": Entry("The painter draws at most {n} entities, got {given}."),
    "colour-unavailable": Entry("The painter cannot colour {entity!r}. It can colour {names}."),
    "style-unavailable": Entry(
        "The painter has no {entity!r} in the style {style}, only {available}.",
    ),
    "formula-needed": Entry(
        "The painter needs a formula, and the prompt {text!r} has none. Give one, or use another model.",
    ),
    "prompt-list-missing": Entry(
        "The folder {folder!r} has no {wanted}. Name the list of prompts with --set model.listing=PATH.",
    ),
}
