"""Messages about prompt files."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "prompt-column-missing": Entry(
        "{path!r} has no column prompt, or prompt_a and prompt_b, only {columns}. Plain prompts need the suffix .txt."
    ),
    "prompt-files-not-text": Entry("{path!r} is no text file. Save both as .txt."),
    "prompt-missing": Entry("There is no text in {column}."),
    "prompt-cell": Entry("{column} is {value!r}; it must be {wanted}, or empty."),
    "prompt-formula": Entry("The formula {formula!r} cannot be read: {problem}"),
    "prompt-group": Entry("Only one prompt or a pair can be tested here."),
    "prompt-id-shared": Entry(
        "{n} ids stand for several prompts, such as {example!r}.",
        "Ratings by id go to each of them. Give every prompt its own id.",
    ),
    "expect-single": Entry("expect is differ, but there is one prompt. Give prompt_a and prompt_b."),
    "proposals-open": Entry("{n} proposed formulas are not accepted. Write yes beside right ones."),
}
