"""The numbers checks decide by unless somebody sets others; what else is not said is empty."""

from __future__ import annotations

from record_defaults import defaults

import salva.checks

NUMBERS = {
    **{f"{check}Options.flip_sample": 0.05 for check in ("Asking", "Answer", "RightAnswers", "SameAnswers")},
    "RightAnswersOptions.min_faithfulness": 1.0,
    "SameAnswersOptions.min_stability": 1.0,
    "SameSimilarityOptions.min_clip_stability": 0.85,
}


def test_checks_decide_by_the_numbers_that_are_documented() -> None:
    found = defaults(salva.checks)
    assert {name: value for name, value in found.items() if value and not isinstance(value, str)} == NUMBERS
