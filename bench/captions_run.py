"""COCO's captions and their mutants from text to table: a tiny diffusers checkpoint at two steps, a tiny OWLv2.

The first caption of each image, seven sets of pictures, every picture looked at for what its captions name. Weights are
random: what is measured is that nothing is lost on the way, and what it takes. Needs SALVA_TEST_DATA and the extras
`captions` and `torch`.

    python bench/captions_run.py [N_IMAGES]      default 50; all of it: 1000
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from backends.tiny_models import save_owlv2
from backends.tiny_pipelines import save_stable_diffusion, spelling_tokenizer

import salva
from salva.english.mutation.operators import OPERATORS
from salva.store.queries import read_records
from salva.store.sqlite import open_run

CAPTIONS = (
    Path(os.environ.get("SALVA_TEST_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    / "coco"
    / "captions_val2017_first1000.json"
)
N_IMAGES = 50


class Painted(NamedTuple):
    """A run, and what it took."""

    run: salva.Run
    seconds: float


def captions_file(folder: Path, n_images: int) -> Path:
    """The first caption of each of the first images, as a file of captions."""
    content = json.loads(CAPTIONS.read_text(encoding="utf-8"))
    first: dict[int, str] = {}
    for row in content["annotations"]:
        first.setdefault(row["image_id"], row["caption"])
    path = folder / "captions.jsonl"
    rows = [{"image_id": image, "caption": text} for image, text in list(first.items())[:n_images]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def painted(folder: Path, n_images: int) -> Painted:
    """Run the suite on these captions, in a run directory of this folder."""
    model, detector = folder / "model", folder / "detector"
    if not model.exists():
        save_stable_diffusion(model)
        save_owlv2(detector, spelling_tokenizer(), n_tokens=64)
    begun = time.perf_counter()
    run = salva.run_suite(
        "actesting",
        f"diffusers/{model}",
        detector=f"owlv2/{detector}",
        size="full",
        out=folder / "run",
        settings={
            "suite.path": str(captions_file(folder, n_images)),
            "model.steps": "2",
            "run.preflight": "off",
            # Random weights are sure of nothing; above this some things are there and others are not.
            "check.threshold": "0.5",
            "check.doubt": "0",
        },
    )
    return Painted(run, time.perf_counter() - begun)


def main() -> None:
    """Run it once and print what each set holds and what it took."""
    if not CAPTIONS.exists():
        print(f"no {str(CAPTIONS)!r}, nothing measured; SALVA_TEST_DATA names the folder that has coco/")
        return
    n_images = int(sys.argv[1]) if len(sys.argv) > 1 else N_IMAGES
    with tempfile.TemporaryDirectory() as folder:
        run, seconds = painted(Path(folder), n_images)
        records = read_records(run.directory)
        with open_run(run.directory) as store:
            n_pictures, n_observations = sum(1 for _ in store.renders()), sum(1 for _ in store.observations())
    n_cases = Counter(case.category for case in records.cases)
    own = {(case.case_id, case.check): case.category for case in records.cases}
    verdicts = [v for v in records.verdicts if (v.case_id, v.check) in own]
    outcomes = Counter((own[v.case_id, v.check], str(v.outcome)) for v in verdicts)
    n_seeds = len({case.painting for case in records.cases})
    print(f"{'set':8}  pictures  {'PASS':>8}  {'FAIL':>8}  UNDECIDED  {'ERROR':>8}")
    print(f"{'orig':8}  {n_seeds:8d}")
    for name in OPERATORS:
        told = [outcomes[name, outcome] for outcome in ("PASS", "FAIL", "UNDECIDED", "ERROR")]
        print(f"{name:8}  {n_cases[name]:8d}  {told[0]:8d}  {told[1]:8d}  {told[2]:12d}  {told[3]:8d}")
    n_pairs = sum(n_cases.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{n_images} captions, {n_pairs} pairs, {n_pictures} images and {n_observations} observations in "
        f"{seconds:.0f} s (load {os.getloadavg()[0]:.1f}), up to {peak:.0f} MiB; an image for each text of each pair "
        f"would be {2 * n_pairs / n_pictures:.2f} times as many"
    )


if __name__ == "__main__":
    main()
