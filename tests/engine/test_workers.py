"""Threads with one queue: never more than asked for, and nothing that was handed in is forgotten."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pytest

from salva.engine.workers import Workers


@pytest.mark.parametrize(("n_threads", "n_calls", "at_once"), [(2, 5, 2), (4, 3, 3), (1, 2, 1)])
def test_as_many_work_at_once_as_there_is_work_for_and_never_more_than_asked(
    n_threads: int, n_calls: int, at_once: int
) -> None:
    workers, may_end, lock = Workers(n_threads), threading.Event(), threading.Lock()
    busy: set[int] = set()
    everybody = threading.Event()

    def call(number: int) -> int:
        with lock:
            busy.add(threading.get_ident())
            if len(busy) == at_once:
                everybody.set()
        may_end.wait(30)
        return number

    futures: list[Future[int]] = [workers.submit(call, number) for number in range(n_calls)]
    assert everybody.wait(30)
    may_end.set()
    assert [future.result(30) for future in futures] == list(range(n_calls))
    assert len(busy) == at_once
    workers.close()


def test_what_is_not_begun_when_they_are_closed_is_cancelled_and_what_is_ends() -> None:
    workers, begun, may_end = Workers(1), threading.Event(), threading.Event()

    def call() -> str:
        begun.set()
        may_end.wait(30)
        return "done"

    first, second = workers.submit(call), workers.submit(call)
    assert begun.wait(30)
    workers.stop()
    may_end.set()
    workers.close()
    assert first.result(30) == "done"
    assert second.cancelled()
