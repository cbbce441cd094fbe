"""Messages about comparisons, gates and power."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "runs-folder-missing": Entry(
        "There is no folder {folder!r}. Name one, as in `salva runs runs`.",
    ),
    "compare-one-model": Entry(
        "{source}: {models}, and a comparison takes two. Name a second run.",
    ),
    "compare-settings": Entry(
        "{baseline} and {candidate} were judged differently ({differing}). {remedy}",
        "A comparison is of models: suite, rule (primary, published or one --check), counts, the options and versions "
        "of checks, and observers must be the same in both runs. Another rule sets options of its checks too, so only "
        "the rule is named. check.NAME of a check is what --set check.NAME=VALUE sets. `salva rejudge` changes all but "
        "the suite without a new image.",
    ),
    "compare-no-cases": Entry(
        "{baseline} and {candidate} share no case ({differing}). Use the same --size, --only and suite options.",
    ),
    "compare-prompts": Entry(
        "{n} of {n_shared} shared cases have other prompts in {baseline} than in {candidate} ({versions}): {cases}. "
        "Run both with one version.",
    ),
    "compare-observers": Entry(
        "The observer {observer} is not the same in {baseline} and {candidate} ({differing}). Use one version, or "
        "observe again: {command}",
        "Version, weights, options and, at an endpoint, the model that answered must be the same. Name a dated snapshot "
        "as judge, so that a provider cannot change it between two runs.",
    ),
    "compare-few-cases": Entry(
        "{cases} decided in both, and a difference takes {least}. Use a larger --size.",
    ),
    "compare-few-pairs": Entry(
        "Only {n} of {total} pairs are decided in both. Those may not be like the rest, so the difference may be biased.",
    ),
    "compare-opposite": Entry(
        "The failure rate gets {went}, but {metrics} gets {other}. Look at both before choosing a model.",
        "Images of one meaning can agree more and be wrong more often: a model that fails in the same way every time is "
        "consistent.",
    ),
    "compare-undecided-decide": Entry(
        "Undecided pairs leave it open: look at why they are undecided.",
        "The gate holds whatever they are: it is recomputed with all of them as failures of the candidate, and with all "
        "as failures of the baseline.",
    ),
    "compare-suite-version": Entry(
        "The suite has version {ours} in the baseline and {theirs} in the candidate. The prompts of all shared cases "
        "are the same.",
    ),
    "compare-some-cases": Entry(
        "{n} cases are in both runs; {n_baseline} only in {baseline} and {n_candidate} only in {candidate} are left out, "
        "and so are metrics of whole runs.",
    ),
    "compare-repeats": Entry(
        "{baseline} has {ours} repeats and {candidate} {theirs}. Those that both have are compared.",
    ),
    "compare-seeds": Entry(
        "{baseline} has --seed {ours} and {candidate} --seed {theirs}. With one seed fewer pairs would be needed.",
    ),
    "compare-versions-unknown": Entry(
        "The observers of {runs} are known by name only, so their versions are not compared.",
    ),
    "compare-rewritten": Entry(
        "In {pairs} the provider rewrote a prompt, so these images follow texts that the suite does not have.",
    ),
    "gate-same-model": Entry(
        "{path}: candidate and baseline are the same model {model!r}. Change the model or candidate.set.",
    ),
    "gate-baseline-missing": Entry(
        "{path}: the baseline {baseline!r} of {suite!r} holds no results. Make it with:\n  {command}",
    ),
    "gate-baseline-models": Entry(
        "{path}: the baseline {baseline!r} holds {n} models instead of one. Make another with:\n  {command}",
    ),
    "gate-baseline-differs": Entry(
        "{path}: the baseline {baseline!r} has other settings than {suite!r} ({differences}). Change the "
        "gate file, or make another baseline with:\n  {command}",
    ),
    "power-fraction": Entry(
        "--{name} is {value:g}. Give a fraction between 0 and 1 (0.05 is five points).",
    ),
    "power-target": Entry(
        "--half-width and --difference are two questions. Give one of them.",
    ),
    "power-subject": Entry(
        "{subject!r} is neither a run directory nor a suite ({known}).",
    ),
    "power-no-variance": Entry(
        "{run!r} has too few decided pairs or equal scores, so it shows no variance. Use `salva power SUITE`.",
    ),
}
