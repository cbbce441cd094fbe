"""Where the time goes while Florence-2 looks: the model alone, its adapter alone, and whole runs under other settings.

A run shares one interpreter between the words that Florence-2 writes token by token and everything else. Each row is a
way to have the pictures looked at, as a share of the limit: the whole run, and from the first full batch to the last
(`looking`). `in the model` is the share of its time in which the model was at work, and `a batch` how long it took for
one there: longer than the limit's, it was kept waiting; as long, it had nothing to do.

    python bench/gpu_detecting.py                        six runs of 2,112 pictures: minutes on one H200
    python bench/gpu_detecting.py --stacks stacks.txt    and what every kind of thread does meanwhile, 50 looks a second
    python bench/gpu_detecting.py --tiny                 the same measurement in miniature, on any processor
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from gpu_architectures import save_florence2
from gpu_pipeline import Album, Table, gpu_busy, measure_detecting, run_spec, synchronize
from gpu_scripts import FULL, TINY, Scale, can_measure, own_folder

from salva.core.case import Prompt
from salva.core.protocols import ObserveRequest, Query, Rendered, RenderRequest
from salva.detectors.florence2 import Florence2
from salva.engine.progress import SilentProgress
from salva.imaging.files import encode_picture
from salva.runs.pipeline import execute
from salva.runs.rejudge import rejudge

WANTED = 0.75
"""Of the model alone."""
_EVERY_S = 0.02
_KINDS = (
    ("the model", "/transformers/generation/"),
    ("reading answers, preparing pictures", "/perception/"),
    ("writing and loading files", "/engine/image_files.py"),
    ("the coordinator", "/engine/flow.py"),
    ("planning, and the bench's own painting", "gpu_"),
)
_IDLE = ("_receive", "wait", "_take")


class Timed:
    """The model's calls, timed: how long they took, how much of that their thread was at work, and when."""

    def __init__(self, model: Any, full: int) -> None:
        self._call, self._full = model.generate, full
        self.begin()
        model.generate = self

    def begin(self) -> None:
        """Forget the calls so far."""
        self.n, self.wall_s, self.cpu_s = 0, 0.0, 0.0
        # Of the first full batch and those after it: before that a run plans, and tries its detector on a few pictures.
        self.n_pictures, self.first, self.last = 0, 0.0, 0.0

    def __call__(self, **given: Any) -> Any:
        began, began_cpu, n = time.perf_counter(), time.thread_time(), len(given["input_ids"])
        try:
            return self._call(**given)
        finally:
            self.last = time.perf_counter()
            self.n += 1
            self.wall_s += self.last - began
            self.cpu_s += time.thread_time() - began_cpu
            if n == self._full or self.n_pictures:
                self.first = self.first or began
                self.n_pictures += n

    @property
    def rate(self) -> float:
        """Pictures a second, from the first full batch to the last."""
        return self.n_pictures / max(self.last - self.first, 1e-9)


