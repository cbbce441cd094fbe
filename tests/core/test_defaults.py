"""What is not said is empty: stored records leave defaults out, so another default would change what they mean."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from record_defaults import classes, defaults

import salva.core

SAID = {
    "About.average": "macro",
    "About.priced_by": ("price_usd",),
    "Batched.size": 8,
    "Case.counts": "exact",
    "Habits.batch_size": 1,
    "Judgements.average": "macro",
    "OwnFigure.is_high_good": True,
    "Question.weight": 1.0,
    "ReadIn.repeats": 1,
    "RunSpec.contrast": True,
    "RunSpec.preflight": True,
    "RunSpec.repeats": 1,
    "TrainingFilter.filter": "strict",
    "TrainingFilter.max_asymmetry": 0.1,
    "TrainingFilter.min_score": 0.8,
    "TrainingFilter.need_kept": True,
}
"""The fields that are something before anybody says so."""
NOT_DATA = {"About.names", "RunSpec.suite", "RunRecords.asked", "OwnFigure.of_means"}
NOT_DATA |= {"_Blocks.size", "_Blocks.stride", "_Secrets.as_hex", "_Secrets.spaced"}


def test_what_is_not_said_is_empty() -> None:
    found = defaults(salva.core)
    assert {name: value for name, value in found.items() if value and name not in NOT_DATA} == SAID


@pytest.mark.parametrize("kind", [kind for kind in classes(salva.core) if issubclass(kind, msgspec.Struct)])
def test_a_record_of_run_json_is_frozen_strict_and_short(kind: type[Any]) -> None:
    config = kind.__struct_config__
    assert (config.frozen, config.forbid_unknown_fields, config.omit_defaults) == (True, True, True)
    with pytest.raises(TypeError, match="positional"):
        kind("a value without its name")
