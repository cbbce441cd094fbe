"""How far the oracle can be believed about pocket's pictures: choose hard ones, have them looked at, compare.

    python training/audit_pocket.py paint                         pictures, numbered sheets and two lists to fill in
    python training/audit_pocket.py score --by "who looked"       compare; writes the tables into the docs page, and
                                                                  an asset (then: make_sprites.py --checksums)

960 pictures are painted; 300 are taken where detector, embedder and formula disagree or a box is in doubt, 100 of the
rest at random. The lists, labels-1.csv and labels-2.csv, are filled in by two who know nothing of each other, with one
line for each picture: in `across` the name of every thing from left to right ("cat dog dog"), in `down` the same from
top to bottom, a ? for a shape that is no thing, nothing for an empty picture, and `text` says yes where letters are to
be read. Whoever looks sees the sheets alone: neither prompts (asked.csv) nor detections.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from pocket_questions import Question, questions
from second_opinion import SecondOpinion

from salva.core.boxes import boxes_above
from salva.core.case import Prompt
from salva.core.image import Picture
from salva.core.observation import Detections
from salva.core.protocols import ObserveRequest, Query, Rendered, RenderRequest
from salva.core.scene import Scene, Thing
from salva.detectors.pocket_detector import PocketDetector
from salva.generators.pocket import Pocket, PocketOptions
from salva.logic.formula import Formula, entities
from salva.logic.notation import parse
from salva.logic.satisfaction import discrepancies, satisfies
from salva.stats.intervals import wilson
from salva.suites.metalogic.suite import MetaLogic, MetaLogicOptions

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "audit" / "pocket"
AUDIT = ROOT / "src" / "salva" / "assets" / "audits" / "pocket.json"
PAGE = ROOT / "docs" / "explanation" / "pocket-audit.md"
BEGIN, END = "<!-- audit: written by training/audit_pocket.py -->", "<!-- audit: end -->"
N_EACH, N_LOGIC = 40, 480
"""Painted: so many sentences of each of twelve kinds, and so many wordings of MetaLogic."""
N_HARD, N_RANDOM = 300, 100
SEED = 20_262
COLUMNS = 5
A_SHEET = COLUMNS * COLUMNS
CELL = 192
A_ROW = 20
"""Pictures side by side in the file that keeps them."""
BLOB = "?"
NEAR = 0.08
"""Centres closer than this on the axis may stand in either order."""
LABELS = ("labels-1.csv", "labels-2.csv")
THRESHOLD, FLOOR = 0.4, 0.15
PLACED = {*"@_0123456789"}
"""Signs of places, relations and numbers, of which an embedder says little."""
ERRORS = {
    "missing": "entity-omission",
    "extra": "entity-duplication",
    "forbidden": "entity-forbidden",
    "x-misplaced": "x-misposition",
    "y-misplaced": "y-misposition",
}
AXES = {"left_of": "x-misposition", "right_of": "x-misposition", "above": "y-misposition", "below": "y-misposition"}
TYPES = (*ERRORS.values(), "optical-character")


@dataclass(frozen=True, slots=True, kw_only=True)
class Painted:
    """A picture and what it should show."""

    category: str
    text: str
    formula: str
    seed: int
    picture: Picture


def formula_of(question: Question) -> str:
    """What a sentence asks for, without its colours, which nobody writes down."""
    atoms = [
        f"{f'{group.n} ' if group.n > 1 else ''}{group.thing}{f'@{group.place}' if group.place else ''}"
        for group in question.groups
    ]
    if question.relation:
        first, second = (group.thing for group in question.groups)
        atoms.append(f"{question.relation.replace(' ', '_')}({first}, {second})")
    return " & ".join(atoms)


def pool() -> list[tuple[str, str, str]]:
    """Category, prompt and formula of every picture that is painted."""
    rng = random.Random(SEED)
    asked = [(question.category, question.text, formula_of(question)) for question in questions(N_EACH, seed=SEED)]
    suite = MetaLogic(MetaLogicOptions())
    wordings = {
        prompt.text: (f"MetaLogic {case.labels['law']}", prompt.text, prompt.formula)
        for size in ("paper", "beyond")
        for case in suite.cases(size)
        for prompt in case.prompts
        if "count" not in case.labels and prompt.formula
    }
    return asked + rng.sample([wordings[text] for text in sorted(wordings)], N_LOGIC)


def paint_pool() -> list[Painted]:
    """Every picture, painted once."""
    asked = pool()
    requests = [
        RenderRequest(prompt=Prompt(role="a", text=text), seed=SEED + i) for i, (_, text, _) in enumerate(asked)
    ]
    outcomes = Pocket(PocketOptions()).render(requests)
    painted = []
    for (category, text, formula), request, outcome in zip(asked, requests, outcomes, strict=True):
        if not isinstance(outcome, Rendered):
            raise SystemExit(f"a picture could not be painted: {outcome}")
        painted.append(
            Painted(category=category, text=text, formula=formula, seed=request.seed, picture=outcome.picture)
        )
    return painted


def look(detector: PocketDetector, picture: Picture) -> Detections:
    """What the detector sees, doubtful boxes included."""
    (seen,) = detector.observe([ObserveRequest(picture=picture, query=Query(role="detector"))])
    assert isinstance(seen, Detections), seen
    return seen


def scene_of(seen: Detections) -> Scene:
    """The boxes that count."""
    return Scene(things=tuple(Thing(label=box.label, box=box.box) for box in boxes_above(seen)))


def choose(painted: Sequence[Painted]) -> list[tuple[Painted, str]]:
    """The pictures to look at, each with how it was chosen, shuffled."""
    detector, opinion, rng = PocketDetector(PocketDetector.Options()), SecondOpinion(), random.Random(SEED)
    disputed: set[int] = set()
    doubts = []
    for i, one in enumerate(painted):
        seen, formula = look(detector, one.picture), parse(one.formula)
        doubts.append(min((abs(box.score - THRESHOLD) for box in seen.boxes if box.score >= FLOOR), default=1.0))
        if not PLACED & {*one.formula}:
            shown = opinion.shown(one.picture, sorted(entities(formula)))
            box = (0.4, 0.4, 0.6, 0.6)
            taken_for = Scene(things=tuple(Thing(label=name, box=box) for name in shown))
            if satisfies(formula, taken_for) != satisfies(formula, scene_of(seen)):
                disputed.add(i)
    hard = sorted(range(len(painted)), key=lambda i: (i not in disputed, doubts[i]))[:N_HARD]
    rest = sorted(set(range(len(painted))) - set(hard))
    chosen = [(painted[i], "disputed" if i in disputed else "in doubt") for i in hard]
    chosen += [(painted[i], "at random") for i in rng.sample(rest, N_RANDOM)]
    rng.shuffle(chosen)
    return chosen


def paint(folder: Path) -> None:
    """Pictures, sheets, what was asked, and the lists to fill in; refuses to write over a filled list."""
    if is_labelled(folder):
        raise SystemExit(f"a list in {str(folder)!r} is filled in; move the folder away to begin a new audit")
    folder.mkdir(parents=True, exist_ok=True)
    chosen = choose(paint_pool())
    pictures = [to_array(one.picture) for one, _ in chosen]
    # Lossless and side by side: what is scored later is what was painted, on any machine.
    rows = [np.concatenate(pictures[i : i + A_ROW], 1) for i in range(0, len(pictures), A_ROW)]
    Image.fromarray(np.concatenate(rows)).save(folder / "pictures.webp", lossless=True, quality=100, method=6)
    for i in range(0, len(pictures), A_SHEET):
        save_sheet(pictures[i : i + A_SHEET], i + 1, folder / f"sheet-{i // A_SHEET + 1}.png")
    asked = [(i + 1, how, one.category, one.seed, one.text, one.formula) for i, (one, how) in enumerate(chosen)]
    write_csv(folder / "asked.csv", ("number", "chosen", "category", "seed", "prompt", "formula"), asked)
    for name in LABELS:
        write_csv(folder / name, ("number", "across", "down", "text"), [(i + 1, "", "", "") for i in range(len(asked))])


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
    paths = [folder / name for name in LABELS]
    return any(path.is_file() and any(row["across"].strip() for row in read_csv(path)) for path in paths)


def read_pictures(folder: Path) -> list[Picture]:
    """The audited pictures, to the pixel."""
    with Image.open(folder / "pictures.webp") as image:
        pixels = np.asarray(image.convert("RGB"))
    side = pixels.shape[1] // A_ROW
    cells = [
        pixels[y : y + side, x : x + side]
        for y in range(0, pixels.shape[0], side)
        for x in range(0, side * A_ROW, side)
    ]
    return [Picture(rgb=np.ascontiguousarray(cell).tobytes(), width=side, height=side) for cell in cells]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one who looked wrote down."""

    across: tuple[str, ...]
    down: tuple[str, ...]
    has_text: bool

    def scene(self, detected: Scene) -> Scene:
        """The things written down: where the detector puts them, as far as that has the order written down.

        Orders say nothing of halves, so a thing's place is taken from its box; a thing without one, and all things
        where boxes stand in another order than was seen, are spread out in the order seen.
        """
        n, rows, boxes = max(len(self.across), 1), list(self.down), defaultdict(list)
        for thing in sorted(detected.things, key=lambda thing: thing.x):
            boxes[thing.label].append(thing)
        placed, spread = [], []
        for i, label in enumerate(self.across):
            j = rows.index(label)
            rows[j] = ""
            spot = ((i + 0.4) / n, (j + 0.4) / n, (i + 0.6) / n, (j + 0.6) / n)
            spread.append(Thing(label=label, box=spot))
            placed.append(boxes[label].pop(0) if boxes[label] else spread[-1])
        is_told = in_order(self.across, [(thing.x, thing.label) for thing in placed]) and in_order(
            self.down, [(thing.y, thing.label) for thing in placed]
        )
        return Scene(things=tuple(placed if is_told else spread))


