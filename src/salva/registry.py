"""Names to components: a table of our own (built_in.py), entry points for everyone else's.

Listing reads metadata and imports nothing; asking for one component imports that one. A foreign check, metric or format
says in the name of its entry point which suite it serves (`metalogic.by-repeat`; `any.by-repeat` for all) and is only
imported for that suite. One that cannot be imported is a warning, and nothing else changes.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from salva.built_in import BUILT_IN as BUILT_IN
from salva.built_in import BuiltIn as BuiltIn
from salva.core.about import about_of, address_of, options_of, weights_of
from salva.core.fingerprint import Json
from salva.core.foreign_errors import plugin_errors
from salva.core.options import default_options, parse_options, target_field
from salva.core.plan import Around, Binding
from salva.core.run_spec import ComponentSpec
from salva.errors import PluginError, SalvaError, UsageError, unknown_name
from salva.messages import message, warn_once

ROLES = (
    *("suite", "model", "detector", "reader", "embedder", "judge", "check", "metric"),
    *("importer", "exporter", "executor"),
)

_STAND_INS = {"reader": ("judge", "salva.readers.judge_reader", "JudgeAsReader")}
"""A role that components of another can play, and what makes them fit: any judge can be asked to read."""
_COLOUR_READER = "salva.observers.colours:PixelColours"
_CALLED = {"importer": "import format", "exporter": "export format"}
"""Roles that a user knows by another name."""
_GROUP = {role: f"salva.{'generator' if role == 'model' else role}s" for role in ROLES}
_OF_SUITES = ("check", "metric", "importer", "exporter")
"""Roles whose foreign components name their suite."""
_ANY_SUITE = "any"
_loose: dict[str, dict[str, str]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentEntry:
    """A component that can be asked for, before anything is imported."""

    role: str
    """The one it is registered for."""
    name: str
    source: str
    """module:Class"""
    distribution: str
    """The package that brings it; empty for a loose file."""
    summary: str = ""
    """What it is, in one line; a foreign one says that in the docstring of its class."""
    suites: tuple[str, ...] = ()
    """The suites it serves; empty for all."""
    needs: tuple[str, ...] = ()
    """The roles that a check cannot do without; empty where that is known only after loading."""
    clash: str = ""
    """Another package that registers the same name."""

    def serves(self, suite: str) -> bool:
        """Whether it is for a suite."""
        return not self.suites or suite in self.suites


def entries(role: str, suite: str = "") -> list[ComponentEntry]:
    """What can play a role, by name; with a suite only what serves it."""
    if role not in BUILT_IN:
        raise unknown_name("role", role, BUILT_IN)
    by_name = {
        name: ComponentEntry(
            role=role,
            name=name,
            source=ours.source,
            distribution="salva",
            summary=ours.summary,
            suites=ours.suites,
            needs=ours.needs,
        )
        for name, ours in BUILT_IN[role].items()
    }
    for point in _installed(role):
        entry = _foreign(role, point)
        known = by_name.get(entry.name)
        by_name[entry.name] = entry if known is None else replace(known, clash=entry.distribution)
    for name, source in _loose.get(role, {}).items():
        by_name[name] = ComponentEntry(role=role, name=name, source=source, distribution="")
    if role in _STAND_INS:
        by_name = {entry.name: entry for entry in entries(_STAND_INS[role][0])} | by_name
    return sorted((entry for entry in by_name.values() if not suite or entry.serves(suite)), key=lambda e: e.name)


def _foreign(role: str, point: EntryPoint) -> ComponentEntry:
    owner = point.dist.name if point.dist else "unknown"
    suite, dot, name = point.name.partition(".") if role in _OF_SUITES else ("", "", point.name)
    return ComponentEntry(
        role=role,
        name=name if dot else point.name,
        source=point.value,
        distribution=owner,
        suites=(suite,) if dot and suite != _ANY_SUITE else (),
    )


def load_all(
    role: str, suite: str = "", wanted: Callable[[ComponentEntry], bool] = lambda _: True
) -> dict[str, type[Any]]:
    """The classes that play a role for a suite, by name; one that cannot be loaded is left out with a warning."""
    loaded: dict[str, type[Any]] = {}
    for entry in filter(wanted, entries(role, suite)):
        try:
            loaded[entry.name] = load(role, entry.name)
        except PluginError as error:
            if entry.distribution == "salva" and not entry.clash:
                raise
            warn_once(message("plugin-broken", component=f"the {role} {entry.name!r}", why=str(error)))
    return loaded


def load(role: str, name: str) -> type[Any]:
    """The class behind a name."""
    by_name = {entry.name: entry for entry in entries(role)}
    if name not in by_name:
        raise unknown_name(_CALLED.get(role, role), name, by_name)
    entry = by_name[name]
    module_name, _, class_name = entry.source.partition(":")
    owner = f" from {entry.distribution}" if entry.distribution else ""
    if entry.clash:
        raise PluginError(
            message("plugin-name-taken", role=role, name=name, first=entry.distribution, second=entry.clash)
        )
    with plugin_errors(f"the {role} {name!r}{owner} ({entry.source})", "cannot be loaded"):
        component = getattr(importlib.import_module(module_name), class_name)
    if not hasattr(component, "version"):
        raise PluginError(message("plugin-invalid", component=entry.source, role=role, why="it has no `version`"))
    about_of(component)  # a record that cannot be read is said now, and not in the middle of a run
    if entry.role != role:
        _, maker_module, maker = _STAND_INS[role]
        component = getattr(importlib.import_module(maker_module), maker)(component)
    return component  # type: ignore[no-any-return]  # getattr on a module is untyped


def built_in(role: str, name: str) -> BuiltIn:
    """The line of one of our own, an empty one for others; a role that components of another can play has theirs."""
    other = _STAND_INS[role][0] if role in _STAND_INS else role
    return BUILT_IN[role].get(name) or BUILT_IN[other].get(name) or BuiltIn(source="")


def bind(spec: ComponentSpec, *, is_foreign: bool = False) -> Binding:
    """Find a component and parse its options; weights are pinned but not loaded.

    is_foreign: nothing is opened to pin them, since a run names it and nobody here.
    """
    component = load_named(spec)
    options_class = options_of(component)
    given = dict(spec.options)
    target = target_field(options_class)
    default_target = about_of(component).default_target
    if spec.target:
        if target is None:
            raise UsageError(
                message("target-unexpected", role=spec.role, name=spec.registered_name, typed=spec.full_name)
            )
        given[target] = spec.target
    elif target is not None and default_target:
        given.setdefault(target, default_target)
    elif target is not None and target not in given and not options_class.__dataclass_fields__[target].default:
        raise UsageError(message("target-missing", role=spec.role, name=spec.registered_name, target=target))
    options = parse_options(options_class, given, spec.role)
    component = _around(component, options, is_foreign=is_foreign)
    binding = Binding(role=spec.role, label=spec.name, component=component, options=options, group=spec.group)
    binding = replace(binding, typed=spec.typed, is_foreign=is_foreign)
    return binding if is_foreign else _pinned(binding)


def load_named(spec: ComponentSpec) -> Any:
    """The class that a user named; where there is none, the error says what is probably meant."""
    if spec.registered_name not in {entry.name for entry in entries(spec.role)}:
        from salva.spellings import likely_name

        if likely := likely_name(spec.role, spec.full_name):
            raise UsageError(message("name-otherwise", role=spec.role, name=spec.full_name, likely=likely))
    return load(spec.role, spec.registered_name)


def colour_reader() -> Binding:
    """Who tells the colours in a detector's boxes; it is the same for everyone, so nobody is asked to name it."""
    module_name, _, class_name = _COLOUR_READER.partition(":")
    component = getattr(importlib.import_module(module_name), class_name)
    return Binding(role="colour_reader", label="pixels", component=component, options=options_of(component)())


