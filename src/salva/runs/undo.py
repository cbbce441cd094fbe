"""Removes a run that never started.

Whoever corrects the command, or starts the server it names, must find the same --out free. What was generated, paid for
or answered stays, and so does what others wrote.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from salva.errors import SalvaError, StoreError
from salva.store.blobs import IMAGES
from salva.store.lock import LOCK_FILE, RunLock
from salva.store.reading import DATABASE
from salva.store.records import IN_VAIN, STOPPED
from salva.store.runfile import RUN_FILE
from salva.store.sqlite import open_run

_OURS = (RUN_FILE, DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal")

_WORK = (
    "SELECT 1 FROM renders WHERE status <> 'failed' LIMIT 1",
    "SELECT 1 FROM tickets LIMIT 1",
    "SELECT 1 FROM observations JOIN components USING (component_id) "
    "WHERE status <> 'failed' AND (json_extract(identity, '$.endpoint') IS NOT NULL OR role = 'judge') LIMIT 1",
)


@contextmanager
def undo_if_refused(directory: Path) -> Iterator[None]:
    """Take the run in a directory back if it ends with an error before anything was generated or observed."""
    is_new = not (directory / DATABASE).exists() and not (directory / RUN_FILE).exists()
    made = [place for place in (directory, *directory.parents) if not place.exists()]
    try:
        yield
    except StoreError:
        # Another process may be at work there, or the disk is at fault; what it holds is not ours to judge.
        raise
    except SalvaError:
        if is_new and directory.is_dir() and not _has_work(directory):
            with suppress(OSError, StoreError):
                _remove_run(directory, made)
        raise


def _has_work(directory: Path) -> bool:
    """Whether something is stored that was generated, paid for or answered by a judge, or nobody can tell.

    What nobody answered is no work, nor are verdicts about it. What a detector here saw in salva's own images before
    a model was refused costs no more than a moment; that an observer failed on them is a finding, which `salva report`
    shows, and stays.
    """
    if not (directory / DATABASE).is_file():
        return False
    try:
        with open_run(directory) as store:
            has_any = any(True for query in _WORK for _ in store.rows(query))
            return has_any or not {STOPPED, IN_VAIN}.isdisjoint(store.meta())
    except SalvaError:
        return True


def _remove_run(directory: Path, made: list[Path]) -> None:
    lock = RunLock(directory)
    try:
        if any(path.is_file() for path in (directory / IMAGES).rglob("*")):
            return
        for name in _OURS:
            (directory / name).unlink(missing_ok=True)
        shutil.rmtree(directory / IMAGES, ignore_errors=True)
        (directory / LOCK_FILE).unlink(missing_ok=True)
    finally:
        lock.release()
    for place in made:
        place.rmdir()
