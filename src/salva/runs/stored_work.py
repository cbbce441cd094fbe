"""What the rows of a store lead to: the verdicts of a case, made of its stored images and observations alone.

Nothing is generated, observed or written.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from salva.core.case import Case
from salva.core.observation import Observation
from salva.core.protocols import Query
from salva.core.verdict import Outcome, Verdict
from salva.engine.actors import Actor, requests_of
from salva.engine.run_components import ActorsByRole, AppliedCheck, Cast, with_needs
from salva.engine.units import ObserveJob, Subscriber, Unit
from salva.engine.verdicts import verdicts_of
from salva.judging.waves import Missing
from salva.store.records import Status
from salva.store.rows import KEYS, verdict_to_row
from salva.store.schema import COLUMNS
from salva.store.sqlite import RunStore


class NotStoredError(Exception):
    """An image or an observation that a verdict rests on is not in the store."""


def verdicts_from_store(
    store: RunStore, roster: Cast, checks: Sequence[AppliedCheck], case: Case, model: Actor
) -> list[tuple[Verdict, bool]]:
    """The verdicts that what is stored leads to, each with whether trying again could change it."""
    unit = Unit.of(case, model, roster.repeats, checks)
    if not checks:
        return []
    if not unit.is_undecidable:
        for request in requests_of(case, unit.repeats, roster.seed):
            outcome = store.render_outcome(model.render_key(request))
            if outcome is None or (outcome[0] is Status.DONE and outcome[1] is None):
                raise NotStoredError(f"the image of {request.prompt.text!r} that it rests on is not stored")
            status, image, error = outcome
            shown = image or Missing(reason=error, is_final=status is Status.REFUSED)
            _answer(store, unit.show(request.repeat, request.prompt.role, shown))
        while asked := list(unit.next_needs()):
            _answer(store, asked)
    return list(verdicts_of(unit, roster.control))


def _answer(store: RunStore, asked: Iterable[tuple[ActorsByRole, Subscriber]]) -> None:
    for actors_by_role, subscriber in asked:
        image = subscriber.waves.images[subscriber.look.role]
        assert not isinstance(image, Missing)
        _observed(store, actors_by_role, image.image_id, subscriber.look.query).tell(subscriber)


def _observed(store: RunStore, actors_by_role: ActorsByRole, image_id: str, query: Query) -> ObserveJob:
    """What the store has of an observation, after those that it was told."""
    jobs: dict[str, ObserveJob] = {}
    for role in with_needs(query.role, actors_by_role):
        actor = actors_by_role[role]
        keyed = actor.keyed_query(query if role == query.role else Query(role=role, labels=query.labels))
        given = {need: jobs[need] for need in actor.about.needs_roles}
        key = actor.observation_key(image_id, keyed, {need: job.key for need, job in given.items()})
        jobs[role] = ObserveJob(key=key, actor=actor, image_id=image_id, query=keyed, given=given)
        problem = next((job.outcome for job in given.values() if isinstance(job.outcome, Missing)), None)
        jobs[role].outcome = problem or _outcome(store, actor, image_id, key)
    return jobs[query.role]


def _outcome(store: RunStore, actor: Actor, image_id: str, key: str) -> Observation | Missing:
    stored = store.observation_outcome(key)
    if stored is None:
        raise NotStoredError(f"what the {actor.role} {actor.label!r} saw in image {image_id} is not stored")
    status, observation, error = stored
    return observation or Missing(reason=error, is_final=status is Status.REFUSED)


def different_columns(made: Verdict, stored: Verdict) -> list[str]:
    """In what two verdicts about the same differ, but for rounding and the words of an error."""
    return [name for name, is_same in _compared(made, stored) if not is_same]


# Scores are compared as numbers; the reason of an ERROR may quote what an endpoint answered this time.
_COMPARED = tuple(name for name in COLUMNS["verdicts"] if name not in (*KEYS["verdicts"], "scores", "reason", "digest"))


def _compared(made: Verdict, stored: Verdict) -> Iterator[tuple[str, bool]]:
    rows = verdict_to_row(made), verdict_to_row(stored)
    for column in _COMPARED:
        yield column, rows[0][column] == rows[1][column]
    yield "reason", made.outcome is Outcome.ERROR or rows[0]["reason"] == rows[1]["reason"]
    is_close = made.scores.keys() == stored.scores.keys() and all(
        math.isclose(made.scores[name], stored.scores[name], rel_tol=1e-9, abs_tol=1e-12) for name in made.scores
    )
    yield "scores", is_close
