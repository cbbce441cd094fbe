"""What the records of a package hold before anybody says so."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import msgspec


def classes(package: ModuleType) -> Iterator[type[Any]]:
    """Every class that a module of the package makes."""
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        yield from (kind for _, kind in inspect.getmembers(module, inspect.isclass) if kind.__module__ == found.name)


def defaults(package: ModuleType) -> dict[str, Any]:
    """CLASS.FIELD to the default of every field that has one."""
    found: dict[str, Any] = {}
    for kind in classes(package):
        if dataclasses.is_dataclass(kind):
            given = {field.name: field.default for field in dataclasses.fields(kind)}
        elif issubclass(kind, msgspec.Struct):
            given = {field.name: field.default for field in msgspec.structs.fields(kind)}
        else:
            given = getattr(kind, "_field_defaults", {})
        found |= {f"{kind.__name__}.{name}": value for name, value in given.items()}
    without = (dataclasses.MISSING, msgspec.NODEFAULT)
    return {name: value for name, value in found.items() if not any(value is none for none in without)}
