"""Checks: the image changes by what the caption changed by, after ACTesting.

One for each kind of change: another entity (entity-change), a triple less (triple-removal), one more (triple-addition),
other words for the same (unchanged). Boxes, and a judge's answers where there is one, come in; a conclusion goes out
with the errors of entities and of relations by all three definitions among its scores. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import ClassVar

from salva.checks.asking import with_checks, with_notes
from salva.core.about import About
from salva.core.case import Case
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
from salva.suites.actesting.observing import MutationOptions, mutation_of

ENTITY, RELATION = "entity_error", "relation_error"
ENTITY_SETS, RELATION_SETS = "entity-sets", "relation-sets"


def error_score(definition: str, kind: str) -> str:
    """The score of a verdict that says whether its entities (or checks) are wrong: 1, 0, or absent for undecided."""
    return f"{definition}.{kind}"


ERROR_SCORES = tuple(error_score(definition, kind) for definition in DEFINITIONS for kind in (ENTITY, RELATION))

_ERRORS = {
    RELATION_BROKEN: "A kept relation changed.",
    NEW_RELATION_MISSING: "Added relation missing.",
    OLD_RELATION_STAYS: "Removed relation remains.",
    NEW_MISSING: "Added entity missing.",
    OLD_STAYS: "Removed entity remains.",
    KEPT_DROPPED: "Kept entity missing in the mutant.",
    SEED_LACKS: "Kept entity missing in the seed.",
    EXTRA: "Unnamed entity in one image.",
    ENTITY_SETS: "Entities break the rule.",
    RELATION_SETS: "Relations break the rule.",
}
"""Most specific first."""


_ABOUT = About(needs_roles=("detector",), failure_types=_ERRORS, compares=True, has_control=True, crossed=ERROR_SCORES)


class EntityChange:
    """Check: one entity is another now, and all else stays (MR1)."""

    version: ClassVar[str] = "4"
    operators: ClassVar[tuple[str, ...]] = (EC,)
    about: ClassVar[About] = _ABOUT
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
        mutation = mutation_of(case)
        boxes = seeing.boxes_query(mutation, self._options.side)
        needs = [Need(role=prompt.role, query=boxes) for prompt in case.prompts]
        if "judge" in roles:
            needs += [
                Need(role=prompt.role, query=query)
                for prompt in case.prompts
                for query in seeing.questions(mutation, observations.get(prompt.role), self._options)
            ]
        return with_checks(needs, case, roles, self._options)

    def judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        """Hold the change of the images against the change of the captions."""
        return with_notes(self._judge(case, observations), observations)

    def _judge(self, case: Case, observations: Mapping[str, ImageObservations]) -> Conclusion:
        mutation, options = mutation_of(case), self._options
        observed: list[seeing.ImageReading] = []
        for prompt in case.prompts:
            seen = seeing.see(mutation, observations[prompt.role], options)
            if isinstance(seen, str):
                reason = f"prompt {prompt.role!r}: {seen}"
                return Conclusion(outcome=Outcome.UNDECIDED, reason=reason)
            observed.append(seen)
        seed, mutant = (one.image for one in observed)
        ours = expected(
            mutation, seed, mutant, tolerance=options.tolerance, mentioned_only=options.scope == "mentioned"
        )
        by_definition = {
            EXPECTED: ours.errors,
            PAPER: paper(mutation, seed, mutant, tolerance=options.tolerance),
            RELEASED: released(mutation, seed, mutant),
        }
        scores = _scores(case, observed, by_definition)
        leading = by_definition[options.definition]
        if any(leading):
            failures = (
                [
                    Failure(failure_type=d.kind, role=_role(case, d.role), message=d.words, entity=d.what)
                    for d in ours.departures
                ]
                if options.definition == EXPECTED
                else _set_failures(case, leading, observed, options.definition)
            )
            return Conclusion(
                outcome=Outcome.FAIL,
                failure_types=failure_types_of(failures, _ERRORS),
                failures=tuple(failures),
                scores=scores,
            )
        is_decided = leading.entity is False and (
            leading.relation is False or (options.definition == EXPECTED and not ours.asks_relations)
        )
        if is_decided:
            return Conclusion(outcome=Outcome.PASS, scores=scores)
        reason = ours.empty if options.definition == EXPECTED else ""
        return Conclusion(outcome=Outcome.UNDECIDED, scores=scores, reason=reason or _why_undecided(observed))


class TripleRemoval(EntityChange):
    """Check: a triple less is said, and all else stays (MR2); also after a change of an entity."""

    version: ClassVar[str] = "3"
    operators: ClassVar[tuple[str, ...]] = (ER_R, EC_ER_R)


class TripleAddition(EntityChange):
    """Check: a triple more is said, and all else stays (MR3); also after a change of an entity."""

    version: ClassVar[str] = "3"
    operators: ClassVar[tuple[str, ...]] = (ER_A, EC_ER_A)


class Unchanged(EntityChange):
    """Check: other words for the same, and the same image (the synonym baseline)."""

    version: ClassVar[str] = "3"
    operators: ClassVar[tuple[str, ...]] = (SS,)


def _role(case: Case, whose: str) -> str:
    return case.prompts[0 if whose == "seed" else 1].role


def _scores(
    case: Case, observed: Sequence[seeing.ImageReading], by_definition: Mapping[str, Errors]
) -> dict[str, float]:
    """The errors, and of each image how much of its own caption it shows."""
    mutation = mutation_of(case)
    scores: dict[str, float] = {}
    for definition, errors in by_definition.items():
        for kind, is_wrong in zip((ENTITY, RELATION), errors, strict=True):
            if is_wrong is not None:
                scores[error_score(definition, kind)] = float(is_wrong)
    for prompt, pool, one in zip(case.prompts, (mutation.seed, mutation.mutant), observed, strict=True):
        decided = [holds for triple in pool.triples if (holds := one.image.triples[triple]) is not None]
        scores |= {
            f"named_{prompt.role}": float(len(one.image.entities & {*pool.entities})),
            f"entities_{prompt.role}": float(len(pool.entities)),
            f"shown_triples_{prompt.role}": float(sum(decided)),
            f"decided_triples_{prompt.role}": float(len(decided)),
        }
        if one.mean_score is not None:
            scores[f"mean_score_{prompt.role}"] = one.mean_score
    scores["undecided_triples"] = float(sum(len(one.undecided) for one in observed))
    return scores


def _set_failures(
    case: Case, errors: Errors, observed: Sequence[seeing.ImageReading], definition: str
) -> list[Failure]:
    """What the sets of the two images are, where a rule over sets says that they do not belong together."""
    seed, mutant = (one.image for one in observed)
    is_program = definition == RELEASED
    entities = [_listed(p.strongest if is_program else p.entities) for p in (seed, mutant)]
    related = [
        _listed(str(triple) for triple in (p.strongest_relations if is_program else p.relations) or ())
        for p in (seed, mutant)
    ]
    operator = mutation_of(case).operator
    return [
        Failure(
            failure_type=error,
            role="",
            message=f"seed: {before}; mutant: {now} (rule for {operator}, {definition})",
            expected=before,
            seen=now,
        )
        for is_wrong, error, (before, now) in zip(
            errors, (ENTITY_SETS, RELATION_SETS), (entities, related), strict=True
        )
        if is_wrong
    ]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted({*names})) or "nothing"


def _why_undecided(observed: Sequence[seeing.ImageReading]) -> str:
    if doubtful := sorted({name for one in observed for name in one.image.doubtful}):
        return f"{', '.join(doubtful)} in doubt"
    undecided = [str(triple) for triple in dict.fromkeys(triple for one in observed for triple in one.undecided)]
    if not undecided:
        return "nothing to check"
    more = f" (and {len(undecided) - 1} more)" if len(undecided) > 1 else ""
    return f"undecided: {undecided[0]}{more}"
