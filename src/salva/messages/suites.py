"""Messages about suites and their files."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "judge-constant": Entry(
        "Every image of a level has one score ({scores}): the model never varies, or the judge is blind."
    ),
    "judge-unsteady": Entry("Asked again, the judge graded {flipped} of {n} images differently."),
    "files-duplicate": Entry("Several files are about {what}: {files}. Give one."),
    "import-empty": Entry("These files hold no {what}. Wanted: {wanted}."),
    "model-name-ambiguous": Entry("--model {model!r} names one model for {n} files. Leave it out, or import one."),
    "suite-file-empty": Entry("{path!r} holds no {what}. Wanted: {wanted}."),
    "file-kind-unknown": Entry("{path!r} does not hold {wanted}. Its columns: {header}."),
    "prompts-columns": Entry(
        "{path!r} has no column {missing}, only {header}. Other columns: salva run prompts --set suite.path={path}."
    ),
    "triples-invalid": Entry(
        "{n} lines of {paths} are no triples:{shown}", "A line is id, T_a, T_pv and T_pi, with tabs or as JSON."
    ),
    "rules-mixed": Entry("These lines follow several rules ({rules}). Import each by itself."),
    "clauses-not-formula": Entry("No formula means these clauses."),
    "guide-invalid": Entry("suite.guide={path!r}: {why}. Give a finished actesting run or its CSV."),
    "no-cases": Entry("There are no {what}: {why}."),
    "noun-invalid": Entry("{name}: {why}. Write singular nouns without an article: cat,teddy bear."),
    "law-not-applicable": Entry("suite.law {law!r} applies nowhere in {formula!r}, only {known}."),
    "case-of-other-suite": Entry("The case {case!r} does not fit the suite {suite}."),
    "run-without-images": Entry("This run has no images to export."),
    "case-invalid": Entry("The case {case} cannot be used: {why}."),
    "check-endless": Entry("The check {check!r} still asks after {n} waves."),
    "check-need-unknown": Entry("The check {check!r} needs {need}, which this run lacks."),
}
