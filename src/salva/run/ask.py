"""From what a person asked (names, flags, key=value settings) to a RunSpec with every component bound.

The command line and the Python API meet here. Nothing is loaded and nothing is run.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence

from salva.core.about import about_of, options_of
from salva.core.asked import CANARY, OFF, ON, Asked
from salva.core.fingerprint import fingerprint
from salva.core.options import as_typed, fields_of, value_of
from salva.core.shard import Shard
from salva.core.spec import Binding, ComponentSpec, RunSpec
from salva.errors import UsageError, meant, unknown_name
from salva.registry import BUILT_IN, bind, colourist, defaults, entries, load, lookout, suite_about
from salva.run.untouched import for_given

SETTABLE = ("suite", "model", "detector", "reader", "embedder", "judge", "relation", "run", "executor")
NOBODY = "none"
"""What stands for a role left empty."""
DEFAULTS = {"model": "pocket", "detector": NOBODY, "reader": "rapidocr", "embedder": NOBODY, "judge": NOBODY}
"""Who plays a role when neither the user nor the suite nor every model names anyone."""
ROLES = (*SETTABLE, "metric", "importer", "exporter")
"""What nobody may be called."""
GROUP = "group"
"""The setting of a model with a name that says what others it is shown together with."""
_NAMED = re.compile(r"([A-Za-z0-9][\w.-]*)=(.+)", re.ASCII)
Kept = Mapping[tuple[str, str], Mapping[str, str]]
"""Role and name of a component to the options it had in a run."""


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
    size: str = "quick"
    repeats: int = 1
    seed: int = 0
    control: bool = False
    only: tuple[str, ...] = ()
    """Each as LABEL=VALUE."""
    shard: str = ""
    """As I/N; empty for all cases."""
    relation: str = ""
    reading: str = ""
    settings: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """ROLE.OPTION to value, or NAME.OPTION for one that has a name, as --set gives them."""

    def names(self) -> frozenset[str]:
        """What models and judges are called by the user."""
        return frozenset(alias for text in (*self.models, *self.judges) if (alias := split_name(text)[0]))


def split_name(text: str) -> tuple[str, str]:
    """A component's string as the name the user gives it, empty for none, and what it stands for."""
    named = _NAMED.fullmatch(text)
    if named is None:
        return "", text
    alias, spec = named.groups()
    if alias in ROLES or "=" in spec.partition("/")[0]:
        raise UsageError(f"{text!r}: NAME=SPEC wants a name that is no role's ({', '.join(ROLES)}), and one alone")
    return alias, spec


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
    if ask.reading:
        by_role["relation"].setdefault("reading", ask.reading)
    if ask.repeats < 1:
        raise UsageError(f"--repeats is {ask.repeats}; it must be 1 or more")
    told = {**kept.get(("suite", ask.suite), {}), **by_role["suite"]}
    suite = bind(component_spec("suite", ask.suite, told), is_foreign=("suite", ask.suite) in foreign)
    _check_size(suite, ask.size)
    chosen = {**DEFAULTS, **suite.about.defaults}
    notes: list[str] = []

    def some(role: str, texts: tuple[str, ...]) -> tuple[Binding, ...]:
        named = tuple(text for text in texts or (chosen[role],) if text != NOBODY)
        notes.extend(move_settings(role, named, by_role))
        if not named and by_role[role]:
            option = next(iter(by_role[role]))
            raise UsageError(f"{role}.{option} is set, but this run has no {role}; name one with --{role}")
        return bind_each(role, named, by_role[role], kept, by_role, foreign)

    def one(role: str, text: str) -> Binding | None:
        return next(iter(some(role, (text,) if text else ())), None)

    models = some("model", ask.models)
    suite, more = for_given(suite, models, told)
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
    notes += _unreached(by_role["relation"], judges)
    relations, wanting = bind_relations(by_role["relation"], roles, ask.relation, kept, is_open=is_open)
    if detector is not None and detector.about.floor:
        name = detector.about.floor
        check_threshold(relations, getattr(detector.options, name), f"{detector.label} keeps", f"detector.{name}")
    return RunSpec(
        suite=suite,
        models=models,
        detector=detector,
        reader=reader,
        embedder=embedder,
        judges=judges,
        colourist=colourist() if detector else None,
        lookout=lookout() if reader is None and _is_looked_out(ask, judges, made) else None,
        relations=relations,
        wanting=wanting,
        headline=ask.relation,
        size=ask.size,
        repeats=max(ask.repeats, 2) if ask.control else ask.repeats,
        seed=ask.seed,
        control=ask.control,
        only=tuple((key, value) for key, value in split_settings(ask.only).items()),
        shard=Shard.parse(ask.shard) if ask.shard else None,
        notes=tuple(notes),
        canary=_is_canary_on(by_role["run"]),
    )


