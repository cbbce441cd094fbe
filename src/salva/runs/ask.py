"""From what a person asked (names, flags, key=value settings) to a RunSpec with every component bound.

The command line and the Python API meet here. Nothing is loaded and nothing is run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Container, Iterable, Mapping, Sequence

from salva.core.asked import CANARY, OFF, ON, Asked
from salva.core.fingerprint import fingerprint
from salva.core.options import as_typed, value_of
from salva.core.shard import Shard
from salva.core.spec import Binding, RunSpec
from salva.errors import UsageError, meant, unknown_name
from salva.component_facts import suite_about
from salva.registry import bind, colour_reader, defaults, injection_reader
from salva.runs.binding import (
    GROUP,
    SETTABLE,
    Kept,
    bind_each,
    bind_checks,
    component_spec,
    split_name,
)
from salva.runs.untouched import for_given

_MOST_REPEATS = 100_000
NOBODY = "none"
"""What stands for a role left empty."""
DEFAULTS = {"model": "pocket", "detector": NOBODY, "reader": "rapidocr", "embedder": NOBODY, "judge": NOBODY}
"""Who plays a role when neither the user nor the suite nor every model names anyone."""
USUAL_SIZE = "quick"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A run as a person asks for it; a role left empty goes to the suite's choice, then to the default."""

    suite: str
    models: tuple[str, ...] = ()
    """Each as typed, or NAME=SPEC; so are judges."""
    detector: str = ""
    reader: str = ""
    embedder: str = ""
    judges: tuple[str, ...] = ()
    size: str = ""
    """Empty for quick, or the first size of a suite that has none of that name."""
    repeats: int = 1
    seed: int = 0
    control: bool = False
    only: tuple[str, ...] = ()
    """Each as LABEL=VALUE."""
    shard: str = ""
    """As I/N; empty for all cases."""
    check: str = ""
    counts: str = ""
    settings: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """ROLE.OPTION to value, or NAME.OPTION for one that has a name, as --set gives them."""

    def names(self) -> frozenset[str]:
        """What models and judges are called by the user."""
        return frozenset(alias for text in (*self.models, *self.judges) if (alias := split_name(text)[0]))


def split_settings(pairs: Iterable[str]) -> dict[str, str]:
    """KEY=VALUE strings to a mapping; a key given twice is an error, since one would win in silence."""
    settings: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"expected KEY=VALUE, got {pair!r}; for example model.faults=entity-omission:0.3")
        if key in settings:
            raise UsageError(f"{key!r} is set twice: {settings[key]!r} and {value!r}")
        settings[key] = value
    return settings


def by_published_rule(ask: Ask) -> tuple[Ask, str]:
    """The same ask by the rule of the suite's paper, and the flags that stand for it."""
    published = suite_about(ask.suite).published
    if not published:
        raise UsageError(f"the suite {ask.suite!r} has no published rule; leave --published out")
    for name, value in published.items():
        given = ask.settings.get(name, "") if "." in name else getattr(ask, name)
        if given not in ("", value):
            raise UsageError(f"--published means {name} {value!r}, and {given!r} is asked for; leave one of them out")
    settings = {name: value for name, value in published.items() if "." in name}
    named = {name: value for name, value in published.items() if "." not in name}
    flags = [f"--{name} {value}" for name, value in named.items()]
    flags += [f"--set {name}={value}" for name, value in settings.items()]
    same = dataclasses.replace(ask, settings={**ask.settings, **settings}, **named)  # type: ignore[arg-type]  # names of fields
    return same, " ".join(flags)


