"""Kills over everything that works at a run: what is stored in the end is held against a run that nobody disturbed.

One run of fakes is made in threads, in shards that are merged, and on a Ray cluster of two nodes on this machine. On
the way whoever works is killed (SIGKILL) at moments drawn from a seed: the process itself, a shard, their merging, an
actor, a whole node, the process that coordinates actors. The same command goes on, until the run is whole.

    python worker/kills.py [N_KILLS [SEED]]      default 50 kills, seed 1
"""

from __future__ import annotations

import json
import logging
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from endurance import contents, digest, n_torn, print_table

from salva.core.plan import Plan
from salva.core.shard import Shard
from salva.engine.executors.actor_pool import ActorPool, LostError
from salva.engine.executors.ray import RayExecutor, RayOptions
from salva.engine.progress import SilentProgress
from salva.runs.merge import merge
from salva.runs.pipeline import execute
from salva.runs.workplaces import bind_executor
from salva.testing.fakes import FakeReader
from salva.testing.specs import bound, fake_spec
from salva.testing.two_nodes import TwoNodes

N_CASES = 240
N_SHARDS = 3
STEP = 12
"""Between two kills there are at most so many new verdicts."""
SHARES = {"threads": 14, "shards": 8, "merge": 2, "actors": 12, "node": 6, "driver": 8}
"""Of each fifty kills."""
ACTORS = ("model:2", "detector:1", "reader:1")


def main() -> None:
    """Kill and print the table."""
    n_kills = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    shares = {where: max(1, round(n * n_kills / sum(SHARES.values()))) for where, n in SHARES.items()}
    root = Path(tempfile.mkdtemp(prefix="salva-kills-"))
    try:
        execute(spec(), root / "calm", SilentProgress())
        rows = [in_threads(root, shares["threads"], rng), *in_shards(root, shares, rng), *on_ray(root, shares, rng)]
    finally:
        shutil.rmtree(root)
    total = {name: sum(row[name] for row in rows) for name in ("kills", "lost", "doubled", "torn")}
    rows.append({"where": "all", **total, "same verdicts": all(row["same verdicts"] for row in rows)})
    print_table(rows)
    if total["lost"] or total["doubled"] or total["torn"] or not rows[-1]["same verdicts"]:
        sys.exit("something was lost, doubled or torn")


def spec(shard: str = "") -> Plan:
    """The run; everything in it is drawn from its seed."""
    options: dict[str, object] = {"omits": 0.3, "refuses": 0.05, "batch": 2, "delay_s": 0.02}
    share = Shard.parse(shard) if shard else None
    reader = bound("reader", FakeReader, "fake-reader")
    return fake_spec(N_CASES, options, repeats=2, control=True, reader=reader, shard=share)


def compared(where: str, n_killed: int, directory: Path) -> dict[str, Any]:
    """A row of the table: a run that was disturbed beside the one that was not."""
    calm, rough = contents(directory.with_name("calm")), contents(directory)
    return {
        "where": where,
        "kills": n_killed,
        "lost": sum(len(calm[table] - rough[table]) for table in calm),
        "doubled": sum(len(rough[table] - calm[table]) for table in calm),
        "torn": n_torn(directory),
        "same verdicts": digest(directory.with_name("calm")) == digest(directory),
    }


def in_threads(root: Path, n_kills: int, rng: random.Random) -> dict[str, Any]:
    """The process of a local run killed, again and again."""
    n_killed = lives("run", root / "threads", n_kills, rng)
    return compared("threads", n_killed, root / "threads")


def in_shards(root: Path, shares: dict[str, int], rng: random.Random) -> list[dict[str, Any]]:
    """Shards killed in turn, then their merging."""
    shards = [root / f"shard-{i}" for i in range(N_SHARDS)]
    n_each = [len(range(i, shares["shards"], N_SHARDS)) for i in range(N_SHARDS)]
    n_killed = sum(
        lives("run", directory, n, rng, f"{i}/{N_SHARDS}")
        for i, (directory, n) in enumerate(zip(shards, n_each, strict=True), 1)
    )
    n_merges = 0
    for _ in range(shares["merge"]):
        n_merges += is_killed("merge", root / "merged", rng.randrange(1, 60), rng, *map(str, shards))
    merge(shards, root / "merged", SilentProgress())
    whole = compared("merge", n_merges, root / "merged")
    return [{**whole, "where": "shards", "kills": n_killed}, whole]


