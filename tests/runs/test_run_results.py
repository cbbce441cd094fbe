"""What is said of results that are errors."""

from __future__ import annotations

import pytest
from report.fake_runs import make_case

from salva.core.result import Result
from salva.core.verdict import Outcome
from salva.run_results import error_notes


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("image 'a' was not generated: out of paint", "results-failed"),
        ("image 'a' was not generated: pocket does not know 'foggy'. [words-unknown]", "results-unknown-words"),
    ],
)
def test_only_what_may_end_otherwise_is_to_be_tried_again(reason: str, code: str) -> None:
    error = Result(case=make_case(), repeat=0, model="m", outcome=Outcome.ERROR, reason=reason)
    passed = Result(case=make_case(), repeat=1, model="m", outcome=Outcome.PASS)
    assert [note.code for note in error_notes([error, passed])] == [code]
