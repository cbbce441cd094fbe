"""The one function that owns the exit code: the first rule that applies, the worst of all models."""

from __future__ import annotations

import pytest

from salva.results.exit_code import Standing, exit_code
from salva.results.gate import FAILED, INCONCLUSIVE, PASSED
from salva.results.trust import LIMITED, NONE, OK

FINE = Standing(trust=OK, coverage=1.0)


@pytest.mark.parametrize(
    ("standing", "code"),
    [
        (FINE, 0),
        (Standing(trust=LIMITED, coverage=0.8, decisions=(PASSED,)), 0),
        (Standing(trust=NONE, coverage=1.0), 3),
        (Standing(trust=NONE, coverage=1.0, decisions=(FAILED,)), 3),
        (Standing(trust=OK, coverage=1.0, decisions=(PASSED, FAILED)), 1),
        (Standing(trust=OK, coverage=0.1, n_errors=9, decisions=(FAILED, INCONCLUSIVE)), 1),
        (Standing(trust=OK, coverage=1.0, decisions=(PASSED, INCONCLUSIVE)), 3),
        (Standing(trust=OK, coverage=0.79), 3),
        (Standing(trust=OK, coverage=None), 3),
        (Standing(trust=OK, coverage=0.9, n_errors=1), 3),
    ],
)
def test_the_first_rule_that_applies(standing: Standing, code: int) -> None:
    assert exit_code([standing], is_complete=True) == code
    assert exit_code([FINE, standing, FINE], is_complete=True) == code


def test_incomplete_errors_and_several_models() -> None:
    failed, untrusted = Standing(trust=OK, coverage=1.0, decisions=(FAILED,)), Standing(trust=NONE)
    assert exit_code([FINE], is_complete=False) == 3
    assert exit_code([failed], is_complete=False) == 1
    assert exit_code([Standing(trust=OK, coverage=1.0, n_errors=2)], is_complete=True, max_errors=2) == 0
    assert exit_code([failed, untrusted], is_complete=True) == 3, "trust comes before gates"
    assert exit_code([failed, Standing(trust=OK, coverage=0.1)], is_complete=True) == 1
    assert exit_code([], is_complete=True) == 3, "nothing was counted"
