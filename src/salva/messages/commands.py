"""Messages of single commands."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "stopped-early": Entry(
        "Stopped early. Replies are kept beside {path!r}, and the same command continues.",
    ),
    "words-exhausted": Entry(
        "The words of the lexicon ran out after {n} of {wanted}. Add words to the templates (--templates).",
    ),
    "nothing-disputed": Entry(
        "{path!r} holds nothing that two reviewers differ about. Leave out --disputed.",
    ),
    "no-semvar-scores": Entry(
        "These runs hold no scores of the semvar suite. Run it first: salva run semvar.",
    ),
    "run-interrupted": Entry(
        "Interrupted. What is finished is in {path!r}; the same command continues.",
    ),
    "run-stopped": Entry(
        "Stopped at {limit}, with {cases} left. The same command continues.",
    ),
    "verdicts-failed": Entry(
        "{model}: {verdicts} of {check} ended in ERROR: {why}.",
    ),
    "more-errors": Entry(
        "{model}: {n} more ended in ERROR for other reasons. The report lists them.",
    ),
    "errors-retried": Entry(
        "{verdicts} ended in ERROR. The same command tries again.",
    ),
    "refusals-kept": Entry(
        "{verdicts} ended in ERROR because the model refused. Add --retry refused to ask again.",
        "A refusal is an answer of the model, so the same command does not ask again by itself.",
    ),
    "replies-unreadable": Entry(
        "{replies} could not be read and decide nothing. Add --retry unreadable to ask again.",
    ),
    "too-few-decided": Entry(
        "{model}: {why}.",
        "A rate over few decided cases says little about the model. Add cases, or another detector or judge.",
    ),
    "not-finished": Entry(
        "Not finished: {runs}. Their command without --shard and with --out {path} does what is left.",
    ),
    "import-problems": Entry(
        "{problems}, all of them in {path!r}.",
        "Rows that cannot be used are named, counted and left out.",
    ),
    "prompts-without": Entry(
        "{prompts} without {what}; {path!r} lists them with reasons. The same command asks again.",
    ),
    "output-is-input": Entry(
        "-o names the input file {path!r}. Name another file.",
    ),
    "source-unknown": Entry(
        "There is no suite or file named {name!r}. Suites: {known}.",
    ),
    "source-is-file": Entry(
        "{flag} applies to a suite, and {name!r} is a file. Leave it out.",
    ),
    "writer-needed": Entry(
        "{path!r} holds {n} principles without prompts and points. Name a text model with --writer openai/MODEL.",
        "Templates make questions from points; prompts and points are written by a text model.",
    ),
    "writer-unreadable": Entry(
        "None of the first {n} replies of {writer} could be read. Name another --writer, or give groups with prompts.",
    ),
    "format-flag": Entry(
        "{flag} belongs to {formats}. Leave it out for {form}.",
    ),
    "unexpected-error": Entry(
        "Unexpected error. If a damaged or edited run caused it, `salva verify RUN` says where; else please report it.",
    ),
    "too-deep": Entry(
        "A value is nested too deeply or too large: {why}.",
    ),
    "output-full": Entry(
        "The output cannot be written ({why}). Make room where it goes.",
    ),
    "by-set-needed": Entry(
        "--r-precision is measured for each set. Add --by-set.",
    ),
    "calibration-missing": Entry(
        "There is nothing to draw: the run has no score from 0 to 1, or no ratings. Leave out --figures.",
    ),
    "version-invalid": Entry(
        "version= is {version!r}; {why}.",
        "The version says which state of a function or a pipeline is tested. Change it whenever the model changes.",
    ),
    "version-needed": Entry(
        "{path!r} holds a run that cannot continue: {why}. Give the version= it was made with, or another out=.",
    ),
}
