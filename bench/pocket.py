"""What pocket can do, from the shipped files: exactly right pictures, time, memory, size, and the embedder's finds.

Sentences and seeds are held out from training and from every choice made there; the shipped detector judges. Prints
one table with the target beside each value; a row without target is reported only. Needs the torch extra, which
draws the true colours that painted ones are compared with.

    python bench/pocket.py                  100 pictures of each kind
    python bench/pocket.py --each 20        fewer
    python bench/pocket.py --write          and put the table into the model card
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from salva.api import run_suite
from salva.assets.files import asset_path
from salva.core.boxes import boxes_above
from salva.core.case import Prompt
from salva.core.image import Picture
from salva.core.observation import Detections, Vector
from salva.core.options import NoOptions
from salva.core.protocols import ObserveRequest, Query, Rendered, RenderRequest
from salva.core.verdict import Outcome
from salva.detectors.pocket_detector import PocketDetector
from salva.embedders.pocket_embedder import PocketEmbedder
from salva.generators.painter.component import random_scene
from salva.generators.pocket import Pocket, PocketOptions
from salva.stats.intervals import wilson

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "training"))
import audit_pocket  # noqa: E402  # training/ is no package
import evaluate_pocket  # noqa: E402
from pocket_captions import write_caption  # noqa: E402
from pocket_drawing import drawing_extents  # noqa: E402
from pocket_questions import Question, questions, said  # noqa: E402
from pocket_sampling import to_bytes  # noqa: E402
from pocket_world import Group, Scene, sample_scene  # noqa: E402

CARD = ROOT / "docs" / "explanation" / "model-card-pocket.md"
BEGIN, END = "<!-- bench: written by bench/pocket.py -->", "<!-- bench: end -->"
SENTENCES_SEED = 7919
NOISE_SEED = 5_000_000
BATCH = 8
N_THREADS = 2
AMONG = 100
TARGETS = {
    "one thing": 97, "pair": 92, "three things": 85, "left and right": 92, "top and bottom": 92, "counts 1 to 5": 85,
    "coloured thing": 92,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    what: str
    value: str
    target: str = ""
    verdict: str = ""

    def __str__(self) -> str:
        return f"{self.what:54} {self.value:>28} {self.target:>10}  {self.verdict}"


def share(what: str, marks: Sequence[bool], target: float | None = None) -> Row:
    """A row for how many of some are right."""
    rate = sum(marks) / len(marks)
    around = wilson(rate, len(marks))
    value = f"{100 * rate:.1f} % ({100 * around.low:.0f} to {100 * around.high:.0f}), n {len(marks)}"
    if target is None:
        return Row(what=what, value=value)
    return Row(what=what, value=value, target=f"{target:g} %", verdict="reached" if 100 * rate >= target else "MISSED")


def most(what: str, value: float, unit: str, target: float) -> Row:
    """A row for something that must stay small."""
    verdict = "reached" if value <= target else "MISSED"
    return Row(what=what, value=f"{value:.3g} {unit}", target=f"{target:g} {unit}", verdict=verdict)


def paint(model: Pocket, texts: Sequence[str]) -> list[Picture]:
    """The pictures of these sentences, two batches at a time."""
    asked = [RenderRequest(prompt=Prompt(role="a", text=text), seed=NOISE_SEED + i) for i, text in enumerate(texts)]
    with ThreadPoolExecutor(N_THREADS) as pool:
        batches = list(pool.map(model.render, [asked[i : i + BATCH] for i in range(0, len(asked), BATCH)]))
    outcomes = [outcome for batch in batches for outcome in batch]
    failed = [outcome for outcome in outcomes if not isinstance(outcome, Rendered)]
    if failed:
        raise SystemExit(f"{len(failed)} of {len(texts)} sentences could not be painted; the first: {failed[0]}")
    return [outcome.picture for outcome in outcomes if isinstance(outcome, Rendered)]


def right_pictures(asked: Sequence[Question], pictures: Sequence[Picture]) -> list[Row]:
    """The share of exactly right pictures, kind by kind."""
    detector, colours = PocketDetector(PocketDetector.Options()), evaluate_pocket.ColourReader()
    marks: dict[str, list[bool]] = defaultdict(list)
    for question, picture in zip(asked, pictures, strict=True):
        (seen,) = detector.observe([ObserveRequest(picture=picture, query=Query(role="detector"))])
        assert isinstance(seen, Detections), seen
        pixels = np.frombuffer(picture.rgb, np.uint8).reshape(picture.height, picture.width, 3)
        marks[question.category].append(not evaluate_pocket.faults(question, boxes_above(seen), pixels, colours))
    return [share(category, right, TARGETS.get(category)) for category, right in marks.items()]


def cost(model: Pocket) -> list[Row]:
    """Seconds, memory and size."""
    texts = [question.text for question in questions(2, seed=SENTENCES_SEED + 1)][: 2 * BATCH]
    rounds = []
    for _ in range(6):
        wall, core = time.perf_counter(), time.process_time()
        paint(model, texts)
        rounds.append((time.perf_counter() - wall, time.process_time() - core))
    # The quickest round: on a busy machine the clock also counts the waiting.
    wall, core = min(rounds)
    measured = subprocess.run([sys.executable, "-c", _MEMORY], capture_output=True, text=True, check=True).stdout
    files = [path for path in asset_path("pocket/painter.json").parent.rglob("*") if path.is_file()]
    return [
        most("time an image, batched, 2 threads", wall / len(texts), "s", 0.25),
        Row(what="  the cores' own time for it", value=f"{core / len(texts):.3g} s"),
        most("memory of the model, 2 threads at work", float(measured), "MB", 300),
        most("size of all weights, the whole family", sum(path.stat().st_size for path in files) / 1e6, "MB", 55),
    ]


_MEMORY = """
import threading
import numpy, onnxruntime
from salva.core.case import Prompt
from salva.core.protocols import RenderRequest
from salva.generators.pocket import Pocket, PocketOptions

