"""Components by name to bindings, with the options that are set for them; loads classes and no weights.

A name is as a person types it: NAME, NAME/TARGET, or what they call it themselves and that after an equals sign.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Container, Iterable, Mapping, Sequence

from salva.core.about import about_of, options_of
from salva.core.options import fields_of
from salva.core.spec import Binding, ComponentSpec
from salva.errors import UsageError, unknown_name
from salva.registry import BUILT_IN, bind, load, load_all

SETTABLE = ("suite", "model", "detector", "reader", "embedder", "judge", "check", "run", "executor")
ROLES = (*SETTABLE, "metric", "importer", "exporter")
"""What nobody may be called."""
GROUP = "group"
"""The setting of a model with a name that says what others it is shown together with."""
_NAMED = re.compile(r"([A-Za-z0-9][\w.-]*)=(.+)", re.ASCII)
Kept = Mapping[tuple[str, str], Mapping[str, str]]
"""Role and name of a component to the options it had in a run."""


def split_name(text: str) -> tuple[str, str]:
    """A component's string as the name the user gives it, empty for none, and what it stands for."""
    named = _NAMED.fullmatch(text)
    if named is None:
        return "", text
    alias, spec = named.groups()
    if alias in ROLES or "=" in spec.partition("/")[0]:
        raise UsageError(f"{text!r}: NAME=SPEC wants a name that is no role's ({', '.join(ROLES)}), and one alone")
    return alias, spec


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


def bind_checks(
    options: Mapping[str, str],
    roles: Iterable[str],
    headline: str = "",
    kept: Kept | None = None,
    *,
    suite: str = "",
    is_open: bool = False,
) -> tuple[tuple[Binding, ...], tuple[Binding, ...]]:
    """The checks of a suite whose needed roles are bound, and those that lack a detector alone, if one may be named."""
    bound_roles = set(roles)
    classes = load_all("check", suite)
    if headline and headline not in classes:
        classes[headline] = load("check", headline)
    names_of: dict[str, set[str]] = {}
    bindings: list[Binding] = []
    wanting: list[Binding] = []
    for name, check in classes.items():
        names_of[name] = option_names("check", name)
        missing = [role for role in about_of(check).needs_roles if role not in bound_roles]
        wants_detector = is_open and missing == ["detector"]
        if missing and name == headline and not wants_detector:
            raise UsageError(f"the check {name!r} needs a {missing[0]}; name one with --{missing[0]}")
        if not missing or wants_detector:
            mine = _own("check", name, options, names_of[name], kept or {})
            (wanting if missing else bindings).append(bind(ComponentSpec(role="check", name=name, options=mine)))
    for key in options:
        if not any(key in names for names in names_of.values()):
            raise unknown_name("option of check", key, set().union(*names_of.values()))
    if not bindings and not wanting:
        raise UsageError("no check can be judged with these roles; name somebody who looks, as --detector does")
    return tuple(bindings), tuple(wanting)