class Stacks:
    """What every thread is at, looked at again and again; threads are told apart by what they do."""

    def __init__(self) -> None:
        self.lines: dict[str, Counter[str]] = {}
        self._is_over = threading.Event()

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        self.lines = {}
        self._is_over.clear()
        thread = threading.Thread(target=self._take, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            thread.join()

    def _take(self) -> None:
        own = threading.get_ident()
        while not self._is_over.wait(_EVERY_S):
            for ident, frame in sys._current_frames().items():
                if ident != own:
                    self._note(frame)

    def _note(self, frame: Any) -> None:
        files: list[str] = []
        line = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno} {frame.f_code.co_name}"
        while frame is not None:
            files.append(frame.f_code.co_filename)
            frame = frame.f_back
        kind = next((kind for kind, part in _KINDS if any(part in file for file in files)), "")
        if kind and not line.endswith(_IDLE):
            self.lines.setdefault(kind, Counter())[line] += 1

    def written(self) -> Iterator[str]:
        """As text, the most frequent first."""
        for kind, lines in sorted(self.lines.items(), key=lambda entry: -entry[1].total()):
            yield f"  {lines.total():>6} {kind}"
            yield from (f"         {n:>6} {line}" for line, n in lines.most_common(12))


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to have pictures looked at."""

    name: str
    switch_s: float = 0.005
    """After how long a thread must let another have the interpreter."""
    brings_files: bool = False
    """Whether pictures come with their files, so that nobody encodes them."""
    is_stored: bool = False
    """Whether the pictures are those of the first way, read from their files again."""

    @contextlib.contextmanager
    def set(self) -> Iterator[None]:
        before = sys.getswitchinterval()
        sys.setswitchinterval(self.switch_s)
        try:
            yield
        finally:
            sys.setswitchinterval(before)


WAYS = (
    Way(name="salva"),
    Way(name="stored pictures", is_stored=True),
    Way(name="files brought along", brings_files=True),
    Way(name="switch 1 ms", switch_s=0.001),
    Way(name="switch 0.05 ms", switch_s=0.00005),
    Way(name="salva, again"),
)


class FiledAlbum(Album):
    """Pictures painted beforehand and encoded beforehand; all show one of sixteen, under marks of their own."""

    def __init__(self, side: int) -> None:
        super().__init__(side)
        first = self._picture(RenderRequest(prompt=Prompt(role="a", text="x"), seed=0))
        self._webp = encode_picture(first, "WEBP")

    def render(self, requests: Sequence[RenderRequest]) -> Sequence[Rendered]:
        # The file is another picture's, which nobody opens here.
        return [Rendered(picture=replace(self._picture(request), webp=self._webp)) for request in requests]


class Bench:
    """One detector, looked through in every way."""

    def __init__(self, scale: Scale, detector: Florence2, limit: float, stacks: Path | None, root: Path) -> None:
        self._scale, self._detector, self._limit, self._root = scale, detector, limit, root
        self._timed = Timed(detector._model, scale.observe_batch)
        self._stacks, self._file = Stacks(), stacks

    def measure(self, name: str, work: Callable[[], int]) -> None:
        """Do the work, which says how many pictures were looked at, and print its row."""
        synchronize(self._scale.device)
        self._timed.begin()
        watched = self._stacks.taken() if self._file else contextlib.nullcontext()
        with gpu_busy(self._scale.device) as busy, watched:
            began = time.perf_counter()
            n = work()
            seconds = time.perf_counter() - began
            share = busy()
        rate, timed = n / seconds, self._timed
        of_limit = f"{rate / self._limit:>9.0%} {timed.rate / self._limit:>9.0%}"
        of_model = f"{timed.wall_s / seconds:>12.0%} {timed.wall_s / timed.n:>8.3f} {timed.cpu_s / timed.n:>8.3f}"
        told = "-" if share is None else f"{share:.0f} %"
        print(f"{name:<20} {n:>7,} {seconds:>7.1f} {rate:>9.1f} {of_limit} {of_model} {told:>9}", flush=True)
        if self._file:
            with self._file.open("a", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in (f"== {name}", *self._stacks.written()))

    def adapter(self) -> int:
        """The detector as a run calls it, from pictures in memory to boxes, and nothing beside it."""
        album, n = Album(self._scale.side), self._scale.observe_batch
        requests = [
            ObserveRequest(
                picture=album._picture(RenderRequest(prompt=Prompt(role="a", text="x"), seed=i)),
                query=Query(role="detector"),
            )
            for i in range(n)
        ]
        for _ in range(self._scale.n_batches):
            self._detector.observe(requests)
        return n * self._scale.n_batches

    def run(self, way: Way) -> int:
        """A whole run, or all looks of one that is there."""
        with way.set(), tempfile.TemporaryDirectory(dir=self._root) as name:
            album = (FiledAlbum if way.brings_files else Album)(self._scale.side)
            spec = run_spec(album, self._detector, self._scale.n_seen, detector_name=way.name)
            if way.is_stored:
                return rejudge(self._root / "kept", spec, SilentProgress()).n_observed
            directory = Path(name) / "run" if (self._root / "kept").exists() else self._root / "kept"
            return execute(spec, directory, SilentProgress()).n_rendered


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description="Where the time goes while Florence-2 looks.")
    parser.add_argument("--tiny", action="store_true", help="in miniature, on the processor")
    parser.add_argument("--keep", type=Path, help="folder for the random checkpoint, to use it again")
    parser.add_argument("--stacks", type=Path, help="write what every kind of thread does meanwhile to this file")
    asked = parser.parse_args()
    if not can_measure(is_tiny=asked.tiny):
        return
    scale = TINY if asked.tiny else FULL
    began = time.perf_counter()
    with own_folder() as root:
        folder = save_florence2((asked.keep or root) / "florence2", scale.device, is_tiny=asked.tiny)
        table = Table()
        table.head()
        detector = measure_detecting(table, scale, folder)
        bench = Bench(scale, detector, table.rates["florence", "limit"], asked.stacks, root)
        columns = " of limit   looking in the model  a batch  its CPU  GPU busy"
        print(f"{'way':<20} {'images':>7} {'s':>7} {'images/s':>9} {columns}", flush=True)
        bench.measure("adapter alone", bench.adapter)
        for way in WAYS:
            bench.measure(way.name, partial(bench.run, way))
    print(f"(wanted: {WANTED:.0%} of the limit; all of it {time.perf_counter() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
