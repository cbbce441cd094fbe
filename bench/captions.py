"""How well captions are taken apart, against labels, and how fast.

Needs SALVA_TEST_DATA (the captions stay there; labels are pools by caption id) and the extra `captions`.

    python bench/captions.py [--count] [--show] [--plan] [--kinds]

--count: on the half of the labels that no rule was tuned on. --show: what is read otherwise. --plan: also plan 4,062
seeds in six sets. --kinds: only the counts for src/salva/english/predicate_kinds.toml, from half of the images.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Set
from pathlib import Path

from salva.english.captions.classes import LAST_WORDS, Classes
from salva.english.captions.plausible import KINDS, kinds_of
from salva.english.captions.reading import AND, pool_of
from salva.english.captions.spacy_reader import SpacyReader
from salva.english.captions.verbs import gerund
from salva.english.nouns import singular
from salva.suites.actesting.suite import Actesting, ActestingOptions

CAPTIONS = (
    Path(os.environ.get("SALVA_TEST_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    / "coco"
    / "captions_val2017_first1000.json"
)
LABELS = Path(__file__).parent / "labels" / "coco_pools.jsonl"
_CLASSES = Classes(kind="paper")
_LEAST_SAID = 4


def captions() -> dict[int, str]:
    """Caption id to caption."""
    content = json.loads(CAPTIONS.read_text())
    return {row["id"]: row["caption"].strip() for row in content["annotations"]}


def said(predicate: str) -> str:
    """What decides a predicate: the preposition where there is one, else the verb."""
    if predicate == AND:
        return predicate
    decided = _CLASSES.predicate(predicate)
    is_verb = decided == predicate and " " not in predicate and decided not in LAST_WORDS
    return gerund(decided, "VB") if is_verb else decided


def bare(name: str) -> str:
    """The head noun in the singular, without the ending of what comes in pairs."""
    return singular(name.lower().rpartition(" ")[2]).removesuffix("s")


def scores(half: str, show: bool = False) -> dict[str, tuple[float, float, float, int]]:
    """Precision, recall, F1 and how many were labelled, of things, triples and lists."""
    rows = [json.loads(line) for line in LABELS.read_text().splitlines()]
    rows = [row for row in rows if row["half"] == half]
    texts = captions()
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in ("things", "triples", "lists")}
    readings = SpacyReader().read([texts[row["caption_id"]] for row in rows])
    for row, reading in zip(rows, readings, strict=True):
        names = [bare(reading.text[mention.start : mention.end]) for mention in reading.mentions]
        triples = {(names[k.subject], k.predicate, names[k.object]) for k in reading.links}
        wanted = {(bare(s), p, bare(o)) for s, p, o in row["triples"]}
        found: dict[str, tuple[Set[object], Set[object]]] = {
            "things": ({bare(name) for name in row["entities"]}, set(names)),
            "triples": (
                {(s, said(p), o) for s, p, o in wanted if p != AND},
                {(s, said(p), o) for s, p, o in triples if p != AND and s != o},
            ),
            "lists": (
                {frozenset((s, o)) for s, p, o in wanted if p == AND},
                {frozenset((s, o)) for s, p, o in triples if p == AND and s != o},
            ),
        }
        for kind, (labelled, read) in found.items():
            counts[kind].update(hit=len(labelled & read), labelled=len(labelled), read=len(read))
            if show and labelled != read:
                print(
                    texts[row["caption_id"]],
                    "|",
                    kind,
                    "missing",
                    labelled - read,
                    "extra",
                    read - labelled,
                )
    return {kind: _f1(count) for kind, count in counts.items()}


def _f1(count: Counter[str]) -> tuple[float, float, float, int]:
    precision = count["hit"] / max(count["read"], 1)
    recall = count["hit"] / max(count["labelled"], 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return precision, recall, f1, count["labelled"]


def main() -> None:
    """Print the table."""
    if not CAPTIONS.exists():
        print(f"no {str(CAPTIONS)!r}, nothing measured; SALVA_TEST_DATA names the folder that has coco/")
        return
    if "--kinds" in sys.argv:
        print_kinds()
        return
    half = "count" if "--count" in sys.argv else "tune"
    print(f"{'of the half to ' + half:22} precision  recall     F1  labelled")
    for kind, (precision, recall, f1, n) in scores(half, show="--show" in sys.argv).items():
        print(f"{kind:22} {precision:9.3f} {recall:7.3f} {f1:6.3f} {n:9d}")
    texts = list(captions().values())
    reader = SpacyReader()
    parsed = Timed(lambda: sum(1 for _ in reader.parse(texts)))
    read = Timed(lambda: sum(len(reading.links) for reading in reader.read(texts)))
    print(f"{len(texts)} captions, {read.made} links (load {os.getloadavg()[0]:.1f})")
    print("                      captions/s  of the process's own time")
    for name, timed in (("parsed", parsed), ("taken apart", read)):
        print(f"{name:22} {len(texts) / timed.seconds:10.0f} {len(texts) / timed.own:26.0f}")
    print(f"{'ratio':22} {parsed.seconds / read.seconds:10.2f} {parsed.own / read.own:26.2f}")
    if "--plan" in sys.argv:
        plan(texts, read)


def print_kinds() -> None:
    """Print how often captions of half of the images say a predicate of what kinds of subject and object."""
    rows = json.loads(CAPTIONS.read_text())["annotations"]
    texts = [row["caption"].strip() for row in rows if is_for_rules(row["image_id"])]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for reading in SpacyReader().read(texts):
        for triple in pool_of(reading, _CLASSES).triples:
            counts[triple.predicate][kinds_of(triple)] += 1
    for predicate, count in sorted(counts.items()):
        if count.total() >= _LEAST_SAID:
            print(f'"{predicate}" = {[count[kinds] for kinds in KINDS]}')


def is_for_rules(image: int) -> bool:
    """Whether an image's captions are of the half that rules are chosen on."""
    return int(hashlib.sha256(f"half {image}".encode()).hexdigest(), 16) % 2 == 0


class Timed:
    """Something done once: what it made, and what it took."""

    def __init__(self, make: Callable[[], int]) -> None:
        begun, spent = time.perf_counter(), time.process_time()
        self.made = make()
        self.seconds, self.own = time.perf_counter() - begun, time.process_time() - spent


def plan(texts: list[str], read: Timed) -> None:
    """Time 4,062 seeds in six sets, planned and read back: every caption stands for an image of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "captions.jsonl"
        path.write_text("".join(json.dumps({"image_id": n, "caption": text}) + "\n" for n, text in enumerate(texts)))
        suite = Actesting(ActestingOptions(path=str(path)))
        before = _peak()
        planned = Timed(lambda: sum(1 for _ in suite.cases("paper")))
        print("\n".join(suite.remarks("paper")))
    print(
        f"{planned.made} cases planned in {planned.seconds:.0f} s, {planned.own:.0f} s of its own time, "
        f"{planned.own / read.own:.1f} times what taking all {len(texts)} captions apart took; "
        f"at most {_peak():.0f} MiB, {before:.0f} before"
    )


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
