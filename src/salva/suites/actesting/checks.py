"""Checks: the image changes by what the caption changed by, after ACTesting.

One for each kind of change: another thing (entity-change), a triple less (triple-removal), one more (triple-addition),
other words for the same (unchanged). Boxes, and a judge's answers where there is one, come in; a conclusion goes out
with the errors of things and of relations by all three definitions among its scores. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import ClassVar

from salva.checks.asking import with_checks, with_notes
from salva.core.about import About
from salva.core.case import Case
from salva.core.mutation import Mutation
from salva.core.protocols import Conclusion, ImageObservations, Need
from salva.core.verdict import Failure, Outcome, failure_types_of
from salva.suites.actesting import observing as seeing
from salva.suites.actesting.definitions import (
    DEFINITIONS,
    EC,
    EC_ER_A,
    EC_ER_R,
    ER_A,
    ER_R,
    EXPECTED,
    EXTRA,
    KEPT_DROPPED,
    NEW_MISSING,
    NEW_RELATION_MISSING,
    OLD_RELATION_STAYS,
    OLD_STAYS,
    PAPER,
    RELATION_BROKEN,
    RELEASED,
    SEED_LACKS,
    SS,
    Errors,
    expected,
    paper,
    released,
)
from salva.suites.actesting.observing import MutationOptions

ENTITY, RELATION = "entity_error", "relation_error"
ENTITY_SETS, RELATION_SETS = "entity-sets", "relation-sets"
UNTOLD = "untold_triples"
"""Score of a verdict: the triples, of either image, that nobody could tell."""


def error_score(definition: str, kind: str) -> str:
    """The score of a verdict that says whether its things (or checks) are wrong: 1, 0, or absent for undecided."""
    return f"{definition}.{kind}"


ERROR_SCORES = tuple(error_score(definition, kind) for definition in DEFINITIONS for kind in (ENTITY, RELATION))

_ERRORS = {
    RELATION_BROKEN: "A relation of both captions is in one image only.",
    NEW_RELATION_MISSING: "The added relation is missing.",
    OLD_RELATION_STAYS: "The removed relation is still there.",
    NEW_MISSING: "The added entity is missing.",
    OLD_STAYS: "The removed entity is still there.",
    KEPT_DROPPED: "An entity of both captions is missing in the mutant's image.",
    SEED_LACKS: "An entity of both captions is missing in the seed's image.",
    EXTRA: "An entity of neither caption is in one image only.",
    ENTITY_SETS: "The entities break the rule of the paper or its program.",
    RELATION_SETS: "The relations break the rule of the paper or its program.",
}
"""Most specific first."""


def _about(broken: str) -> About:
    return About(
        needs_roles=("detector",), failure_types=_ERRORS, broken=broken, has_control=True, crossed=ERROR_SCORES
    )


class EntityChange:
    """Check: one thing is another now, and all else stays (MR1)."""

    version: ClassVar[str] = "3"
    operators: ClassVar[tuple[str, ...]] = (EC,)
    about: ClassVar[About] = _about("the image changed otherwise than by one entity")
    Options = MutationOptions

    def __init__(self, options: MutationOptions) -> None:
        self._options = options

    def applies(self, case: Case) -> bool:
        """Whether one of its operators made this pair."""
        return case.mutation is not None and case.mutation.operator in self.operators and len(case.prompts) == 2

    def needs(
        self, case: Case, roles: Collection[str], observations: Mapping[str, ImageObservations]
    ) -> Sequence[Need]:
        """Boxes of what either caption names; where somebody judges, a question about what boxes cannot tell."""
        mutation = _mutation(case)
        queries = [
            seeing.boxes_query(mutation, self._options.side),
            *(seeing.questions(mutation) if "judge" in roles else ()),
        ]
        looks = [Need(role=prompt.role, query=query) for prompt in case.prompts for query in queries]
        return with_checks(looks, case, roles, self._options)

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """Hold the change of the images against the change of the captions."""
        return with_notes(self._judge(case, observations), observations)

    def _judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        mutation, options = _mutation(case), self._options
        looked: list[seeing.Need] = []
        for prompt in case.prompts:
            seen = seeing.see(mutation, observations[prompt.role], options)
            if isinstance(seen, str):
                reason = f"the image of prompt {prompt.role!r}: {seen}"
                return Conclusion(outcome=Outcome.UNDECIDED, reason=reason)
            looked.append(seen)
        seed, mutant = (look.picture for look in looked)
        ours = expected(
            mutation, seed, mutant, tolerance=options.tolerance, mentioned_only=options.scope == "mentioned"
        )
        by_definition = {
            EXPECTED: ours.errors,
            PAPER: paper(mutation, seed, mutant, tolerance=options.tolerance),
            RELEASED: released(mutation, seed, mutant),
        }
        scores = _scores(case, looked, by_definition)
        leading = by_definition[options.definition]
        if any(leading):
            failures = (
                [
                    Failure(failure_type=d.kind, role=_role(case, d.role), message=d.words, entity=d.what)
                    for d in ours.departures
                ]
                if options.definition == EXPECTED
                else _set_failures(case, leading, looked, options.definition)
            )
            return Conclusion(
                outcome=Outcome.FAIL,
                failure_types=failure_types_of(failures, _ERRORS),
                failures=tuple(failures),
                scores=scores,
            )
        is_told = leading.entity is False and (
            leading.relation is False or (options.definition == EXPECTED and not ours.asks_relations)
        )
        if is_told:
            return Conclusion(outcome=Outcome.PASS, scores=scores)
        reason = ours.empty if options.definition == EXPECTED else ""
        return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=reason or _why_untold(looked))


class TripleRemoval(EntityChange):
    """Check: a triple less is said, and all else stays (MR2); also after a change of a thing."""

    version: ClassVar[str] = "2"
    operators: ClassVar[tuple[str, ...]] = (ER_R, EC_ER_R)
    about: ClassVar[About] = _about("the image changed otherwise than by one triple less")


class TripleAddition(EntityChange):
    """Check: a triple more is said, and all else stays (MR3); also after a change of a thing."""

    version: ClassVar[str] = "2"
    operators: ClassVar[tuple[str, ...]] = (ER_A, EC_ER_A)
    about: ClassVar[About] = _about("the image changed otherwise than by one triple more")


class Unchanged(EntityChange):
    """Check: other words for the same, and the same image (the synonym baseline)."""

    version: ClassVar[str] = "2"
    operators: ClassVar[tuple[str, ...]] = (SS,)
    about: ClassVar[About] = _about("the image changed with a synonym")


def _mutation(case: Case) -> Mutation:
    assert case.mutation is not None, "applies() made sure"
    return case.mutation


def _role(case: Case, whose: str) -> str:
    return case.prompts[0 if whose == "seed" else 1].role


def _scores(case: Case, looked: Sequence[seeing.Need], by_definition: Mapping[str, Errors]) -> dict[str, float]:
    """The errors, and of each image how much of its own caption it shows."""
    mutation = _mutation(case)
    scores: dict[str, float] = {}
    for definition, errors in by_definition.items():
        for kind, is_wrong in zip((ENTITY, RELATION), errors, strict=True):
            if is_wrong is not None:
                scores[error_score(definition, kind)] = float(is_wrong)
    for prompt, pool, look in zip(case.prompts, (mutation.seed, mutation.mutant), looked, strict=True):
        told = [holds for triple in pool.triples if (holds := look.picture.triples[triple]) is not None]
        scores |= {
            f"named_{prompt.role}": float(len(look.picture.entities & {*pool.entities})),
            f"entities_{prompt.role}": float(len(pool.entities)),
            f"shown_triples_{prompt.role}": float(sum(told)),
            f"told_triples_{prompt.role}": float(len(told)),
        }
        if look.mean_score is not None:
            scores[f"mean_score_{prompt.role}"] = look.mean_score
    scores[UNTOLD] = float(sum(len(look.untold) for look in looked))
    return scores


def _set_failures(case: Case, errors: Errors, looked: Sequence[seeing.Need], definition: str) -> list[Failure]:
    """What the sets of the two images are, where a rule over sets says that they do not belong together."""
    seed, mutant = (look.picture for look in looked)
    is_program = definition == RELEASED
    things = [_listed(p.strongest if is_program else p.entities) for p in (seed, mutant)]
    related = [
        _listed(str(triple) for triple in (p.strongest_relations if is_program else p.relations) or ())
        for p in (seed, mutant)
    ]
    operator = _mutation(case).operator
    return [
        Failure(
            failure_type=error,
            role="",
            message=f"seed: {before}; mutant: {now} (rule for {operator}, {definition})",
            expected=before,
            seen=now,
        )
        for is_wrong, error, (before, now) in zip(errors, (ENTITY_SETS, RELATION_SETS), (things, related), strict=True)
        if is_wrong
    ]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted({*names})) or "nothing"


def _why_untold(looked: Sequence[seeing.Need]) -> str:
    if doubtful := sorted({name for look in looked for name in look.picture.doubtful}):
        return f"{', '.join(doubtful)} in doubt"
    untold = [str(triple) for triple in dict.fromkeys(triple for look in looked for triple in look.untold)]
    if not untold:
        return "the captions state nothing to check"
    more = f" (and {len(untold) - 1} more)" if len(untold) > 1 else ""
    return f"undecided: {untold[0]}{more}"
