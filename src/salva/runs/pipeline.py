"""From specification to verdicts.

Says what happens in which order; how each step is done is said elsewhere. Everything that costs
is stored before it is used, so the same call after a crash goes on where the last one ended, and
a finished run costs nothing.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path

from salva.core.case import Case
from salva.core.fingerprint import Json
from salva.core.plan import Binding, Plan
from salva.core.protocols import Executor
from salva.engine.budget import Budget, Limits, check_prices
from salva.engine.failed_last import failed_last
from salva.engine.flow import Flow, Vouch, Watcher
from salva.engine.progress import Progress
from salva.engine.run_components import Cast
from salva.engine.units import Unit
from salva.errors import UsageError
from salva.messages import message
from salva.runs import environment as surroundings
from salva.runs.addresses import refuse_moved
from salva.runs.cases import placed_cases, planned_cases
from salva.runs.directory import recorded_options, resume_or_start
from salva.runs.finished import drop_unfit_verdicts, finished_summary, plan_edited_cases_anew, refuse_edited_run_file
from salva.runs.healing import find_lost_images, report_restored
from salva.runs.planning import CasePreview, require_detector
from salva.runs.preflight import Preflight
from salva.runs.run_state import (
    CaseCount,
    record_cases,
    record_run,
    recorded_run_file,
    summed,
)
from salva.runs.summary import RunSummary
from salva.runs.undo import undo_if_refused
from salva.runs.vocabulary import known_names
from salva.runs.workplaces import open_executor
from salva.store.records import IN_VAIN, PACE, WHOLE
from salva.store.sqlite import RunStore, open_run

STAGES = ("generating", "observing", "judging")


def execute(
    plan: Plan,
    directory: Path,
    progress: Progress,
    *,
    executor: Binding | Executor | None = None,
    retry: Collection[str] = (),
    environment: Mapping[str, Json] | None = None,
    limits: Limits | None = None,
    images_at: str = "",
) -> RunSummary:
    """Make or finish the run in a directory; KeyboardInterrupt leaves after all that is done is safe.

    executor: where components run; no part of the specification, since it changes no outcome. None: threads here.
    retry: what is done again though it was settled: refused, unreadable, unknown.
    images_at: the address of the image files, where they are not to be in the directory.
    """
    for note in plan.notes:
        progress.note(note)
    budget = Budget(limits)
    require_detector(plan)
    check_prices((*plan.models, *plan.observers()), limits or Limits())
    if plan.spec.control and plan.spec.repeats < 2:
        raise UsageError(message("flag-needed", flag="--repeats 2", why="--control compares seeds"))
    refuse_edited_run_file(directory)
    plan = resume_or_start(directory, wanted := plan)
    if kept := recorded_options(wanted, plan):
        progress.note(message("resumed-with-recorded-options", path=str(directory), options=", ".join(kept)))
    finished = finished_summary(directory, plan, retry, images_at)
    if finished is not None:
        return finished
    with undo_if_refused(directory), open_run(directory, "write", images_at=images_at) as store:
        # Again, now that nobody else can write: two processes may have found the directory empty.
        plan = resume_or_start(directory, wanted, recorded_run_file(store))
        refuse_moved(plan, store.components())
        roster = Cast.of(plan, names=known_names(plan.detector, store))
        store.blobs.prepare()
        for line in record_run(store, plan, roster, environment or surroundings.environment()):
            progress.note(line)
        plan_edited_cases_anew(store, plan, progress)
        previewed = CasePreview(plan, roster)
        n_stored = record_cases(store, plan, previewed.watch(placed_cases(plan)))
        for line in previewed.conclude().lines:
            progress.note(line)
        drop_unfit_verdicts(store, roster, progress)
        lost = find_lost_images(store, progress)
        with closing(open_executor(executor, progress.note)) as workplace:
            summary = flow_through(
                store,
                roster,
                workplace,
                progress,
                n_stored,
                retry=retry,
                budget=budget,
                vouch=Preflight(plan, roster, store, progress, first=_first_cases(plan, store)),
                watcher=judge_contrast(plan, store),
                lost=lost,
            )
        report_restored(store, lost, progress)
    return summary


def _first_cases(plan: Plan, store: RunStore) -> Iterator[Case]:
    """The cases that observers are tried by: in every shard those of the whole run, for one and the same trial."""
    yield from planned_cases(plan.asking(shard="")) if plan.shard else store.cases()


def flow_through(
    store: RunStore,
    roster: Cast,
    workplace: Executor,
    progress: Progress,
    counted: CaseCount,
    *,
    may_generate: bool = True,
    retry: Collection[str] = (),
    budget: Budget | None = None,
    vouch: Vouch | None = None,
    watcher: Watcher | None = None,
    lost: Collection[str] = (),
) -> RunSummary:
    """Take every stored case to its verdicts.

    vouch: called with observers before their first use. watcher: told of every unit that has its verdicts.
    lost: keys of renders whose images are generated again.
    """
    n_units = counted.n_cases * len(roster.models)
    n_images = counted.n_prompts * len(roster.models) * roster.repeats
    n_observations = next((_n_first_observations(roster, case) for case in store.cases()), 0)
    # Later waves are not known yet, and other cases may ask for more: the middle total is an estimate.
    for stage, total in zip(STAGES, (n_images, n_observations * n_units, n_units), strict=True):
        progress.start(stage, total)
    purse = budget or Budget()
    started = time.monotonic()
    store.drop_meta(WHOLE)
    flow = Flow(
        store,
        roster,
        workplace,
        progress,
        may_generate=may_generate,
        retry=retry,
        budget=purse,
        vouch=vouch,
        watcher=watcher,
        # What each model has still to generate, about: with several, all of it may be one's.
        n_pictures=max(0, min(n_images - store.n_images() + len(lost), counted.n_prompts * roster.repeats))
        if may_generate
        else 0,
        lost=lost,
    )
    with ExitStack() as stack:
        for stage in reversed(STAGES):
            stack.callback(progress.finish, stage)
        stack.callback(flow.close)
        # Last in, first out: whatever ends the run, what has been done is committed before anything is tidied up.
        stack.callback(store.flush)
        stack.callback(_note_in_vain, store, purse)
        stack.callback(lambda: _note_pace(store, time.monotonic() - started, flow.counts["rendered"]))
        flow.run(failed_last(_units(store, roster), store, roster.seed))
        if not flow.counts["unpainted"]:
            store.set_whole()
    return _summary(flow, purse, store.n_unreadable())


def judge_contrast(plan: Plan, store: RunStore) -> Watcher | None:
    """What asks judges their control questions, where there are judges."""
    if not plan.spec.contrast or not plan.judges:
        return None
    from salva.runs.contrast import JudgeContrast

    return JudgeContrast(store)


def _note_in_vain(store: RunStore, budget: Budget) -> None:
    """Add what was paid for work without a result to the run's note of it."""
    if budget.in_vain:
        now: dict[str, Json] = {component_id: {**usage} for component_id, usage in budget.in_vain.items()}
        store.set_meta(IN_VAIN, summed([store.note(IN_VAIN), now]))


