"""Time and size of the pocket detector: one core, one picture at a time, everything included.

python bench/detector.py
"""

from __future__ import annotations

import random
import statistics
import time

from salva.assets.files import asset_path
from salva.core.protocols import ObserveRequest, Query
from salva.detectors.pocket_detector import WEIGHTS, PocketDetector
from salva.generators.painter.component import random_scene

N_PICTURES = 100
LIMIT_MS = 20.0
LIMIT_MB = 8.0


def main() -> None:
    """Print one table."""
    started = time.perf_counter()
    detector = PocketDetector(PocketDetector.Options())
    load_ms = (time.perf_counter() - started) * 1000
    size_mb = asset_path(WEIGHTS).stat().st_size / 1e6
    print(f"{'what':34} {'measured':>10} {'limit':>8} {'ratio':>7}")
    for side in (256, 512):
        rng = random.Random(1)
        pictures = [random_scene(rng, PocketDetector.labels(), 1 + i % 11, side)[0] for i in range(N_PICTURES)]
        requests = [ObserveRequest(picture=picture, query=Query(role="detector")) for picture in pictures]
        detector.observe(requests[:5])
        wall, core = [], []
        for request in requests:
            # The core's own time as well: on a busy machine the clock also counts the waiting.
            started, started_core = time.perf_counter(), time.thread_time()
            detector.observe([request])
            wall.append((time.perf_counter() - started) * 1000)
            core.append((time.thread_time() - started_core) * 1000)
        for name, times in (("clock", wall), ("core", core)):
            middle = statistics.median(times)
            print(f"{f'ms a picture of {side} px, {name}':34} {middle:10.1f} {LIMIT_MS:8.1f} {middle / LIMIT_MS:7.2f}")
    print(f"{'file, MB':34} {size_mb:10.1f} {LIMIT_MB:8.1f} {size_mb / LIMIT_MB:7.2f}")
    print(f"{'load, ms (once)':34} {load_ms:10.1f}")


if __name__ == "__main__":
    main()
