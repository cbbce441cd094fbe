"""Messages of single commands."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "words-exhausted": Entry(
        "The lexicon's words ran out after {n} of {wanted}. Add words (--templates).",
    ),
    "nothing-disputed": Entry(
        "{path!r} holds nothing that two reviewers differ about. Leave out --disputed.",
    ),
    "no-semvar-scores": Entry(
        "These runs hold no semvar scores. Run it first: salva run semvar.",
    ),
    "run-interrupted": Entry(
        "Interrupted. What is finished is in {path!r}; the same command continues.",
    ),
    "run-stopped": Entry(
        "Stopped at {limit}, with {cases} left. The same command continues.",
    ),
    "results-failed": Entry(
        "{results} ended in ERROR, mostly: {why}. The same command tries again.",
    ),
    "results-unknown-words": Entry(
        "{results} ended in ERROR, since the model does not know a word of the prompt, mostly: {why}.",
        "The same command gives the same errors. Use other words, or another model.",
    ),
    "results-refused": Entry(
        "The model refused {results}, mostly: {why}. --retry refused asks again.",
        "A refusal is an ERROR, and does not count against --max-errors.",
    ),
    "replies-unreadable": Entry(
        "{replies} could not be read. Add --retry unreadable to ask again.",
    ),
    "not-finished": Entry(
        "Not finished: {runs}. Run the command without --shard and with --out {path}.",
    ),
    "import-problems": Entry(
        "{problems}, all of them in {path!r}.",
    ),
    "output-is-input": Entry(
        "-o names the input file {path!r}. Name another file.",
    ),
    "source-unknown": Entry(
        "There is no suite or file named {name!r}. Suites: {known}.",
    ),
    "source-is-file": Entry(
        "{flag} applies to a suite, and {name!r} is a file.",
    ),
    "writer-needed": Entry(
        "{path!r} holds {n} principles without prompts. Name a --writer openai/MODEL.",
    ),
    "writer-unreadable": Entry(
        "None of the first {n} replies of {writer} could be read. Name another --writer.",
    ),
    "format-flag": Entry(
        "{flag} belongs to {formats}. Leave it out for {form}.",
    ),
    "unexpected-error": Entry(
        "Unexpected error. Check the run with `salva verify RUN`, or report it.",
    ),
    "command-aborted": Entry(
        "The command was ended by {why}, which no part of salva raises. Look for it in your plugins and models.",
        "A component ended the program. What was answered is stored, and the same command continues.",
    ),
    "engine-died": Entry(
        "The process that ran the command died before it counted its results.",
        "Something ended it from inside (os._exit in a component, a crash in a library) or from outside (kill -9, out of "
        "memory). What was answered is stored, and the same command continues.",
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
    "version-invalid": Entry(
        "version= is {version!r}; {why}.",
        "Change the version whenever the model changes.",
    ),
    "version-needed": Entry(
        "{path!r} cannot continue: {why}. Give its version=, or another out=.",
    ),
}
