"""Messages about new sentences, questions and formulas."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "text-too-long": Entry("The text is longer than {limit} characters."),
    "reply-unreadable": Entry(
        "No reply of the text model was JSON and nothing else.",
        "It was asked three times. The prompt is listed; the same command asks again, or name another --writer.",
    ),
    "reply-shape": Entry("The reply is not {wanted}."),
    "reply-unusable": Entry("The reply cannot be used: {problems}."),
    "proposal-none": Entry(
        "The text model knows no formula for this prompt.",
        "Such a prompt goes to a judge. A formula of your own can stand in the column formula.",
    ),
    "proposal-unparsed": Entry("{formula!r} is not a formula: {problem}."),
    "proposal-contradictory": Entry("No image can satisfy {formula!r}."),
    "proposal-strange-word": Entry("{word!r} is not a word of the prompt."),
    "proposals-written": Entry(
        "Read the proposed formulas in {path} and write yes under accepted beside those that are right. "
        "Others are not used.",
        "A text model may misread a prompt, and nothing proves that it did not, so a person decides about every "
        "formula. What stands under accepted survives when the same command runs again.",
    ),
    "paraphrase-same": Entry("The paraphrase is the prompt itself."),
    "paraphrase-long": Entry("The paraphrase says much more than the prompt."),
    "paraphrase-other": Entry("The {what} of the paraphrase are not those of the prompt."),
    "prompt-spreadsheet-formula": Entry(
        "The prompt begins with {start!r}, which a spreadsheet would run. Use --style tifa or another wording.",
    ),
    "question-file-suffix": Entry("--style {style} cannot write {path}. Name the file {wanted}."),
    "question-file-other": Entry("{path} exists and holds no {style} questions: {why}. Name another -o."),
}
