"""The command that paints one case of a run again.

Takes what a run was asked for, gives a line to paste into a shell. Options that stand at their
default are left out where the component can be asked for its defaults.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import lru_cache

from salva import registry
from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.options import NoOptions, keyed_options, target_field
from salva.errors import SalvaError


def command_for(case: Case, model: str, asked: Mapping[str, Json]) -> str:
    """`salva run` narrowed to one case and model, quoted for a shell; nothing for pictures that others painted."""
    if "imported" in asked:
        return ""
    words = ["salva", "run", case.suite, "--model", model]
    settings: list[str] = []
    for role, part in _parts(asked, model):
        name = str(part.get("name", ""))
        if role in ("detector", "reader", "embedder", "judge"):
            words += [f"--{role}", name]
        options = part.get("options")
        settings += _settings(role, name, options if isinstance(options, dict) else {})
    # A role nobody played must be said too: the command line has observers of its own by default.
    for role in ("detector", "reader") if "observers" in asked else ():
        if f"--{role}" not in words:
            words += [f"--{role}", "none"]
    if "size" in asked:
        words += ["--size", _size(case.suite, str(asked["size"]))]
    for flag in ("repeats", "seed"):
        if flag in asked:
            words += [f"--{flag}", str(asked[flag])]
    if asked.get("control"):
        words.append("--control")
    for name, value in case.labels.items():
        words += ["--only", f"{name}={value}"]
    for setting in dict.fromkeys(settings):
        words += ["--set", setting]
    return shlex.join(words)


def _size(suite: str, asked: str) -> str:
    """The size to look for the case in: a number of cases is a sample of the suite's full size."""
    if not asked.isdecimal():
        return asked
    try:
        sizes = tuple(registry.load("suite", suite).sizes)
    except SalvaError:
        return "full"
    return "full" if "full" in sizes else str(sizes[-1])


def _parts(asked: Mapping[str, Json], model: str) -> list[tuple[str, dict[str, Json]]]:
    """Every component asked for, with its role; of the models only the one that matters."""
    parts: list[tuple[str, dict[str, Json]]] = []
    suite, models, relations = asked.get("suite"), asked.get("models"), asked.get("relations")
    if isinstance(suite, dict):
        parts.append(("suite", suite))
    for one in models if isinstance(models, list) else []:
        if isinstance(one, dict) and one.get("name") == model:
            parts.append(("model", one))
    observers = asked.get("observers")
    for key, one in observers.items() if isinstance(observers, dict) else ():
        if isinstance(one, dict):
            parts.append((key.partition(":")[0], one))
    for one in relations if isinstance(relations, list) else []:
        if isinstance(one, dict):
            parts.append(("relation", one))
    return parts


def _settings(role: str, label: str, options: Mapping[str, Json]) -> list[str]:
    name = label.partition("/")[0]
    defaults, target = _defaults(role, name)
    return [
        f"{role}.{option}={_as_typed(value)}"
        for option, value in options.items()
        if option != target and (option not in defaults or defaults[option] != value)
    ]


@lru_cache(maxsize=64)
def _defaults(role: str, name: str) -> tuple[Mapping[str, Json], str | None]:
    """A component's default options and the one its name fills; nothing where it cannot be asked."""
    try:
        options_class = getattr(registry.load(role, name), "Options", NoOptions)
        return keyed_options(options_class()), target_field(options_class)
    except (SalvaError, TypeError, ValueError):
        # The report of a run must not need the plugins that made it.
        return {}, None


def _as_typed(value: Json) -> str:
    if isinstance(value, list):
        return ",".join(_as_typed(element) for element in value)
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)
