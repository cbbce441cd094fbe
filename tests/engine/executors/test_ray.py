"""Runs on Ray: the rows of a local run, whatever number of actors works and whatever dies on the way."""

from __future__ import annotations

import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from engine.executors.on_ray import FEW, N_CASES, OPTIONS, PLUGINS, attempts, here, on_ray, plugin, rows, spec
from in_process import salva

from salva.core.about import About
from salva.core.run_spec import RunSpec
from salva.core.verdict import Verdict
from salva.engine.executors.actor_pool import ActorPool, LostError
from salva.engine.executors.local import LocalLane
from salva.engine.executors.ray import RayExecutor, RayOptions
from salva.engine.progress import SilentProgress
from salva.errors import MissingExtraError, PluginError, UnusableError, UsageError
from salva.runs.pipeline import execute
from salva.runs.verify import verify
from salva.store.records import Status
from salva.store.sqlite import open_run
from salva.testing.fakes import FakeDetector, FakeGenerator
from salva.testing.specs import bound, fake_spec
from salva.testing.two_nodes import TwoNodes

pytest.importorskip("ray", reason="needs the extra ray")

SCRIPT = Path(__file__).with_name("ray_run.py")


@pytest.fixture(scope="module")
def cluster() -> Iterator[TwoNodes]:
    import ray
    from ray.cluster_utils import Cluster

    with closing(TwoNodes(Cluster(), num_cpus=2, num_gpus=1)) as two:
        ray.init(address=two.address, log_to_driver=False, logging_level=logging.ERROR)
        yield two
        ray.shutdown()


