"""How long every output of a finished run takes, by the number of its images, and whether any grows too fast.

The run is real but for its pixels: prompts, store, checks and verdicts are salva's own, images are 16 pixels wide, and
the detector answers what was drawn. Each output is one command in this process. Where one size foretells more than a
minute for the next, that is left out. An output that grows faster than n log n, with half as much for noise, is marked
and ends the bench with 1.

    python bench/outputs.py [N_IMAGES...]      default 1000 10000 50000
"""

from __future__ import annotations

import io
import math
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from salva.cli.main import run_command
from salva.core.case import Case, Prompt
from salva.core.image import Picture
from salva.core.observation import Detection, Detections
from salva.core.options import option
from salva.core.protocols import ObserveRequest, Rendered, RenderRequest
from salva.core.run_spec import RunSpec
from salva.detectors.pocket_detector import PocketDetector
from salva.engine.progress import SilentProgress
from salva.generators.painter.component import Painter
from salva.registry import add_loose_plugin
from salva.runs.pipeline import execute
from salva.runs.plans import make_plan

SIZES = (1_000, 10_000, 50_000)
LONGEST_S = 60.0
NOISE = 1.5
LEAST_S = 2.0
"""What takes less tells nothing of its growth."""
_SIDE = 16
_NAMES = ("apple", "banana", "cat", "cow", "dog")
_WORDS = ("a", "two", "three")
_REPORTS = ("html", "md", "json", "csv", "pdf", "junit")
_EXPORTS = ("csv", "results", "parquet", "archive", "dpo", "counterexamples", "review")
_shown: dict[bytes, tuple[str, ...]] = {}


