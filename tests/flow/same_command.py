"""The command of a run with fakes, given again and again in one directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from salva.core.verdict import Verdict
from salva.engine.progress import Progress, SilentProgress
from salva.runs.pipeline import execute
from salva.runs.summary import RunSummary
from salva.store.sqlite import open_run
from salva.testing.fakes import CALLS
from salva.testing.specs import fake_spec


def run(directory: Path, *, progress: Progress | None = None, **changes: Any) -> RunSummary:
    retry = changes.pop("retry", ())
    CALLS.clear()
    return execute(fake_spec(**changes), directory, progress or SilentProgress(), retry=retry)


def verdicts(directory: Path) -> list[Verdict]:
    with open_run(directory) as store:
        return list(store.verdicts())