def make_spec(ask: Ask, made: Asked | None = None, foreign: Container[tuple[str, str]] = ()) -> RunSpec:
    """Bind every component of an ask; one that a run was made with has the options it had, unless others are set.

    foreign: role and name of those that only the run names, and that are not to be put to work.
    """
    by_role = settings_by_role(ask.settings, ask.names())
    kept = _options_of(made) if made else {}
    if ask.counts:
        by_role["check"].setdefault("counts", ask.counts)
    if not 1 <= ask.repeats <= _MOST_REPEATS:
        raise UsageError(f"--repeats is {ask.repeats}; it must be from 1 to {_MOST_REPEATS:,}")
    options = {**kept.get(("suite", ask.suite), {}), **by_role["suite"]}
    suite = bind(component_spec("suite", ask.suite, options), is_foreign=("suite", ask.suite) in foreign)
    size = _size_of(suite, ask.size)
    chosen = {**DEFAULTS, **suite.about.defaults}
    notes: list[str] = []

    def some(role: str, texts: tuple[str, ...]) -> tuple[Binding, ...]:
        named = tuple(text for text in texts or (chosen[role],) if text != NOBODY)
        if not named and by_role[role]:
            option = next(iter(by_role[role]))
            raise UsageError(f"{role}.{option} is set, but this run has no {role}; name one with --{role}")
        return bind_each(role, named, by_role[role], kept, by_role, foreign)

    def one(role: str, text: str) -> Binding | None:
        return next(iter(some(role, (text,) if text else ())), None)

    models = some("model", ask.models)
    suite, more = for_given(suite, models, options)
    notes += more
    chosen = {**DEFAULTS, **_observers_of(models), **suite.about.defaults}
    if not models:
        raise UsageError("no model given; name one with --model")
    _refuse_doubles("model", models, ask.models)
    detector, reader, embedder = one("detector", ask.detector), one("reader", ask.reader), one("embedder", ask.embedder)
    judges = some("judge", ask.judges)
    _refuse_doubles("judge", judges, ask.judges)
    roles = {b.role for b in (detector, reader, embedder, *judges) if b is not None}
    is_open = not ask.detector and detector is None
    notes += [f"{b.label}: {b.about.licence}" for b in (detector, reader, embedder, *judges) if b and b.about.licence]
    notes += _unreached(by_role["check"], judges)
    checks, wanting = bind_checks(by_role["check"], roles, ask.check, kept, suite=ask.suite, is_open=is_open)
    if detector is not None and detector.about.floor:
        name = detector.about.floor
        check_threshold(checks, getattr(detector.options, name), f"{detector.label} keeps", f"detector.{name}")
    return RunSpec(
        suite=suite,
        models=models,
        detector=detector,
        reader=reader,
        embedder=embedder,
        judges=judges,
        colour_reader=colour_reader() if detector else None,
        injection_reader=injection_reader() if reader is None and _is_text_screened(ask, judges, made) else None,
        checks=checks,
        wanting=wanting,
        set_for_checks=by_role["check"],
        headline=ask.check,
        size=size,
        repeats=max(ask.repeats, 2) if ask.control else ask.repeats,
        seed=ask.seed,
        control=ask.control,
        only=tuple((key, value) for key, value in split_settings(ask.only).items()),
        shard=Shard.parse(ask.shard) if ask.shard else None,
        notes=tuple(notes),
        preflight=_is_preflight_on(by_role["run"]),
    )


def _is_text_screened(ask: Ask, judges: Sequence[Binding], made: Asked | None) -> bool:
    """Whether pictures are read for text that instructs a judge although no reader is named.

    A run keeps to what it was made with. A judge that answers from boxes never sees what is written.
    """
    if made is not None:
        return made.injection_reader
    return not ask.reader and any("detector" not in judge.about.needs_roles for judge in judges)


def _refuse_doubles(role: str, bindings: Sequence[Binding], texts: Sequence[str]) -> None:
    """Refuse one name for two, and two names for one and the same."""
    if len({binding.label for binding in bindings}) != len(bindings):
        raise UsageError(f"a {role} is named twice: {', '.join(texts)}")
    by_identity: dict[str, str] = {}
    for binding in bindings:
        other = by_identity.setdefault(fingerprint(binding.identity()), binding.label)
        if other != binding.label:
            raise UsageError(
                f"{other} and {binding.label} are the same {role} with the same options; set one of them otherwise, "
                f"as in --set {binding.label}.OPTION=VALUE"
            )


def _observers_of(models: Sequence[Binding]) -> dict[str, str]:
    """Who looks at the pictures of these models by default: whom all of them name."""
    first, *others = [binding.about.defaults for binding in models] or [{}]
    return {role: name for role, name in first.items() if all(other.get(role) == name for other in others)}


