"""How far the detector can be believed about pocket's pictures: paint some, have them looked at, compare.

    python training/audit_pocket.py paint                         pictures, numbered sheets and a list to fill in
    python training/audit_pocket.py score --by "who looked"       compare; writes the table into the docs page, and
                                                                  an asset (then: make_sprites.py --checksums)

The list, labels.csv, has one line for each picture: in `seen`, the name of every thing from left to right ("cat dog
dog"), a ? for a shape that is no thing, nothing for an empty picture. Whoever looks sees the sheets alone: neither
prompts (asked.csv) nor detections.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from pocket_questions import questions

from salva.core.case import Prompt
from salva.core.image import Picture
from salva.core.observation import Detection, Detections
from salva.core.protocols import LookRequest, Query, Rendered, RenderRequest
from salva.core.seeing import counting
from salva.generators.pocket import Pocket, PocketOptions
from salva.perception.detectors.pocket_detector import PocketDetector
from salva.stats.intervals import wilson
from salva.suites.metalogic.suite import MetaLogic, MetaLogicOptions

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "audit" / "pocket"
AUDIT = ROOT / "src" / "salva" / "assets" / "audits" / "pocket.json"
PAGE = ROOT / "docs" / "explanation" / "pocket-audit.md"
BEGIN, END = "<!-- audit: written by training/audit_pocket.py -->", "<!-- audit: end -->"
N_PICTURES, N_LOGIC = 200, 60
SEED = 20_261
COLUMNS = 5
A_SHEET = COLUMNS * COLUMNS
CELL = 192
NEAR = 0.05
"""Centres closer than this on the axis may stand in either order."""
BLOB = "?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What the detector said of one picture, against what was seen."""

    number: int
    category: str
    seen: tuple[str, ...]
    detected: tuple[str, ...]
    errors: tuple[str, ...] = ()
    missed: Counter[str] = field(default_factory=Counter)
    invented: Counter[str] = field(default_factory=Counter)


def choose() -> list[tuple[str, str]]:
    """Category and prompt of each picture: held-out sentences of every kind and wordings of MetaLogic."""
    rng = random.Random(SEED)
    asked = [(question.category, question.text) for question in questions(40, seed=SEED)]
    suite = MetaLogic(MetaLogicOptions())
    wordings = {
        prompt.text: f"MetaLogic {case.labels['law']}"
        for size in ("paper", "beyond")
        for case in suite.cases(size)
        for prompt in case.prompts
        if "count" not in case.labels
    }
    chosen = rng.sample(asked, N_PICTURES - N_LOGIC)
    chosen += [(law, text) for text, law in rng.sample(sorted(wordings.items()), N_LOGIC)]
    rng.shuffle(chosen)
    return chosen


def paint(folder: Path) -> None:
    """Pictures, sheets, what was asked, and the list to fill in; refuses to write over a filled list."""
    if is_labelled(folder):
        raise SystemExit(f"{str(folder / 'labels.csv')!r} is filled in; move it away to begin a new audit")
    folder.mkdir(parents=True, exist_ok=True)
    chosen = choose()
    requests = [RenderRequest(prompt=Prompt(role="a", text=text), seed=SEED + i) for i, (_, text) in enumerate(chosen)]
    pictures = []
    for outcome in Pocket(PocketOptions()).render(requests):
        if not isinstance(outcome, Rendered):
            raise SystemExit(f"a picture could not be painted: {outcome}")
        pictures.append(to_array(outcome.picture))
    # Lossless and side by side: what is scored later is what was painted, on any machine.
    rows = [np.concatenate(pictures[i : i + 20], 1) for i in range(0, N_PICTURES, 20)]
    Image.fromarray(np.concatenate(rows)).save(folder / "pictures.webp", lossless=True)
    for i in range(0, N_PICTURES, A_SHEET):
        save_sheet(pictures[i : i + A_SHEET], i + 1, folder / f"sheet-{i // A_SHEET + 1}.png")
    write_csv(folder / "asked.csv", ("number", "category", "seed", "prompt"),
              [(i + 1, category, SEED + i, text) for i, (category, text) in enumerate(chosen)])  # fmt: skip
    write_csv(folder / "labels.csv", ("number", "seen", "note"), [(i + 1, "", "") for i in range(N_PICTURES)])


