"""A hundred mutants of COCO's captions to read aloud, and how many of them sound like English.

Drawn from the mutants of all seeds, the same ones every time. Labels lie in bench/labels by image and operator, with a
digest of the sentence: a sentence that has changed since it was read counts as unread. Needs SALVA_TEST_DATA and the
extra `captions`.

    python bench/mutants_aloud.py [--unread]      --unread: only those without a label, as lines to fill in
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from salva.core.case import Case
from salva.core.fingerprint import fingerprint
from salva.stats.intervals import wilson
from salva.suites.actesting.suite import Actesting, ActestingOptions

CAPTIONS = (
    Path(os.environ.get("SALVA_TEST_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    / "coco"
    / "captions_val2017_first1000.json"
)
LABELS = Path(__file__).parent / "labels" / "mutants_aloud.jsonl"
N_READ = 100


def drawn() -> list[Case]:
    """The cases whose mutants are read."""
    cases = list(Actesting(ActestingOptions(path=str(CAPTIONS))).cases("full"))
    return random.Random("read aloud").sample(cases, N_READ)


def labels() -> Iterator[tuple[tuple[str, str, str], tuple[bool, str]]]:
    """Image, operator and digest of a sentence, to whether it is English and why not."""
    for line in LABELS.read_text(encoding="utf-8").splitlines() if LABELS.exists() else ():
        row = json.loads(line)
        yield (row["image"], row["operator"], row["sentence"]), (row["is_english"], row.get("why", ""))


def main() -> None:
    """Print the sentences, and the share."""
    if not CAPTIONS.exists():
        print(f"no {str(CAPTIONS)!r}, nothing measured; SALVA_TEST_DATA names the folder that has coco/")
        return
    known = dict(labels())
    n_english = n_read = 0
    for case in drawn():
        text = case.prompts[1].text
        key = (case.cluster, case.category, fingerprint(text)[:12])
        label = known.get(key)
        if label is None and "--unread" in sys.argv:
            print(json.dumps(dict(zip(("image", "operator", "sentence"), key, strict=True)) | {"is_english": text}))
        elif "--unread" not in sys.argv:
            mark = "?" if label is None else " " if label[0] else "x"
            print(f"{mark} {case.category:8} {text}{f'   [{label[1]}]' if label and label[1] else ''}")
        n_read += label is not None
        n_english += label is not None and label[0]
    if n_read:
        ends = wilson(n_english / n_read, n_read)
        print(f"{n_english} of {n_read} read aloud are English ({ends.low:.0%} to {ends.high:.0%})", file=sys.stderr)


if __name__ == "__main__":
    main()
