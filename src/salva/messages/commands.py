"""Messages of single commands."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "words-exhausted": Entry("The lexicon ended after {n} of {wanted}. Add words (--templates)."),
    "nothing-disputed": Entry("{path!r} holds nothing disputed. Leave out --disputed."),
    "no-semvar-scores": Entry("These runs hold no semvar scores. First: salva run semvar."),
    "run-interrupted": Entry("Interrupted. Finished work is in {path!r}; the same command continues."),
    "run-stopped": Entry("Stopped at {limit}, with {cases} left. The same command continues."),
    "results-failed": Entry("{results} ended in ERROR, mostly: {why}. The same command tries again."),
    "results-unknown-words": Entry(
        "{results} ended in ERROR, mostly: {why}. Use words that the model knows, or another model."
    ),
    "results-refused": Entry(
        "The model refused {results}, mostly: {why}. --retry refused asks again.",
        "Refusals do not count against --max-errors.",
    ),
    "replies-unreadable": Entry("{replies} could not be read. --retry unreadable asks again."),
    "not-finished": Entry("Not finished: {runs}. Run it without --shard and with --out {path}."),
    "output-is-input": Entry("-o names the input file {path!r}."),
    "source-unknown": Entry("There is no suite or file named {name!r}. Suites: {known}."),
    "writer-needed": Entry("{n} principles in {path!r} have no prompts. Name a --writer openai/MODEL."),
    "writer-unreadable": Entry("None of the first {n} replies of {writer} could be read. Name another --writer."),
    "unexpected-error": Entry("Unexpected error. Try `salva verify RUN`, or report it."),
    "command-aborted": Entry(
        "{why} ended the command, and salva raises none. Check your plugins and models.", "The same command continues."
    ),
    "engine-died": Entry(
        "The process that ran the command died before it counted its results.",
        "A component crashed, kill -9, or no memory was left. The same command continues.",
    ),
    "too-deep": Entry("A value is too deeply nested or too large: {why}."),
    "output-full": Entry("The output cannot be written ({why})."),
    "version-invalid": Entry("version= is {version!r}; {why}.", "Change the version whenever the model changes."),
    "version-needed": Entry("{path!r} cannot continue: {why}. Give version=, or another out=."),
}