class ManyPairs:
    """Pairs that name the same entities in two orders."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """How many."""

        n: int = option(10, "Pairs.")

    version: ClassVar[str] = "1"
    sizes: ClassVar[tuple[str, ...]] = ("full",)

    def __init__(self, options: Options) -> None:
        self._n = options.n

    def cases(self, size: str) -> Iterator[Case]:
        """Five numbers of each of two entities out of five, over and over."""
        rng = random.Random(0)
        for number in range(self._n):
            one, other = ((rng.randint(1, 3), name) for name in rng.sample(_NAMES, 2))
            sides = (one, other), (other, one)
            prompts = tuple(
                Prompt(
                    role=role,
                    text=" and ".join(f"{_WORDS[count - 1]} {name}" for count, name in side),
                    formula=" & ".join(f"{count} {name}" for count, name in side),
                )
                for role, side in zip("ab", sides, strict=True)
            )
            yield Case(
                case_id=f"many-{number}",
                suite="many-pairs",
                category=f"category-{number % 20}",
                prompts=prompts,
                checks=("truth",),
                measures=("same-scene",),
                cluster=f"cluster-{number % 7000}",
                equivalent=True,
                determinate=True,
            )


def draw(_painter: Painter, requests: Sequence[RenderRequest]) -> list[Rendered]:
    """Images of one colour and a number; three in ten lack an entity."""
    made = []
    for request in requests:
        rng = random.Random(f"{request.prompt.text} {request.seed}")
        names = [
            name
            for name in _NAMES
            for count, word in enumerate(_WORDS, 1)
            if f"{word} {name}" in request.prompt.text
            for _ in range(count)
        ]
        if rng.random() < 0.3 and names:
            names.pop()
        rgb = len(_shown).to_bytes(8, "big") + rng.randbytes(16) + bytes(3 * _SIDE * _SIDE - 24)
        _shown[rgb[:24]] = tuple(names)
        made.append(Rendered(picture=Picture(rgb=rgb, width=_SIDE, height=_SIDE)))
    return made


def detect(_detector: PocketDetector, requests: Sequence[ObserveRequest]) -> list[Detections]:
    """What was drawn, side by side."""
    seen = []
    for request in requests:
        names = _shown[request.picture.rgb[:24]]
        boxes = tuple(
            Detection(label=name, score=0.95, box=(place / 8, 0.3, place / 8 + 0.1, 0.6))
            for place, name in enumerate(names[:8])
        )
        seen.append(Detections(boxes=boxes, floor=0.05, threshold=0.5, doubt=0.2))
    return seen


def make_run(directory: Path, n_images: int, seed: int) -> int:
    """A finished run; returns how many images it generated."""
    settings = {"run.preflight": "off", "suite.n": str(n_images // 2)}
    spec = RunSpec.of(suite="many-pairs", models=("painter",), reader="none", seed=seed, size="full", settings=settings)
    return execute(make_plan(spec), directory, SilentProgress()).n_rendered


def commands(run: Path, other: Path, out: Path) -> Mapping[str, tuple[str, ...]]:
    """Every output as a command."""
    reports = {f"report {form}": ("report", "--format", form) for form in _REPORTS}
    exports = {f"export {form}": ("export", "--as", form) for form in _EXPORTS}
    made = {
        name: (command[0], str(run), *command[1:], "-o", str(out / name.replace(" ", ".")))
        for name, command in {**reports, **exports}.items()
    }
    return {
        **made,
        "compare": ("compare", str(run), str(other), "--format", "json"),
        "compare html": ("compare", str(run), str(other), "--format", "html", "-o", str(out / "compare.html")),
        "verify": ("verify", str(run)),
    }


def seconds_of(command: Sequence[str]) -> float:
    """How long a command takes; it must not fail."""
    said = io.StringIO()
    sys.argv = ["salva", *command]
    started = time.perf_counter()
    with redirect_stdout(said), redirect_stderr(said):
        code = run_command()
    took = time.perf_counter() - started
    if code not in (0, 3):
        raise SystemExit(f"{' '.join(command)} ended with {code}: {said.getvalue()[-2000:]}")
    return took


def measured(n_images: int, before: Mapping[str, float], factor: float) -> dict[str, float]:
    """Seconds by output; those that would take too long are left out."""
    root = Path(tempfile.mkdtemp(prefix="salva-outputs-"))
    try:
        _shown.clear()
        n_made = make_run(root / "run", n_images, 0)
        make_run(root / "other", n_images, 1)
        print(f"{n_made:,} images made", file=sys.stderr, flush=True)
        taken = {}
        (root / "out").mkdir()
        for name, command in commands(root / "run", root / "other", root / "out").items():
            # What was left out at one size is left out at all larger ones.
            if not before or before.get(name, math.inf) * factor <= LONGEST_S:
                taken[name] = seconds_of(command)
                print(f"  {name:<16} {taken[name]:8.2f}", file=sys.stderr, flush=True)
        started = time.perf_counter()
        make_run(root / "run", n_images, 0)
        taken["run again"] = time.perf_counter() - started
        return taken
    finally:
        shutil.rmtree(root)


def is_too_fast(n: int, other: int, first: float, second: float) -> bool:
    """Whether seconds grow faster than n log n."""
    allowed = other * math.log(other) / (n * math.log(n)) * NOISE
    return second > LEAST_S and second > allowed * first


def main() -> None:
    """Measure and print the table."""
    sizes = [int(word) for word in sys.argv[1:]] or list(SIZES)
    setattr(Painter, "render", draw)  # noqa: B010  # in place of drawing
    setattr(PocketDetector, "observe", detect)  # noqa: B010  # in place of a network
    add_loose_plugin(f"{__file__}:ManyPairs")
    columns: list[dict[str, float]] = []
    for place, size in enumerate(sizes):
        factor = size / sizes[place - 1] if place else 0.0
        columns.append(measured(size, columns[-1] if columns else {}, factor))
    print(f"| output | {' | '.join(f'{size:,}' for size in sizes)} | |\n|---|{'---|' * (len(sizes) + 1)}")
    n_bad = 0
    for name in columns[0]:
        times = [column.get(name) for column in columns]
        pairs = zip(sizes, sizes[1:], times, times[1:], strict=False)
        is_bad = any(a is not None and b is not None and is_too_fast(n, m, a, b) for n, m, a, b in pairs)
        n_bad += is_bad
        shown = " | ".join("-" if seconds is None else f"{seconds:.2f} s" for seconds in times)
        print(f"| {name} | {shown} | {'too fast' if is_bad else ''} |")
    sys.exit(bool(n_bad))


if __name__ == "__main__":
    main()