def _is_looked_out(ask: Ask, judges: Sequence[Binding], made: Asked | None) -> bool:
    """Whether pictures are read for text that instructs a judge although no reader is named.

    A run keeps to what it was made with. A judge that answers from boxes never sees what is written.
    """
    if made is not None:
        return made.lookout
    return not ask.reader and any("detector" not in judge.about.needs for judge in judges)


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


def _unreached(told: Mapping[str, str], judges: Sequence[Binding]) -> list[str]:
    """What relations were told about boxes that a judge who answers from boxes does not hear of."""
    by_boxes = [judge for judge in judges if "detector" in judge.about.needs]
    notes = []
    for judge in by_boxes:
        if "threshold" in told and value_of(judge.options, "threshold") is None:
            notes.append(
                f"relation.threshold is for relations; the judge {judge.label!r} counts boxes as the detector states, "
                f"unless --set judge.threshold={told['threshold']}"
            )
        if "doubt" in told:
            notes.append(f"relation.doubt has no say in what the judge {judge.label!r} answers from boxes")
    return notes


def check_threshold(relations: Iterable[Binding], floor: float, who_keeps: str, floor_option: str) -> None:
    """Refuse a threshold below the score from which boxes are kept: what is not there cannot be counted."""
    for relation in relations:
        threshold = value_of(relation.options, "threshold")
        if threshold is not None and threshold < floor:
            raise UsageError(
                f"relation.threshold is {threshold:g}, and {who_keeps} boxes with a score of {floor:g} or more; give "
                f"at least that, or have the pictures looked at again with --set {floor_option}={threshold:g}"
            )


def move_settings(role: str, texts: Sequence[str], by_role: Mapping[str, dict[str, str]]) -> Iterator[str]:
    """Put the settings of options that have moved where they are read now; a sentence for each."""
    for text in texts:
        for field in dataclasses.fields(options_of(load(role, _component(text)))):
            moved_to = field.metadata.get("means", "")
            if not moved_to or field.name not in by_role[role]:
                continue
            value = by_role[role].pop(field.name)
            new_role, _, name = moved_to.partition(".")
            if by_role[new_role].setdefault(name, value) != value:
                raise UsageError(
                    f"{role}.{field.name}={value} means {moved_to}={value}, and {moved_to} is "
                    f"{by_role[new_role][name]}; leave one of them out"
                )
            yield f"{role}.{field.name} means {moved_to} now: {moved_to}={value} is set; later releases know that alone"


def bind_each(
    role: str,
    texts: Sequence[str],
    options: Mapping[str, str],
    kept: Kept | None = None,
    by_name: Mapping[str, Mapping[str, str]] | None = None,
    foreign: Container[tuple[str, str]] = (),
) -> tuple[Binding, ...]:
    """Every named component of a role; where there are several, each gets the options it knows.

    by_name: what is set for those that the user gave a name, by that name.
    """
    names_of = {text: option_names(role, _component(text)) for text in texts}
    for name in options:
        if not any(name in names for names in names_of.values()):
            error = unknown_name(f"option of {' or '.join(texts)}", name, set().union(*names_of.values()))
            raise UsageError(f"{error}{_elsewhere(role, name)}")
    bindings = []
    for text in texts:
        spec = component_spec(role, text, _own(role, text, options, names_of[text], kept or {}))
        spec = _with_its_own(spec, (by_name or {}).get(spec.alias, {}), names_of[text])
        bindings.append(bind(spec, is_foreign=(role, text) in foreign))
    return tuple(bindings)


