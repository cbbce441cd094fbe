"""Imports in a thread: what is planned waits for its moment, one after the other, and errors are left to others."""

from __future__ import annotations

import threading

from salva.hardware.background_imports import BackgroundImports


def test_what_is_planned_waits_for_its_moment() -> None:
    ahead, done = BackgroundImports(), list[str]()
    for _ in range(2):
        ahead.plan("something", lambda: done.append("planned"))
    ahead.wait()
    assert done == []
    ahead.begin_planned()
    ahead.wait()
    assert done == ["planned"]
    ahead.begin_planned()
    ahead.wait()
    assert done == ["planned"], "once"


def test_what_is_begun_at_once_leaves_alone_what_is_planned() -> None:
    ahead, done = BackgroundImports(), list[str]()
    ahead.plan("something", lambda: done.append("planned"))
    ahead.begin(lambda: done.append("at once"))
    ahead.wait()
    assert done == ["at once"]


def test_nobody_imports_beside_anybody_else() -> None:
    ahead, done, may_go_on = BackgroundImports(), list[str](), threading.Event()

    def first() -> None:
        may_go_on.wait(10)
        done.append("first")

    ahead.begin(first)
    ahead.begin(lambda: done.append("second"))
    assert done == []
    may_go_on.set()
    ahead.wait()
    assert done == ["first", "second"]


def test_what_cannot_be_imported_is_left_to_whoever_needs_it() -> None:
    ahead, done = BackgroundImports(), list[str]()

    def broken() -> None:
        raise ImportError("no such library")

    ahead.begin(broken, lambda: done.append("the next"))
    ahead.wait()
    assert done == ["the next"]
