"""Messages about comparisons, gates and power."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "compare-one-model": Entry("{source}: {models}, and a comparison takes two."),
    "compare-settings": Entry(
        "{baseline} and {candidate} were judged differently ({differing}). {remedy}",
        "`salva rejudge` changes all but the suite without a new image.",
    ),
    "compare-no-cases": Entry(
        "{baseline} and {candidate} share no case ({differing}). Use the same --size, --only and suite options."
    ),
    "compare-prompts": Entry(
        "{n} of {n_shared} shared cases differ in their prompts between {baseline} and {candidate} ({versions}): {cases}.",
        "Run both with one version.",
    ),
    "compare-observers": Entry(
        "The observer {observer} differs between {baseline} and {candidate} ({differing}). Use one version, or observe again: {command}",
        "At an endpoint, name a dated snapshot.",
    ),
    "compare-few-cases": Entry("{cases} decided in both; it takes {least}. Use a larger --size."),
    "compare-few-pairs": Entry("Only {n} of {total} pairs are decided in both, so the difference may be biased."),
    "compare-opposite": Entry(
        "The failure rate gets {went}, but {metrics} gets {other}. Look at both.",
        "A model that always fails in the same way is consistent.",
    ),
    "compare-undecided-decide": Entry("Undecided pairs leave it open: see why they are undecided."),
    "compare-suite-version": Entry(
        "The suite has version {ours} in the baseline and {theirs} in the candidate; prompts are the same."
    ),
    "compare-some-cases": Entry(
        "{n} cases are in both runs. Left out: {n_baseline} only in {baseline}, {n_candidate} only in {candidate}."
    ),
    "compare-repeats": Entry("{baseline} has {ours} repeats, {candidate} {theirs}. Those in both are compared."),
    "compare-seeds": Entry(
        "{baseline} has --seed {ours}, {candidate} --seed {theirs}. One seed would need fewer pairs."
    ),
    "compare-versions-unknown": Entry("The observers of {runs} have no versions to compare."),
    "compare-rewritten": Entry("In {pairs} the provider rewrote a prompt."),
    "gate-same-model": Entry("{path}: candidate and baseline are both {model!r}. Change the model or candidate.set."),
    "gate-baseline-missing": Entry(
        "{path}: the baseline {baseline!r} of {suite!r} holds no results. Make it with:\n  {command}"
    ),
    "gate-baseline-models": Entry(
        "{path}: the baseline {baseline!r} holds {n} models instead of one. Make another with:\n  {command}"
    ),
    "gate-baseline-differs": Entry(
        "{path}: the baseline {baseline!r} has other settings than {suite!r} ({differences}). Change the file, or make another with:\n  {command}"
    ),
    "power-fraction": Entry("--{name} is {value:g}. Give a fraction between 0 and 1 (0.05 is five points)."),
    "power-subject": Entry("{subject!r} is neither a run directory nor a suite ({known})."),
    "power-no-variance": Entry("{run!r} shows no variance. Use `salva power SUITE`."),
}
