"""Whether two runs are comparable: what must be the same, what may differ and is said.

Two entrants in; notes go out, or one error that says what differs and what to do. A comparison is of models: whatever
else differs between two runs would be counted as theirs.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from salva.compare.entrants import Entrant
from salva.compare.series import Key
from salva.component_facts import installed_version_of
from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.options import as_typed
from salva.core.quantity import quantity
from salva.core.run_spec import NOBODY
from salva.core.verdict import Observers, observers_text
from salva.errors import UsageError
from salva.messages import Message, message

_LONGEST = 60
_MOST = 3
"""Of differing options and cases so many are named."""


def check_comparable(baseline: Entrant, candidate: Entrant) -> None:
    """UsageError where a comparison would be of something else than two models."""
    if baseline.run.suite != candidate.run.suite:
        suites = {"suite": baseline.run.suite}, {"suite": candidate.run.suite}
        raise _different(baseline, candidate, *suites, "Compare runs of one suite.")
    _same_prompts(baseline, candidate)
    ours, theirs = (_rules(entrant) for entrant in (baseline, candidate))
    # A check of one run alone, and an import that does not say by which version, differ in no rule.
    known = [name for name in ours if name in theirs]
    before, after = ({name: rules[name] for name in known} for rules in (ours, theirs))
    if before != after:
        # Another rule sets options of checks too: it alone says why.
        most = 1 if before["rule"] != after["rule"] else _MOST
        raise _different(baseline, candidate, before, after, _judge_alike(baseline, candidate), most)
    _same_observers(baseline, candidate)


def _different(
    baseline: Entrant,
    candidate: Entrant,
    ours: Mapping[str, Json],
    theirs: Mapping[str, Json],
    remedy: str,
    most: int = _MOST,
) -> UsageError:
    differing = _differing(ours, theirs, most)
    places = {"baseline": _place(baseline), "candidate": _place(candidate)}
    return UsageError(message("compare-settings", **places, differing=differing, remedy=remedy))


def _same_prompts(baseline: Entrant, candidate: Entrant) -> None:
    """A case id that stands for another prompt in the other run pairs nothing."""
    before, after = baseline.cases, candidate.cases
    shared = [name for name in before if name in after]
    places = {"baseline": _place(baseline), "candidate": _place(candidate)}
    if not shared:
        differing = _differing(_words(baseline), _words(candidate)) or "other options of the suite"
        raise UsageError(message("compare-no-cases", **places, differing=differing))
    changed = [name for name in shared if _asks(before[name]) != _asks(after[name])]
    if changed:
        cases = ", ".join(changed[:_MOST]) + (" ..." if len(changed) > _MOST else "")
        versions = f"versions {_version(baseline)} and {_version(candidate)} of the suite"
        values = {"n": len(changed), "n_shared": len(shared), "cases": cases, "versions": versions}
        raise UsageError(message("compare-prompts", **places, **values))


def _asks(case: Case) -> object:
    return case.category, tuple((prompt.role, prompt.text, prompt.formula) for prompt in case.prompts)


def _rules(entrant: Entrant) -> dict[str, Json]:
    """The rule that makes the results, and the options and version of every check."""
    rules: dict[str, Json] = {"rule": str(entrant.asked.rule)}
    for check in entrant.asked.checks:
        rules |= {f"check.{name} of {check.name}": value for name, value in check.options.items()}
        version = entrant.fingerprints.rules.get(check.name, {}).get("version")
        rules |= {f"version of {check.name}": version} if version is not None else {}
    return rules


def _judge_alike(baseline: Entrant, candidate: Entrant) -> str:
    """What to type so that one run is judged as the other is, whichever can be brought to the other."""
    # Judging again starts from what a run was asked first; that can be given a rule, and not be freed of one.
    is_bound = not candidate.at_first.rule.is_primary and baseline.asked.rule.is_primary
    # The installed versions decide.
    is_newer = any(
        version == installed_version_of("check", name) != _rule_version(baseline, name)
        for name in baseline.fingerprints.rules
        if (version := _rule_version(candidate, name))
    )
    wanted, other = (candidate, baseline) if is_bound or is_newer else (baseline, candidate)
    if other.asked.imported:
        return "An import is not judged again; judge the other run by its rule."
    return f"To judge alike: {_command(wanted, other)}"


def _rule_version(entrant: Entrant, check: str) -> str:
    return str(entrant.fingerprints.rules.get(check, {}).get("version") or "")


def _command(wanted: Entrant, other: Entrant) -> str:
    """The command that judges one run as the other is."""
    words = ["salva", "rejudge", str(other.directory)]
    rule = wanted.asked.rule
    if str(rule) != str(other.at_first.rule):
        words += ["--published"] if rule.is_published else ["--check", rule.check] if rule.check else []
    before = {check.name: check.options for check in other.at_first.checks}
    changed = {
        name: value
        for check in wanted.asked.checks
        for name, value in check.options.items()
        if check.name in before and before[check.name].get(name) != value
    }
    for name, value in ({} if rule.is_published else changed).items():
        words += ["--counts", str(value)] if name == "counts" else ["--set", f"check.{name}={as_typed(value)}"]
    for role in ("detector", "reader", "judge"):
        now, then = wanted.asked.named(role), other.at_first.named(role)
        if now != then and (now or role == "reader"):
            words += [part for name in now or (NOBODY,) for part in (f"--{role}", name)]
    return shlex.join(words)


def _same_observers(baseline: Entrant, candidate: Entrant) -> None:
    """The same observers: name, version, weights, options and, at an endpoint, the model that answered."""
    ours, theirs = _evidence(baseline), _evidence(candidate)
    labels: dict[str, None] = {}
    for key, by_check in ours.items():
        for check, observers in by_check.items():
            other = theirs.get(key, {}).get(check, observers)
            if observers != other:
                names = {"observers": observers_text(observers)}, {"observers": observers_text(other)}
                raise _different(baseline, candidate, *names, _judge_alike(baseline, candidate))
            labels |= dict.fromkeys(observers)
        if key in theirs and not by_check.keys() & theirs[key].keys():
            checks = {"check": ", ".join(by_check)}, {"check": ", ".join(theirs[key])}
            raise _different(baseline, candidate, *checks, _judge_alike(baseline, candidate))
    for label in sorted(labels):
        _same_identity(label, baseline, candidate)


def _evidence(entrant: Entrant) -> dict[Key, dict[str, Observers]]:
    """Of each decided pair the checks that judged it for its result, each with its observers."""
    return {
        (result.case.case_id, result.repeat): {verdict.check: verdict.observers for verdict in result.evidence}
        for result in entrant.judged.results
        if result.is_decided
    }


def _same_identity(label: str, baseline: Entrant, candidate: Entrant) -> None:
    ours, theirs = (entrant.fingerprints.observers.get(label) for entrant in (baseline, candidate))
    said, says = (entrant.fingerprints.snapshots.get(label) for entrant in (baseline, candidate))
    if ours and theirs and ours != theirs:
        mixed = next((one for one in (ours, theirs) if len(one) > 1), None)
        differing = f"{len(mixed)} versions in one run" if mixed else _differing(dict(ours[0]), dict(theirs[0]))
    elif said and says and said != says:
        differing = f"it answered as {', '.join(said)} and as {', '.join(says)}"
    else:
        return
    # A run that mixes two versions would only gain a third; the other one can be observed again.
    other = baseline if theirs and len(theirs) > 1 else candidate
    observer = next((part for part in other.asked.observers if part.name == label), None)
    flag = f" --{observer.role} {shlex.quote(observer.text)}" if observer else ""
    command = f"salva rejudge {shlex.quote(str(other.directory))}{flag}"
    places = {"baseline": _place(baseline), "candidate": _place(candidate)}
    raise UsageError(message("compare-observers", **places, observer=label, differing=differing, command=command))


def notes_on(baseline: Entrant, candidate: Entrant) -> Iterator[Message]:
    """What to know before believing a comparison of two runs."""
    titles = {"baseline": baseline.title, "candidate": candidate.title}
    if _version(baseline) != _version(candidate):
        yield message("compare-suite-version", ours=_version(baseline), theirs=_version(candidate))
    before, after = baseline.cases.keys(), candidate.cases.keys()
    if before != after:
        n_only = {"n_baseline": len(before - after), "n_candidate": len(after - before)}
        yield message("compare-some-cases", **titles, n=len(before & after), **n_only)
    ours, theirs = baseline.asked, candidate.asked
    if ours.repeats != theirs.repeats:
        yield message("compare-repeats", **titles, ours=ours.repeats, theirs=theirs.repeats)
    if ours.seed != theirs.seed:
        yield message("compare-seeds", **titles, ours=ours.seed, theirs=theirs.seed)
    unknown = [entrant.title for entrant in (baseline, candidate) if _unknown_observers(entrant)]
    if unknown:
        yield message("compare-versions-unknown", runs=" and ".join(dict.fromkeys(unknown)))
    if n_rewritten := len(_rewritten(baseline) | _rewritten(candidate)):
        yield message("compare-rewritten", pairs=quantity(n_rewritten, "pairs"))


def _unknown_observers(entrant: Entrant) -> bool:
    observers = {label for by_check in _evidence(entrant).values() for labels in by_check.values() for label in labels}
    return bool(observers - entrant.fingerprints.observers.keys())


def _rewritten(entrant: Entrant) -> set[Key]:
    rewritten = entrant.fingerprints.rewritten
    results = entrant.judged.results if rewritten else ()
    return {(one.case.case_id, one.repeat) for one in results if rewritten & {*one.images.values()}}


def _version(entrant: Entrant) -> str:
    return str(entrant.fingerprints.suite.get("version", "unknown"))


def _words(entrant: Entrant) -> dict[str, Json]:
    asked = entrant.asked
    only = ", ".join(f"{name}={value}" for name, value in asked.only)
    return {
        "--size": asked.size,
        "--only": only,
        **{f"suite.{name}": value for name, value in asked.suite.options.items()},
    }


def _differing(ours: Mapping[str, Json], theirs: Mapping[str, Json], most: int = _MOST) -> str:
    """What two sets of settings have different, in a few words."""
    names = [name for name in dict.fromkeys((*ours, *theirs)) if ours.get(name) != theirs.get(name)]
    said = [f"{name}: {_word(ours.get(name))} and {_word(theirs.get(name))}" for name in names[:most]]
    return "; ".join(said) + (f"; {len(names) - most} more" if len(names) > most else "")


def _word(value: Json) -> str:
    """A value of an option, in a few letters."""
    if isinstance(value, dict):
        said = ", ".join(f"{name}={_word(part)}" for name, part in value.items()) or "nothing"
    elif isinstance(value, list):
        said = ",".join(_word(part) for part in value) or "nothing"
    elif value is None or value == "":
        said = "unset"
    else:
        said = str(value).lower() if isinstance(value, bool) else str(value)
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 3]}..."


def _place(entrant: Entrant) -> str:
    return repr(str(entrant.directory))
