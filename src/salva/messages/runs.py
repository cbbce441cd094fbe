"""Messages about planning and running."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "preflight-failed": Entry(
        "{who} {problem}. To continue, {ways}, or skip this test with --set {off}.", "After a repair, use a new --out."
    ),
    "preflight-unpaid": Entry("--max-cost does not cover {n} test questions to {who}. Raise it, or use --set {off}."),
    "preflight-broken": Entry("{who} failed on a test image: {why}."),
    "preflight-doubtful": Entry("{who} {problem}."),
    "selftest-words-few": Entry("The detector knows {n} of the selftest's entities ({known}); it needs three."),
    "observer-not-asked": Entry(
        "Not asked {n} times: only run.json names the {role} {name!r}, at {reached}. If you trust it: {command}"
    ),
    "observer-unused": Entry("No check of this run asks the {role} {name!r}."),
    "out-is-file": Entry("{path!r} is a file. --out takes a directory."),
    "out-not-empty": Entry("{path!r} is no run and holds {name!r}. Choose another --out."),
    "run-differs": Entry("{path!r} has other settings ({differences}). Repeat them, or choose another --out."),
    "resumed-with-recorded-options": Entry(
        "{path!r} continues with its recorded options ({options}).", "A new --out takes today's defaults."
    ),
    "label-unknown": Entry("--only {name}: {suite} has no label {name!r}, only {known}."),
    "label-value-unknown": Entry("--only {name}={value}: no such case. Known: {known}."),
    "labels-match-nothing": Entry("No case of {suite} matches {flags} together."),
    "prompts-changed": Entry(
        "The prompts of {suite!r} have changed since {path!r}. Restore the file, or choose another --out."
    ),
    "cases-kept": Entry("The run keeps its cases of {suite!r} version {made}, not {here}."),
    "cases-missing": Entry("{suite!r} gives no case for --size {size}."),
    "cases-unchecked": Entry("No check applies to {n} cases; they are not generated{why}."),
    "check-inapplicable": Entry("{who} to any of {cases} ({why}). {change}"),
    "check-undecided": Entry("The check {check!r} can decide none of {cases}: {why}. {change}"),
    "cases-undecidable": Entry("{n} of {cases} cannot be decided and are not generated: {why}."),
    "cases-by-check": Entry("The best check with its observers decides: {listed}."),
    "cases-not-generated": Entry("{n} cases have no images. Finish the run first."),
    "cases-not-stored": Entry("{path!r} has no cases yet. Run it again first."),
    "verdicts-made-anew": Entry("Verdicts made anew by another version: {checks}."),
    "verdicts-beside": Entry("The verdicts of {name!r} are stored beside earlier ones."),
    "images-lost": Entry("{n} lost or damaged images are generated again."),
    "images-differ": Entry("{n} of {total} images generated again are different, and were judged again."),
    "images-restored": Entry("{n} images were generated again, pixel by pixel the same."),
    "merge-into-shard": Entry("--out {path!r} is one of the runs to merge."),
    "run-imported": Entry("{path!r} was imported and has no images."),
    "stopping": Entry(
        "Stopping after the running requests ({n}). Ctrl-C now does not wait for them.",
        "Waits at most 8 seconds, or SALVA_STOP_SECONDS.",
    ),
    "given-up": Entry("{n} unanswered requests were given up, and may be billed. The same command repeats them."),
    "snapshot-changed": Entry("The {role} {name!r} now answers as {now!r}; this run began with {before!r}. {instead}"),
    "shards-differ": Entry("{path!r} and {other!r} are shards of different runs: {why}."),
    "shards-missing": Entry("{n} of {total} shards are missing: {named}."),
    "snapshots-differ": Entry("The shards used different models ({snapshots}). Run the shards of one again."),
    "note-dropped": Entry("The note {name!r} of the shards is not merged."),
    "name-invalid": Entry("{text!r} is no NAME=SPEC: NAME has no equals sign and is none of {roles}."),
    "setting-invalid": Entry("--set takes KEY=VALUE, got {pair!r}. Example: model.faults=entity-omission:0.3"),
    "setting-twice": Entry("{key!r} is set twice: {first!r} and {second!r}."),
    "setting-unknown": Entry(
        "--set {key}={value}: the key is ROLE.OPTION or NAME.OPTION. Known before the dot: {known}."
    ),
    "wrap-needs-text": Entry("{model} draws from formulas. Name a model that reads its prompt."),
    "published-missing": Entry("The suite {suite!r} has no published rule."),
    "published-conflict": Entry("--published means {name} {value!r}, not {given!r}."),
    "role-empty": Entry("{option} is set without a {role}. Name one with --{role}."),
    "model-missing": Entry("Name a model with --model."),
    "component-twice": Entry(
        "The {role}s {first!r} and {second!r} share a name or all options. Use --{role} NAME=SPEC --set NAME.OPTION=VALUE."
    ),
    "checks-missing": Entry("No check can decide. Name a --detector, --embedder or --judge."),
    "threshold-below-floor": Entry(
        "check.threshold {threshold:g} is below {floor:g}, the floor of {detector}. Raise it, or use --set {option}={threshold:g}."
    ),
    "licence": Entry("{name}: {licence}"),
    "component-not-named": Entry(
        "--set {setting}: only run.json names {name!r}. If you trust it, add --{role} {name}."
    ),
    "option-not-named": Entry("The run used {option} {value!r}. If you trust it, add --set {option}={value}."),
    "endpoint-moved": Entry(
        "The {role} {name!r} answered at {before}, now at {now}. Set --set {option} to the earlier address, or choose another --out.",
        "For one endpoint at two addresses: --set ROLE.endpoint.",
    ),
    "run-file-edited": Entry("{path!r} was edited: {why}. Restore it from a copy."),
    "cases-planned-anew": Entry(
        "The cases in {path!r} are not those of this command; they were stored again.",
        "They were edited, or another package version reads them otherwise.",
    ),
    "verdicts-dropped": Entry("{n} verdicts in {path!r} were dropped: nothing stored leads to them."),
}
