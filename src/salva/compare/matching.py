"""Whether two runs are comparable: what must be the same, what may differ and must be said.

Two entrants in; sentences to show go out, or one error that says what differs, why that matters and what to do. A
comparison is of models: whatever else differs between two runs would be counted as theirs.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from salva.compare.entrants import Entrant
from salva.compare.series import Series
from salva.component_facts import installed_version_of, suite_about
from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.quantity import quantity
from salva.core.run_spec import OWN, RunSpec
from salva.core.verdict import Verdict, observers_text
from salva.errors import UsageError
from salva.messages import message
from salva.results.leading import BLIND

_LONGEST = 60
_MOST = 3
"""Of differing options and cases so many are named."""


def notes_on(first: Entrant, second: Entrant) -> list[str]:
    """What to know of a comparison; raises UsageError where it would compare something else than two models."""
    _same_suite(first, second)
    _same_prompts(first, second)
    _same_figure(first, second)
    _same_rules(first, second)
    _same_observers(first, second)
    return [*_suite_notes(first, second), *_seed_notes(first, second), *oracle_notes(first, second)]


def _same_suite(first: Entrant, second: Entrant) -> None:
    if first.suite != second.suite:
        raise UsageError(
            message("compare-suites", first=_place(first), second=_place(second), ours=first.suite, theirs=second.suite)
        )


def _same_prompts(first: Entrant, second: Entrant) -> None:
    """A case id that stands for other words in the other run pairs nothing."""
    before = {case.case_id: case for case in first.cases}
    shared = [(before[case.case_id], case) for case in second.cases if case.case_id in before]
    if not shared:
        differing = _differing(_words(first.asked), _words(second.asked)) or "other options of the suite"
        raise UsageError(message("compare-no-cases", first=_place(first), second=_place(second), differing=differing))
    changed = [one.case_id for one, other in shared if _asks(one) != _asks(other)]
    if changed:
        raise UsageError(
            message(
                "compare-prompts",
                first=_place(first),
                second=_place(second),
                n=len(changed),
                n_shared=len(shared),
                ours=_version(first),
                theirs=_version(second),
                cases=", ".join(changed[:_MOST]) + (" ..." if len(changed) > _MOST else ""),
            )
        )


def _asks(case: Case) -> object:
    return case.category, tuple((prompt.role, prompt.text, prompt.formula) for prompt in case.prompts)


def _shared(first: Entrant, second: Entrant) -> Iterator[tuple[Verdict, Verdict]]:
    """The verdicts on the same pair that a figure rests on, on both sides."""
    others = {series.name: series for series in second.series}
    for series in first.series:
        theirs = others[series.name].verdicts if series.name in others else {}
        yield from ((verdict, theirs[key]) for key, verdict in series.verdicts.items() if key in theirs)


def _same_figure(first: Entrant, second: Entrant) -> None:
    """What leads one leads the other: a figure that only stands beside one of them is not what it was run for."""
    if not first.series or not second.series:
        return
    ours, theirs = first.series[0], second.series[0]
    # Where each case is judged by its own check, a run that is not finished may not have come to all of them.
    is_each_its_own = OWN in (first.asked.check or suite_about(first.suite).leads, ours.check, theirs.check)
    if ours.name == theirs.name and (ours.check == theirs.check or is_each_its_own):
        return
    led = [f"{series.title} ({series.check})" if series.check else series.title for series in (ours, theirs)]
    # A figure of the suite's own cannot be named: then it is the other's check that both can be led by.
    wanted, other = (first, second) if _leader(first) else (second, first)
    command = _judge(wanted, other, _leader(wanted))
    raise UsageError(
        message(
            "compare-figures", first=_place(first), second=_place(second), ours=led[0], theirs=led[1], command=command
        )
    )


def _leader(entrant: Entrant) -> str:
    """The check that --check names to lead as this one; empty where none does."""
    check = entrant.asked.check or entrant.series[0].check
    return "" if check == OWN else check


def _same_rules(first: Entrant, second: Entrant) -> None:
    """The same check by the same rule: counts, scope, thresholds and the rest."""
    for one, other in _shared(first, second):
        if one.check != other.check:
            raise UsageError(
                message(
                    "compare-checks",
                    first=_place(first),
                    second=_place(second),
                    case=one.case_id,
                    ours=one.check,
                    theirs=other.check,
                    command=f"salva rejudge {shlex.quote(str(second.directory))} --check {one.check}",
                )
            )
    for name in sorted(first.checks & second.checks):
        ours, theirs = _rules(name, first, second)
        if ours and theirs and (differing := _differing(ours, theirs)):
            # Judging goes by the version that is installed, so it is the run of another that can be brought to it.
            installed = installed_version_of("check", name)
            is_first = ours.get("version") != installed == theirs.get("version")
            wanted, brought = (second, first) if is_first else (first, second)
            command = _judge(wanted, brought)
            raise UsageError(
                message(
                    "compare-rules",
                    check=name,
                    first=_place(first),
                    second=_place(second),
                    differing=differing,
                    command=command,
                )
            )


def _rules(check: str, first: Entrant, second: Entrant) -> tuple[dict[str, Json], dict[str, Json]]:
    """The rules a check judged both by; versions where both say theirs."""
    ours, theirs = _rule(first, check), _rule(second, check)
    if {"version"} <= ours.keys() & theirs.keys():
        return ours, theirs
    # Verdicts that were imported say by which rule they were made, and not by whose program.
    return {k: v for k, v in ours.items() if k != "version"}, {k: v for k, v in theirs.items() if k != "version"}


def unlike(ours: Series, theirs: Series, first: Entrant, second: Entrant) -> str:
    """Why a figure beside the one that leads is not the same figure on both sides; empty where it is."""
    for check in sorted(ours.judged_by.keys() | theirs.judged_by.keys()):
        if (one := ours.judged_by.get(check)) != (other := theirs.judged_by.get(check)):
            by = [f"by {observers_text(eyes)}" if eyes else "by no observer" for eyes in (one, other)]
            return f"by {check} {first.title} was observed {by[0]} and {second.title} {by[1]}"
        rules = _rules(check, first, second)
        if all(rules) and (differing := _differing(*rules)):
            return f"{check} judged them by different rules ({differing})"
    return ""


def _rule(entrant: Entrant, check: str) -> dict[str, Json]:
    """The rule a check judged by: as asked, with its version where the run says so."""
    asked = next((dict(component.options) for component in entrant.asked.checks if component.name == check), {})
    version = entrant.fingerprints.rules.get(check, {}).get("version")
    return {**asked, "version": version} if asked and version is not None else asked


def _judge(wanted: Entrant, other: Entrant, leader: str = "", roles: str | None = None) -> str:
    """The command that judges one run as the other is, all in one: judging again starts from what was asked at first.

    leader: the check to lead with; roles: the flags that name who looks, where they must be named whoever did.
    """
    led = leader or (wanted.asked.check if wanted.asked.check != other.at_first.check else "")
    flags = f" --check {led}" if led not in ("", OWN) else ""
    at_first = {component.name: component.options for component in other.at_first.checks}
    settings: dict[str, str] = {}
    for check in sorted({*wanted.checks, leader} - {""}):
        rule = _rule(wanted, check)
        settings |= _settings(rule, at_first.get(check, {})) if rule else {}
    flags += "".join(settings.values()) + (_changed(wanted, other) if roles is None else roles)
    return f"salva rejudge {shlex.quote(str(other.directory))}{flags}"


def _settings(ours: Mapping[str, Json], theirs: Mapping[str, Json]) -> dict[str, str]:
    """By option the flag that brings one with the second rule to the first."""
    flags = {}
    for name in dict.fromkeys((*ours, *theirs)):
        value = ours.get(name)
        if name != "version" and theirs.get(name) != value:
            said = "" if value is None else _word(value)
            setting = f"--counts {said}" if name == "counts" else f"--set {shlex.quote(f'check.{name}={said}')}"
            flags[name] = f" {setting}"
    return flags


def _changed(wanted: Entrant, other: Entrant) -> str:
    """The flags that name those who look, where others did at first."""
    flags = ""
    for role in ("detector", "reader", "judge"):
        now, before = (
            [observer.typed or observer.name for observer in asked.observers if observer.role == role]
            for asked in (wanted.asked, other.at_first)
        )
        if now != before and (now or role == "reader"):
            flags += "".join(f" --{role} {shlex.quote(name)}" for name in now or ["none"])
    return flags


def _same_observers(first: Entrant, second: Entrant) -> None:
    """The same eyes: name, version, weights, options and, at an endpoint, the model that answered."""
    for one, other in _shared(first, second):
        if one.observers != other.observers:
            raise UsageError(
                message(
                    "compare-observers",
                    first=_place(first),
                    second=_place(second),
                    ours=observers_text(one.observers),
                    theirs=observers_text(other.observers),
                    remedy=_look_again(first, second),
                )
            )
    for label in sorted(first.observers & second.observers):
        ours, theirs = first.fingerprints.observers.get(label), second.fingerprints.observers.get(label)
        if ours and theirs and ours != theirs:
            for entrant, identities, beside in ((first, ours, second), (second, theirs, first)):
                if len(identities) > 1:
                    command = f"salva rejudge {shlex.quote(str(beside.directory))}"
                    raise UsageError(
                        message(
                            "compare-observer-mixed",
                            run=_place(entrant),
                            n=len(identities),
                            observer=label,
                            command=command,
                        )
                    )
            differing = _differing(dict(ours[0]), dict(theirs[0]))
            command = _judge(first, second, roles=_roles(first, second))
            raise UsageError(
                message(
                    "compare-observer-version",
                    observer=label,
                    first=_place(first),
                    second=_place(second),
                    differing=differing,
                    command=command,
                )
            )
        said, says = first.fingerprints.snapshots.get(label), second.fingerprints.snapshots.get(label)
        if said and says and said != says:
            raise UsageError(
                message(
                    "compare-snapshot",
                    observer=label,
                    first=_place(first),
                    second=_place(second),
                    ours=", ".join(said),
                    theirs=", ".join(says),
                )
            )


def _look_again(first: Entrant, second: Entrant) -> str:
    """How both come to be seen by the same eyes."""
    foreign = [entrant for entrant in (first, second) if entrant.asked.imported]
    if foreign:
        return (
            f"{_place(foreign[0])} was imported, so run the suite on its images with --model folder/... and the other "
            "run's detector, and compare that run"
        )
    return f"{_judge(first, second, roles=_roles(first, second))}"


def _roles(wanted: Entrant, other: Entrant) -> str:
    """The flags that name those who looked, and leave out a reader that only the other has."""
    named = [observer for observer in wanted.asked.observers if observer.name in wanted.observers]
    flags = "".join(f" --{observer.role} {shlex.quote(observer.typed or observer.name)}" for observer in named)
    has_reader = any(observer.role == "reader" for observer in named)
    is_read = any(observer.role == "reader" and observer.name in other.observers for observer in other.asked.observers)
    return f"{flags} --reader none" if is_read and not has_reader else flags


def _suite_notes(first: Entrant, second: Entrant) -> Iterator[str]:
    if _version(first) != _version(second):
        yield (
            f"the suite is of version {_version(first)} in {first.title} and of version {_version(second)} in "
            f"{second.title}; the prompts of all shared cases are the same"
        )
    ours, theirs = ({case.case_id for case in entrant.cases} for entrant in (first, second))
    if ours != theirs:
        yield (
            f"{quantity(len(ours & theirs), 'cases')} in both; {len(ours - theirs)} only in {first.title} and "
            f"{len(theirs - ours)} only in {second.title} stay out"
        )
    if first.asked.repeats != second.asked.repeats:
        yield (
            f"{first.title} has {first.asked.repeats} repeats and {second.title} {second.asked.repeats}; those that "
            "both have are compared"
        )
    unknown = [
        entrant.title for entrant in (first, second) if entrant.observers - entrant.fingerprints.observers.keys()
    ]
    if unknown:
        names = " and ".join(dict.fromkeys(unknown))
        yield f"the observers of {names} are known by name only, so versions are not compared"


def _seed_notes(first: Entrant, second: Entrant) -> Iterator[str]:
    if first.asked.seed != second.asked.seed:
        yield (
            f"{first.title} was generated with --seed {first.asked.seed} and {second.title} with --seed "
            f"{second.asked.seed}: pairs share prompts but not noise, so more of them are needed"
        )


def oracle_notes(first: Entrant, second: Entrant) -> Iterator[str]:
    """Why the figures of one or the other are not to be trusted."""
    for entrant in (first, second):
        is_blind = entrant.leading.oracle == BLIND
        if is_blind or entrant.leading.is_one_picture:
            what = f"the oracle is blind to {entrant.title}" if is_blind else f"figures of {entrant.title} say little"
            yield f"{what}: {entrant.leading.reason}"


def _version(entrant: Entrant) -> str:
    return str(entrant.fingerprints.suite.get("version", "unknown"))


def _words(asked: RunSpec) -> dict[str, Json]:
    only = ", ".join(f"{name}={value}" for name, value in asked.only)
    return {
        "--size": asked.size,
        "--only": only,
        **{f"suite.{name}": value for name, value in asked.suite.options.items()},
    }


def _differing(ours: Mapping[str, Json], theirs: Mapping[str, Json]) -> str:
    """What two sets of options say differently, in a few words."""
    names = [name for name in dict.fromkeys((*ours, *theirs)) if ours.get(name) != theirs.get(name)]
    said = [f"{name} {_word(ours.get(name))} against {_word(theirs.get(name))}" for name in names[:_MOST]]
    return ", ".join(said) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")


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