def rebind(binding: Binding, changes: Mapping[str, str]) -> Binding:
    """The same component with some options changed."""
    options = parse_options(type(binding.options), changes, binding.role, binding.options)
    outer = binding.component.outer if isinstance(binding.component, Around) else binding.component
    changed = replace(binding, component=_around(outer, options, is_foreign=binding.is_foreign), options=options)
    return changed if binding.is_foreign else _pinned(changed)


def _around(component: Any, options: Any, *, is_foreign: bool) -> Any:
    """A component that wraps another, round the one its options name; any other as it is."""
    role = about_of(component).wraps
    if not role:
        return component
    inner = dict(pair.split("=", 1) for pair in options.inner)
    return Around(component, bind(ComponentSpec(role=role, name=options.model, options=inner), is_foreign=is_foreign))


def _pinned(binding: Binding) -> Binding:
    weights, address = weights_of(binding.component, binding.options), address_of(binding.component, binding.options)
    return replace(binding, weights=weights, address=address)


def defaults(role: str, label: str) -> dict[str, Json]:
    """A component's options when only its name is typed; none where it cannot be asked."""
    if role not in BUILT_IN:
        return {}
    try:
        component = load(role, label.partition("/")[0])
        return default_options(options_of(component), label, about_of(component).default_target)
    except SalvaError:
        # What a run was asked can be told without the plugins that made it.
        return {}


