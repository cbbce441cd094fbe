"""Messages about suites and their files."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "judge-constant": Entry(
        "All images of a level have one score ({scores}): the model never varies, or the judge ignores the image.",
    ),
    "judge-unsteady": Entry(
        "The judge graded {flipped} of {n} images differently when asked again.",
    ),
    "files-duplicate": Entry(
        "Several files are about {what}: {files}. Give one.",
    ),
    "import-empty": Entry(
        "These files hold no {what}. Wanted: {wanted}.",
    ),
    "model-name-ambiguous": Entry(
        "--model {model!r} names one model for {n} files of a kind. Leave it out, or import one file.",
    ),
    "suite-file-empty": Entry(
        "{path!r} holds no {what}. Wanted: {wanted}.",
    ),
    "file-kind-unknown": Entry(
        "{path!r} does not hold {wanted}. It has the columns {header}.",
    ),
    "prompts-columns": Entry(
        "{path!r} has no column {missing}, only {header}. For other columns: salva run prompts --set "
        "suite.path={path}.",
    ),
    "field-invalid": Entry(
        "{name} is {value!r}; it must be {wanted}.",
    ),
    "triples-invalid": Entry(
        "{n} lines of {paths} are no triples:{shown}",
        "A line has an id, T_a, T_pv and T_pi, separated by tabs or as a JSON object.",
    ),
    "rules-mixed": Entry(
        "These lines follow several rules ({rules}). Import each rule by itself.",
    ),
    "clauses-not-formula": Entry(
        "No formula means these clauses.",
    ),
    "guide-invalid": Entry(
        "suite.guide={path!r} cannot be used: {why}. Give a finished actesting run or its CSV.",
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
        "The case {case!r} cannot be exported in a form of the suite {suite}.",
    ),
    "run-without-images": Entry(
        "This run has no images to export.",
    ),
    "case-invalid": Entry(
        "The case {case} cannot be used: {why}.",
    ),
    "check-endless": Entry(
        "The check {check!r} still asks after {n} waves.",
    ),
    "check-need-unknown": Entry(
        "The check {check!r} asks for {need}, which this run cannot answer.",
    ),
}
