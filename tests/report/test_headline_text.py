"""The headline in words: which numbers stand in it, and when a line is there at all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from report.fake_runs import random_run

from salva.core.fingerprint import Json
from salva.core.verdict import Outcome
from salva.report.headline_text import bounds_sentence, entities_sentence, notes_of, people_note
from salva.report.summary import ModelSummary, Summary, summarise_records
from salva.results.rates import FailureRate
from salva.stats.intervals import Interval


@pytest.fixture(scope="module")
def summary() -> Summary:
    return summarise_records(random_run(n_entities=3)[0])


@pytest.fixture(scope="module")
def model(summary: Summary) -> ModelSummary:
    return summary.by_model["painter"]


@pytest.mark.parametrize(
    ("rate", "text"), [(0.4, "people: 40 % (18 to 64 %, 19 reviewed)"), (None, "people: 18 to 64 %, 19 reviewed")]
)
def test_the_rate_that_people_find_is_a_note(
    summary: Summary, model: ModelSummary, rate: float | None, text: str
) -> None:
    corrected: Json = {"failure_rate": rate, "interval": [0.18, 0.64], "n_reviewed": 19}
    assert people_note(reviewed := replace(model, corrected=corrected)) == text
    assert text in notes_of(summary, reviewed)
    assert people_note(model) == ""


@pytest.mark.parametrize(
    ("counts", "names"),
    [
        ({Outcome.UNDECIDED: 2}, {"undecided"}),
        ({Outcome.ERROR: 2}, {"errors"}),
        ({Outcome.UNDECIDED: 1, Outcome.ERROR: 1}, {"undecided", "errors"}),
    ],
)
def test_the_bounds_name_what_they_rest_on(counts: dict[Outcome, int], names: set[str]) -> None:
    decided = dict.fromkeys(Outcome, 0) | {Outcome.FAIL: 4, Outcome.PASS: 6}
    rate = FailureRate(
        rate=0.4, interval=Interval(low=0.3, high=0.5), bounds=Interval(low=0.2, high=0.6), counts=decided | counts
    )
    said = bounds_sentence(ModelSummary(model="painter", rate=rate))
    assert {name for name in ("undecided", "errors") if name in said} == names


def test_the_interval_for_other_entities_has_both_ends(model: ModelSummary) -> None:
    rate = replace(model.rate, interval_entities=Interval(low=0.31, high=0.72))
    assert "31 to 72 %" in entities_sentence(replace(model, rate=rate))
    assert not entities_sentence(replace(model, rate=replace(model.rate, interval_entities=None)))
