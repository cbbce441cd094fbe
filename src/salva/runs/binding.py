"""Components by name to bindings, with the options that are set for them; loads classes and no weights."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from msgspec import structs

from salva.core.about import about_of, options_of
from salva.core.options import fields_of
from salva.core.plan import Binding
from salva.core.run_spec import GROUP, ComponentSpec
from salva.errors import UsageError, unknown_name
from salva.messages import message
from salva.registry import bind, load, load_all, load_named

Recorded = Mapping[tuple[str, str], Mapping[str, str]]
"""Role and name of a component to the options it had in a run."""


def bind_each(
    role: str,
    parts: Sequence[ComponentSpec],
    options: Mapping[str, str],
    recorded: Recorded | None = None,
    by_name: Mapping[str, Mapping[str, str]] | None = None,
    foreign: Container[tuple[str, str]] = (),
) -> tuple[Binding, ...]:
    """Every named component of a role; where there are several, each gets the options it knows.

    by_name: what is set for those that the user gave a name, by that name.
    """
    names_of = {part.text: set(fields_of(options_of(load_named(part)))) for part in parts}
    for name in options:
        if not any(name in names for names in names_of.values()):
            known = set().union(*names_of.values())
            raise unknown_name(f"option of {' or '.join(names_of)}", name, known)
    bindings = []
    for part in parts:
        own = _own(role, part.text, options, names_of[part.text], recorded or {})
        named = (by_name or {}).get(part.name, {}) if part.typed else {}
        spec = _with_named(structs.replace(part, options=own), named, names_of[part.text])
        bindings.append(bind(spec, is_foreign=(role, part.text) in foreign))
    return tuple(bindings)


def _with_named(spec: ComponentSpec, own: Mapping[str, str], names: set[str]) -> ComponentSpec:
    """A component with what is set for it alone."""
    group = own.get(GROUP, "") if spec.role == "model" else ""
    options = {name: value for name, value in own.items() if not (group and name == GROUP)}
    for option in options:
        if option not in names:
            raise unknown_name(f"option of {spec.text}", option, names)
    return structs.replace(spec, options={**spec.options, **options}, group=group)


def option_names(role: str, name: str) -> set[str]:
    """The options a component knows."""
    return set(fields_of(options_of(load(role, name))))


def _own(role: str, text: str, options: Mapping[str, str], names: set[str], recorded: Recorded) -> dict[str, str]:
    """The options one component gets."""
    return {**recorded.get((role, text), {}), **{name: value for name, value in options.items() if name in names}}


def bind_checks(
    options: Mapping[str, str],
    roles: Iterable[str],
    chosen: str = "",
    recorded: Recorded | None = None,
    *,
    suite: str = "",
    is_open: bool = False,
) -> tuple[tuple[Binding, ...], tuple[Binding, ...]]:
    """The checks of a suite whose needed roles are bound, and those that lack only a detector, if one may be named.

    chosen: the check that decides. is_open: whether a detector was neither named nor refused.
    """
    bound_roles = set(roles)
    may_be_bound = bound_roles | ({"detector"} if is_open else set())
    classes = load_all("check", suite, lambda entry: may_be_bound.issuperset(entry.needs))
    if chosen and chosen not in classes:
        classes[chosen] = load("check", chosen)
    names_of = {name: option_names("check", name) for name in classes}
    owners = {
        option: name
        for name, check in classes.items()
        for option, field in fields_of(options_of(check)).items()
        if field.metadata.get("alone")
    }
    bindings: list[Binding] = []
    wanting: list[Binding] = []
    for name, check in classes.items():
        missing = [role for role in about_of(check).needs_roles if role not in bound_roles]
        wants_detector = is_open and missing == ["detector"]
        if missing and name == chosen and not wants_detector:
            raise UsageError(message("needs-component", component=f"The check {name!r}", role=missing[0]))
        if not missing or wants_detector:
            meant = {option: value for option, value in options.items() if owners.get(option, name) == name}
            own = _own("check", name, meant, names_of[name], recorded or {})
            (wanting if missing else bindings).append(bind(ComponentSpec(role="check", name=name, options=own)))
    if not set(options) <= set().union(*names_of.values()):
        # It may be an option of a check that lacks an observer here.
        known = set().union(*(option_names("check", name) for name in load_all("check", suite)))
        for key in options.keys() - known:
            raise unknown_name("option of check", key, known)
    if not bindings and not wanting:
        raise UsageError(message("checks-missing"))
    return tuple(bindings), tuple(wanting)
