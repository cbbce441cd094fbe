"""Which cases several models paint badly: votes over the runs of a suite with matched scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from salva.core.case import Case
from salva.report.source import read_records
from salva.stats.semantic_effect import pair_name
from salva.stats.tally import PAIR
from salva.writing.samples import Vote

_MATCHED = tuple(pair_name(role, role) for role in ("a", "pv", "pi"))


def collect_votes(runs: Sequence[Path], below: float) -> tuple[dict[str, Case], dict[str, Vote]]:
    """Cases by id, and for each how many models' mean matched score lies below a threshold."""
    cases: dict[str, Case] = {}
    votes: dict[str, Vote] = {}
    for run in runs:
        records = read_records(run)
        cases |= {case.case_id: case for case in records.cases}
        means: dict[tuple[str, str], list[float]] = {}
        for verdict in records.verdicts:
            scores = [verdict.scores[name] for name in _MATCHED if name in verdict.scores]
            if verdict.arm == PAIR and len(scores) == len(_MATCHED):
                means.setdefault((verdict.case_id, verdict.model), []).append(sum(scores) / len(scores))
        for (case_id, _), found in means.items():
            vote = votes.setdefault(case_id, Vote(category=cases[case_id].category))
            mean = sum(found) / len(found)
            vote.scores.append(mean)
            vote.n_low += mean < below
    return cases, votes
