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
    "ratings-read": Entry("Read {n} items by {item}; people: {people}; judges: {judges}.", _DOCUMENTED),
    "ratings-unused": Entry("{n} ratings or rows could not be used:{shown}"),
    "ratings-missing": Entry(
        "{path!r} holds no rating by a person; its columns are {header}. Fill in the sheet, or name columns with "
        "--people.",
        _DOCUMENTED,
    ),
    "ratings-unrelated": Entry(
        "The ratings and {path!r} have nothing in common to compare; people rated {rated}.",
        "A run is compared by the names of its scores, by text_role and image_role, by image_role and question, or by "
        "the column failed.",
    ),
    "run-unrated": Entry(
        "{path!r} is a run without people's ratings. Give them with --ratings FILE; `salva export {path} --as ratings` "
        "makes the sheet.",
    ),
    "rater-single": Entry(
        "Only {who!r} rated, and there is no judge. Add files, or name columns with --people and --judge.",
    ),
    "rater-is-judge": Entry("{name!r} is both a person and a judge. Give one of them another name."),
    "items-few": Entry("There are ratings of {n} item, and agreement needs two. Add rows."),
    "scale-exceeded": Entry("{who}: {value} is outside the scale {scale}. Correct the file, --scale or --bins."),
    "cluster-unusable": Entry(
        "Column {column!r} is missing or has one value only, so it makes no clusters; the columns are {header}.",
    ),
    "chance-missing": Entry(
        "{n} of {total} rows have no chance above 0 and up to 1, so nothing is reweighted.",
        "A sheet of a sample by category states in its column chance how likely each case was to be drawn.",
    ),
    "dependency-missing": Entry(
        "{path!r} has answers and no column dependency_id; its columns are {header}. Give DSG's question file too.",
        "A question whose parent does not hold does not hold; the answers or a question file must state the parents.",
    ),
    "file-twice": Entry("One file is given twice: {files}."),
    "flag-unrelated": Entry("{flags} cannot be used here: {why}."),
    "figures-empty": Entry(
        "--figures has nothing to draw: the run scores no image from 0 to 1, or people rated none of them.",
    ),
    "role-unrated": Entry("No image has the role {role!r} and questions to grade; it can be {known}."),
    "questions-missing": Entry("No prompt of the run has questions to grade, which --roles and --sample need."),
    "images-missing": Entry("{path!r} has no images: it was imported, or nothing was generated."),
    "sheet-filled": Entry("{path!r} exists and may be filled in. Choose another folder with -o."),
    "sheet-partial": Entry("{n} of {total} images are not on the sheet: their prompts have no questions to grade."),
    "role-unknown": Entry(
        "No row has a text_role and image_role of one check; known pairs are {pairs}.",
    ),
    "numbers-unusable": Entry("The {what} cannot be used: {why}.", "A figure of image quality needs other numbers."),
    "temperature-missing": Entry(
        "No temperature fits: the classifier is right about nearly all of the {n} images, or about none. Give more "
        "images, and check their labels.",
    ),
    "images-few": Entry(
        "The figure is of {n} images; below {usual} it is biased and cannot be compared with others.",
    ),
    "captions-few": Entry(
        "There are {n} other captions where {usual} are usual, so the figure is too high to be compared with others.",
    ),
    "archive-invalid": Entry("{path!r} is no archive of a run, or is damaged: {why}. Nothing was imported."),
    "archive-name": Entry("The name {name!r} is too long for an archive. Rename that file."),
    "archive-several": Entry("An archive is one file, and {n} are given. Import one after the other."),
    "image-damaged": Entry(
        "The image {path!r} is not the file that was written. `salva verify` lists what is wrong with the run.",
        "The same `salva run` command generates again what was deleted.",
    ),
    "training-empty": Entry(
        "{path!r} has nothing to train on: no case with scores above --min-score, and not {lacking}. Try a lower "
        "--min-score, --filter none or --no-need-kept.",
    ),
    "captions-sided": Entry(
        "{n} of {total} captions say left or right, and a mirrored image contradicts them. Train {flag}.",
    ),
}
