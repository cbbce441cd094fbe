"""Messages about prompt files."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "prompt-column-missing": Entry(
        "{path!r} has no column prompt, or prompt_a and prompt_b; its columns are {columns}. Name the columns in the "
        "first line, or save the prompts alone as .txt.",
        "A column of prompts may also be called caption or text. A JSON file holds a list of prompts or of objects, an "
        "object a line, or one object from id to object.",
    ),
    "prompt-files-not-text": Entry("{path!r} is not a text file. Two files are read line by line: save both as .txt."),
    "prompt-missing": Entry("There is no text in {column}."),
    "prompt-cell": Entry("{column} is {value!r}. Write {wanted}, or leave it empty."),
    "prompt-formula": Entry("The formula {formula!r} cannot be read: {problem}"),
    "prompt-group": Entry("Only one prompt, or the two of a pair, can be tested here."),
    "expect-single": Entry("expect is differ, and this is one prompt. Give prompt_a and prompt_b."),
    "proposals-open": Entry(
        "{n} proposed formulas are not used. Write yes under accepted beside those that are right.",
        "`salva write formulas` lists what a text model proposes; a formula is used once a person has accepted it.",
    ),
}
