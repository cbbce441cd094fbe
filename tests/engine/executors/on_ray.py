"""One run of fakes, made on Ray or here: whatever happens on the way, its rows are the same."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from salva.core.plan import Binding, Plan
from salva.core.run_spec import ComponentSpec
from salva.core.verdict import Verdict
from salva.engine.executors.ray import RayExecutor, RayOptions
from salva.engine.progress import SilentProgress
from salva.registry import add_loose_plugin, bind
from salva.runs.pipeline import execute
from salva.store.sqlite import open_run
from salva.testing.specs import fake_spec

N_CASES = 40
OPTIONS: dict[str, object] = {"omits": 0.3, "refuses": 0.05, "batch": 2}
FEW = ("model:2", "detector:1")
PLUGINS = Path(__file__).with_name("ray_plugins.py")


def spec(**generator: object) -> Plan:
    return fake_spec(N_CASES, {**OPTIONS, **generator}, repeats=2, control=True)


def here(directory: Path, progress: SilentProgress | None = None) -> None:
    execute(spec(), directory, progress or SilentProgress())


def on_ray(directory: Path, progress: SilentProgress | None = None, actors: tuple[str, ...] = FEW) -> None:
    with closing(RayExecutor(RayOptions(actors=actors))) as executor:
        execute(spec(), directory, progress or SilentProgress(), executor=executor)


def rows(directory: Path) -> list[Verdict]:
    with open_run(directory) as store:
        return list(store.verdicts())


def attempts(directory: Path) -> set[int]:
    """How often pictures were painted, as far as the store has heard."""
    with closing(sqlite3.connect(directory / "salva.db")) as connection:
        return {row[0] for row in connection.execute("SELECT attempts FROM renders")}


def plugin(class_name: str, **options: str) -> Binding:
    entry = add_loose_plugin(f"{PLUGINS}:{class_name}")
    return bind(ComponentSpec(role="model", name=entry.name, options=options))
