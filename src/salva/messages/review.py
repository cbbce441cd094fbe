"""Messages about ratings, agreement, import and export."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "ratings-read": Entry(
        "Read {n} items by {item}; people: {people}; judges: {judges}.",
        "Columns: case_id, id or prompt, repeat, seed, model, text_role, image_role, question; rater or judge; objects and relations, score, failed, passes_ROLE, s_ROLE.",
    ),
    "ratings-unused": Entry("{n} problems in the ratings:{shown}"),
    "ratings-missing": Entry("{path!r} has no rating by a person, only {header}. Fill in the sheet, or use --people."),
    "review-empty": Entry("{path!r} has no such result with images."),
    "review-not-random": Entry(
        "{model}: the labels give no corrected rate. Fill in a sheet of `salva export RUN --as review`.",
        "Its results are drawn at random from passes, failures and others.",
    ),
    "review-failures-only": Entry(
        "{model}: labels of failures alone tell their precision, not how many failures were missed (recall).",
        "`salva export RUN --as review` without --result also draws passes.",
    ),
    "review-kinds-missing": Entry(
        "{model}: only the interval is corrected, since these kinds have no labels: {kinds}.",
        "Fill in their rows of the sheet; `cannot tell` does not count.",
    ),
    "review-rows-skipped": Entry(
        "{model}: no corrected rate, since rows of the sheet were passed over ({kinds}). Fill them in from the top.",
        "Chosen rows are no random sample. A sheet may end early; `cannot tell` fills a row.",
    ),
    "review-without-images": Entry(
        "{model}: only the interval is corrected; results without images have no labels ({kinds}).",
        "`salva run` tries errors again; then export a new sheet.",
    ),
    "review-results-changed": Entry("{model}: the results have changed since the sheet. Export a new one."),
    "review-not-kept": Entry("The labels could not be stored: {why}"),
    "reviewers-few": Entry("{model}: {n} reviewers are few for a failure rate under 20 %. Have three."),
    "ratings-unrelated": Entry(
        "The ratings share nothing with {path!r}; people rated {rated}.",
        "Scores, questions or the column failed must have equal names.",
    ),
    "run-unrated": Entry("{path!r} has no ratings. Give --ratings FILE, made by `salva export {path} --as ratings`."),
    "rater-single": Entry("Only {who!r} rated. Add files, --people or --judge."),
    "rater-is-judge": Entry("{name!r} is both a person and a judge. Rename one."),
    "items-few": Entry("Agreement needs two rated items, not {n}."),
    "scale-exceeded": Entry("{who}: {value} is outside the scale {scale}. Correct --scale or --bins."),
    "cluster-unusable": Entry("Column {column!r} is missing or constant; the columns are {header}."),
    "chance-missing": Entry(
        "{n} of {total} rows have no chance within 0 and 1; nothing is reweighted.",
        "The column chance is the probability of each case in the sample.",
    ),
    "dependency-missing": Entry("{path!r} has no column dependency_id, only {header}. Give DSG's question file too."),
    "file-twice": Entry("One file is given twice: {files}."),
    "flag-unrelated": Entry("{flags} cannot be used here: {why}."),
    "figures-empty": Entry("--figures needs images with a score from 0 to 1."),
    "role-unrated": Entry("The role {role!r} has no questions; known: {known}."),
    "questions-missing": Entry("No prompt has questions, as --roles and --sample need."),
    "images-missing": Entry("{path!r} has no images."),
    "sheet-filled": Entry("{path!r} exists and may be filled in. Choose another -o."),
    "role-unknown": Entry("No row has text_role and image_role of one check; known: {pairs}."),
    "numbers-unusable": Entry("The {what} cannot be used: {why}."),
    "temperature-missing": Entry("No temperature fits: of {n} images nearly all are right, or none."),
    "images-few": Entry("The figure is biased: {n} images, where {usual} are usual."),
    "captions-few": Entry("The figure is too high: {n} other captions, where {usual} are usual."),
    "archive-invalid": Entry("{path!r} is no archive of a run, or damaged: {why}."),
    "archive-name": Entry("The file name {name!r} is too long for an archive."),
    "image-damaged": Entry("The image {path!r} is not the one written. Delete it and repeat `salva run`."),
    "training-empty": Entry(
        "{path!r} has no case above --min-score, and not {lacking}. Try a lower --min-score, --filter none or --no-need-kept."
    ),
    "captions-sided": Entry("{n} of {total} captions say left or right. Train {flag}, without mirrored images."),
}
