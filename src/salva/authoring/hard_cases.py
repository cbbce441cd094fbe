"""Which cases several models generate badly: votes over the runs of a suite with matched scores."""

from __future__ import annotations

from collections.abc import Iterable

from salva.authoring.samples import Sample, Vote
from salva.core.case import Case
from salva.core.scoring import pair_name
from salva.core.source import RunRecords
from salva.core.verdict import PAIR
from salva.errors import UsageError
from salva.messages import message


def collect_votes(runs: Iterable[RunRecords], below: float) -> tuple[dict[str, Case], dict[str, Vote]]:
    """Cases by id, and for each how many models' mean matched score lies below a threshold.

    A model has one vote a case, however many runs, repeats and judges it was in.
    """
    cases: dict[str, Case] = {}
    means: dict[tuple[str, str], list[float]] = {}
    for records in runs:
        for case in records.cases:
            if cases.setdefault(case.case_id, case).prompts != case.prompts:
                raise UsageError(message("runs-other-triples", case=case.case_id, run=records.name))
        for verdict in records.verdicts:
            matched = [pair_name(prompt.role, prompt.role) for prompt in cases[verdict.case_id].prompts]
            scores = [verdict.scores[name] for name in matched if name in verdict.scores]
            if verdict.arm == PAIR and len(scores) == len(matched):
                means.setdefault((verdict.case_id, verdict.model), []).append(sum(scores) / len(scores))
    votes: dict[str, Vote] = {}
    for (case_id, _), of_model in means.items():
        vote = votes.setdefault(case_id, Vote(categories=_categories(cases[case_id])))
        mean = sum(of_model) / len(of_model)
        vote.scores.append(mean)
        vote.n_low += mean < below
    return cases, votes


def as_sample(case: Case) -> Sample:
    """A case as it would stand in a file of triples."""
    a, pv, pi = (case.prompt(role) for role in ("a", "pv", "pi"))
    return Sample(
        sample_id=case.labels.get("id", case.case_id),
        category=",".join(_categories(case)),
        anchor=a.text,
        changed=pv.text,
        kept=pi.text,
        formulas=(a.formula, pv.formula, pi.formula) if a.formula and pv.formula and pi.formula else None,
        template=case.cluster.removeprefix("template "),
        review=case.labels.get("review", ""),
    )


def _categories(case: Case) -> tuple[str, ...]:
    return tuple(case.labels.get("category", case.category).split(","))
