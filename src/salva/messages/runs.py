"""Messages about planning and running."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "preflight-failed": Entry(
        "{who} {problem}. To continue, {ways}, or skip this test with --set {off}.",
        "Each observer is first tested on images whose content is known. Its answers are stored: after a "
        "repair, use a new --out.",
    ),
    "preflight-unpaid": Entry(
        "--max-cost does not cover {n} test questions to {who}. Raise it, or skip them with --set {off}.",
    ),
    "preflight-broken": Entry(
        "{who} failed on a test image: {why}. Repair it and run the command again.",
    ),
    "preflight-doubtful": Entry(
        "{who} {problem}.",
        "The observer failed its test, which is not enforced for this kind of observer.",
    ),
    "selftest-words-few": Entry(
        "The detector knows {n} of the selftest's entities ({known}) and needs three.",
    ),
    "observer-not-asked": Entry(
        "Not asked {n} times: the {role} {name!r}, which only run.json names, would reach {reached}. If "
        "you trust it: {command}",
        "A component that only the run directory names is never contacted.",
    ),
    "observer-unused": Entry(
        "No check of this run asks the {role} {name!r}. Leave it out, or choose a check that does with --check.",
        "Each case is judged by the best check whose observers are there; the others are not asked.",
    ),
    "out-is-file": Entry(
        "{path!r} is a file. --out takes a directory.",
    ),
    "out-not-empty": Entry(
        "{path!r} is no run and not empty (it holds {name!r}). Choose another --out.",
    ),
    "run-differs": Entry(
        "{path!r} holds a run with other settings ({differences}). Repeat them, or choose another --out.",
    ),
    "resumed-with-recorded-options": Entry(
        "{path!r} continues with its recorded options ({options}). A new --out takes today's.",
        "Defaults have changed since the run was made.",
    ),
    "shards-too-many": Entry(
        "--shard is {shard}, and there are {n} cases. Ask for fewer shards.",
    ),
    "size-too-large": Entry(
        "--size is {size}, and there are {n} cases.",
    ),
    "label-unknown": Entry(
        "--only {name}: {suite} has no label {name!r}. It has {known}.",
    ),
    "label-value-unknown": Entry(
        "--only {name}={value}: no case has it. {name} is one of {known}.",
    ),
    "labels-match-nothing": Entry(
        "No case of {suite} matches {flags} together. Drop one of them.",
    ),
    "prompts-changed": Entry(
        "The prompts of the suite {suite!r} have changed since {path!r} was made. Choose another --out, "
        "or restore the file.",
    ),
    "cases-kept": Entry(
        "The run keeps its cases of {suite!r} version {made}; version {here} is installed.",
    ),
    "cases-missing": Entry(
        "The suite {suite!r} gives no case for --size {size}.",
    ),
    "cases-unchecked": Entry(
        "No check applies to {n} cases, so they are not generated{why}.",
    ),
    "check-inapplicable": Entry(
        "{who} to any of {cases} ({why}). {change}",
    ),
    "check-undecided": Entry(
        "The check {check!r} can decide none of {cases}: {why}. {change}",
    ),
    "cases-undecidable": Entry(
        "{n} of {cases} cannot be decided and are not generated: {why}.",
    ),
    "cases-by-check": Entry(
        "The best check that has its observers decides each case: {listed}.",
    ),
    "cases-not-generated": Entry(
        "{n} cases have no images. Finish the run first.",
    ),
    "cases-not-stored": Entry(
        "{path!r} was stopped before its cases were stored. Run it again first.",
    ),
    "verdicts-made-anew": Entry(
        "Verdicts made anew from stored observations: {checks}.",
        "Another version of the check is installed.",
    ),
    "verdicts-beside": Entry(
        "The verdicts of {name!r} are stored beside the earlier ones.",
    ),
    "images-lost": Entry(
        "{n} image files are lost or damaged and are generated again.",
    ),
    "images-differ": Entry(
        "{n} of {total} regenerated images differ from the lost ones and were judged again.",
        "The model gives different images for one prompt and seed.",
    ),
    "images-restored": Entry(
        "{n} images were generated again, the same to the pixel.",
    ),
    "merge-into-shard": Entry(
        "--out {path!r} is one of the runs to merge. Give another directory.",
    ),
    "run-imported": Entry(
        "{path!r} was imported: it has verdicts and no images.",
    ),
    "stopping": Entry(
        "Stopping after {n} running requests. Ctrl-C again does not wait for them.",
        "An interrupted run waits for them for at most 8 seconds, or SALVA_STOP_SECONDS. Every answer is stored.",
    ),
    "given-up": Entry(
        "{n} requests were given up before they were answered. The same command asks them again.",
        "Their service may bill them nevertheless. SALVA_STOP_SECONDS is how long an interrupted run waits for answers.",
    ),
    "snapshot-changed": Entry(
        "The {role} {name!r} now answers as {now!r}, and this run began with {before!r}. {instead}",
        "Images and answers of two models must not mix in one run.",
    ),
    "shards-differ": Entry(
        "{path!r} and {other!r} are shards of different runs: {why}.",
    ),
    "shards-missing": Entry(
        "{n} of {total} shards are missing: {named}. Give all shards.",
    ),
    "snapshots-differ": Entry(
        "The shards used different model snapshots ({snapshots}). Run the shards of one again.",
    ),
    "note-dropped": Entry(
        "The note {name!r} of the shards is not merged.",
    ),
    "name-invalid": Entry(
        "{text!r} is no NAME=SPEC: a name has no equals sign and is none of {roles}.",
    ),
    "setting-invalid": Entry(
        "--set takes KEY=VALUE, got {pair!r}. For example: model.faults=entity-omission:0.3",
    ),
    "setting-twice": Entry(
        "{key!r} is set twice: {first!r} and {second!r}. Leave one of them out.",
    ),
    "setting-unknown": Entry(
        "--set {key}={value}: the key is ROLE.OPTION or NAME.OPTION. Known before the dot: {known}.",
    ),
    "wrap-needs-text": Entry(
        "{model} draws from formulas. Name a model that reads its prompt.",
    ),
    "published-missing": Entry(
        "The suite {suite!r} has no published rule. Leave --published out.",
    ),
    "published-conflict": Entry(
        "--published means {name} {value!r}, and {given!r} is given. Leave one of them out.",
    ),
    "role-empty": Entry(
        "{option} is set without a {role}. Name one with --{role}.",
    ),
    "model-missing": Entry(
        "No model is given. Name one with --model.",
    ),
    "component-twice": Entry(
        "The {role}s {first!r} and {second!r} share a name or all options. Give each its own, as in "
        "--{role} NAME=SPEC --set NAME.OPTION=VALUE.",
    ),
    "checks-missing": Entry(
        "No check can decide with these roles. Name a --detector, --embedder or --judge.",
    ),
    "threshold-below-floor": Entry(
        "check.threshold is {threshold:g}, and {detector} kept boxes with a score of {floor:g} or more. "
        "Raise it, or use --set {option}={threshold:g}.",
    ),
    "licence": Entry(
        "{name}: {licence}",
    ),
    "component-not-named": Entry(
        "--set {setting}: only run.json names the {role} {name!r}. Name it with --{role} {name}.",
        "A component that only the run directory names is never contacted.",
    ),
    "option-not-named": Entry(
        "The run used {option} {value!r}. If you trust the run, add --set {option}={value}.",
        "A file or endpoint that only the run directory names is never used.",
    ),
    "endpoint-moved": Entry(
        "The {role} {name!r} answered at {before} and would now answer at {now}. Set --set {option} to "
        "the earlier address, or choose another --out.",
        "Answers of two endpoints never mix in one run, unless --set ROLE.endpoint names the endpoint.",
    ),
    "run-file-edited": Entry(
        "{path!r} was edited: {why}. Restore it from a copy.",
        "A run directory is data: what its run.json says must be what the database noted when it was written.",
    ),
    "cases-planned-anew": Entry(
        "The cases in {path!r} are not those of this command; they were stored again.",
        "They were edited, or another version of a package reads their texts otherwise. Images, observations and "
        "verdicts are used again where they still belong to a case, and made again where they do not.",
    ),
    "verdicts-dropped": Entry(
        "{n} verdicts in {path!r} were dropped: no stored image or observation leads to them.",
    ),
}