@pytest.fixture(scope="module")
def locally(tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    directory = tmp_path_factory.mktemp("local") / "run"
    here(directory)
    return rows(directory)


@pytest.mark.parametrize("actors", [("model:1", "detector:1"), ("model:3", "detector:2")])
def test_the_rows_are_those_of_a_local_run_whatever_the_number_of_actors(
    cluster: TwoNodes, tmp_path: Path, locally: list[Verdict], actors: tuple[str, ...]
) -> None:
    on_ray(tmp_path / "run", actors=actors)
    assert rows(tmp_path / "run") == locally
    assert verify(tmp_path / "run", SilentProgress()).problems == ()


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
    first, second = (on_ray, here) if begins_on_ray else (here, on_ray)
    with pytest.raises(KeyboardInterrupt):
        first(tmp_path / "run", Leaving(10))
    n_before = len(rows(tmp_path / "run"))
    assert 0 < n_before < len(locally)
    second(tmp_path / "run")
    assert rows(tmp_path / "run") == locally
    assert attempts(tmp_path / "run") == {1}, "nothing was painted twice"


def test_a_component_that_cannot_start_says_the_same_as_here(cluster: TwoNodes, tmp_path: Path) -> None:
    unusable = fake_spec(4, {"mischief": "unusable"})
    told = []
    for executor in (None, bound("executor", RayExecutor, "ray")):
        with pytest.raises(UnusableError) as caught:
            execute(unusable, tmp_path / str(executor is None), SilentProgress(), executor=executor)
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert "'fake'" in told[0]


def test_without_ray_the_install_line_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    done = salva("run", "metalogic", "--executor", "ray", "--out", str(tmp_path / "run"), "--no-progress")
    assert done.returncode == 2
    assert "[extra-missing]" in done.stderr
    assert "[ray]'" in done.stderr
    assert not (tmp_path / "run").exists()
    with pytest.raises(MissingExtraError):
        RayExecutor()


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("executor.adress=auto", "Did you mean 'address'"),
        ("executor.address=ray://head:10001", "ray job submit"),
        ("executor.actors=model:0", "'model:0'"),
        ("executor.gpus=model", "ROLE:NUMBER"),
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
    from salva.runs.plans import make_plan

    plain = make_plan(RunSpec.of(suite="metalogic"))
    elsewhere = make_plan(RunSpec.of(suite="metalogic", settings={"executor.address": "head:6379"}))
    assert plain.directory_name() == elsewhere.directory_name()
    assert plain.choice() == elsewhere.choice()


# What dies


def n_free(what: str = "CPU") -> float:
    """Cores or GPUs that no actor has."""
    from ray import available_resources

    free: dict[str, float] = available_resources()  # type: ignore[no-untyped-call]  # Ray's
    return free.get(what, 0.0)


def await_free(what: str, n: float) -> None:
    for _ in range(1000):
        if n_free(what) == n:
            return
        time.sleep(0.2)
    raise AssertionError(f"{n_free(what)} of {n} are free")


def actor_pool(executor: RayExecutor) -> list[ActorPool]:
    return [lane for lane in executor._lanes if isinstance(lane, ActorPool)]


def pids(executor: RayExecutor) -> list[int]:
    """The processes of all actors that are at work."""
    at_work = []
    for pool in actor_pool(executor):
        for slot in pool._slots:
            if slot.is_up:
                with suppress(LostError):
                    at_work.append(executor._cluster.call(slot.actor, "greet"))
    return at_work


class Calling(SilentProgress):
    """Has something done, by somebody else, whenever so many more verdicts are there."""

    def __init__(self, every: int, call: Callable[[], None], times: int = 1) -> None:
        self._every, self._call, self._left = every, call, times
        self._n = 0
        self.threads: list[threading.Thread] = []

    def advance(self, stage: str, n: int = 1) -> None:
        self._n += n * (stage == "judging")
        if self._left and self._n >= self._every:
            self._n, self._left = 0, self._left - 1
            self.threads.append(threading.Thread(target=self._call))
            self.threads[-1].start()


def test_actors_killed_in_the_middle_lose_and_double_nothing(
    cluster: TwoNodes, tmp_path: Path, locally: list[Verdict]
) -> None:
    killed: list[int] = []
    rng = random.Random(3)
    with closing(RayExecutor(RayOptions(actors=FEW))) as executor:

        def kill() -> None:
            killed.append(rng.choice(pids(executor)))
            os.kill(killed[-1], signal.SIGKILL)

        progress = Calling(5, kill, times=6)
        execute(spec(delay_s=0.02), tmp_path / "run", progress, executor=executor)
        for thread in progress.threads:
            thread.join()
    assert len(killed) == 6
    assert rows(tmp_path / "run") == locally
    assert verify(tmp_path / "run", SilentProgress()).problems == ()
    assert attempts(tmp_path / "run") == {1}, "a row is stored once, however often it was painted"


def test_a_node_lost_in_the_middle_loses_and_doubles_nothing(
    cluster: TwoNodes, tmp_path: Path, locally: list[Verdict]
) -> None:
    progress = Calling(8, cluster.lose_node)
    try:
        on_ray(tmp_path / "run", progress, actors=("model:4", "detector:2"))
    finally:
        for thread in progress.threads:
            thread.join()
        cluster.add_node()
    assert progress.threads, "it was lost"
    assert rows(tmp_path / "run") == locally
    assert verify(tmp_path / "run", SilentProgress()).problems == ()


def start(directory: Path, address: str, **options: object) -> subprocess.Popen[str]:
    settings = {"executor.actors": ",".join(FEW), **({"executor.address": address} if address else {})}
    command = [sys.executable, str(SCRIPT), str(directory), str(N_CASES), json.dumps({**OPTIONS, **options})]
    # A shell that starts us in the background has Ctrl-C ignored, and children inherit that.
    return subprocess.Popen(
        [*command, json.dumps(settings)], stdout=subprocess.PIPE, text=True, preexec_fn=_heed_ctrl_c
    )


def _heed_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def await_verdicts(process: subprocess.Popen[str], n: int) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        n -= line.strip() == "judging"
        if n <= 0:
            return
    raise AssertionError("the run was over before")


def test_the_coordinator_killed_in_the_middle_loses_and_doubles_nothing_and_leaves_no_actor(
    cluster: TwoNodes, tmp_path: Path, locally: list[Verdict]
) -> None:
    n_done = 0
    for n_more in (4, 12):
        process = start(tmp_path / "run", cluster.address, delay_s=0.02)
        await_verdicts(process, n_done + n_more)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        assert process.stdout is not None
        process.stdout.close()
        assert verify(tmp_path / "run", SilentProgress()).problems == ()
        n_done = len({row.case_id for row in rows(tmp_path / "run")})
    await_free("CPU", 4.0)
    here(tmp_path / "run")
    assert rows(tmp_path / "run") == locally
    assert attempts(tmp_path / "run") == {1}


@pytest.mark.parametrize("n_presses", [1, 2])
def test_ctrl_c_stores_what_is_under_way_and_again_leaves_at_once(
    cluster: TwoNodes, tmp_path: Path, locally: list[Verdict], n_presses: int
) -> None:
    process = start(tmp_path / "run", cluster.address, delay_s=0.1 if n_presses == 1 else 3.0)
    assert process.stdout is not None
    while process.stdout.readline().strip() != "generating":
        assert process.poll() is None
    for _ in range(n_presses):
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, output.splitlines()[-1]) == (130, "interrupted")
    here(tmp_path / "run")
    assert rows(tmp_path / "run") == locally


def test_a_prompt_that_kills_whoever_paints_it_fails_alone(cluster: TwoNodes, tmp_path: Path) -> None:
    doomed = replace(fake_spec(12), models=(plugin("Doomed"),))
    summary = execute(doomed, tmp_path / "run", SilentProgress(), executor=bound("executor", RayExecutor, "ray"))
    assert (summary.n_rendered, summary.n_failed) == (20, 4), "each of the two texts stands in two cases"
    with open_run(tmp_path / "run") as store:
        failed = {render.text: render.error for _, render in store.renders() if render.status is Status.ERROR}
    assert failed.keys() == {"cat, dog", "dog, cat"}
    assert "lost 3 processes" in failed["cat, dog"]
    assert "RuntimeError: out of paint (in ray_plugins.py line" in failed["dog, cat"]