def in_order(names: Sequence[str], places: list[tuple[float, str]]) -> bool:
    """Whether the names can be read off the places, near ones in either order."""
    left = sorted(places)
    for name in names:
        match = next((place for place in left if place[1] == name and place[0] <= left[0][0] + NEAR), None)
        if match is None:
            return False
        left.remove(match)
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One picture: what both who looked saw, and what the oracle says."""

    number: int
    chosen: str
    category: str
    labels: tuple[Seen, Seen]
    detected: tuple[str, ...]
    is_exact: bool
    """The detector names the same things in the same numbers."""
    true_errors: frozenset[str]
    oracle_errors: frozenset[str]

    @property
    def is_agreed(self) -> bool:
        """Whether both saw the same, and no shape that is no thing."""
        one, other = self.labels
        return Counter(one.across) == Counter(other.across) and BLOB not in one.across


def read_labels(path: Path) -> list[Seen]:
    """One list; a word that is no thing, or two columns that differ, stop everything."""
    names = {*PocketDetector.labels(), BLOB}
    labels = []
    for row in read_csv(path):
        across, down = tuple(row["across"].split()), tuple(row["down"].split())
        strange = sorted({*across, *down} - names)
        if strange or Counter(across) != Counter(down):
            raise SystemExit(f"{path.name}, picture {row['number']}: {strange or 'across and down differ'}")
        labels.append(Seen(across=across, down=down, has_text=row["text"].strip() == "yes"))
    return labels


def failure_types_of(formula: Formula, scene: Scene, *, has_text: bool) -> frozenset[str]:
    """The error types of a picture."""
    wrong = {
        AXES.get(one.relation.relation, one.kind) if one.relation is not None else ERRORS.get(one.kind, one.kind)
        for one in discrepancies(formula, scene)
    }
    return frozenset(wrong | ({"optical-character"} if has_text else set()))


def compare(folder: Path) -> list[Compared]:
    """The detector against both lists, picture by picture; places are the first one's."""
    both = [read_labels(folder / name) for name in LABELS]
    detector = PocketDetector(PocketDetector.Options())
    results = []
    for question, one, other, picture in zip(read_csv(folder / "asked.csv"), *both, read_pictures(folder), strict=True):
        seen, formula = scene_of(look(detector, picture)), parse(question["formula"])
        detected = tuple(thing.label for thing in sorted(seen.things, key=lambda thing: thing.x))
        results.append(
            Compared(
                number=int(question["number"]),
                chosen=question["chosen"],
                category=question["category"],
                labels=(one, other),
                detected=detected,
                is_exact=Counter(detected) == Counter(one.across),
                true_errors=failure_types_of(formula, one.scene(seen), has_text=one.has_text),
                oracle_errors=failure_types_of(formula, seen, has_text=False),
            )
        )
    return results