def _unreached(options: Mapping[str, str], judges: Sequence[Binding]) -> list[str]:
    """What checks were told about boxes that a judge who answers from boxes does not hear of."""
    by_boxes = [judge for judge in judges if "detector" in judge.about.needs_roles]
    notes = []
    for judge in by_boxes:
        if "threshold" in options and value_of(judge.options, "threshold") is None:
            notes.append(
                f"check.threshold is for checks; the judge {judge.label!r} counts boxes as the detector states, "
                f"unless --set judge.threshold={options['threshold']}"
            )
        if "doubt" in options:
            notes.append(f"check.doubt has no say in what the judge {judge.label!r} answers from boxes")
    return notes


def check_threshold(checks: Iterable[Binding], floor: float, who_keeps: str, floor_option: str) -> None:
    """Refuse a threshold below the score from which boxes are kept: what is not there cannot be counted."""
    for check in checks:
        threshold = value_of(check.options, "threshold")
        if threshold is not None and threshold < floor:
            raise UsageError(
                f"check.threshold is {threshold:g}, and {who_keeps} boxes with a score of {floor:g} or more; give "
                f"at least that, or have the pictures looked at again with --set {floor_option}={threshold:g}"
            )


def ask_again(asked: Asked) -> Ask:
    """The ask that a run came from, to be changed and bound anew with the options that its components had.

    Of the settings only the run's and those of checks: one that is judged for the first time follows them too.
    """
    chosen = asked.chosen(defaults).checks

    def names(role: str) -> tuple[str, ...]:
        return tuple(observer.spelled for observer in asked.observers if observer.role == role)

    return Ask(
        suite=asked.suite.name,
        models=tuple(model.spelled for model in asked.models),
        detector=next(iter(names("detector")), NOBODY),
        reader=next(iter(names("reader")), NOBODY),
        embedder=next(iter(names("embedder")), NOBODY),
        judges=names("judge") or (NOBODY,),
        size=asked.size,
        repeats=asked.repeats,
        seed=asked.seed,
        control=asked.control,
        only=tuple(f"{name}={value}" for name, value in asked.only),
        shard=asked.shard,
        check=asked.headline,
        settings={f"check.{name}": as_typed(value) for part in chosen for name, value in part.options.items()}
        | {f"{model.name}.{GROUP}": model.group for model in asked.models if model.group}
        | ({} if asked.preflight else {CANARY: OFF}),
    )


def _options_of(asked: Asked) -> Kept:
    return {
        (component.role, component.spelled): {name: as_typed(value) for name, value in component.options.items()}
        for component in asked.components()
    }


def settings_by_role(settings: Mapping[str, str], names: Collection[str] = ()) -> dict[str, dict[str, str]]:
    """ROLE.OPTION to value, as role to options; names: what models and judges are called, each beside the roles."""
    by_role: dict[str, dict[str, str]] = {role: {} for role in (*SETTABLE, *names)}
    for key, value in settings.items():
        # A name may have dots of its own, as in v1.5.steps.
        whole = next((called for called in sorted(names, key=len, reverse=True) if key.startswith(f"{called}.")), "")
        role, dot, name = (whole, ".", key[len(whole) + 1 :]) if whole else key.partition(".")
        if not dot or role not in by_role:
            called = f", or NAME.OPTION with {', '.join(sorted(names))}" if names else ""
            raise UsageError(
                f"--set {key}={value}: the key is ROLE.OPTION with a role of {', '.join(SETTABLE)}{called}"
            )
        by_role[role][name] = value
    return by_role


def _is_preflight_on(settings: Mapping[str, str]) -> bool:
    """What is set of the run itself, which has this one switch."""
    for name, value in settings.items():
        if f"run.{name}" != CANARY:
            raise unknown_name("option of run", name, [CANARY.partition(".")[2]])
        if value not in (ON, OFF):
            raise UsageError(f"{CANARY} is {value!r}; it is {ON} or {OFF}")
    return OFF not in settings.values()


def _size_of(suite: Binding, size: str) -> str:
    """The size that is asked, checked."""
    sizes: Sequence[str] = suite.component.sizes
    if not size:
        return USUAL_SIZE if USUAL_SIZE in sizes else sizes[0]
    if size in sizes:
        return size
    if not size.isascii() or not size.isdigit() or int(size) < 1:
        raise UsageError(
            f"--size is {size!r}; {suite.label} has {', '.join(sizes)}, or give a number of cases.{meant(size, sizes)}"
        )
    return size
