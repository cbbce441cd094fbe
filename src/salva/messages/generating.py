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
    "folder-incomplete": Entry(
        "{images} of {prompts} missing in {folder!r} (layout {layout}): {shown}. {instead}",
        "A folder is read by a layout, a pattern or a manifest; `salva explain file-missing` is about single files.",
    ),
    "image-not-listed": Entry(
        "There is no image of {prompt!r} (seed {seed}, repeat {repeat}): {where}.",
        "Only this case is affected. Images are found by id or prompt, then by seed or repeat.",
    ),
    "images-blank": Entry(
        "{images} of one colour: {shown}. Some programs write such files when generation fails.",
    ),
    "file-names-ambiguous": Entry(
        "A file name cannot distinguish {prompt!r} from {other!r}. Write a manifest with the columns prompt and path.",
        "File names lose case, spaces and punctuation, so prompts that differ only in these share a name.",
    ),
    "pattern-invalid": Entry(
        "model.pattern={pattern!r} does not fit: {why}.",
        "A pattern names the files below the folder, such as '{index}_{sample}.png'. {index} and {number} count "
        "the prompts of the list from 0 and from 1, {prompt} is the prompt itself, any other name is a column of the "
        "list; {sample} counts the images of a prompt and {seed} is a seed. Each name stands once.",
    ),
    "words-unknown": Entry(
        "{component} does not know {words}{meant}; it knows {known}. Use these words, or generate without the others "
        "by --set model.unknown=ignore.",
    ),
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
