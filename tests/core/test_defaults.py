"""What is not said is empty: stored records leave defaults out, so another default would change what they mean."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

import salva.core

SAID = {
    "About.priced_by": ("price_usd",),
    "Batched.size": 8,
    "Habits.batch_size": 1,
    "OwnFigure.is_high_good": True,
    "Question.weight": 1.0,
    "ReadIn.repeats": 1,
    "RunSpec.preflight": True,
    "RunSpec.repeats": 1,
    "TrainingFilter.filter": "strict",
    "TrainingFilter.max_asymmetry": 0.1,
    "TrainingFilter.min_score": 0.8,
    "TrainingFilter.need_kept": True,
}
"""The fields that are something before anybody says so."""
NOT_DATA = {"About.names", "RunSpec.suite", "RunRecords.asked", "OwnFigure.of_means"}


def _defaults() -> Iterator[tuple[str, Any]]:
    for found in pkgutil.iter_modules(salva.core.__path__, "salva.core."):
        module = importlib.import_module(found.name)
        for name, kind in inspect.getmembers(module, inspect.isclass):
            if kind.__module__ != found.name:
                continue
            if dataclasses.is_dataclass(kind):
                given = [(field.name, field.default) for field in dataclasses.fields(kind)]
            elif issubclass(kind, msgspec.Struct):
                given = [(field.name, field.default) for field in msgspec.structs.fields(kind)]
            else:
                given = list(getattr(kind, "_field_defaults", {}).items())
            without = (dataclasses.MISSING, msgspec.NODEFAULT)
            yield from ((f"{name}.{field}", value) for field, value in given if value not in without)


@pytest.mark.parametrize(("field", "value"), [pair for pair in _defaults() if pair[0] not in NOT_DATA])
def test_what_is_not_said_is_empty(field: str, value: object) -> None:
    if field in SAID:
        assert value == SAID[field]
    else:
        assert not value
