"""Messages about comparisons, gates and power."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "runs-folder-missing": Entry(
        "There is no folder {folder!r}. Give the folder that holds your runs, as in `salva runs runs`.",
    ),
    "compare-one-model": Entry(
        "{source}: {models} to compare, and a comparison takes two. Name another run, or run with several --model.",
    ),
    "compare-no-figure": Entry(
        "{first!r} and {second!r} have no figure in common ({ours}; {theirs}). "
        "Judge both by one check with `salva rejudge RUN --check CHECK`.",
    ),
    "compare-suites": Entry(
        "{first} is a run of {ours!r} and {second} one of {theirs!r}. Compare runs of one suite.",
    ),
    "compare-no-cases": Entry(
        "{first} and {second} have no case in common ({differing}). "
        "Run both with the same --size, --only and suite options.",
    ),
    "compare-prompts": Entry(
        "{n} of {n_shared} shared cases have other prompts in {second} (suite version {theirs}) than in {first} "
        "(version {ours}): {cases}. Run both with one version.",
    ),
    "compare-figures": Entry(
        "The main figure of {first} is {ours}, and that of {second} is {theirs}. Judge one as the other: {command}",
    ),
    "compare-checks": Entry(
        "{first} judges the case {case} by {ours}, and {second} by {theirs}. Judge one as the other: {command}",
    ),
    "compare-rules": Entry(
        "{check} judged {first} and {second} by different rules ({differing}). Judge one as the other: {command}",
    ),
    "compare-observers": Entry(
        "{first} was observed by {ours}, and {second} by {theirs}. To use the same observers: {remedy}",
    ),
    "compare-observer-mixed": Entry(
        "{run} holds observations of {n} versions of {observer}, and its verdicts do not say which they used. "
        "Run it anew in another directory, or try {command} if that run lacks the installed version.",
    ),
    "compare-observer-version": Entry(
        "{observer} is not the same in {first} and {second} ({differing}). "
        "Run both with one version, or observe one again: {command}",
    ),
    "compare-snapshot": Entry(
        "{observer} answered as {ours} in {first} and as {theirs} in {second}. "
        "Judge both on the same day, or name a dated snapshot as the judge.",
    ),
    "gate-same-model": Entry(
        "{path}: candidate and baseline are both {model!r} with the same options. "
        "Name another model, or set another option under candidate.set.",
    ),
    "gate-baseline-missing": Entry(
        "{path}: the baseline {baseline!r} of {suite!r} holds no results. Make it with:\n  {command}",
    ),
    "gate-baseline-models": Entry(
        "{path}: the baseline {baseline!r} holds {n} models instead of one. "
        "Make another one in another folder with:\n  {command}",
    ),
    "gate-baseline-differs": Entry(
        "{path}: the baseline {baseline!r} has other settings than {suite!r} ({differences}). "
        "Change the suite in the gate file, or make another baseline in another folder with:\n  {command}",
    ),
    "power-fraction": Entry(
        "--{name} is {value:g}. Give a fraction between 0 and 1 (0.05 is five points).",
    ),
    "power-target": Entry(
        "--half-width and --difference are two questions. Give one of them.",
    ),
    "power-subject": Entry(
        "{subject!r} is neither a run directory nor a suite. Give a directory that `salva run` printed, or one of {known}.",
    ),
    "power-no-variance": Entry(
        "{run!r} has fewer than two decided pairs, or equal scores everywhere, so it shows no variance. "
        "Use `salva power SUITE`, which works from assumptions.",
    ),
}