def on_ray(root: Path, shares: dict[str, int], rng: random.Random) -> list[dict[str, Any]]:
    """Actors, a node and the coordinator of runs on a cluster of two nodes."""
    import ray
    from ray.cluster_utils import Cluster

    cluster = TwoNodes(Cluster(), num_cpus=2)
    ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)

    def lose_node() -> None:
        cluster.lose_node()
        cluster.add_node()

    rows = []
    try:
        with closing(RayExecutor(RayOptions(actors=ACTORS))) as executor:
            killing = Killing(shares["actors"], rng, lambda: os.kill(rng.choice(pids(executor)), signal.SIGKILL))
            execute(spec(), root / "actors", killing, executor=executor)
        rows.append(compared("actors", killing.n_killed, root / "actors"))
        with closing(RayExecutor(RayOptions(actors=("model:3", "detector:2", "reader:2")))) as executor:
            killing = Killing(shares["node"], rng, lose_node)
            execute(spec(), root / "node", killing, executor=executor)
        rows.append(compared("node", killing.n_killed, root / "node"))
        settings = {"executor.address": cluster.address, "executor.actors": ",".join(ACTORS)}
        n_killed = lives("ray", root / "driver", shares["driver"], rng, json.dumps(settings))
        rows.append(compared("driver", n_killed, root / "driver"))
    finally:
        ray.shutdown()
        cluster.close()
    return rows


class Killing(SilentProgress):
    """Has somebody killed whenever some more verdicts are there."""

    def __init__(self, n_kills: int, rng: random.Random, kill: Callable[[], None]) -> None:
        self._left, self._rng, self._kill = n_kills, rng, kill
        self._wait = rng.randrange(1, STEP)
        self.n_killed = 0

    def advance(self, stage: str, n: int = 1) -> None:
        """Kill when it is time."""
        self._wait -= n * (stage == "judging")
        if self._wait <= 0 and self._left:
            self._wait, self._left = self._rng.randrange(1, STEP), self._left - 1
            self._kill()
            self.n_killed += 1


def pids(executor: RayExecutor) -> list[int]:
    """The processes of all actors that are at work."""
    posts = [slot for lane in executor._lanes if isinstance(lane, ActorPool) for slot in lane._slots]
    while True:
        alive = []
        for slot in posts:
            with suppress(LostError):
                alive += [executor._cluster.call(slot.actor, "greet")] if slot.is_up else []
        if alive:
            return alive
        time.sleep(0.1)


# Processes that are killed


def lives(what: str, directory: Path, n_kills: int, rng: random.Random, *more: str) -> int:
    """How often a run was killed before it was done."""
    n_killed = 0
    for _ in range(n_kills):
        n_killed += is_killed(what, directory, n_judged(directory) + rng.randrange(1, STEP), rng, *more)
    subprocess.run(command(what, directory, *more), check=True, stdout=subprocess.DEVNULL)
    return n_killed


def is_killed(what: str, directory: Path, n_lines: int, rng: random.Random, *more: str) -> bool:
    """Kill a process once it has said so many lines; whether it was still at work then."""
    process = subprocess.Popen(command(what, directory, *more), stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as told:
        for _ in range(n_lines):
            told.readline()
        time.sleep(rng.uniform(0.0, 0.05))
        process.kill()
        return process.wait() == -signal.SIGKILL


def n_judged(directory: Path) -> int:
    """How many cases have their verdicts."""
    if not (directory / "salva.db").is_file():
        return 0
    with closing(sqlite3.connect(directory / "salva.db")) as connection:
        return int(connection.execute("SELECT count(DISTINCT case_id) FROM verdicts").fetchone()[0])


def command(what: str, directory: Path, *more: str) -> list[str]:
    """The command of a fresh process."""
    return [sys.executable, __file__, "--child", what, str(directory), *more]


class Telling(SilentProgress):
    """Says a line for every case that is judged, and for every image that is merged."""

    def advance(self, stage: str, n: int = 1) -> None:
        """Say so."""
        if stage in ("judging", "merging"):
            print("\n".join([stage] * n), flush=True)


def work(what: str, directory: Path, more: Sequence[str]) -> None:
    """What a fresh process does."""
    if what == "merge":
        merge([Path(word) for word in more], directory, Telling())
    elif what == "ray":
        execute(spec(), directory, Telling(), executor=bind_executor("ray", json.loads(more[0])))
    else:
        execute(spec(*more), directory, Telling())


if __name__ == "__main__":
    if "--child" in sys.argv:
        work(sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
    else:
        main()
