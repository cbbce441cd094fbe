"""Ends a run early: what was asked for and is still to come is stored, as far as it was paid for.

Nothing more is begun, and no unit goes on.
"""

from __future__ import annotations

import time
from contextlib import suppress
from queue import Empty

from salva.engine.ctrl_c import CtrlC
from salva.engine.dispatch import Dispatch
from salva.engine.events import Event, FilesWritten, ObserveDone, RenderDone, WorkFailed
from salva.engine.progress import Progress
from salva.engine.results import Results
from salva.errors import BackendError, UnusableError
from salva.messages import message
from salva.store.sqlite import RunStore

_WAIT_S = 0.1
_PATIENCE_S = 150.0
"""How long the next answer is waited for: a little longer than endpoints are given by default."""
_QUIET_S = 0.5
"""Once nothing more is waited for: what has come and is being written is done after so long without an event."""
_MOST_S = 2.0
"""For no longer than this."""


def drain(dispatch: Dispatch, results: Results, store: RunStore, progress: Progress, ctrl_c: CtrlC) -> None:
    """Store what comes back until nothing is under way, nothing has come for too long, or Ctrl-C gives it up."""
    with ctrl_c.held():
        dispatch.stop()
        if dispatch.n_out:
            progress.note(message("stopping", n=dispatch.n_out))
        heard_at = time.monotonic()
        while True:
            is_over = not dispatch.n_out or _is_given_up(heard_at, ctrl_c)
            try:
                event = dispatch.events.get(timeout=0 if is_over else _WAIT_S)
            except Empty:
                if is_over:
                    break
                store.tick()
                continue
            heard_at = time.monotonic()
            # Another model's answers are not kept; why the run ends is known already.
            with suppress(UnusableError):
                _keep(event, dispatch, results)
        if dispatch.n_out:
            progress.note(message("given-up", n=dispatch.n_out))


def _is_given_up(heard_at: float, ctrl_c: CtrlC) -> bool:
    now = time.monotonic()
    late_s = now - ctrl_c.give_up_at
    return now - heard_at > _PATIENCE_S or late_s > _MOST_S or (late_s > 0 and now - heard_at > _QUIET_S)


def _keep(event: Event, dispatch: Dispatch, results: Results) -> None:
    """Store what an event brings; a failure that can be retried was not paid for."""
    match event:
        case RenderDone():
            dispatch.received(event)
            back = results.sort(event.jobs, event.outcomes)
            dispatch.write(back.painted)
            for job, error in back.failed:
                if not error.is_retryable:
                    results.store_failure(job, error)
            if back.ended_by is not None:
                raise back.ended_by
        case FilesWritten():
            for (job, rendered), image in zip(event.painted, event.images, strict=True):
                results.store_image(job, rendered, image)
        case WorkFailed():
            dispatch.stopped(event)
        case ObserveDone():
            dispatch.received(event)
            for look, outcome in zip(event.jobs, event.outcomes, strict=True):
                if not (isinstance(outcome, BackendError) and outcome.is_retryable):
                    results.store_observation(look, outcome)
