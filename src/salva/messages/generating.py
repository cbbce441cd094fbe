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
    "prompt-list-missing": Entry(
        "The folder {folder!r} has no {wanted}. Name the list of prompts with --set model.listing=PATH.",
    ),
}