def test_what_cannot_travel_is_blamed_on_whoever_gave_it(cluster: TwoNodes, tmp_path: Path) -> None:
    locked = replace(fake_spec(2), models=(plugin("Locked"),))
    with pytest.raises(PluginError, match=r"'locked'.*cannot pickle.*\[not-sendable\]"):
        execute(locked, tmp_path / "run", SilentProgress(), executor=bound("executor", RayExecutor, "ray"))


def test_every_gpu_has_an_actor_of_its_own(cluster: TwoNodes, tmp_path: Path) -> None:
    on_gpu = replace(fake_spec(16), models=(plugin("OnGpu", delay_s="0.3", batch="1"),))
    with_cores = bound("executor", RayExecutor, "ray", cpus=("model:0.5",))
    execute(on_gpu, tmp_path / "run", SilentProgress(), executor=with_cores)
    with open_run(tmp_path / "run") as store:
        places = {(str(r.provenance["gpu"]), r.provenance["pid"]) for _, r in store.renders()}
    # Two nodes with one GPU each, which both call it 0.
    assert {gpu for gpu, _ in places} == {"0"}
    assert len(places) == 2


def test_gpus_are_taken_before_others_take_all_cores_beside_one(cluster: TwoNodes) -> None:
    on_cores, on_gpu = bound("detector", FakeDetector), plugin("OnGpu")
    with closing(RayExecutor(RayOptions(cpus=("model:0.5",)))) as executor:
        await_free("GPU", 2.0)
        executor.open(on_cores, [on_gpu, on_cores])
        assert n_free("GPU") == 0.0
    await_free("GPU", 2.0)


def descendants(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            yield child
            yield from descendants(child)


def test_a_cluster_that_loses_a_process_of_its_own_ends_the_run(tmp_path: Path, locally: list[Verdict]) -> None:
    process = start(tmp_path / "run", "", delay_s=0.5)
    await_verdicts(process, 2)
    (pid,) = [
        each for each in descendants(process.pid) if "RuntimeEnvAgent" in Path(f"/proc/{each}/cmdline").read_text()
    ]
    os.kill(pid, signal.SIGKILL)
    output, _ = process.communicate(timeout=100)
    assert process.returncode == 2
    assert "[cluster-lost]" in output
    here(tmp_path / "run")
    assert rows(tmp_path / "run") == locally


def test_keys_stay_out_of_logs_rows_and_messages(tmp_path: Path) -> None:
    key = "sk-planted-8151623420815"
    logs = Path(tempfile.mkdtemp(prefix="salva-ray-", dir="/tmp"))  # a path of a socket may not be long
    out = str(tmp_path / "run")
    command = ["run", "metalogic", "--size", "2", "--executor", "ray", "--plugin", f"{PLUGINS}:Indiscreet"]
    command += ["--model", "indiscreet", "--detector", "pocket", "--reader", "none", "--out", out, "--no-progress"]
    try:
        done = subprocess.run(
            [sys.executable, "-c", "from salva.cli.main import main; main()", *command],
            env={**os.environ, "PLANTED_API_KEY": key, "RAY_TMPDIR": str(logs)},
            capture_output=True,
            text=True,
            timeout=200,
        )
        with open_run(tmp_path / "run") as store:
            told = {render.error for _, render in store.renders()}
        assert all("refused with [PLANTED_API_KEY]" in error for error in told), done.stderr
        written = [path for folder in (logs, tmp_path / "run") for path in folder.rglob("*") if path.is_file()]
        assert any(path.suffix in (".log", ".out", ".err") for path in written), "the logs were looked at"
        assert [path for path in written if key.encode() in path.read_bytes()] == []
        assert key not in done.stdout + done.stderr
    finally:
        shutil.rmtree(logs)


class Endpoint(FakeGenerator):
    """A generator that waits for an endpoint."""

    about = About(is_remote=True)


def test_what_waits_for_an_endpoint_stays_here(cluster: TwoNodes) -> None:
    with closing(RayExecutor()) as executor:
        endpoint = bound("model", Endpoint)
        assert isinstance(executor.open(endpoint, [endpoint]), LocalLane)
        with pytest.raises(UsageError, match=r"'model'.*\[option-invalid\]"):
            RayExecutor(RayOptions(actors=("model:2",))).open(endpoint, [endpoint])


def test_no_cluster_at_an_address_is_said_before_anything_happens(tmp_path: Path) -> None:
    code = "from salva.cli.main import main; main()"
    command = ["run", "metalogic", "--executor", "ray", "--set", "executor.address=127.0.0.1:1", "--out"]
    done = subprocess.run(
        [sys.executable, "-c", code, *command, str(tmp_path / "run"), "--no-progress"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2, done.stderr
    assert "[cluster-unavailable]" in done.stderr
    assert "ray start --head" in done.stderr
    assert not (tmp_path / "run").exists()