def status(name):
    return next(int(line.split()[1]) / 1000 for line in open("/proc/self/status") if line.startswith(name))

before = status("VmRSS")
model = Pocket(PocketOptions(threads=2))
asked = [RenderRequest(prompt=Prompt(role="a", text="a cat and a dog"), seed=i) for i in range(8)]
threads = [threading.Thread(target=model.render, args=(asked,)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(status("VmHWM") - before)
"""


def logic() -> list[Row]:
    """MetaLogic on pocket: how long the quick size takes, and what a balanced sample of the paper's gives."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="salva-bench-") as folder:
        start = time.perf_counter()
        run_suite("metalogic", "pocket", out=Path(folder) / "quick", size="quick")
        rows.append(most("salva run metalogic --size quick, 120 images", time.perf_counter() - start, "s", 60))
        run = run_suite("metalogic", "pocket", out=Path(folder) / "sample", size="240", reader="none")
        verdicts = run.verdicts
    decided = verdicts["outcome"].isin([Outcome.PASS.value, Outcome.FAIL.value])
    rows.append(share("MetaLogic: pairs that could be judged", list(decided)))
    verdicts = verdicts[decided]
    for (check, law), some in verdicts.groupby(["check", "label.law"]):
        rows.append(share(f"MetaLogic, {law}: {check} holds", [not bad for bad in some["is_fail"]]))
    return rows


class Finder:
    """Which of many captions lies nearest to a picture."""

    def __init__(self) -> None:
        self.embedder = PocketEmbedder(NoOptions())

    def vectors(self, requests: Iterable[ObserveRequest]) -> np.ndarray[Any, Any]:
        """One row each."""
        seen = self.embedder.observe(list(requests))
        bad = [one for one in seen if not isinstance(one, Vector)]
        if bad:
            raise SystemExit(f"the embedder failed: {bad[0]}")
        return np.array([one.values for one in seen if isinstance(one, Vector)])

    def finds(self, pictures: Sequence[Picture], texts: Sequence[str]) -> list[bool]:
        """Whether each picture's own caption, of the same number, is the nearest."""
        seen = self.vectors(ObserveRequest(picture=picture, query=Query(role="embedder")) for picture in pictures)
        query = [Query(role="embedder", text=text) for text in texts]
        told = self.vectors(ObserveRequest(picture=pictures[0], query=one) for one in query)
        return [bool(row.argmax() == i) for i, row in enumerate(seen @ told.T)]


def _content(groups: Iterable[Group]) -> frozenset[tuple[str, int]]:
    return frozenset(Counter({group.thing: group.n for group in groups}).items())


def embedding(asked: Sequence[Question], pictures: Sequence[Picture]) -> list[Row]:
    """The right caption among 100 that all tell of other things or numbers."""
    finder = Finder()
    rng = random.Random(SENTENCES_SEED)
    rows = []
    for what, lot, target in (
        ("scenes of pocket's world", _world(rng), 95),
        ("the painter's own scenes, 256 px", _painter(rng), 95),
        ("generated images", _generated(rng, asked, pictures), 85),
    ):
        marks = [mark for some, texts in lot for mark in finder.finds(some, texts)]
        rows.append(share(f"embedder among {AMONG}: {what}", marks, target))
    return rows


Lot = list[tuple[list[Picture], list[str]]]


def _world(rng: random.Random) -> Lot:
    """Drawn without fault as the training pictures were, with captions as people write them."""
    extents = drawing_extents()
    torch.manual_seed(SENTENCES_SEED)  # of the grounds
    lots: Lot = []
    for _ in range(3):
        scenes: dict[frozenset[tuple[str, int]], Scene] = {}
        while len(scenes) < AMONG:
            scene = sample_scene(rng, extents)
            scenes.setdefault(_content(scene.groups), scene)
        drawn = [Question(category="", text="", groups=tuple(s.groups), relation=s.relation) for s in scenes.values()]
        pixels = to_bytes(evaluate_pocket.draw_truth(drawn))
        pictures = [Picture(rgb=one.tobytes(), width=one.shape[1], height=one.shape[0]) for one in pixels]
        lots.append((pictures, [write_caption(rng, scene) for scene in scenes.values()]))
    return lots


def _painter(rng: random.Random) -> Lot:
    """By the painter in all its styles, with plain captions."""
    lots: Lot = []
    for _ in range(3):
        found: dict[frozenset[tuple[str, int]], tuple[Picture, str]] = {}
        while len(found) < AMONG:
            picture, things = random_scene(rng, PocketDetector.labels(), rng.randint(1, 5))
            groups = [Group(thing=label, n=n) for label, n in Counter(thing.label for thing in things).items()]
            found.setdefault(_content(groups), (picture, " and ".join(map(said, groups))))
        lots.append(([picture for picture, _ in found.values()], [text for _, text in found.values()]))
    return lots


def _generated(rng: random.Random, asked: Sequence[Question], pictures: Sequence[Picture]) -> Lot:
    """pocket's own pictures, right or wrong, with the sentences they were made from."""
    lots: Lot = []
    for _ in range(3):
        order = rng.sample(range(len(asked)), len(asked))
        chosen = list({_content(asked[i].groups): i for i in order}.values())[:AMONG]
        lots.append(([pictures[i] for i in chosen], [asked[i].text for i in chosen]))
    return lots


def audited() -> Row:
    """The detector against what was seen by looking, where that has been written down."""
    what, folder = "detector on the audited images", ROOT / "docs" / "audit" / "pocket"
    if not audit_pocket.is_labelled(folder):
        return Row(what=what, value="not labelled", target="95 %", verdict="unknown")
    return share(what, [result.is_exact for result in audit_pocket.compare(folder) if result.is_agreed], 95)


def write_card(rows: Sequence[Row]) -> None:
    """The same table, in the model card."""
    lines = ["| what | measured (95 % interval) | to reach | |", "|---|---|---|---|"]
    # Single laws stand in docs/benchmarks.md, for the whole family.
    kept = [row for row in rows if not row.what.startswith("MetaLogic, ")]
    lines += [f"| {row.what.strip()} | {row.value} | {row.target} | {row.verdict} |" for row in kept]
    text = CARD.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    CARD.write_text("\n".join([f"{before}{BEGIN}", "", *lines, "", f"{END}{after}"]), encoding="utf-8")


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=100)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    model = Pocket(PocketOptions())
    print(Row(what="what", value="measured (95 % interval)", target="to reach"))
    asked = questions(args.each, seed=SENTENCES_SEED)
    pictures = paint(model, [question.text for question in asked])
    sections: tuple[Callable[[], list[Row]], ...] = (
        lambda: right_pictures(asked, pictures),
        lambda: embedding(asked, pictures),
        lambda: [audited()],
        lambda: cost(model),
        logic,
    )
    rows = []
    for section in sections:
        for row in section():
            print(row, flush=True)
            rows.append(row)
    if args.write:
        write_card(rows)


if __name__ == "__main__":
    main()
