"""Messages about ratings, agreement, import and export."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

_DOCUMENTED = (
    "Documented columns: case_id, id or prompt name the item, with repeat, seed, model, text_role, image_role and "
    "question; rater (or judge) says who; objects and relations, score, failed, passes_ROLE and s_ROLE are ratings. "
    "Others are named with --item, --rater, --people and --judge."
)

ENTRIES: Mapping[str, Entry] = {
    "ratings-read": Entry(
        "Read {n} items by {item}; people: {people}; judges: {judges}.",
        "Columns: case_id, id or prompt, repeat, seed, model, text_role, image_role, question; rater or "
        "judge; objects and relations, score, failed, passes_ROLE, s_ROLE.",
    ),
    "ratings-unused": Entry("{n} ratings or rows could not be used:{shown}"),
    "ratings-missing": Entry(
        "{path!r} holds no rating by a person, only {header}. Fill in the sheet, or use --people.",
        "`salva explain ratings-read` lists the columns.",
    ),
    "review-empty": Entry("{path!r} has no such result with images to review.", "An imported run has no images."),
    "review-not-random": Entry(
        "{model}: the labels give no corrected rate. Fill in a sheet of `salva export RUN --as review`.",
        "A corrected rate needs labels of results drawn at random among all that passed, among all that failed, and "
        "among the others; failures alone show how many of them people confirm.",
    ),
    "review-kinds-missing": Entry(
        "{model}: only the interval is corrected, since no randomly drawn result of these kinds has a label: {kinds}. "
        "Fill in their rows of the sheet.",
        "The interval counts such results as all PASS and as all FAIL. A sheet of `salva export RUN --as review` has "
        "results of every kind that has images; rows with `cannot tell` say nothing of their kind.",
    ),
    "review-without-images": Entry(
        "{model}: only the interval is corrected, since results without images cannot be reviewed ({kinds}).",
        "The interval counts them as all PASS and as all FAIL. `salva run` tries errors again; once their images "
        "exist, export a new sheet.",
    ),
    "review-results-changed": Entry(
        "{model}: the results are not those that the sheet was drawn from. Export a new sheet.",
        "A draw is random within each result; after `salva rejudge` or `salva run` results may be others.",
    ),
    "review-not-kept": Entry("The labels could not be kept in the run: {why}"),
    "reviewers-few": Entry(
        "{model}: {n} reviewers a result are few for a failure rate under 20 %. Have three review it.",
        "A reviewer who errs on 5 % of the images shifts a rate of 5 % by 4.5 points; the majority of three does not.",
    ),
    "ratings-unrelated": Entry(
        "The ratings share nothing with {path!r}; people rated {rated}.",
        "Ratings match by score name, text_role and image_role, question, or the column failed.",
    ),
    "run-unrated": Entry(
        "{path!r} has no ratings. Give --ratings FILE; `salva export {path} --as ratings` makes the sheet.",
    ),
    "rater-single": Entry(
        "Only {who!r} rated, and there is no judge. Add files, --people or --judge.",
    ),
    "rater-is-judge": Entry(
        "{name!r} is both a person and a judge. Rename one.",
    ),
    "items-few": Entry(
        "Agreement needs ratings of two items, not {n}.",
    ),
    "scale-exceeded": Entry("{who}: {value} is outside the scale {scale}. Correct the file or --scale."),
    "cluster-unusable": Entry(
        "Column {column!r} is missing or constant; the columns are {header}.",
    ),
    "chance-missing": Entry(
        "{n} of {total} rows have no chance within 0 and 1, so nothing is reweighted.",
        "The column chance says how likely each case was to be sampled.",
    ),
    "dependency-missing": Entry(
        "{path!r} has answers and no column dependency_id, only {header}. Give DSG's question file too.",
    ),
    "file-twice": Entry("One file is given twice: {files}."),
    "flag-unrelated": Entry("{flags} cannot be used here: {why}."),
    "figures-empty": Entry(
        "--figures has nothing to draw: no rated image has a score from 0 to 1.",
    ),
    "role-unrated": Entry(
        "No image of the role {role!r} has questions to grade; known: {known}.",
    ),
    "questions-missing": Entry(
        "No prompt has questions to grade, which --roles and --sample need.",
    ),
    "images-missing": Entry("{path!r} has no images: it was imported, or nothing was generated."),
    "sheet-filled": Entry("{path!r} exists and may be filled in. Choose another folder with -o."),
    "role-unknown": Entry(
        "No row has text_role and image_role of one check; known: {pairs}.",
    ),
    "numbers-unusable": Entry(
        "The {what} cannot be used: {why}.",
    ),
    "temperature-missing": Entry(
        "No temperature fits: the classifier is right about nearly all of {n} images, or none. Give more images.",
    ),
    "images-few": Entry(
        "The figure is biased: {n} images, where {usual} are usual.",
    ),
    "captions-few": Entry(
        "The figure is too high: {n} other captions, where {usual} are usual.",
    ),
    "archive-invalid": Entry(
        "{path!r} is no archive of a run, or is damaged: {why}.",
    ),
    "archive-name": Entry("The name {name!r} is too long for an archive. Rename that file."),
    "archive-several": Entry(
        "{n} archives are given. Import one at a time.",
    ),
    "image-damaged": Entry(
        "The image {path!r} is not the file that was written. Check the run with `salva verify`.",
        "`salva run` generates deleted images again.",
    ),
    "training-empty": Entry(
        "{path!r} has no case with scores above --min-score, and not {lacking}. Try a lower --min-score, "
        "--filter none or --no-need-kept.",
    ),
    "captions-sided": Entry(
        "{n} of {total} captions say left or right. Train {flag}: a mirrored image contradicts them.",
    ),
}
