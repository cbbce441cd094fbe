"""The preflight: before anybody looks for the first time in a run, each is tried on images whose truth is known.

Who is tried on what, and what comes of it; what is asked and what answers mean is in trials.py. The looks are the
engine's, as all others are: stored under their keys, inside every limit, never repeated. Whoever fails ends the run
before the model under test is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice

from salva.core.case import Case
from salva.core.observation import Observation
from salva.core.plan import Plan
from salva.core.protocols import Query
from salva.core.run_spec import OFF, PREFLIGHT
from salva.engine.actors import Actor
from salva.engine.flow import Flow
from salva.engine.progress import Progress
from salva.engine.run_components import ActorsByRole, Cast
from salva.engine.units import Deferred, PreflightObservation
from salva.errors import UsageError
from salva.judging.waves import Missing
from salva.messages import message
from salva.runs.trials import KINDS, DetectorTrial, JudgeTrial, Trial
from salva.store.records import PASSED, STOPPED, UNTRIED, WARNED
from salva.store.sqlite import RunStore

_N_CASES, _N_QUERIES = 64, 4
"""What is asked is read off so many cases; a detector that takes words is asked for the things of so many."""


class Preflight:
    """Called by the flow with whoever is about to look for the first time."""

    def __init__(
        self, plan: Plan, roster: Cast, store: RunStore, progress: Progress, *, first: Iterable[Case] | None = None
    ) -> None:
        self._cast, self._store, self._progress = roster, store, progress
        self._first = store.cases() if first is None else first
        """Cases that what is asked is read off."""
        self._is_off = not plan.spec.preflight
        of_boxes = (binding for binding in plan.checks if "detector" in binding.about.needs_roles)
        self._thresholds = tuple(getattr(binding.options, "threshold", None) for binding in of_boxes)

    def __call__(self, flow: Flow, newcomers: Sequence[Actor]) -> None:
        """Try the newcomers; UsageError where one fails."""
        roles = {actor.role for actor in newcomers}
        # Who judges what others saw is tried together with them: alone it would wake somebody whose work is stored.
        able = [actor for actor in newcomers if roles.issuperset(actor.about.needs_roles)]
        tried = [(actor, trial) for actor in able for trial in self._trials(actor)]
        if not tried:
            return
        if self._is_off:
            self._note(UNTRIED, [actor for actor, _ in tried])
            return
        looks = [
            PreflightObservation(self._asked[actor.component_id][0], question.picture, question.query)
            for actor, trial in tried
            for question in trial.questions()
        ]
        seen = iter(flow.observe_for_preflight(looks))
        failed = [
            actor
            for actor, trial in tried
            if not self._passes(actor, trial, list(islice(seen, len(trial.questions()))))
        ]
        self._note(WARNED, failed)
        self._note(PASSED, [actor for actor, _ in tried if actor not in failed])

    def hold_stored(self) -> None:
        """Hold what detectors saw when they were tried against the thresholds of now; nobody is asked."""
        for actor in self._cast.actors():
            for trial in self._trials(actor) if actor.role == "detector" else ():
                keys = [
                    actor.observation_key(question.picture.image_id(), actor.keyed_query(question.query), {})
                    for question in trial.questions()
                ]
                stored = [self._store.observation_outcome(key) for key in keys]
                seen = [outcome[1] for outcome in stored if outcome is not None and outcome[1] is not None]
                finding = trial.finding(seen) if len(seen) == len(keys) else None
                if finding is None or not finding.stops:
                    continue
                if self._is_off:
                    self._note(UNTRIED, [actor])
                else:
                    self._passes(actor, trial, seen)

    def _note(self, what: str, actors: Sequence[Actor]) -> None:
        """Keep who it was with the run; written before their first observation of one of its images."""
        if not actors:
            return
        before = self._store.meta().get(what)
        labels = [*(before if isinstance(before, list) else []), *(actor.label for actor in actors)]
        self._store.set_meta(what, list(dict.fromkeys(labels)))
        self._store.flush()

    def _trials(self, actor: Actor) -> Iterator[Trial]:
        _, queries = self._asked.get(actor.component_id, ({}, []))
        if actor.role == "judge":
            asked = {query.kind for query in queries}
            for kind in KINDS:
                if kind in asked:
                    yield JudgeTrial(kind=kind, relies_on_others=bool(actor.about.needs_roles))
        elif actor.role == "detector" and queries:
            different = tuple(islice(dict.fromkeys(queries), _N_QUERIES))
            yield DetectorTrial(queries=different, thresholds=self._thresholds)

    @cached_property
    def _asked(self) -> dict[str, tuple[ActorsByRole, list[Query]]]:
        """By component id, what it will be asked about the run's images: the same whenever the run goes on."""
        asked: dict[str, tuple[ActorsByRole, list[Query]]] = {}
        for case in islice(self._first, _N_CASES):
            for applied in self._cast.checks_of(case):
                for look in applied.first_observations:
                    actor = applied.actors_by_role[look.query.role]
                    _, queries = asked.setdefault(actor.component_id, (applied.actors_by_role, []))
                    queries.append(actor.keyed_query(look.query))
        return asked

    def _passes(self, actor: Actor, trial: Trial, outcomes: Sequence[Observation | Missing | Deferred]) -> bool:
        """Whether it told true from false; UsageError where it did not and can be held to it."""
        who = f"the {actor.role} {actor.label!r}"
        seen: list[Observation] = []
        for outcome in outcomes:
            if isinstance(outcome, Deferred):
                raise UsageError(message("preflight-unpaid", who=who, n=len(outcomes), off=f"{PREFLIGHT}={OFF}"))
            if isinstance(outcome, Missing):
                raise UsageError(message("preflight-broken", who=who, why=outcome.reason))
            seen.append(outcome)
        finding = trial.finding(seen)
        if finding is None:
            return True
        if not finding.stops:
            self._progress.note(message("preflight-doubtful", who=who, problem=finding.problem))
            return False
        self._note(STOPPED, [actor])
        ways = [*([finding.advice] if finding.advice else []), f"name another {actor.role}"]
        raise UsageError(
            message(
                "preflight-failed", who=who, problem=finding.problem, ways=", ".join(ways), off=f"{PREFLIGHT}={OFF}"
            )
        )