def add_loose_plugin(source: str) -> ComponentEntry:
    """Register FILE:CLASS for this process; the methods of the class give its role.

    A binding of it can be sent only to processes that were told the same FILE:CLASS before.
    """
    path_text, _, class_name = source.rpartition(":")
    path = Path(path_text)
    if not class_name or not path.is_file():
        raise _plugin_flag_invalid(source, "FILE:CLASS, with a file that exists")
    # By its place, so that two files of one name stand side by side.
    module_name = f"salva_plugin_{path.stem}_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    if module_name not in sys.modules:
        module_spec = importlib.util.spec_from_file_location(module_name, path)
        if module_spec is None or module_spec.loader is None:
            raise _plugin_flag_invalid(source, "FILE:CLASS, with a file that ends in .py")
        module = importlib.util.module_from_spec(module_spec)
        sys.modules[module_name] = module
        with plugin_errors(f"--plugin {source}: the file", "cannot be loaded"), ExitStack() as undo:
            undo.callback(sys.modules.pop, module_name)
            try:
                module_spec.loader.exec_module(module)
            except SystemExit as error:
                why = f"it ends the program when it is loaded (SystemExit {error.code!r})"
                raise PluginError(message("plugin-broken", component=f"--plugin {source}", why=why)) from error
            undo.pop_all()
    component = getattr(sys.modules[module_name], class_name, None)
    if component is None:
        raise _plugin_flag_invalid(source, f"FILE:CLASS, and the file has no class {class_name!r}")
    about = about_of(component)
    role, name = about.role or _role_of(component, source), about.name or _kebab(class_name)
    if role not in BUILT_IN:
        raise unknown_name("role", role, BUILT_IN)
    registered = f"{module_name}:{class_name}"
    if name in BUILT_IN.get(role, {}) or any(point.name == name for point in _installed(role)):
        raise UsageError(message("plugin-name-taken", role=role, name=name, first="salva or a package", second=source))
    if (other := _loose.get(role, {}).get(name, registered)) != registered:
        raise UsageError(message("plugin-name-taken", role=role, name=name, first=other, second=source))
    _loose.setdefault(role, {})[name] = registered
    return ComponentEntry(role=role, name=name, source=source, distribution="")


def loose_plugins() -> list[str]:
    """FILE:CLASS of every loose plugin of this process, for others to be told."""
    sources = [source for names in _loose.values() for source in names.values()]
    parts = [source.partition(":") for source in sources]
    return [f"{sys.modules[module].__file__}:{class_name}" for module, _, class_name in parts]


def _installed(role: str) -> list[EntryPoint]:
    if os.environ.get("SALVA_NO_PLUGINS"):
        return []
    return _registered(tuple(map(_dated, sys.path)))[_GROUP[role]]


def _dated(folder: str) -> tuple[str, int]:
    try:
        return folder, os.stat(folder or ".").st_mtime_ns
    except OSError:
        return folder, 0


@lru_cache(maxsize=1)
def _registered(folders: tuple[tuple[str, int], ...]) -> dict[str, list[EntryPoint]]:  # noqa: ARG001
    # Reading the metadata of every installed package takes as long as starting salva, and a run asks dozens of times.
    # Whatever is installed or removed meanwhile changes the folder it stands in, and with it the key.
    points = entry_points()
    return {group: list(points.select(group=group)) for group in _GROUP.values()}


def _role_of(component: type[Any], source: str) -> str:
    by_method = {"cases": "suite", "render": "model", "judge": "check", "measure": "metric", "open": "executor"}
    by_method |= {"read": "importer", "write": "exporter"}
    for method, role in by_method.items():
        if hasattr(component, method):
            return role
    why = "its role is unknown; state it, as in about = About(role='detector')"
    raise PluginError(message("plugin-invalid", component=source, role="component", why=why))


def _plugin_flag_invalid(source: str, wanted: str) -> UsageError:
    return UsageError(message("option-invalid", name="--plugin", value=source, wanted=wanted))


def _kebab(class_name: str) -> str:
    return "".join(f"-{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(class_name))
