"""GenEval's detector at the speed of the hardware: Mask2Former over Swin-small and CLIP ViT-L/14 on one GPU.

Two ways: the detector alone, in batches, from pictures in memory to boxes with masks, which is the limit; and
`salva run geneval` over a folder of 553 x 4 pictures of 512 pixels, as typed, in the same process. Prints one table
with pictures a second and what the run reaches of the limit; wanted are 70 %. Weights are random, but the detector is
made to find several things in every picture, since boxes and masks cost too. Nothing is downloaded.

    python bench/geneval_detector.py                    everything, a few minutes on one H200
    python bench/geneval_detector.py --prompts 60       fewer prompts
    python bench/geneval_detector.py --tiny             the same measurement in miniature, on any processor
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sqlite3
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from geneval_architectures import save_clip, save_mask2former
from gpu_scripts import can_measure, own_folder

from salva.assets.coco_names import COCO, in_full
from salva.cli.main import salva
from salva.core.image import Picture
from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest, Query
from salva.detectors.mask2former import Mask2Former

WANTED = 0.7
N_FOUND = 15
"""So many of the 100 queries find something."""
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "black", "white")
PLACES = ("left of", "right of", "above", "below")
COUNTS = 0.3
"""The score above which GenEval counts a box."""
N_COLOURED = 12
"""Colours are asked of so many things."""
TASKS = {"single_object": 80, "two_object": 99, "counting": 80, "colors": 94, "position": 100, "color_attr": 100}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How large everything is."""

    device: str
    side: int
    samples: int
    n_alone: int
    """Pictures the detector sees alone."""
    settings: tuple[str, ...]
    is_tiny: bool = False


FULL = Scale(device="cuda", side=512, samples=4, n_alone=512, settings=())
TINY = Scale(
    device="cpu",
    side=64,
    samples=1,
    n_alone=4,
    settings=("detector.shortest=64", "detector.longest=96"),
    is_tiny=True,
)


