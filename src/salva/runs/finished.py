"""Whether a run is finished: recomputed from its rows at every start, and believed of no note.

Every case that the command plans must be there, and every verdict that its stored images and observations lead to. What
is missing or was edited is made again by the same command: cases by the suite, verdicts from what is stored, and images
and observations by whoever made them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from salva.core.case import case_to_json
from salva.core.plan import Plan
from salva.core.verdict import PAIR, Observers, Outcome, Verdict
from salva.engine.actors import Actor
from salva.engine.progress import Progress
from salva.engine.run_components import Cast
from salva.errors import StoreError
from salva.messages import message
from salva.runs.addresses import refuse_moved
from salva.runs.cases import placed_cases
from salva.runs.healing import has_all_files
from salva.runs.run_state import record_primaries, recorded_run_file, spec_difference
from salva.runs.stored_work import NotStoredError, different_columns, verdicts_from_store
from salva.runs.summary import RunSummary
from salva.runs.vocabulary import known_names
from salva.store.reading import DATABASE
from salva.store.records import CASES, RULES, WHOLE
from salva.store.rows import is_fit, select, to_text
from salva.store.runfile import RUN_FILE, is_run_file_ours, read_run_file
from salva.store.sqlite import RunStore, open_run


@dataclass(slots=True)
class _Audit:
    """What the rows of a run lead to, held against its verdicts."""

    is_complete: bool = True
    """Whether every verdict is there and is what it should be."""
    n_retryable: int = 0
    n_settled: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    unplanned: list[Verdict] = field(default_factory=list)
    """Stored verdicts of these checks and components that nothing leads to."""


def finished_summary(directory: Path, plan: Plan, retry: Collection[str], images_at: str) -> RunSummary | None:
    """What a finished run came to, without touching anything; None when there is work to do."""
    content = read_run_file(directory)
    if not (directory / DATABASE).is_file() or content is None:
        return None
    with open_run(directory) as store:
        store.check_images_at(images_at)
        n_unreadable = store.n_unreadable()
        # A run that was judged otherwise since goes back to its own rules first; nothing is generated for that.
        is_judged_otherwise = content.judging is not None and content.judging.spec != content.spec
        if is_judged_otherwise or not has_all_files(store) or ("unreadable" in retry and n_unreadable):
            return None
        refuse_moved(plan, store.components())
        if not store.is_whole() or not _has_components(store, plan) or not _has_planned_cases(store, plan):
            return None
        found = _audit(store, Cast.of(plan, names=known_names(plan.detector, store)))
        if not found.is_complete or found.unplanned or found.n_retryable:
            return None
        if "refused" in retry and found.outcomes["ERROR"]:
            return None
        return RunSummary(
            outcomes=dict(found.outcomes),
            n_reused=store.n_images(),
            n_refused=found.n_settled,
            n_unreadable=n_unreadable,
        )


def plan_edited_cases_anew(store: RunStore, plan: Plan, progress: Progress) -> None:
    """Have the cases stored again where they are not those of the command."""
    if CASES in store.meta() and not _has_planned_cases(store, plan):
        progress.note(message("cases-planned-anew", path=str(store.directory)))
        store.drop_meta(CASES)


def drop_unfit_verdicts(store: RunStore, roster: Cast, progress: Progress) -> None:
    """Drop the verdicts that nothing leads to from a run that was finished before and is not any more."""
    if WHOLE not in store.meta():
        return
    record_primaries(store, roster)
    if unplanned := _audit(store, roster).unplanned:
        for verdict in unplanned:
            store.drop_verdict(verdict)
        store.flush()
        progress.note(message("verdicts-dropped", n=len(unplanned), path=str(store.directory)))


def refuse_edited_run_file(directory: Path) -> None:
    """Refuse a run.json that is not what the database noted, before anything is taken from it."""
    content = read_run_file(directory) if (directory / DATABASE).is_file() else None
    if content is None:
        return
    with open_run(directory) as store:
        noted, is_ours = recorded_run_file(store), is_run_file_ours(store)
    differing = spec_difference(content.spec, noted.spec) if noted is not None else ""
    if is_ours is False or differing:
        why = differing or "its digest differs from the one that the database has"
        raise StoreError(message("run-file-edited", path=str(directory / RUN_FILE), why=why))


def _has_components(store: RunStore, plan: Plan) -> bool:
    """Whether the very components of the command have worked here, by the rules that it has."""
    stored = {component.component_id: component for component in store.components()}
    rules = store.note(RULES)
    unnamed = () if plan.colour_reader is None else (plan.colour_reader,)
    bound = (*plan.models, *plan.observers(), *unnamed)
    actors = map(Actor.of, bound)
    return all(stored.get(actor.component_id) == actor.stored() for actor in actors) and all(
        rules.get(binding.label) == binding.identity() for binding in plan.checks
    )


def _has_planned_cases(store: RunStore, plan: Plan) -> bool:
    """Whether the stored cases are those that the command plans, word for word and in their places.

    The cases of another version of the suite are kept as they were, as long as all are there and none was edited.
    """
    noted = store.note(CASES)
    rows = store.rows(select("cases", "ORDER BY ordinal"))
    if not isinstance(noted.get("n_prompts"), int):
        return False
    if noted.get("suite") != plan.suite.identity():
        return [is_fit("cases", row) for row in rows] == [True] * store.n_cases() and store.n_cases() == noted[
            "n_cases"
        ]
    return all(
        row is not None
        and planned is not None
        and is_fit("cases", row)
        and row["ordinal"] == planned[0]
        and row["record"] == to_text(case_to_json(planned[1]))
        for row, planned in zip_longest(rows, placed_cases(plan))
    )


def _audit(store: RunStore, roster: Cast) -> _Audit:
    """Make every verdict anew and compare it with the stored one."""
    found = _Audit()
    primaries = store.primaries()
    models, rules = {actor.label for actor in roster.models}, {part.label for part in roster.checks}
    labels = {actor.label for actors in roster.actors_by_role for actor in actors.values()}
    for case in store.cases():
        primary, checks = roster.selection(case)
        found.is_complete &= primaries[case.case_id] == primary
        stored = {_key(verdict): verdict for verdict in store.verdicts_of(case.case_id)}
        for model in roster.models:
            try:
                made = verdicts_from_store(store, roster, checks, case, model)
            except NotStoredError:
                found.is_complete, made = False, []
            for verdict, is_retryable in made:
                own = stored.pop(_key(verdict), None)
                found.is_complete &= own is not None and not different_columns(verdict, own)
                found.n_retryable += is_retryable
                if verdict.arm == PAIR:
                    found.outcomes[str(verdict.outcome)] += 1
                    found.n_settled += verdict.outcome is Outcome.ERROR and not is_retryable
        found.unplanned += (
            verdict
            for verdict in stored.values()
            if verdict.model not in models or (verdict.check in rules and labels.issuperset(verdict.observers))
        )
    found.unplanned += _of_no_case(store)
    return found


def _of_no_case(store: RunStore) -> Iterator[Verdict]:
    rows = store.rows("SELECT DISTINCT case_id FROM verdicts WHERE case_id NOT IN (SELECT case_id FROM cases)")
    for row in list(rows):
        yield from store.verdicts_of(row["case_id"])


def _key(verdict: Verdict) -> tuple[int, str, str, str, Observers]:
    return verdict.repeat, verdict.arm, verdict.model, verdict.check, verdict.observers
