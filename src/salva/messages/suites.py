"""Messages about suites and their files."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "judge-constant": Entry(
        "One score for all images of a level ({scores}): the model never varies, or the judge ignores the image.",
        "PRR and RRR cannot show a constant judge: one that always says 1 gives both the value 1.",
    ),
    "judge-unsteady": Entry(
        "Asked again about {n} images, the judge graded {flipped} of them differently.",
    ),
    "files-duplicate": Entry(
        "Several files are about {what}: {files}. Give one.",
    ),
    "import-empty": Entry(
        "These files hold no {what}. Wanted: {wanted}.",
    ),
    "model-name-ambiguous": Entry(
        "--model {model!r} names one model, and there are {n} files of a kind. Leave it out, or import one file.",
    ),
    "suite-file-empty": Entry(
        "{path!r} holds no {what}. Wanted: {wanted}.",
    ),
    "file-kind-unknown": Entry(
        "{path!r} does not hold {wanted}. It has the columns {header}.",
    ),
    "prompts-columns": Entry(
        "{path!r} has no column {missing}; it has {header}. For prompts in other columns: salva run prompts --set suite.path={path}.",
    ),
    "field-invalid": Entry(
        "{name} is {value!r}; it must be {wanted}.",
    ),
    "triples-invalid": Entry(
        "{n} lines of {paths} are no triples:{shown}",
        "A line is an id, T_a, T_pv and T_pi with tabs between them, or a JSON object with these keys.",
    ),
    "rules-mixed": Entry(
        "These lines follow several rules ({rules}). Import each rule by itself.",
    ),
    "clauses-not-formula": Entry(
        "No formula means these clauses.",
        "Of two clauses about one entity, none may have a position or be the target of one.",
    ),
    "guide-invalid": Entry(
        "suite.guide={path!r} cannot be used: {why}. Give the directory of a run of actesting.",
    ),
    "no-cases": Entry(
        "There are no {what}: {why}.",
    ),
    "noun-invalid": Entry(
        "{name}: {why}. Write singular nouns without an article, such as cat,teddy bear.",
    ),
    "law-not-applicable": Entry(
        "suite.law is {law!r}, which applies nowhere in {formula!r}. Laws that apply: {known}.",
    ),
    "case-of-other-suite": Entry(
        "The case {case!r} cannot be exported in this form, which is for the suite {suite}.",
    ),
    "run-without-images": Entry(
        "This run has no images to export.",
        "An imported run has verdicts only; the file that it came from holds everything there is.",
    ),
    "case-invalid": Entry(
        "The case {case} cannot be used: {why}.",
    ),
    "check-endless": Entry(
        "The check {check!r} still has questions after {n} waves; it must come to an end.",
    ),
    "check-need-unknown": Entry(
        "The check {check!r} asks for {need}, which this run cannot answer.",
    ),
}
