"""What Ray costs and what it gives: instant models against threads, and models that take their time against the ideal.

Pictures are small and the models are fakes, so what is measured is the executor: batches out, files back, files to
whoever looks. Every figure is measured in a process of its own, once everybody is at work; how long that took is said.

    python bench/ray_executor.py [N_IMAGES]      default 4,000 instant pictures
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from salva.core.spec import Binding, RunSpec

SLEEP_S = 0.1
N_SLEEPS = 100
"""Calls that sleep, of each actor."""


def main() -> None:
    """Measure and print one table."""
    n_images = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000
    with tempfile.TemporaryDirectory(prefix="salva-bench-") as folder:
        root = Path(folder)
        local = measure("local", root / "local", n_images, 2)
        on_ray = measure("ray", root / "ray", n_images, 2)
        sleeping = {n: measure("sleep", root / f"sleep-{n}", n * N_SLEEPS, n) for n in (2, 4)}
    rate, other = n_images / on_ray["wall_s"], n_images / local["wall_s"]
    rows = [
        (f"threads, {n_images:,} instant pictures", f"{other:,.0f} images/s", "", ""),
        ("ray, the same, 2 actors a role", f"{rate:,.0f} images/s", "50 % of threads", f"{rate / other:.0%}"),
    ]
    for n, measured in sleeping.items():
        ideal_s = N_SLEEPS * SLEEP_S
        what = f"ray, {n * N_SLEEPS} calls of {SLEEP_S:g} s, {n} actors"
        share = f"{ideal_s / measured['wall_s']:.0%}"
        rows.append((what, f"{measured['wall_s']:.2f} s", f"95 % of {ideal_s:g} s", share))
    rows.append(("ray, until everybody is at work", f"{on_ray['start_s']:.1f} s", "", ""))
    print(f"{'what':<44} {'measured':>16} {'wanted':>18} {'reached':>8}")
    for row in rows:
        print("{:<44} {:>16} {:>18} {:>8}".format(*row))


def measure(what: str, directory: Path, n_images: int, n_actors: int) -> dict[str, float]:
    """One run in a fresh process."""
    command = [sys.executable, __file__, "--child", what, str(directory), str(n_images), str(n_actors)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


class AtWork:
    """An executor whose lanes are open before the clock starts."""

    version = "1"

    def __init__(self, inside: Any, spec: RunSpec, n_batches: dict[str, int]) -> None:
        assert spec.detector is not None
        crowd = [*spec.models, spec.detector]
        self._inside = inside
        self._lanes = {binding.role: inside.open(binding, crowd) for binding in crowd}
        for role, n in n_batches.items():
            while self._lanes[role].depth < n:
                time.sleep(0.05)

    def open(self, binding: Binding, crowd: Sequence[Binding]) -> Any:  # noqa: ARG002  # the seam's shape
        """The lane of a role."""
        return self._lanes[binding.role]

    def stop(self) -> None:
        """Begin no more."""
        self._inside.stop()

    def close(self) -> None:
        """Stop everything."""
        self._inside.close()


def child(what: str, directory: Path, n_images: int, n_actors: int) -> None:
    """What the fresh process does."""
    from salva.engine.executors.local import LocalExecutor
    from salva.engine.executors.ray import RayExecutor, RayOptions
    from salva.engine.progress import SilentProgress
    from salva.run.pipeline import execute
    from salva.testing.fakes import FakeDetector
    from salva.testing.specs import bound, fake_spec

    is_asleep = what == "sleep"
    delay_s, batch, n_lookers = (SLEEP_S, 1, 1) if is_asleep else (0.0, 32, n_actors)
    generator: dict[str, object] = {"omits": 0.3, "encoded": "yes", "batch": batch, "delay_s": delay_s}
    spec = fake_spec(n_images // 2, generator, detector=bound("detector", FakeDetector, "fake-detector", batch=32))
    began = time.perf_counter()
    inside: Any = LocalExecutor()
    n_batches = {}
    if what != "local":
        inside = RayExecutor(RayOptions(actors=(f"model:{n_actors}", f"detector:{n_lookers}")))
        n_batches = {"model": 2 * n_actors, "detector": 2 * n_lookers}
    executor = AtWork(inside, spec, n_batches)
    ready = time.perf_counter()
    summary = execute(spec, directory, SilentProgress(), executor=executor)
    wall_s = time.perf_counter() - ready
    assert sum(summary.outcomes.values()) == n_images // 2
    print(json.dumps({"wall_s": wall_s, "start_s": ready - began}))


if __name__ == "__main__":
    if "--child" in sys.argv:
        child(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
