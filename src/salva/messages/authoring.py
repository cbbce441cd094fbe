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
    "review-columns": Entry("{path!r} is not a review: it needs rows under id, reviewer and valid."),
    "review-row": Entry("{path!r}, {where}: valid is yes or no, and every filled row names its reviewer."),
    "review-contradiction": Entry(
        "{reviewer!r} calls {entry!r} both valid and not valid. Correct one of the reviews.",
    ),
    "review-unknown": Entry("{n} reviews are of entries that are not in the file, such as {entry!r}."),
    "checker-unreadable": Entry(
        "{checker} was asked to check {n} triples, and no reply could be read. Name another --checker, or leave it out.",
        "Without a checker people review what code cannot decide.",
    ),
    "triple-no-paraphrase": Entry("No rule or text model gave a sentence of the same meaning. Name a --writer."),
    "triple-unanswered": Entry("{checker} gave no readable answer about {criteria}. The same command asks again."),
    "runs-other-triples": Entry("The run {run!r} has other sentences under {case!r}. Take runs of the same triples."),
    "template-invalid": Entry(
        "{path!r}, template {number}: {why}.",
        "A template has a category, an anchor with slots such as {{noun1}}, and swap with two of its slots. Slots are "
        "filled from the lexicon of the same file; kept is the wording of the same meaning, where a rule gives one.",
    ),
    "reply-not-chat": Entry("{model} did not answer as a chat endpoint does: {reply!r}. Check the base URL."),
    "mmdet-weights": Entry(
        "{path!r} is not mmdet's Mask2Former for GenEval: {why}. Give the file as mmdet published it.",
        "Only tensors and plain values are read; nothing in the file is run. The checkpoint for panoptic segmentation "
        "has the same name except for its date and digest.",
    ),
}
