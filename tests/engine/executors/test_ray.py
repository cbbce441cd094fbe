"""Runs on Ray: the rows of a local run, whatever number of actors works and whatever dies on the way.

A cluster of two nodes on this machine; the cores it counts are not there, and nobody needs them.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from in_process import salva

from salva.core.spec import RunSpec
from salva.core.verdict import Verdict
from salva.engine.executors.ray import RayExecutor, RayOptions
from salva.engine.progress import SilentProgress
from salva.errors import MissingExtraError, UnusableError
from salva.run.pipeline import execute
from salva.run.verify import verify
from salva.store.sqlite import open_run
from salva.testing.fakes import FakeReader
from salva.testing.specs import bound, fake_spec

pytest.importorskip("ray", reason="needs the extra ray")

SCRIPT = Path(__file__).with_name("ray_run.py")
N_CASES = 40
OPTIONS: dict[str, object] = {"omits": 0.3, "refuses": 0.05, "batch": 2}
FEW = ("model:2", "detector:1", "reader:1")


class TwoNodes:
    """A cluster of a head and one more node."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self._small: dict[str, Any] = {"num_cpus": 2, "object_store_memory": 80 * 2**20}
        self._cluster: Any = Cluster(initialize_head=True, head_node_args={**self._small, "include_dashboard": False})
        self._other = self._cluster.add_node(**self._small)
        self.address: str = self._cluster.address

    def lose_node(self) -> None:
        self._cluster.remove_node(self._other, allow_graceful=False)

    def add_node(self) -> None:
        self._other = self._cluster.add_node(**self._small)

    def close(self) -> None:
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def cluster() -> Iterator[TwoNodes]:
    import ray

    with closing(TwoNodes()) as two:
        ray.init(address=two.address, log_to_driver=False, logging_level=logging.ERROR)
        yield two
        ray.shutdown()


def spec(**generator: object) -> RunSpec:
    options = {**OPTIONS, **generator}
    return fake_spec(N_CASES, options, repeats=2, control=True, reader=bound("reader", FakeReader, "fake-reader"))


def rows(directory: Path) -> list[Verdict]:
    with open_run(directory) as store:
        return list(store.verdicts())


@pytest.fixture(scope="module")
def locally(tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    directory = tmp_path_factory.mktemp("local") / "run"
    execute(spec(), directory, SilentProgress())
    return rows(directory)


@pytest.mark.parametrize("actors", [("model:1", "detector:1", "reader:1"), ("model:3", "detector:2", "reader:1")])
def test_the_rows_are_those_of_a_local_run_whatever_the_number_of_actors(
    cluster: TwoNodes, tmp_path: Path, locally: list[Verdict], actors: tuple[str, ...]
) -> None:
    on_ray(tmp_path / "run", actors=actors)
    assert rows(tmp_path / "run") == locally
    assert verify(tmp_path / "run", SilentProgress()).problems == ()


def on_ray(directory: Path, progress: SilentProgress | None = None, actors: tuple[str, ...] = FEW) -> None:
    with closing(RayExecutor(RayOptions(actors=actors))) as executor:
        execute(spec(), directory, progress or SilentProgress(), executor=executor)


class Leaving(SilentProgress):
    """Somebody who presses Ctrl-C once so many verdicts are there."""

    def __init__(self, n: int) -> None:
        self._n = n

    def advance(self, stage: str, n: int = 1) -> None:
        self._n -= n * (stage == "judging")
        if self._n == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("begins_on_ray", [True, False])
def test_a_run_begun_in_one_place_is_finished_in_the_other(
    cluster: TwoNodes, tmp_path: Path, locally: list[Verdict], begins_on_ray: bool
) -> None:
    def here(directory: Path, progress: SilentProgress | None = None) -> None:
        execute(spec(), directory, progress or SilentProgress())

    first, second = (on_ray, here) if begins_on_ray else (here, on_ray)
    with pytest.raises(KeyboardInterrupt):
        first(tmp_path / "run", Leaving(10))
    n_before = len(rows(tmp_path / "run"))
    assert 0 < n_before < len(locally)
    second(tmp_path / "run")
    assert rows(tmp_path / "run") == locally
    assert set(attempts(tmp_path / "run")) == {1}, "nothing was painted twice"


def attempts(directory: Path) -> list[int]:
    import sqlite3

    with closing(sqlite3.connect(directory / "salva.db")) as connection:
        return [row[0] for row in connection.execute("SELECT attempts FROM renders")]


def test_a_component_that_cannot_start_says_the_same_as_here(cluster: TwoNodes, tmp_path: Path) -> None:
    unusable = fake_spec(4, {"mischief": "unusable"})
    told = []
    for executor in (None, bound("executor", RayExecutor, "ray")):
        with pytest.raises(UnusableError) as caught:
            execute(unusable, tmp_path / str(executor is None), SilentProgress(), executor=executor)
        told.append(str(caught.value))
    assert told[0] == told[1] == "no such model 'fake'; check its name"


def test_without_ray_the_install_line_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    done = salva("run", "metalogic", "--executor", "ray", "--out", str(tmp_path / "run"), "--no-progress")
    assert done.returncode == 2
    assert "pip install 'salva[ray]'" in done.stderr
    assert not (tmp_path / "run").exists()
    with pytest.raises(MissingExtraError):
        RayExecutor()


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("executor.adress=auto", "Did you mean 'address'"),
        ("executor.address=ray://head:10001", "submit the command as a job"),
        ("executor.actors=model:0", "actors has model:0; give a whole number, 1 or more"),
        ("executor.gpus=model", "wanted is ROLE:NUMBER"),
    ],
)
def test_a_setting_that_cannot_be_is_said_before_anything_happens(tmp_path: Path, setting: str, told: str) -> None:
    out = str(tmp_path / "run")
    done = salva("run", "metalogic", "--executor", "ray", "--set", setting, "--out", out, "--no-progress")
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "run").exists()


def test_local_threads_have_no_address(tmp_path: Path) -> None:
    done = salva("run", "metalogic", "--set", "executor.address=auto", "--out", str(tmp_path / "run"))
    assert done.returncode == 2
    assert "no option of executor named 'address'" in done.stderr


def test_where_it_runs_is_no_part_of_what_is_asked(tmp_path: Path) -> None:
    from salva.run.ask import Ask, make_spec

    plain = make_spec(Ask(suite="metalogic"))
    elsewhere = make_spec(Ask(suite="metalogic", settings={"executor.address": "head:6379"}))
    assert plain.directory_name() == elsewhere.directory_name()
    assert plain == elsewhere