def _with_its_own(spec: ComponentSpec, own: Mapping[str, str], names: set[str]) -> ComponentSpec:
    """A component with what is set for it alone besides."""
    group = own.get(GROUP, "") if spec.role == "model" else ""
    options = {name: value for name, value in own.items() if not (group and name == GROUP)}
    for option in options:
        if option not in names:
            raise unknown_name(f"option of {spec.alias}={spec.typed}", option, names)
    return dataclasses.replace(spec, options={**spec.options, **options}, group=group)


def option_names(role: str, name: str) -> set[str]:
    """The options a component knows."""
    return set(fields_of(options_of(load(role, name))))


def _component(text: str) -> str:
    """The registered name in a component's string."""
    return split_name(text)[1].partition("/")[0]


def _own(role: str, text: str, options: Mapping[str, str], names: set[str], kept: Kept) -> dict[str, str]:
    """The options one component gets."""
    return {**kept.get((role, text), {}), **{name: value for name, value in options.items() if name in names}}


def _elsewhere(role: str, option: str) -> str:
    """Which of our own components of this role knows the option: it was perhaps meant for another one."""
    owners = [name for name in BUILT_IN[role] if option in option_names(role, name)]
    return f" It is an option of {', '.join(owners)}; name it with --{role} {owners[0]}." if owners else ""


def component_spec(role: str, text: str, options: Mapping[str, str] | None = None) -> ComponentSpec:
    """A component from its string: NAME= where the user calls it so, then split at the first slash."""
    alias, typed = split_name(text)
    name, _, target = typed.partition("/")
    return ComponentSpec(role=role, name=name, target=target, options=options or {}, alias=alias)


def bind_relations(
    options: Mapping[str, str],
    roles: Iterable[str],
    headline: str = "",
    kept: Kept | None = None,
    *,
    is_open: bool = False,
) -> tuple[tuple[Binding, ...], tuple[Binding, ...]]:
    """Every relation whose needed roles are bound, and those that want for a detector where one is_open to be named."""
    bound_roles = set(roles)
    classes = {entry.name: load("relation", entry.name) for entry in entries("relation")}
    if headline and headline not in classes:
        raise unknown_name("relation", headline, classes)
    names_of: dict[str, set[str]] = {}
    bindings: list[Binding] = []
    wanting: list[Binding] = []
    for name, relation in classes.items():
        names_of[name] = option_names("relation", name)
        missing = [role for role in about_of(relation).needs if role not in bound_roles]
        wants_detector = is_open and missing == ["detector"]
        if missing and name == headline and not wants_detector:
            raise UsageError(f"the relation {name!r} needs a {missing[0]}; name one with --{missing[0]}")
        if not missing or wants_detector:
            mine = _own("relation", name, options, names_of[name], kept or {})
            (wanting if missing else bindings).append(bind(ComponentSpec(role="relation", name=name, options=mine)))
    for key in options:
        if not any(key in names for names in names_of.values()):
            raise unknown_name("option of relation", key, set().union(*names_of.values()))
    if not bindings and not wanting:
        raise UsageError("no relation can be judged with these roles; name somebody who looks, as --detector does")
    return tuple(bindings), tuple(wanting)


def ask_again(asked: Asked) -> Ask:
    """The ask that a run came from, to be changed and bound anew with the options that its components had.

    Of the settings only the run's and those of relations: one that is judged for the first time follows them too.
    """
    chosen = asked.chosen(defaults).relations

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
        relation=asked.headline,
        settings={f"relation.{name}": as_typed(value) for part in chosen for name, value in part.options.items()}
        | {f"{model.name}.{GROUP}": model.group for model in asked.models if model.group}
        | ({} if asked.canary else {CANARY: OFF}),
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


def _is_canary_on(settings: Mapping[str, str]) -> bool:
    """What is set of the run itself, which has this one switch."""
    for name, value in settings.items():
        if f"run.{name}" != CANARY:
            raise unknown_name("option of run", name, [CANARY.partition(".")[2]])
        if value not in (ON, OFF):
            raise UsageError(f"{CANARY} is {value!r}; it is {ON} or {OFF}")
    return OFF not in settings.values()


def _check_size(suite: Binding, size: str) -> None:
    sizes: Sequence[str] = suite.component.sizes
    if size in sizes:
        return
    if not size.isascii() or not size.isdigit() or int(size) < 1:
        raise UsageError(
            f"--size is {size!r}; {suite.label} has {', '.join(sizes)}, or give a number of cases.{meant(size, sizes)}"
        )