def _note_pace(store: RunStore, seconds: float, n_images: int) -> None:
    """Add how long this command took to what the run knows of that, where it generated anything."""
    if n_images:
        store.set_meta(PACE, summed([store.note(PACE), {"seconds": round(seconds, 3), "n_images": n_images}]))


def _units(store: RunStore, roster: Cast) -> Iterator[Unit]:
    """Case by case and, within a case, model by model: whatever is finished early can be compared."""
    for case in store.cases():
        checks = roster.checks_of(case)
        for model in roster.models:
            yield Unit.of(case, model, roster.repeats, checks)


def _n_first_observations(roster: Cast, case: Case) -> int:
    asked = {
        (look.role, applied.actors_by_role[look.query.role].keyed_query(look.query))
        for applied in roster.checks_of(case)
        for look in applied.first_observations
    }
    return len(asked) * roster.repeats


def _summary(flow: Flow, budget: Budget, n_unreadable: int) -> RunSummary:
    counts = flow.counts
    return RunSummary(
        outcomes=dict(flow.outcomes),
        n_rendered=counts["rendered"],
        n_observed=counts["looked"],
        n_reused=counts["reused"],
        n_failed=counts["failed"],
        n_unpainted=counts["unpainted"],
        n_unchecked=len(flow.left_out),
        n_retryable=counts["retryable"],
        n_refused=counts["settled"],
        n_unreadable=n_unreadable,
        cost_usd=budget.spent_usd,
        unasked=dict(flow.unasked),
        limit_reached=budget.reached() if counts["put_off"] else "",
    )
