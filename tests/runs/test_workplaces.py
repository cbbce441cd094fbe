"""An executor by its name and settings, then ready; one that takes a while is named meanwhile."""

from __future__ import annotations

import time
from typing import ClassVar

import pytest

from salva.core.options import NoOptions
from salva.engine import progress
from salva.engine.executors.local import LocalExecutor
from salva.errors import PluginError, UsageError
from salva.runs.workplaces import bind_executor, open_executor
from salva.testing.specs import bound


class Slow(LocalExecutor):
    """Starts late."""

    def __init__(self, options: NoOptions) -> None:
        super().__init__(options)
        time.sleep(0.2)


class Broken(LocalExecutor):
    """Never starts."""

    version: ClassVar[str] = "1"

    def __init__(self, options: NoOptions) -> None:
        raise RuntimeError("no such cluster")


def test_one_that_starts_late_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_QUIET_S", 0.05)
    notes: list[str] = []
    assert isinstance(open_executor(bound("executor", Slow), notes.append), Slow)
    (starting,) = notes
    assert starting.startswith("starting")
    assert "'slow'" in starting


def test_of_one_that_starts_at_once_nothing_is_said() -> None:
    notes: list[str] = []
    assert isinstance(open_executor(None, notes.append), LocalExecutor)
    made = LocalExecutor()
    assert open_executor(made, notes.append) is made
    with pytest.raises(PluginError, match=r"'broken'.*RuntimeError: no such cluster.*\[component-failed\]"):
        open_executor(bound("executor", Broken), notes.append)
    assert notes == []


def test_settings_of_other_roles_are_none_of_its_own() -> None:
    settings = {"model.batch": "4", "executor.actors": "model:2"}
    assert bind_executor("ray", settings).options.actors == ("model:2",)
    with pytest.raises(UsageError, match="no option of executor named 'actors'"):
        bind_executor("local", settings)
