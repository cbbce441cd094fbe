"""Check: what a model generates of a fact it generates of its counterfactual too: the probes of CF-World.

Takes a judge's grades of the images of one rule or pair, gives the mean score of facts and of counterfactuals.
Pure: no model, no disk, no clock. Some images may be missing; a mean is over those that are there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from salva.checks.asking import with_checks, with_notes
from salva.core.about import About
from salva.core.case import Case, Prompt
from salva.core.probe import Probe
from salva.core.protocols import Conclusion, ImageObservations, Need, Query
from salva.core.verdict import Failure, Outcome
from salva.stats.means import mean
from salva.suites.cfworld.groups import RULE
from salva.suites.cfworld.levels import COUNTERFACTUAL, EXCLUDE, FACTUAL, ZERO, GradeOptions
from salva.suites.cfworld.scoring import grade_query, scores_of, share_kept

FACT, CF = "fact", "cf"
"""What the roles of a probe's prompts begin with."""


class Retention:
    """Check: counterfactuals of a rule or pair are generated as its facts are."""

    version: ClassVar[str] = "2"
    about: ClassVar[About] = About(
        needs_roles=("judge",),
        takes_gaps=True,
        failure_types={
            FACTUAL: "Facts not drawn.",
            COUNTERFACTUAL: "Counterfactuals not drawn.",
        },
    )
    Options = GradeOptions

    def __init__(self, options: GradeOptions) -> None:
        self._options = options

    def applies(self, case: Case) -> bool:
        """Whether the case is a probe."""
        return "retention" in case.checks

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """The question of every image."""
        needs = [Need(role=p.role, query=query_for(case, p)) for p in case.prompts if p.role in observations]
        return with_checks(needs, case, roles, self._options)

    def probes(self, case: Case) -> Sequence[Probe]:
        """The questions of every image."""
        return [Probe(role=prompt.role, query=query_for(case, prompt)) for prompt in case.prompts]

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """Facts and counterfactuals at the mark or above hold."""
        return with_notes(self._judge(case, observations), observations)

    def _judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        given, missing = scores_of(case, observations, query_for, self._options.mean)
        if self._options.missing == ZERO:
            given |= dict.fromkeys(missing, 0.0)
        means = {part: mean(values) for part in (FACT, CF) if (values := _of(part, given))}
        scores = {f"s_{role}": value for role, value in given.items()} | means
        scores |= {f"missing_{role}": 1.0 for role in missing}
        if len(means) < 2 or (missing and self._options.missing == EXCLUDE):
            reason = "; ".join(f"no score of {role}: {why}" for role, why in missing.items())
            return Conclusion(
                outcome=Outcome.UNDECIDED, scores=scores, reason=reason or "no facts or no counterfactuals"
            )
        kept = share_kept(means[CF], means[FACT])
        scores |= {} if kept is None else {"kept": kept}
        failures = tuple(
            Failure(
                failure_type=error, role="", message=f"the mean score is {means[part]:.2f}", seen=f"{means[part]:.2f}"
            )
            for part, error in ((FACT, FACTUAL), (CF, COUNTERFACTUAL))
            if means[part] < self._options.pass_
        )
        return Conclusion(
            outcome=Outcome.FAIL if failures else Outcome.PASS,
            failure_types=tuple(failure.failure_type for failure in failures),
            failures=failures,
            scores=scores,
        )


def query_for(case: Case, prompt: Prompt) -> Query:
    """How a judge is asked about the image of a prompt."""
    return grade_query(prompt.text, prompt.questions, "strict" if case.labels.get("part") == RULE else "steps")


def _of(part: str, given: Mapping[str, float]) -> list[float]:
    return [value for role, value in given.items() if role.startswith(part)]