def share(n: int, of: int) -> str:
    """A share with its interval."""
    if not of:
        return "-"
    around = wilson(n / of, of)
    return f"{100 * n / of:.1f} % ({100 * around.low:.0f} to {100 * around.high:.0f}), {n} of {of}"


def tables(results: Sequence[Compared], by: str) -> str:
    """The docs page's part, as Markdown."""
    agreed = [result for result in results if result.is_agreed]
    lines = [
        f"{len(results)} images, each labelled twice by {by}. Both labels name the same entities in the same numbers, "
        f"and no unknown shape, for {len(agreed)}; the others are left out below.",
        "",
        "| images | exactly | same truth |",
        "|---|---|---|",
    ]
    for name in ("disputed", "in doubt", "at random"):
        some = [result for result in agreed if result.chosen == name]
        exact = share(sum(result.is_exact for result in some), len(some))
        same = share(sum(bool(r.true_errors) == bool(r.oracle_errors) for r in some), len(some))
        lines.append(f"| {name} | {exact} | {same} |")
    lines += ["", "| failure type | in the images | precision | recall |", "|---|---|---|---|"]
    for kind in TYPES:
        there = {result.number for result in agreed if kind in result.true_errors}
        said = {result.number for result in agreed if kind in result.oracle_errors}
        precision, recall = share(len(there & said), len(said)), share(len(there & said), len(there))
        lines.append(f"| {kind} | {len(there)} | {precision} | {recall} |")
    lines += ["", "Entities with an error; all others were found each time and never invented.", ""]
    lines += ["| entity | in the images | missed | invented |", "|---|---|---|---|"]
    seen, missed, invented = Counter[str](), Counter[str](), Counter[str]()
    for result in agreed:
        wanted, got = Counter(result.labels[0].across), Counter(result.detected)
        seen, missed, invented = seen + wanted, missed + (wanted - got), invented + (got - wanted)
    wrong = sorted({*missed, *invented})
    lines += [f"| {name} | {seen[name]} | {missed[name]} | {invented[name]} |" for name in wrong]
    others = sum(seen[name] for name in seen if name not in wrong)
    lines += [f"| {len({*seen} - {*wrong})} others | {others} | 0 | 0 |"]
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
        raise SystemExit(f"the lists in {str(args.folder)!r} are not filled in; look at the sheets first")
    results = compare(args.folder)
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables(results, args.by)}\n\n{END}{after}", encoding="utf-8")
    agreed = [result for result in results if result.is_agreed]
    for result in agreed:
        if not result.is_exact:
            print(f"{result.number}: seen {' '.join(result.labels[0].across) or '-'}; "
                  f"detected {' '.join(result.detected) or '-'}")  # fmt: skip
    right = sum(result.is_exact for result in agreed)
    # Beside the weights, so that the report of a run can say how far its detector was checked.
    AUDIT.parent.mkdir(exist_ok=True)
    audit = {"model": "pocket", "detector": "pocket", "n_pictures": len(agreed), "n_right": right, "by": args.by}
    audit |= {"sheets": "docs/audit/pocket", "told_in": "docs/explanation/pocket-audit.md"}
    AUDIT.write_text(json.dumps(audit, indent=1) + "\n")
    print(f"{right} of {len(agreed)} exactly right")


if __name__ == "__main__":
    main()
