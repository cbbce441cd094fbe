"""What Ray costs and what it gives: instant models against threads, and models that take their time against the ideal.

Pictures are small and the models are fakes, so what is measured is the executor: batches out, files back, files to
whoever looks. Every figure is measured in a process of its own. Instant models are timed once everybody is at work,
until the last row is stored. Models that sleep are timed by their own clock, from the beginning of the first call to
the end of the last: the ideal is that no actor is idle in between. What stands before and after that, a cluster and its
actors that start and end, does not grow with the run and is said beside it.

    python bench/ray_executor.py [N_IMAGES]      default 4,000 instant pictures
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from salva.core.protocols import Rendered
from salva.testing.fakes import FakeGenerator

if TYPE_CHECKING:
    from salva.core.plan import Binding, Plan
    from salva.core.protocols import RenderRequest
    from salva.errors import SalvaError
    from salva.store.records import StoredRender

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
    rate, other = n_images / on_ray["run_s"], n_images / local["run_s"]
    rows = [
        (f"threads, {n_images:,} instant pictures", f"{other:,.0f} images/s", "", ""),
        ("ray, the same, 2 actors a role", f"{rate:,.0f} images/s", "50 % of threads", f"{rate / other:.0%}"),
    ]
    for n, measured in sleeping.items():
        ideal_s = N_SLEEPS * SLEEP_S
        reached = f"{ideal_s / measured['calls_s']:.0%}"
        what = f"ray, {n * N_SLEEPS} calls of {SLEEP_S:g} s, {n} actors, first to last"
        rows += [
            (what, f"{measured['calls_s']:.2f} s", f"95 % of {ideal_s:g} s", reached),
            ("  an actor's calls one after the other", f"{measured['busy_s'] / n:.2f} s", "", ""),
            ("  before the first call", f"{measured['before_s']:.2f} s", "", ""),
            ("  after the last, until all is stored", f"{measured['after_s']:.2f} s", "", ""),
            ("  actors and cluster put away", f"{measured['end_s']:.2f} s", "", ""),
        ]
    rows.append(("ray, until everybody is at work", f"{on_ray['start_s']:.1f} s", "", ""))
    print(f"{'what':<52} {'measured':>16} {'wanted':>18} {'reached':>8}")
    for row in rows:
        print("{:<52} {:>16} {:>18} {:>8}".format(*row))


class Clocked(FakeGenerator):
    """Says when each of its calls began and ended, by the clock that all processes of a machine share."""

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        """One picture or error per request."""
        began = time.monotonic()
        rendered = super().render(requests)
        clock = {"began": began, "ended": time.monotonic()}
        return [
            replace(one, provenance={**one.provenance, **clock}) if isinstance(one, Rendered) else one
            for one in rendered
        ]


def clock_of(render: StoredRender) -> tuple[float, float]:
    """When the call that painted it began and ended."""
    began, ended = render.provenance["began"], render.provenance["ended"]
    assert isinstance(began, float)
    assert isinstance(ended, float)
    return began, ended


def measure(what: str, directory: Path, n_images: int, n_actors: int) -> dict[str, float]:
    """One run in a fresh process."""
    command = [sys.executable, __file__, "--child", what, str(directory), str(n_images), str(n_actors)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


class LoadedPipeline:
    """An executor whose lanes are open before the clock starts."""

    version: ClassVar[str] = "1"

    def __init__(self, inside: Any, spec: Plan, n_batches: dict[str, int]) -> None:
        assert spec.detector is not None
        crowd = [*spec.models, spec.detector]
        self._inside = inside
        self._lanes = {binding.role: inside.open(binding, crowd) for binding in crowd}
        for role, n in n_batches.items():
            while self._lanes[role].depth < n:
                time.sleep(0.05)

    def open(self, binding: Binding, crowd: Sequence[Binding]) -> Any:
        """The lane of a role."""
        return self._lanes[binding.role]

    def stop(self) -> None:
        """Begin no more."""
        self._inside.stop()

    def close(self) -> None:
        """The run is stored; whoever made it has it put away."""


def child(what: str, directory: Path, n_images: int, n_actors: int) -> None:
    """What the fresh process does."""
    from salva.core.run_spec import ComponentSpec
    from salva.engine.executors.local import LocalExecutor
    from salva.engine.executors.ray import RayExecutor, RayOptions
    from salva.engine.progress import SilentProgress
    from salva.registry import add_loose_plugin, bind
    from salva.runs.pipeline import execute
    from salva.store.sqlite import open_run
    from salva.testing.fakes import FakeDetector
    from salva.testing.specs import bound, fake_spec

    delay_s, batch, n_observing = (SLEEP_S, 1, 1) if what == "sleep" else (0.0, 32, n_actors)
    options = {"omits": "0.3", "encoded": "yes", "batch": str(batch), "delay_s": str(delay_s)}
    plugin = add_loose_plugin(f"{Path(__file__).resolve()}:Clocked")
    painter = bind(ComponentSpec(role="model", name=plugin.name, options=options))
    detector = bound("detector", FakeDetector, "fake-detector", batch=32)
    spec = fake_spec(n_images // 2, models=(painter,), detector=detector)
    began = time.monotonic()
    inside: Any = LocalExecutor()
    n_batches = {}
    if what != "local":
        inside = RayExecutor(RayOptions(actors=(f"model:{n_actors}", f"detector:{n_observing}")))
        n_batches = {"model": 2 * n_actors, "detector": 2 * n_observing}
    executor = LoadedPipeline(inside, spec, n_batches)
    ready = time.monotonic()
    summary = execute(spec, directory, SilentProgress(), executor=executor)
    stored = time.monotonic()
    inside.close()
    ended = time.monotonic()
    assert sum(summary.outcomes.values()) == n_images // 2
    with open_run(directory) as store:
        calls = [clock_of(render) for _, render in store.renders()]
    first, last = min(calls)[0], max(end for _, end in calls)
    figures = {
        "start_s": ready - began,
        "run_s": stored - ready,
        "before_s": first - ready,
        "calls_s": last - first,
        "busy_s": sum(end - start for start, end in calls),
        "after_s": stored - last,
        "end_s": ended - stored,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    if "--child" in sys.argv:
        child(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
