"""Ctrl-C waits for the next place where nothing is lost, unless nothing can be."""

from __future__ import annotations

import signal
from collections.abc import Iterator

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


def test_the_first_waits_to_be_heeded_and_the_second_does_not(ctrl_c: CtrlC) -> None:
    ctrl_c.heed()
    signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        ctrl_c.heed()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_what_loses_nothing_is_left_on_the_spot(ctrl_c: CtrlC) -> None:
    with ctrl_c.at_once(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_afterwards_it_waits_again(ctrl_c: CtrlC) -> None:
    with ctrl_c.at_once():
        pass
    signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        ctrl_c.heed()
