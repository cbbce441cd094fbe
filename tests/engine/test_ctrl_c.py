"""Ctrl-C waits for the next place where nothing is lost, unless nothing can be."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from salva.engine.ctrl_c import CtrlC


@pytest.fixture
def ctrl_c() -> Iterator[CtrlC]:
    """As in a terminal: what a shell starts in the background ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with CtrlC() as entered:
        yield entered
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "as it was before"
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A time of our own, in seconds."""
    clock = SimpleNamespace(now=1000.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr("salva.engine.ctrl_c.time", clock)
    return clock


def test_the_first_waits_to_be_heeded_and_one_long_after_it_does_not(clock: SimpleNamespace, ctrl_c: CtrlC) -> None:
    ctrl_c.heed()
    signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        ctrl_c.heed()
    clock.now += 1
    signal.raise_signal(signal.SIGINT)
    clock.now += 2
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_what_is_under_way_is_given_up_in_time_and_at_once_when_asked_again(
    clock: SimpleNamespace, ctrl_c: CtrlC, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ctrl_c.give_up_at == math.inf
    with ctrl_c.held():
        signal.raise_signal(signal.SIGINT)
        clock.now += 0.1
        signal.raise_signal(signal.SIGINT)
        assert ctrl_c.give_up_at == 1008, "one signal may come by two ways"
        monkeypatch.setenv("SALVA_STOP_SECONDS", "60")
        assert ctrl_c.give_up_at == 1060
        clock.now += 20
        signal.raise_signal(signal.SIGINT)
        assert ctrl_c.give_up_at == clock.now
    with pytest.raises(KeyboardInterrupt):
        ctrl_c.heed()


def test_another_one_does_not_disturb_the_tidying_up_of_who_was_interrupted(
    clock: SimpleNamespace, ctrl_c: CtrlC
) -> None:
    tidied = []

    def interrupted() -> None:
        try:
            with CtrlC() as inner:
                signal.raise_signal(signal.SIGINT)
                inner.heed()
        finally:
            clock.now += 1
            signal.raise_signal(signal.SIGINT)
            tidied.append("all of it")

    with pytest.raises(KeyboardInterrupt), ctrl_c.at_once():
        interrupted()
    assert tidied
    with pytest.raises(KeyboardInterrupt):
        ctrl_c.heed()


def test_what_loses_nothing_is_left_on_the_spot(ctrl_c: CtrlC) -> None:
    with pytest.raises(KeyboardInterrupt), ctrl_c.at_once():
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        ctrl_c.heed()


def test_one_that_became_another_error_is_heeded_all_the_same(ctrl_c: CtrlC) -> None:
    def imports() -> None:
        """As a module written in C does that is just being imported."""
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as pressed:
            raise ImportError("initialization failed") from pressed

    with pytest.raises(KeyboardInterrupt), ctrl_c.at_once():
        imports()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_one_that_a_finaliser_swallows_is_heeded_at_the_end(ctrl_c: CtrlC) -> None:
    class Ends:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    steps = []

    def finalise() -> None:
        Ends()
        steps.append("went on")

    with pytest.raises(KeyboardInterrupt), ctrl_c.at_once():
        finalise()
    assert steps == ["went on"], "or Python swallows nothing any more"


def test_one_that_came_after_the_last_place_is_heeded_on_leaving_and_once() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt), CtrlC():
        signal.raise_signal(signal.SIGINT)
    with CtrlC() as next_time:
        next_time.heed()


def test_within_another_it_waits_and_the_other_hears_again_afterwards(ctrl_c: CtrlC) -> None:
    with ctrl_c.at_once():
        with pytest.raises(KeyboardInterrupt), CtrlC():
            signal.raise_signal(signal.SIGINT)
        ctrl_c.heed()
    with pytest.raises(KeyboardInterrupt), ctrl_c.at_once():
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), CtrlC() as begun_afterwards:
        begun_afterwards.heed()
    with pytest.raises(KeyboardInterrupt):
        ctrl_c.heed()


def test_afterwards_it_waits_again(ctrl_c: CtrlC) -> None:
    with ctrl_c.at_once():
        pass
    signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        ctrl_c.heed()
