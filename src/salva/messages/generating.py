"""Messages about generators."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "image-missing": Entry("{model} answered without an image: {answer!r}."),
    "prompt-refused": Entry("{model} refused the prompt: {why}."),
    "generation-failed": Entry("{model} could not generate an image: {why}."),
    "function-failed": Entry("{function} {what}."),
    "folder-empty": Entry(
        "{folder!r} has no image in a known layout. Name images by prompt ('a cat.png'), or list those to generate with --set model.missing=FILE.",
        "`salva list models folder` has the layouts.",
    ),
    "folder-incomplete": Entry("{images} of {prompts} missing in {folder!r} (layout {layout}): {shown}. {instead}"),
    "image-not-listed": Entry("There is no image of {prompt!r} (seed {seed}, repeat {repeat}): {where}."),
    "images-blank": Entry("{images} of one colour: {shown}. Did the program fail?"),
    "file-names-ambiguous": Entry(
        "A file name cannot distinguish {prompt!r} from {other!r}. Write a manifest with columns prompt and path."
    ),
    "pattern-invalid": Entry(
        "model.pattern={pattern!r} does not fit: {why}.",
        "Placeholders: {index} and {number} count prompts from 0 and 1, {sample} the images of one; {prompt}, {seed}, column names.",
    ),
    "words-unknown": Entry(
        "{component} does not know {words}{meant}; it knows {known}. To ignore them: --set model.unknown=ignore."
    ),
    "workflow-place-missing": Entry("{name} has no place for the {what}. Write {mark} there."),
    "arrangement-missing": Entry("The painter cannot arrange {formula!r}; {n} entities are the most."),
    "entities-too-many": Entry("The painter draws at most {n} entities, not {given}."),
    "colour-unavailable": Entry("The painter cannot colour {entity!r}, only {names}."),
    "style-unavailable": Entry("The painter has no {entity!r} in the style {style}, only {available}."),
    "formula-needed": Entry("The painter needs a formula, and the prompt {text!r} has none."),
    "prompt-list-missing": Entry("{folder!r} has no {wanted}. Name the list of prompts: --set model.listing=PATH."),
}
