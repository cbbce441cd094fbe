"""Messages about planning and running."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "preflight-failed": Entry(
        "{who} {problem}. To go on, {ways}, or skip this test with --set {off}.",
        "Before a run, each observer is tried on images whose content is known. One that fails there is worth as little on other images. Its answers are stored; if it was repaired since, a new --out asks it again.",
    ),
    "preflight-unpaid": Entry(
        "--max-cost does not pay for the {n} questions that {who} is asked first. Allow more, or skip them with "
        "--set {off}.",
    ),
    "preflight-broken": Entry(
        "{who} failed on a test image: {why}. Nothing was generated; repair it and run the same command again.",
    ),
    "preflight-doubtful": Entry(
        "{who} {problem}.",
        "The observer failed a test before the run, and the test cannot be enforced for this kind of observer.",
    ),
    "selftest-words-few": Entry(
        "The detector can name {n} of the selftest's entities ({known}), and three are needed.",
    ),
    "observer-not-asked": Entry(
        "The {role} {name!r} was not asked {n} times: only run.json names it, and it would reach {reached}. "
        "If you trust it: {command}",
        "A run directory is data: no component is contacted because only the directory names it.",
    ),
    "out-is-file": Entry(
        "{path!r} is a file. --out takes a directory.",
    ),
    "out-not-empty": Entry(
        "{path!r} is not a run and not empty (it holds {name!r}). Choose another directory with --out.",
    ),
    "run-differs": Entry(
        "{path!r} holds a run with other settings ({differences}). "
        "Repeat its settings to go on with it, or choose another directory with --out.",
        "A directory keeps one specification: what changes images, observations or results.",
    ),
    "resumed-with-recorded-options": Entry(
        "{path!r} goes on with the options it was made with ({options}). Another --out takes today's.",
        "Defaults changed since the run was made. An option that the command sets itself is compared and not replaced.",
    ),
    "shards-too-many": Entry(
        "--shard is {shard}, and there are {n} cases. Ask for fewer shards.",
    ),
    "size-too-large": Entry(
        "--size is {size}, and there are {n} cases to choose from. Give a number up to that.",
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
        "{path!r} was made from other prompts: what the suite {suite!r} reads has changed. "
        "Choose another directory with --out, or restore the file.",
    ),
    "cases-kept": Entry(
        "The cases of version {made} of the suite {suite!r} stay; version {here} is installed.",
    ),
    "cases-missing": Entry(
        "The suite {suite!r} gives no case for --size {size}.",
    ),
    "cases-unchecked": Entry(
        "No check applies to {n} cases, so they are not generated{why}.{helping}",
    ),
    "check-inapplicable": Entry(
        "{who} to any of {cases} ({why}). {change}",
        "A run in which no case has a check is refused before anything is generated.",
    ),
    "check-undecided": Entry(
        "The check {check!r} can decide none of {cases}: {why}. {change}",
        "It would lead the report, so the run is refused before anything is generated.",
    ),
    "cases-undecidable": Entry(
        "The check {check!r} cannot decide {n} of {cases}: {why}. {n_skipped} of them are not generated.",
    ),
    "cases-of-other-checks": Entry(
        "The check {check!r} does not apply to {n} of {cases} ({why}). They are judged by {others}.",
    ),
    "cases-not-generated": Entry(
        "{n} cases have no images yet. Finish the run with its own command.",
    ),
    "cases-not-stored": Entry(
        "{path!r} was stopped before its cases were stored. Run it again first.",
    ),
    "verdicts-made-anew": Entry(
        "Verdicts made anew from stored observations: {checks}.",
        "Another version of a check is installed than the one that judged.",
    ),
    "verdicts-beside": Entry(
        "The verdicts of {name!r} are stored beside the earlier ones.",
    ),
    "images-lost": Entry(
        "The files of {n} images are gone or damaged; they are generated again.",
    ),
    "images-differ": Entry(
        "{n} of {total} images generated again differ from the lost ones; they were observed and judged anew.",
        "The model does not repeat itself for one prompt and seed.",
    ),
    "images-restored": Entry(
        "{n} images were generated again, the same to the pixel.",
    ),
    "merge-into-shard": Entry(
        "--out {path!r} is one of the runs to merge. Give another directory.",
    ),
    "run-imported": Entry(
        "{path!r} was imported: it has verdicts and no images.",
        "Only runs that salva made can be judged again, merged or measured.",
    ),
    "stopping": Entry(
        "Stopping: {n} requests are under way, and their results are stored first. Ctrl-C again leaves at once.",
    ),
    "snapshot-changed": Entry(
        "The {role} {name!r} now answers as {now!r}, and this run began with {before!r}. {instead}",
        "Images and answers of two models must not mix in one run. What was generated before stays.",
    ),
    "shards-differ": Entry(
        "{path!r} is no shard of the same run as {other!r}: {why}. Merge shards of one command only.",
    ),
    "shards-missing": Entry(
        "{n} of {total} shards are missing: {named}. Run each with --shard, and give all of them.",
    ),
    "snapshots-differ": Entry(
        "The shards were answered by different snapshots of a model ({snapshots}). Make the shards of one of them anew.",
    ),
    "note-dropped": Entry(
        "The merged run has no note {name!r}: those of the shards do not describe all of it.",
    ),
    "name-invalid": Entry(
        "{text!r} is no NAME=SPEC: a name holds no equals sign and is none of {roles}.",
    ),
    "setting-invalid": Entry(
        "--set takes KEY=VALUE, got {pair!r}. For example: model.faults=entity-omission:0.3",
    ),
    "setting-twice": Entry(
        "{key!r} is set twice: {first!r} and {second!r}. Leave one of them out.",
    ),
    "setting-unknown": Entry(
        "--set {key}={value}: the key is ROLE.OPTION, or NAME.OPTION for a named component. Known before the dot: {known}.",
    ),
    "wrap-needs-text": Entry(
        "{model} draws from formulas, so another text changes nothing. Name a model that reads its prompt.",
    ),
    "published-missing": Entry(
        "The suite {suite!r} has no published rule. Leave --published out.",
    ),
    "published-conflict": Entry(
        "--published means {name} {value!r}, and {given!r} is given. Leave one of them out.",
    ),
    "role-empty": Entry(
        "{option} is set, but this run has no {role}. Name one with --{role}.",
    ),
    "model-missing": Entry(
        "No model is given. Name one with --model.",
    ),
    "component-twice": Entry(
        "The {role}s {first!r} and {second!r} have one name, or the same options. "
        "Give each its own name and options, as in --{role} NAME=SPEC --set NAME.OPTION=VALUE.",
    ),
    "checks-missing": Entry(
        "No check can decide with these roles. Name a detector, an embedder or a judge.",
    ),
    "threshold-below-floor": Entry(
        "check.threshold is {threshold:g}, and {detector} kept boxes with a score of {floor:g} or more. "
        "Raise it, or observe again with --set {option}={threshold:g}.",
    ),
    "suite-for-given": Entry(
        "{option} is {value}: {models} has images of certain prompts only.",
    ),
    "licence": Entry(
        "{name}: {licence}",
    ),
    "check-option-unheard": Entry(
        "{option} does not reach the judge {judge!r}, which counts boxes itself. Set judge.threshold for it.",
    ),
    "component-not-named": Entry(
        "--set {setting} is about the {role} {name!r}, which only run.json names. Name it with --{role} {name}.",
        "A run directory is data: no component is contacted because only the directory names it.",
    ),
    "option-not-named": Entry(
        "The run was made with {option} {value!r}, and this command does not name it. "
        "If you trust the run, add --set {option}={value}.",
        "A run directory is data: no file or endpoint is used because only the directory names it.",
    ),
    "endpoint-moved": Entry(
        "The {role} {name!r} of this run answered at {before}, and now it would answer at {now}. "
        "Name the earlier address with --set {option}=..., or choose another directory with --out.",
        "Answers of two endpoints never mix in one run, unless the endpoint has a name of its own.",
    ),
}
