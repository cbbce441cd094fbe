"""MetaLogic on the painter and on pocket, whole: how long `--size paper` takes and what share of it is salva's own.

Prints one table, each model with the reader off and on. "Own share" is the CPU time outside loading the networks,
painting, detecting, reading and encoding, in per cent of all CPU time: planning, writing and syncing
files, the database, judging.

    python bench/metalogic.py [SIZE]      default paper
"""

from __future__ import annotations

import functools
import itertools
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from salva.core.run_spec import RunSpec
from salva.engine.progress import make_progress
from salva.registry import load
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan

_busy: dict[str, float] = {}
_turn = threading.Lock()


def timed(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
    """The same work, with its thread's CPU time added up under a name."""

    @functools.wraps(work)
    def wrapper(*args: Any, **named: Any) -> Any:
        start = time.thread_time()
        try:
            return work(*args, **named)
        finally:
            with _turn:
                _busy[name] = _busy.get(name, 0.0) + time.thread_time() - start

    return wrapper


def main() -> None:
    """Measure and print."""
    size = sys.argv[1] if len(sys.argv) > 1 else "paper"
    models = {name: load("model", name) for name in ("painter", "pocket")}
    detector, reader = load("detector", "pocket"), load("reader", "rapidocr")
    for model in models.values():
        model.render = timed("painting", model.render)
    detector.look = timed("detecting", detector.look)
    reader.look = timed("reading", reader.look)
    for component in (*models.values(), detector, reader):
        component.__init__ = timed("loading", component.__init__)
    Image.Image.save = timed("encoding", Image.Image.save)  # type: ignore[method-assign]  # whoever of salva calls it
    print(f"{'model':<8} {'reader':<9} {'images':>7} {'wall s':>7} {'images/s':>9} {'own share':>10}   CPU s by stage")
    for model_name, reader_name in itertools.product(models, ("none", "rapidocr")):
        _busy.clear()
        root = Path(tempfile.mkdtemp(prefix="salva-bench-"))
        spec = make_plan(RunSpec.of(suite="metalogic", models=(model_name,), size=size, reader=reader_name))
        wall, cpu = time.perf_counter(), time.process_time()
        summary = execute(spec, root / "run", make_progress(quiet=True))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        shutil.rmtree(root)
        own = 1 - sum(_busy.values()) / cpu
        stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in _busy.items())
        n = summary.n_rendered
        print(f"{model_name:<8} {reader_name:<9} {n:>7,} {wall:>7.1f} {n / wall:>9.1f} {own:>9.1%}   {stages}")


if __name__ == "__main__":
    main()
