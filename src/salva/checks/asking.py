"""What checks that ask judges share: questions asked twice, unreadable replies, costs, text that instructs.

    def needs(self, case, roles, observations):
        return with_checks(needs, case, roles, self._options)

    def judge(self, case, observations):
        return with_notes(self._judge(case, observations), observations)

Needs come in and leave with the checks added; a conclusion comes in and leaves with scores named judge_...
(metrics/judge_costs.py makes tables of them). Pure, and knows nothing of what is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from salva.core.case import Case
from salva.core.fingerprint import fingerprint
from salva.core.grouping import grouped
from salva.core.observation import Answer
from salva.core.options import option
from salva.core.protocols import Conclusion, ImageObservations, Need, Query
from salva.judging.instructing import JUDGE_INSTRUCTING, instructing_texts

READER = Query(role="reader")

CALLS = "judge_calls"
ANSWERS = "judge_answers"
UNREADABLE = "judge_unreadable"
REPEATED = "judge_repeated"
FLIPPED = "judge_flipped"
COUNTED = {"input_tokens": "judge_input_tokens", "output_tokens": "judge_output_tokens", "cost_usd": "judge_cost_usd"}
"""What an answer's usage may say, and the score it is summed up in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingOptions:
    """The options of checks that ask judges."""

    flip_sample: float = option(0.05, "Share of questions asked twice, to count flips.", least=0, most=1)


def with_checks(needs: Sequence[Need], case: Case, roles: Collection[str], options: AskingOptions) -> list[Need]:
    """The needs, the questions among them that are asked again, and a reading of every image that a judge is shown."""
    checked = list(needs)
    for need in needs:
        is_question = need.query.role == "judge" and need.query.repeat == 0
        if is_question and _is_sampled(case, need, options.flip_sample):
            checked.append(replace(need, query=replace(need.query, repeat=1)))
    if "reader" in roles:
        shown = {need.role for need in needs if need.query.role == "judge"}
        checked += [Need(role=prompt.role, query=READER) for prompt in case.prompts if prompt.role in shown]
    return list(dict.fromkeys(checked))


def with_notes(conclusion: Conclusion, observations: Mapping[str, ImageObservations]) -> Conclusion:
    """The conclusion with what the judge's answers cost, how many flipped, and how much text told it what to say."""
    answers = {
        (role, query): seen
        for role, sight in observations.items()
        for query, seen in sight.seen.items()
        if isinstance(seen, Answer)
    }
    if not answers:
        return conclusion
    scores = {**conclusion.scores, **_costs(list(answers.values())), **_flips(answers)}
    by_role = {
        role: instructing_texts(seen) for role, sight in observations.items() if (seen := sight.seen.get(READER))
    }
    if by_role:
        scores[JUDGE_INSTRUCTING] = float(sum(map(len, by_role.values())))
    return replace(conclusion, scores=scores)


def _is_sampled(case: Case, need: Need, share: float) -> bool:
    """Whether a question belongs to the sample; the same on every machine and in every run."""
    query = need.query
    chosen = fingerprint([case.case_id, need.role, query.kind, query.text, list(query.questions)])
    return int(chosen[:12], 16) < share * 16**12


def _costs(answers: Sequence[Answer]) -> dict[str, float]:
    """Sums over all answers; what is not known of every one is left out."""
    scores = {
        ANSWERS: float(len(answers)),
        CALLS: sum(answer.usage.get("n_calls", 1.0) for answer in answers),
        UNREADABLE: float(sum(bool(answer.problem) for answer in answers)),
    }
    for name, score in COUNTED.items():
        if all(name in answer.usage for answer in answers):
            scores[score] = sum(answer.usage[name] for answer in answers)
    return scores


def _flips(answers: Mapping[tuple[str, Query], Answer]) -> dict[str, float]:
    """How often the same question was readably answered again, and how often otherwise than before."""
    asked = grouped(
        ((role, replace(query, repeat=0)), (query.repeat, answer))
        for (role, query), answer in answers.items()
        if not answer.problem
    )
    pairs = [pair for said in asked.values() for pair in pairwise(sorted(said, key=lambda answered: answered[0]))]
    if not pairs:
        return {}
    n_flipped = sum((a.text, dict(a.scores)) != (b.text, dict(b.scores)) for (_, a), (_, b) in pairs)
    return {REPEATED: float(len(pairs)), FLIPPED: float(n_flipped)}