def to_array(picture: Picture) -> np.ndarray:
    """[h, w, 3] bytes."""
    return np.frombuffer(picture.rgb, np.uint8).reshape(picture.height, picture.width, 3)


def save_sheet(pictures: Sequence[np.ndarray], first: int, path: Path) -> None:
    """Enlarged pictures with their numbers."""
    step = CELL + 26
    sheet = Image.new("RGB", (COLUMNS * step, -(-len(pictures) // COLUMNS) * step), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(18)
    for i, pixels in enumerate(pictures):
        x, y = i % COLUMNS * step, i // COLUMNS * step
        sheet.paste(Image.fromarray(pixels).resize((CELL, CELL), Image.Resampling.BICUBIC), (x + 4, y + 24))
        pen.text((x + 6, y + 1), str(first + i), fill="black", font=font)
    sheet.save(path, optimize=True)


def write_csv(path: Path, names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A small table with a head."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


def read_csv(path: Path) -> list[dict[str, str]]:
    """A table by its head."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def is_labelled(folder: Path) -> bool:
    """Whether somebody has looked: an empty picture is rare, so a list without a word is a list not filled."""
    path = folder / "labels.csv"
    return path.is_file() and any(row["seen"].strip() for row in read_csv(path))


def read_pictures(folder: Path) -> list[Picture]:
    """The audited pictures, to the pixel."""
    with Image.open(folder / "pictures.webp") as image:
        pixels = np.asarray(image.convert("RGB"))
    side = pixels.shape[1] // 20
    cells = [
        pixels[y : y + side, x : x + side] for y in range(0, pixels.shape[0], side) for x in range(0, side * 20, side)
    ]
    return [Picture(rgb=np.ascontiguousarray(cell).tobytes(), width=side, height=side) for cell in cells]


def compare(folder: Path) -> list[Compared]:
    """The detector against the labels, picture by picture."""
    asked, labels = read_csv(folder / "asked.csv"), read_csv(folder / "labels.csv")
    known = {*PocketDetector.labels(), BLOB}
    detector = PocketDetector(PocketDetector.Options())
    results = []
    for question, label, picture in zip(asked, labels, read_pictures(folder), strict=True):
        seen = tuple(label["seen"].split())
        strange = [name for name in seen if name not in known]
        if strange or label["number"] != question["number"]:
            raise SystemExit(
                f"labels.csv, picture {label['number']}: {strange or 'lines out of order'}; use {sorted(known)}"
            )
        (found,) = detector.look([LookRequest(picture=picture, query=Query(role="detector"))])
        assert isinstance(found, Detections), found
        results.append(compare_one(int(label["number"]), question["category"], seen, counting(found)))
    return results


def compare_one(number: int, category: str, seen: tuple[str, ...], boxes: Sequence[Detection]) -> Compared:
    """One picture; a shape that is no thing may be detected as anything or not at all."""
    boxes = sorted(boxes, key=_middle)
    detected = tuple(box.label for box in boxes)
    wanted, got = Counter(name for name in seen if name != BLOB), Counter(detected)
    missed, invented = wanted - got, got - wanted
    n_blobs = seen.count(BLOB)
    for label in list(invented):
        taken = min(n_blobs, invented[label])
        n_blobs, invented[label] = n_blobs - taken, invented[label] - taken
    invented = +invented
    strange = sum(n for label, n in invented.items() if label not in wanted)
    errors = ["misnamed"] if missed and strange else []
    if missed.total() > strange:
        errors += sorted({"counted too few" if label in got else "missed" for label in missed})
    if strange > missed.total():
        errors.append("invented")
    if any(label in wanted for label in invented):
        errors.append("counted too many")
    if not errors and BLOB not in seen and not _same_order(seen, boxes):
        errors.append("order")
    return Compared(
        number=number,
        category=category,
        seen=seen,
        detected=detected,
        errors=tuple(errors),
        missed=missed,
        invented=invented,
    )


def _middle(box: Detection) -> float:
    return (box.box[0] + box.box[2]) / 2


def _same_order(seen: tuple[str, ...], boxes: Sequence[Detection]) -> bool:
    """Whether the labels can be read off the boxes from left to right, near ones in either order."""
    left = list(boxes)
    for name in seen:
        edge = _middle(left[0]) + NEAR
        match = next((box for box in left if box.label == name and _middle(box) <= edge), None)
        if match is None:
            return False
        left.remove(match)
    return True


def tables(results: Sequence[Compared], by: str) -> str:
    """The docs page's part, as Markdown."""
    right = sum(not result.errors for result in results)
    around = wilson(right / len(results), len(results))
    n_blobs = sum(BLOB in result.seen for result in results)
    lines = [
        f"{len(results)} pictures, looked at by {by}. The detector says exactly what was seen for {right} of them: "
        f"**{100 * right / len(results):.1f} %** (95 % interval {100 * around.low:.1f} to {100 * around.high:.1f}). "
        f"Pictures with a shape that is no thing: {n_blobs}.",
        "",
    ]
    by_error = defaultdict(list)
    for result in results:
        for error in set(result.errors):
            by_error[error].append(result.number)
    lines += ["| error | pictures | which |", "|---|---|---|"] if by_error else ["No error of any kind."]
    for error, numbers in sorted(by_error.items(), key=lambda item: -len(item[1])):
        lines.append(f"| {error} | {len(numbers)} | {', '.join(map(str, numbers))} |")
    lines += ["", "| thing | seen | found | invented |", "|---|---|---|---|"]
    seen, missed, invented = Counter[str](), Counter[str](), Counter[str]()
    for result in results:
        seen.update(name for name in result.seen if name != BLOB)
        missed.update(result.missed)
        invented.update(result.invented)
    for name in sorted({*seen, *invented}):
        found = f"{seen[name] - missed[name]} ({100 * (1 - missed[name] / seen[name]):.0f} %)" if seen[name] else "-"
        lines.append(f"| {name} | {seen[name]} | {found} | {invented[name]} |")
    lines += ["", "| pictures asked for | exactly right |", "|---|---|"]
    kinds = defaultdict(list)
    for result in results:
        kinds["MetaLogic" if result.category.startswith("MetaLogic") else result.category].append(not result.errors)
    lines += [f"| {kind} | {sum(marks)} of {len(marks)} |" for kind, marks in sorted(kinds.items())]
    return "\n".join(lines)


def main() -> None:
    """Paint or score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("paint", "score"))
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--by", help="score: who or what looked at the pictures")
    args = parser.parse_args()
    if args.verb == "paint":
        paint(args.folder)
        return
    if not args.by:
        parser.error("score needs --by: the page says who or what looked")
    if not is_labelled(args.folder):
        raise SystemExit(f"{str(args.folder / 'labels.csv')!r} is not filled in; look at the sheets first")
    results = compare(args.folder)
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables(results, args.by)}\n\n{END}{after}", encoding="utf-8")
    for result in results:
        if result.errors:
            print(f"{result.number}: seen {' '.join(result.seen) or '-'}; detected {' '.join(result.detected) or '-'}; "
                  f"{', '.join(result.errors)}")  # fmt: skip
    right = sum(not result.errors for result in results)
    # Beside the weights, so that the report of a run can say how far its detector was checked.
    AUDIT.parent.mkdir(exist_ok=True)
    audit = {"model": "pocket", "detector": "pocket", "n_pictures": len(results), "n_right": right, "by": args.by}
    audit |= {"sheets": "docs/audit/pocket", "told_in": "docs/explanation/pocket-audit.md"}
    AUDIT.write_text(json.dumps(audit, indent=1) + "\n")
    print(f"{right} of {len(results)} exactly right")


if __name__ == "__main__":
    main()
