"""How fast and how large the run engine is by itself: plan, store and judge, with components that cost nothing.

Pictures come already encoded and the detector only reads a few bytes, so what is left is the engine.
Every figure is measured in a process of its own.

    python bench/engine.py [N_IMAGES]      default 100,000
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

SMALL = 1_000
DIGESTED = 4_000


def main() -> None:
    """Measure and print one table."""
    n_images = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    root = Path(tempfile.mkdtemp(prefix="salva-bench-"))
    try:
        small = measure("run", root / "small", SMALL)
        large = measure("run", root / "large", n_images)
        again = measure("again", root / "large", n_images)
        judged = measure("judge", root / "large", n_images)
        digested = measure("digests", root / "digested", DIGESTED)
    finally:
        shutil.rmtree(root)
    ratio = large["peak_mib"] / small["peak_mib"]
    n = f"{n_images:,}"
    rows = [
        (
            f"run, {n} images",
            f"{n_images / large['wall_s']:,.0f} images/s",
            "1,500 images/s",
            n_images / large["wall_s"] / 1500,
        ),
        (f"the finished run again, {n}", f"{again['wall_s']:.2f} s", "5 s", 5 / again["wall_s"]),
        (f"judged again, {n}", f"{judged['wall_s']:.1f} s", "20 s", 20 / judged["wall_s"]),
        (f"peak memory, {n} against {SMALL:,}", f"{ratio:.2f} x ({large['peak_mib']:.0f} MiB)", "1.30 x", 1.3 / ratio),
        (
            f"row digests, of the CPU time of {DIGESTED:,}",
            f"{digested['digest_share']:.1%}",
            "3.0%",
            0.03 / digested["digest_share"],
        ),
    ]
    print(f"{'what':<44} {'measured':>20} {'wanted':>16} {'margin':>8}")
    for what, measured, wanted, margin in rows:
        print(f"{what:<44} {measured:>20} {wanted:>16} {margin:>7.1f}x")


def measure(what: str, directory: Path, n_images: int) -> dict[str, float]:
    """One step in a fresh process."""
    command = [sys.executable, __file__, "--child", what, str(directory), str(n_images)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def child(what: str, directory: Path, n_images: int) -> None:
    """What the fresh process does."""
    from salva.core.plan import Binding, Plan
    from salva.core.run_spec import RunSpec
    from salva.engine.progress import SilentProgress
    from salva.report.summary import summarise_run
    from salva.runs.pipeline import execute
    from salva.runs.rejudge import rejudge
    from salva.testing.fakes import FakeDetector, FakeGenerator, FakeSame, FakeSuite

    spec = Plan(
        suite=Binding(role="suite", label="fake", component=FakeSuite, options=FakeSuite.Options(n=n_images // 2)),
        models=(
            Binding(
                role="model",
                label="fake",
                component=FakeGenerator,
                options=FakeGenerator.Options(omits=0.3, encoded="stub", batch=32),
            ),
        ),
        detector=Binding(role="detector", label="fake", component=FakeDetector, options=FakeDetector.Options(batch=32)),
        checks=(Binding(role="check", label="fake-same", component=FakeSame, options=FakeSame.Options()),),
        spec=RunSpec(size="full"),
    )
    digest_s = time_digests() if what == "digests" else [0.0]
    began = time.perf_counter()
    progress = SilentProgress()
    summary = rejudge(directory, spec, progress) if what == "judge" else execute(spec, directory, progress)
    if what == "again":
        # As the command does: the figures are printed anew.
        summarise_run(directory)
    wall_s = time.perf_counter() - began
    assert sum(summary.outcomes.values()) == n_images // 2
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    share = sum(digest_s) / time.process_time()
    print(json.dumps({"wall_s": wall_s, "peak_mib": peak_mib, "digest_share": share}))


def time_digests() -> list[float]:
    """From now on, the CPU seconds of every digest of a row, as they come."""
    from salva.store import rows

    seconds: list[float] = []
    plain = rows.digest_of_row

    def timed(table: str, row: Mapping[str, rows.Value]) -> str:
        began = time.thread_time()
        digest = plain(table, row)
        seconds.append(time.thread_time() - began)
        return digest

    rows.digest_of_row = timed
    return seconds


if __name__ == "__main__":
    if "--child" in sys.argv:
        child(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
