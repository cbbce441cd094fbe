"""What rewording adds over seed noise."""

from __future__ import annotations

import pytest
from report.fake_runs import make_case, make_verdict

from salva.core.judgements import CaseVerdict
from salva.results.control import excess_of


def test_excess_is_between_less_the_mean_within() -> None:
    cases = [make_case(f"case-{index}", cluster=f"c{index % 5}") for index in range(20)]
    shares = {"differs_between": 0.75, "differs_within_a": 0.5, "differs_within_b": 0.25}
    judged = [CaseVerdict(case, make_verdict(case.case_id, arm="control", scores=shares)) for case in cases]
    judged.append(CaseVerdict(cases[0], make_verdict(arm="control", scores={"n_compared": 0.0})))
    excess = excess_of(judged)
    assert excess is not None
    assert (excess.n, excess.excess) == (20, 0.375)
    assert excess.interval is None, "all are the same"
    judged[0] = CaseVerdict(
        cases[0], make_verdict(cases[0].case_id, arm="control", scores={**shares, "differs_between": 1})
    )
    excess = excess_of(judged)
    assert excess is not None
    assert excess.interval is not None
    assert excess.excess == pytest.approx(0.375 + 0.25 / 20)
    assert excess.interval.low < excess.excess < excess.interval.high
    assert excess_of([judged[-1]]) is None