def metadata(n_prompts: int, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Prompts in the form and the shares of the official file.

    names: what the detector finds most often comes first. Colours are asked of those, since only what was found is cut
    out and shown to CLIP.
    """
    total = sum(TASKS.values())
    for tag, n in TASKS.items():
        for i in range(max(1, round(n * n_prompts / total))):
            few = len(names) if tag in ("single_object", "two_object", "counting", "position") else N_COLOURED
            things: list[dict[str, Any]] = [{"class": names[i % few], "count": 1}]
            if tag in ("two_object", "position", "color_attr"):
                things.append({"class": names[(i + 1 + i // few) % few], "count": 1})
            row: dict[str, Any] = {"tag": tag, "include": things}
            if tag == "counting":
                things[0]["count"] = 2 + i % 3
                row["exclude"] = [{"class": things[0]["class"], "count": 3 + i % 3}]
            if tag in ("colors", "color_attr"):
                for k, thing in enumerate(things):
                    thing["color"] = COLOURS[(i // few + 3 * k) % len(COLOURS)]
            if tag == "position":
                things[1]["position"] = [PLACES[i % 4], 0]
            row["prompt"] = f"a photo of {', '.join(_words(thing) for thing in things)}"
            yield row


def _words(thing: dict[str, Any]) -> str:
    place = f" {thing['position'][0]} it" if "position" in thing else ""
    return " ".join(str(word) for word in (thing["count"], thing.get("color", ""), thing["class"]) if word) + place


def painting(side: int, seed: int) -> Picture:
    """Blobs of colour on a gradient, a little grain on top: not as smooth as a drawing, not as rough as noise."""
    import numpy as np

    rng = np.random.default_rng(seed)
    ys, xs = np.mgrid[0 : 1 : side * 1j, 0 : 1 : side * 1j]
    pixels = (xs * rng.uniform(0, 1) + ys * rng.uniform(0, 1))[..., None] * rng.uniform(60, 200, 3)
    for _ in range(8):
        x, y, size = rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.9), rng.uniform(0.04, 0.2)
        inside = (xs - x) ** 2 + ((ys - y) * rng.uniform(0.5, 2)) ** 2 < size**2
        pixels[inside] = rng.uniform(0, 255, 3) * (0.7 + 0.3 * ys[inside][:, None])
    pixels += rng.normal(0, 3, (side, side, 1))
    return Picture(rgb=pixels.clip(0, 255).astype(np.uint8).tobytes(), width=side, height=side)


def paint(folder: Path, rows: Sequence[dict[str, Any]], scale: Scale) -> int:
    """The folder layout of GenEval, filled; how many pictures there are."""
    from PIL import Image

    def one(asked: tuple[int, int]) -> None:
        number, sample = asked
        picture = painting(scale.side, number * scale.samples + sample)
        image = Image.frombytes("RGB", (scale.side, scale.side), picture.rgb)
        image.save(folder / f"{number:05}" / "samples" / f"{sample:05}.png", compress_level=1)

    for number, row in enumerate(rows):
        (folder / f"{number:05}" / "samples").mkdir(parents=True)
        (folder / f"{number:05}" / "metadata.jsonl").write_text(json.dumps(row) + "\n")
    asked = [(number, sample) for number in range(len(rows)) for sample in range(scale.samples)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, asked))
    return len(asked)


def alone(folder: Path, scale: Scale) -> tuple[float, list[str]]:
    """Pictures a second that the detector sees by itself, from memory to boxes and masks; and what it sees most."""
    options = {name.removeprefix("detector."): int(value) for name, value in (s.split("=") for s in scale.settings)}
    detector = Mask2Former(Mask2Former.Options(model=str(folder), device=scale.device, **options))  # type: ignore[arg-type]  # numbers all
    requests = [
        ObserveRequest(picture=painting(scale.side, i), query=Query(role="detector")) for i in range(scale.n_alone)
    ]
    detector.observe(requests[: max(1, scale.n_alone // 4)])  # batches grow, kernels are chosen
    began = time.perf_counter()
    seen = [one for one in detector.observe(requests) if isinstance(one, Detections)]
    seconds = time.perf_counter() - began
    assert len(seen) == len(requests), "the detector failed"
    n_boxes = statistics.mean(len(one.boxes) for one in seen)
    n_bytes = statistics.mean(sum(len(box.mask.packed) for box in one.boxes if box.mask) for one in seen)
    print(f"({n_boxes:.1f} boxes a picture, {n_bytes:,.0f} bytes of masks)", flush=True)
    row("detector alone", len(requests), seconds)
    found = Counter(box.raw or box.label for one in seen for box in one.boxes if box.score > COUNTS)
    return len(requests) / seconds, sorted(in_full(COCO), key=lambda name: -found[name])


class Watch:
    """When the detector of a run was first asked and last answered."""

    def __init__(self) -> None:
        self.first, self.last, self._look = math.inf, 0.0, Mask2Former.observe

    def __enter__(self) -> Watch:
        watch, look = self, self._look

        def watched(detector: Mask2Former, requests: Sequence[ObserveRequest]) -> Any:
            watch.first = min(watch.first, time.perf_counter())
            seen = look(detector, requests)
            watch.last = time.perf_counter()
            return seen

        Mask2Former.observe = watched  # type: ignore[assignment, method-assign]  # for as long as it is watched
        return self

    def __exit__(self, *_: object) -> None:
        Mask2Former.observe = self._look  # type: ignore[method-assign]  # as it was


def through_salva(root: Path, n_pictures: int, scale: Scale, limit: float) -> float:
    """The run as typed; what it reaches of the limit while it looks."""
    settings = ("run.preflight=off", *scale.settings, *(f"{r}.device={scale.device}" for r in ("detector", "embedder")))
    asked = ["run", "geneval", "--published", "--size", "paper", "--repeats", str(scale.samples), "--no-progress"]
    asked += ["--set", f"suite.path={root / 'metadata.jsonl'}", "--model", f"folder/{root / 'images'}"]
    asked += ["--detector", f"mask2former/{root / 'mask2former'}", "--embedder", f"clip/{root / 'clip'}"]
    asked += ["--out", str(root / "run"), *(word for setting in settings for word in ("--set", setting))]
    print("salva", *asked, flush=True)
    began = time.perf_counter()
    with Watch() as watch:
        try:
            salva(asked, standalone_mode=False)
        except SystemExit as ended:
            print(f"(exit {ended.code}: random weights decide nothing well)", flush=True)
    seconds = time.perf_counter() - began
    with sqlite3.connect(root / "run" / "salva.db") as database:
        by_role = database.execute(
            "SELECT json_extract(query, '$.role'), status, count(*) FROM observations GROUP BY 1, 2"
        ).fetchall()
    print(f"(looks: {', '.join(f'{n:,} {role} {status}' for role, status, n in by_role)})", flush=True)
    row("salva, while it looks", n_pictures, watch.last - watch.first, limit)
    row("salva, the whole command", n_pictures, seconds, limit)
    return n_pictures / (watch.last - watch.first) / limit


def row(what: str, n: int, seconds: float, limit: float | None = None) -> None:
    """One line of the table."""
    share = f"{n / seconds / limit:.0%} of the detector alone; wanted {WANTED:.0%}" if limit else ""
    print(f"{what:<26} {n:>7,} {seconds:>8.1f} {n / seconds:>11.2f}  {share}", flush=True)


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description="GenEval's detector at the speed of the hardware.")
    parser.add_argument("--tiny", action="store_true", help="in miniature, on the processor")
    parser.add_argument("--prompts", type=int, default=0, help="how many prompts, 553 unless given")
    asked = parser.parse_args()
    if not can_measure(is_tiny=asked.tiny):
        return
    scale = TINY if asked.tiny else FULL
    began = time.perf_counter()
    with own_folder() as root:
        save_clip(root / "clip", scale.device, is_tiny=scale.is_tiny)
        save_mask2former(root / "mask2former", scale.device, is_tiny=scale.is_tiny, n_found=N_FOUND)
        print(f"(checkpoints made in {time.perf_counter() - began:.0f} s)", flush=True)
        print(f"{'what':<26} {'images':>7} {'s':>8} {'images/s':>11}", flush=True)
        limit, names = alone(root / "mask2former", scale)
        rows = list(metadata(asked.prompts or (6 if asked.tiny else sum(TASKS.values())), names))
        (root / "metadata.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
        n_pictures = paint(root / "images", rows, scale)
        share = through_salva(root, n_pictures, scale, limit)
    print(f"(all of it {time.perf_counter() - began:.0f} s)", flush=True)
    sys.exit(0 if asked.tiny or share >= WANTED else 1)


if __name__ == "__main__":
    main()
