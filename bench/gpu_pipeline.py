"""Painting and detecting at the speed of the hardware: Stable Diffusion 1.5 and Florence-2-base on one GPU.

Three ways, each for painting, for detecting and for both: one picture at a time, as published scripts do; the pure
model, batched and compiled, which is the limit; and a whole run of salva with pictures and rows stored. Prints one
table with images a second and how busy the GPU was. Weights are random (speed does not depend on them), so nothing is
downloaded.

    python bench/gpu_pipeline.py                        everything, under nine minutes on one H200
    python bench/gpu_pipeline.py --part sd              painting alone; also florence, both
    python bench/gpu_pipeline.py --tiny                 the same measurement in miniature, on any processor

On a machine without a network and without diffusers, bring its wheel, which is Python alone: where there is a
network, `pip download --no-deps -d wheels diffusers importlib_metadata zipp`, unpack each with
`python -m zipfile -e wheels/NAME.whl site`, carry the folder `site` over and start there with
`PYTHONPATH=src:site python bench/gpu_pipeline.py`.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import statistics
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).parent))

from gpu_architectures import save_florence2, save_stable_diffusion
from gpu_scripts import (
    FULL,
    N_TOKENS,
    PROMPT,
    TINY,
    ObserveScript,
    PaintScript,
    Scale,
    can_measure,
    noise_image,
    own_folder,
)

from salva.checks.same_scene import SameScene
from salva.core.about import Habits
from salva.core.case import Prompt
from salva.core.image import Picture
from salva.core.observation import Detections, Observation
from salva.core.options import NoOptions
from salva.core.plan import Plan
from salva.core.protocols import ObserveRequest, Query, Rendered, RenderRequest
from salva.core.run_spec import RunSpec
from salva.detectors.florence2 import Florence2
from salva.engine.progress import SilentProgress
from salva.errors import SalvaError
from salva.generators.diffusers_pipeline import DiffusersOptions, DiffusersPipeline
from salva.runs.pipeline import execute
from salva.suites.metalogic.suite import MetaLogic
from salva.testing.specs import bound

WANTED = {
    ("sd", "salva"): 6.3,
    ("florence", "salva"): 150.0,
    ("both", "salva"): 6.1,
}
"""What a whole run should reach on one H200, images a second."""


@dataclass(slots=True, kw_only=True)
class Table:
    """What was measured, printed as it comes."""

    rates: dict[tuple[str, str], float] = field(default_factory=dict)

    def head(self) -> None:
        print(f"{'what':<10} {'way':<20} {'images':>7} {'s':>7} {'images/s':>9} {'GPU busy':>9}  against", flush=True)

    def row(self, what: str, way: str, n: int, seconds: float, busy: float | None) -> None:
        rate = self.rates[what, way] = n / seconds
        against = ""
        if way == "salva":
            parts = [("limit", self.rates.get((what, "limit"))), ("one at a time", self.rates.get((what, "single")))]
            told = [f"{rate / other:.2f} x {name}" for name, other in parts if other]
            against = ", ".join([*told, f"wanted {WANTED[what, way]:g}"])
        share = "-" if busy is None else f"{busy:.0f} %"
        print(f"{what:<10} {way:<20} {n:>7,} {seconds:>7.1f} {rate:>9.2f} {share:>9}  {against}", flush=True)

    def computed_limit(self) -> None:
        """One GPU does one thing after the other: the limits of both parts add up as times."""
        sd, florence = self.rates.get(("sd", "limit")), self.rates.get(("florence", "limit"))
        if sd and florence:
            rate = self.rates["both", "limit"] = 1 / (1 / sd + 1 / florence)
            print(f"{'both':<10} {'limit (computed)':<20} {'':>7} {'':>7} {rate:>9.2f} {'':>9}", flush=True)


@contextlib.contextmanager
def gpu_busy(device: str) -> Iterator[Callable[[], float | None]]:
    """How busy the GPU is while inside, in per cent of the time, as nvidia-smi sees it every fifth of a second."""
    shares: list[float] = []
    if not device.startswith("cuda"):
        yield lambda: None
        return
    command = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", "200", "-i", "0"]
    try:
        watcher = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        yield lambda: None
        return

    def read() -> None:
        assert watcher.stdout is not None
        for line in watcher.stdout:
            with contextlib.suppress(ValueError):
                shares.append(float(line))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield lambda: statistics.mean(shares) if shares else None
    finally:
        watcher.terminate()
        watcher.wait()
        reader.join(1)


def measured(table: Table, what: str, way: str, device: str, work: Callable[[], int]) -> None:
    """Do the work, which says how many images it made or saw, and print its row."""
    synchronize(device)
    with gpu_busy(device) as busy:
        start = time.perf_counter()
        n = work()
        synchronize(device)
        seconds = time.perf_counter() - start
        share = busy()
    table.row(what, way, n, seconds, share)


def synchronize(device: str) -> None:
    """Wait until the device has done all it was told."""
    if device.startswith("cuda"):
        import torch

        torch.cuda.synchronize(device)


# Through salva


class Ready:
    """A component that is loaded and compiled already: what is measured is the run, not the start."""

    version: ClassVar[str] = "1"
    made: ClassVar[Any]

    def __init__(self, _: NoOptions) -> None:
        self.habits = self.made.habits

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered | SalvaError]:
        outcomes: Sequence[Rendered | SalvaError] = self.made.render(requests)
        return outcomes

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation | SalvaError]:
        outcomes: Sequence[Observation | SalvaError] = self.made.observe(requests)
        return outcomes


class Album:
    """A generator that costs next to nothing: pictures painted beforehand, each made unique by its seed."""

    habits: ClassVar[Habits] = Habits(batch_size=64, depth=2)

    def __init__(self, side: int) -> None:
        self._side = side
        self._pages = [noise_image(side, i).tobytes() for i in range(16)]

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered]:
        return [Rendered(picture=self._picture(request)) for request in requests]

    def _picture(self, request: RenderRequest) -> Picture:
        mark = f"{request.seed} {request.prompt.text}".encode().ljust(96)[:96]
        page = self._pages[request.seed % len(self._pages)]
        return Picture(rgb=mark + page[len(mark) :], width=self._side, height=self._side)


class Blind:
    """A detector that costs nothing and sees nothing."""

    habits: ClassVar[Habits] = Habits(batch_size=16, depth=1)

    def observe(self, requests: Sequence[ObserveRequest]) -> Sequence[Observation]:
        return [Detections() for _ in requests]


def run_spec(generator: Any, detector: Any, n_images: int, detector_name: str = "bench") -> Plan:
    """A whole run: MetaLogic, pictures encoded and stored, rows written, verdicts given."""
    return Plan(
        suite=bound("suite", MetaLogic, "metalogic", entities=ENTITIES[: 8 if n_images > 800 else 5]),
        models=(bound("model", type("Painter", (Ready,), {"made": generator}), "bench"),),
        detector=bound("detector", type("Detector", (Ready,), {"made": detector}), detector_name),
        checks=(bound("check", SameScene, "same-scene"),),
        spec=RunSpec(size=str(n_images // 2)),
    )


def measure_run(
    table: Table, part: str, scale: Scale, generator: Any, detector: Any, n_images: int, root: Path
) -> None:
    """Such a run, timed."""

    def work() -> int:
        summary = execute(run_spec(generator, detector, n_images), root / f"run-{part}", SilentProgress())
        failed = summary.outcomes.get("ERROR", 0)
        if failed:
            print(f"{failed} cases ERROR; see {root / f'run-{part}'}", file=sys.stderr)
        return summary.n_rendered

    measured(table, part, "salva", scale.device, work)


ENTITIES = ("cat", "dog", "horse", "cow", "car", "boat", "chair", "clock", "apple", "banana", "bird", "sheep")


def measure_painting(table: Table, scale: Scale, folder: Path) -> DiffusersPipeline:
    """The limit of painting; gives back the compiled generator."""
    options = DiffusersOptions(
        checkpoint=str(folder),
        steps=scale.steps,
        size=str(scale.side),
        device=scale.device,
        batch_size=scale.paint_batch,
        compile="false" if scale.is_tiny else "true",
    )
    generator = DiffusersPipeline(options)
    requests = [RenderRequest(prompt=Prompt(role="a", text=PROMPT), seed=i) for i in range(scale.paint_batch)]
    start = time.perf_counter()
    problems = [outcome for outcome in generator.render(requests) if isinstance(outcome, SalvaError)]
    if problems:
        raise problems[0]
    print(f"(painting: first batch, compilation included, {time.perf_counter() - start:.0f} s)", flush=True)
    copy = generator._copies[0]

    def pure() -> int:
        import torch

        for _ in range(scale.n_batches):
            copy._pipeline(
                prompt=[PROMPT] * scale.paint_batch,
                generator=[torch.Generator("cpu").manual_seed(i) for i in range(scale.paint_batch)],
                output_type="pt",
                **copy._call,
            )
        return scale.n_batches * scale.paint_batch

    measured(table, "sd", "limit", scale.device, pure)
    return generator


def measure_detecting(table: Table, scale: Scale, folder: Path) -> Florence2:
    """The limit of detecting; gives back the loaded detector."""
    import torch

    options = Florence2.Options(
        model=str(folder),
        beams=1,
        max_tokens=N_TOKENS,
        cut="keep",
        device=scale.device,
        batch_size=scale.observe_batch,
        compile=not scale.is_tiny,
    )
    detector = Florence2(options)
    album = Album(scale.side)
    pictures = [
        album._picture(RenderRequest(prompt=Prompt(role="a", text="x"), seed=i)) for i in range(scale.observe_batch)
    ]
    requests = [ObserveRequest(picture=picture, query=Query(role="detector")) for picture in pictures]
    start = time.perf_counter()
    for n in (scale.observe_batch, 1):  # a full batch and an odd rest: both shapes there are
        problems = [outcome for outcome in detector.observe(requests[:n]) if isinstance(outcome, SalvaError)]
        if problems:
            raise problems[0]
    print(f"(detecting: first batches, compilation included, {time.perf_counter() - start:.0f} s)", flush=True)
    tokens, mask = detector._tokens(["<OD>"] * scale.observe_batch)
    side = 64 if scale.is_tiny else 768
    pixels = torch.rand(scale.observe_batch, 3, side, side, device=scale.device, dtype=detector._loaded.dtype)

    def pure() -> int:
        with torch.inference_mode():
            for _ in range(scale.n_batches):
                detector._model.generate(
                    input_ids=tokens,
                    attention_mask=mask,
                    pixel_values=pixels,
                    max_new_tokens=N_TOKENS,
                    num_beams=1,
                    do_sample=False,
                )
        return scale.n_batches * scale.observe_batch

    pure()
    measured(table, "florence", "limit", scale.device, pure)
    return detector


class Bench:
    """The parts of the measurement, each with what it needs; models are loaded once and kept."""

    def __init__(self, scale: Scale, checkpoints: Path, root: Path) -> None:
        self._scale, self._checkpoints, self._root = scale, checkpoints, root
        self._table = Table()
        self._table.head()

    @functools.cached_property
    def _sd(self) -> Path:
        return save_stable_diffusion(self._checkpoints / "sd15", self._scale.device, is_tiny=self._scale.is_tiny)

    @functools.cached_property
    def _florence(self) -> Path:
        return save_florence2(self._checkpoints / "florence2", self._scale.device, is_tiny=self._scale.is_tiny)

    @functools.cached_property
    def _paint(self) -> PaintScript:
        script = PaintScript(self._scale, self._sd, self._root)
        script(0)
        return script

    @functools.cached_property
    def _look(self) -> ObserveScript:
        script = ObserveScript(self._scale, self._florence)
        script(noise_image(self._scale.side, 0))
        return script

    @functools.cached_property
    def _generator(self) -> DiffusersPipeline:
        return measure_painting(self._table, self._scale, self._sd)

    @functools.cached_property
    def _detector(self) -> Florence2:
        return measure_detecting(self._table, self._scale, self._florence)

    def sd(self) -> None:
        """Painting alone."""
        paint = self._paint
        self._single("sd", paint)
        self._run("sd", self._generator, Blind(), self._scale.n_painted)

    def florence(self) -> None:
        """Detecting alone."""
        look, image = self._look, noise_image(self._scale.side, 0)
        self._single("florence", lambda _: look(image))
        self._run("florence", Album(self._scale.side), self._detector, self._scale.n_seen)

    def both(self) -> None:
        """Painting and detecting."""
        paint, look = self._paint, self._look
        self._single("both", lambda seed: look(paint(seed)))
        generator, detector = self._generator, self._detector
        self._table.computed_limit()
        self._run("both", generator, detector, self._scale.n_painted)

    def _single(self, part: str, one: Callable[[int], object]) -> None:
        def work() -> int:
            for seed in range(self._scale.n_single):
                one(seed)
            return self._scale.n_single

        measured(self._table, part, "single", self._scale.device, work)

    def _run(self, part: str, generator: Any, detector: Any, n_images: int) -> None:
        measure_run(self._table, part, self._scale, generator, detector, n_images, self._root)


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description="Painting and detecting at the speed of the hardware.")
    parser.add_argument("--part", choices=("all", "sd", "florence", "both"), default="all")
    parser.add_argument("--tiny", action="store_true", help="in miniature, on the processor")
    parser.add_argument("--keep", type=Path, help="folder for the random checkpoints, to use them again")
    asked = parser.parse_args()
    scale = TINY if asked.tiny else FULL
    if not can_measure(is_tiny=asked.tiny):
        return
    began, n_broken = time.perf_counter(), 0
    with own_folder() as root:
        bench = Bench(scale, asked.keep or root, root)
        for part in ("sd", "florence", "both") if asked.part == "all" else (asked.part,):
            try:
                getattr(bench, part)()
            except Exception:  # the other parts are worth measuring all the same
                n_broken += 1
                print(f"{part} broke:\n{traceback.format_exc()}", flush=True)
    print(f"(all of it {time.perf_counter() - began:.0f} s)", flush=True)
    sys.exit(n_broken > 0)


if __name__ == "__main__":
    main()
