"""One writer per run, and a lock that cannot be had is said so."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from salva.errors import LockedError, StoreError
from salva.store.lock import LOCK_FILE, RunLock


def test_a_lock_is_held_until_it_is_released(tmp_path: Path) -> None:
    first = RunLock(tmp_path)
    assert (tmp_path / LOCK_FILE).read_text() == str(os.getpid())
    with pytest.raises(LockedError) as refused:
        RunLock(tmp_path)
    assert refused.value.code == "run-locked"
    assert str(os.getpid()) in str(refused.value)
    first.release()
    first.release()
    (tmp_path / LOCK_FILE).write_text("9" * 40)
    second = RunLock(tmp_path)
    assert (tmp_path / LOCK_FILE).read_text() == str(os.getpid()), "nothing of an earlier holder is left"
    (tmp_path / LOCK_FILE).write_text("")
    with pytest.raises(LockedError, match="unknown"):
        RunLock(tmp_path)
    second.release()


@pytest.mark.parametrize("call", ["open", "ftruncate", "pwrite"])
def test_a_disk_that_fails_gives_the_lock_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patched:
        patched.setattr(os, call, fail)
        with pytest.raises(StoreError) as refused:
            RunLock(tmp_path)
    assert refused.value.code == "disk-error"
    RunLock(tmp_path).release()


def test_a_lock_leaves_with_its_process_and_not_with_its_children(tmp_path: Path) -> None:
    lock = RunLock(tmp_path)
    assert not os.get_inheritable(lock._handle)
    lock.release()


def test_a_lock_that_somebody_else_has_closed_is_released(tmp_path: Path) -> None:
    lock = RunLock(tmp_path)
    os.closerange(lock._handle, lock._handle + 1)
    lock.release()
    RunLock(tmp_path).release()
