"""Messages about new sentences, questions and formulas."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "reply-unreadable": Entry("No reply of the text model was JSON. Repeat the command, or name another --writer."),
    "reply-shape": Entry("The reply is not {wanted}."),
    "reply-unusable": Entry("The reply cannot be used: {problems}."),
    "proposal-none": Entry("The text model knows no formula for this prompt."),
    "proposal-contradictory": Entry("No image can satisfy {formula!r}."),
    "proposal-strange-word": Entry("{word!r} is not a word of the prompt."),
    "proposals-written": Entry("Review the formulas in {path}: write yes under accepted beside right ones."),
    "paraphrase-same": Entry("The paraphrase is the prompt itself."),
    "paraphrase-long": Entry("The paraphrase says much more than the prompt."),
    "paraphrase-other": Entry("The {what} of the paraphrase are not those of the prompt."),
    "prompt-spreadsheet-formula": Entry("The prompt begins with {start!r}, a spreadsheet formula. Use --style tifa."),
    "question-file-other": Entry("{path} exists without {style} questions: {why}. Name another -o."),
    "review-columns": Entry("{path!r} is no review: it needs the columns id, reviewer and valid."),
    "review-contradiction": Entry("{reviewer!r} calls {entry!r} both valid and not valid."),
    "review-unknown": Entry("{n} reviews are of unknown entries: {entry!r}."),
    "checker-unreadable": Entry(
        "No reply of {checker} about {n} triples could be read. Name another --checker, or none."
    ),
    "triple-no-paraphrase": Entry("There is no paraphrase. Name a --writer."),
    "triple-unanswered": Entry("{checker} gave no readable answer about {criteria}."),
    "runs-other-triples": Entry("The run {run!r} has other sentences under {case!r}."),
    "template-invalid": Entry(
        "{path!r}, template {number}: {why}.",
        "It has a category, an anchor with slots such as {{noun1}}, and swap with two of them.",
    ),
    "reply-not-chat": Entry("{model} is no chat endpoint: {reply!r}. Check the base URL."),
    "mmdet-weights": Entry("{path!r} is not mmdet's Mask2Former for GenEval: {why}."),
}
