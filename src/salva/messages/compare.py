"""Messages about comparisons, gates and power."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "runs-folder-missing": Entry(
        "There is no folder {folder!r}. Name one, as in `salva runs runs`.",
    ),
    "compare-one-model": Entry(
        "{source}: {models}, and a comparison takes two. Name another run.",
    ),
    "compare-no-figure": Entry(
        "{first!r} and {second!r} share no figure ({ours}; {theirs}). Judge both with `salva rejudge RUN "
        "--check CHECK`.",
    ),
    "compare-suites": Entry(
        "{first} is of the suite {ours!r}, {second} of {theirs!r}. Compare runs of one suite.",
    ),
    "compare-no-cases": Entry(
        "{first} and {second} share no case ({differing}). Use the same --size, --only and suite options.",
    ),
    "compare-prompts": Entry(
        "{n} of {n_shared} shared cases have other prompts in {second} (suite version {theirs}) than in "
        "{first} (version {ours}): {cases}. Use one version.",
    ),
    "compare-figures": Entry(
        "The main figure of {first} is {ours}, of {second} {theirs}. To judge alike: {command}",
    ),
    "compare-checks": Entry(
        "{first} judges the case {case} by {ours}, {second} by {theirs}. To judge alike: {command}",
    ),
    "compare-rules": Entry(
        "{check} judged {first} and {second} differently ({differing}). To judge alike: {command}",
    ),
    "compare-observers": Entry(
        "{first} was observed by {ours}, {second} by {theirs}. To use the same: {remedy}",
    ),
    "compare-observer-mixed": Entry(
        "{run} mixes observations of {n} versions of {observer}. Use another directory, or try {command}.",
    ),
    "compare-observer-version": Entry(
        "{observer} differs in {first} and {second} ({differing}). Use one version, or observe again: {command}",
    ),
    "compare-snapshot": Entry(
        "{observer} answered as {ours} in {first} and as {theirs} in {second}. Name a dated snapshot as judge.",
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
