"""Measures the shipped detector on scenes the painter draws with seeds that training never used.

    python training/evaluate_detector.py [--scenes 2000] [--sheet failures.png] [--weights detector.onnx]
    SALVA_TEST_DATA=FOLDER python training/evaluate_detector.py --scenes 0 --hard 200    turned, tiny, covered and cut

Prints how many scenes are exactly right by number of things, what was confused with what, false alarms
on pictures without things, and the same for pictures made soft and small. A scene is right when labels
and counts agree and, on both axes, so does the order of any two centres that lie at least 2 % of the
side apart; a hard one when labels and counts agree. Photo grounds are parts of the pictures in FOLDER/real_images.
"""

from __future__ import annotations

import argparse
import os
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFilter

from salva.core.boxes import boxes_above
from salva.core.image import Picture
from salva.core.observation import Detection, Detections
from salva.core.protocols import ObserveRequest, Query
from salva.core.scene import Thing
from salva.detectors.pocket_detector import PocketDetector, find_boxes, to_input
from salva.generators.painter.background import draw_background
from salva.generators.painter.component import random_scene
from salva.generators.painter.drawing import TextStrip, _sprite, draw, sprite_index, text_box_size

FIRST_SEED = 900_000_000
LANCZOS = Image.Resampling.LANCZOS
TIE = 0.02


def to_image(picture: Picture) -> Image.Image:
    """The picture as Pillow has it."""
    return Image.frombytes("RGB", (picture.width, picture.height), picture.rgb)


def to_picture(image: Image.Image) -> Picture:
    """The picture as salva has it."""
    return Picture(rgb=image.convert("RGB").tobytes(), width=image.width, height=image.height)


def match(things: Sequence[Thing], seen: Sequence[Detection]) -> list[tuple[Thing, Detection]] | None:
    """Each thing with the nearest box of its label; None when the counts differ."""
    if Counter(t.label for t in things) != Counter(d.label for d in seen):
        return None
    left, pairs = list(seen), []
    for thing in things:
        mine = [d for d in left if d.label == thing.label]
        best = min(mine, key=lambda d: abs(centre(d)[0] - thing.x) + abs(centre(d)[1] - thing.y))
        left.remove(best)
        pairs.append((thing, best))
    return pairs


def centre(detection: Detection) -> tuple[float, float]:
    """The middle of a box."""
    x0, y0, x1, y1 = detection.box
    return (x0 + x1) / 2, (y0 + y1) / 2


def is_right(things: Sequence[Thing], seen: Sequence[Detection]) -> bool:
    """Whether labels, counts and order agree."""
    pairs = match(things, seen)
    if pairs is None:
        return False
    for axis in (0, 1):
        for i, (one, one_seen) in enumerate(pairs):
            for other, other_seen in pairs[:i]:
                true = (one.x, one.y)[axis] - (other.x, other.y)[axis]
                found = centre(one_seen)[axis] - centre(other_seen)[axis]
                if abs(true) >= TIE and true * found <= 0:
                    return False
    return True


def look(detector: Any, picture: Picture) -> tuple[Detection, ...]:
    """What the detector sees; an error stops the evaluation."""
    (seen,) = detector.observe([ObserveRequest(picture=picture, query=Query(role="detector"))])
    assert isinstance(seen, Detections), seen
    return boxes_above(seen)


def soften(picture: Picture, rng: random.Random) -> Picture:
    """A stand-in for a small generative model's picture: 96 to 128 px and blurred."""
    side = rng.choice((96, 112, 128))
    image = to_image(picture).resize((side, side), Image.Resampling.BILINEAR)
    return to_picture(image.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 0.8))))


def draw_failure(picture: Picture, things: Sequence[Thing], seen: Sequence[Detection]) -> Image.Image:
    """The picture with what is there (green) and what was seen (red)."""
    image = to_image(picture).resize((256, 256))
    pen = ImageDraw.Draw(image)
    for thing in things:
        pen.rectangle([edge * 256 for edge in thing.box], outline="green")
    for detection in seen:
        pen.rectangle([edge * 256 for edge in detection.box], outline="red")
        pen.text(
            (detection.box[0] * 256, detection.box[1] * 256), f"{detection.label} {detection.score:.2f}", fill="red"
        )
    return image


Wear = Callable[[Picture, random.Random], Picture]


def measure(
    detector: Any,
    n_scenes: int,
    name: str,
    *,
    wear: Wear | None = None,
    text: str = "",
    colours: float = 0.0,
) -> list[Image.Image]:
    """Print a table for one kind of picture; the failures come back as pictures."""
    by_count: dict[int, list[bool]] = defaultdict(list)
    errors: Counter[str] = Counter()
    failures, apart = [], []
    for i in range(n_scenes):
        rng = random.Random(FIRST_SEED + i)
        n_things = 1 + i % 11
        picture, things = random_scene(rng, PocketDetector.labels(), n_things, 256, text=text, colour_rate=colours)
        if wear is not None:
            picture = wear(picture, rng)
        seen = look(detector, picture)
        right = is_right(things, seen)
        by_count[n_things].append(right)
        for thing, detection in match(things, seen) or ():
            x, y = centre(detection)
            apart.append(max(abs(x - thing.x), abs(y - thing.y)))
        if not right:
            true, found = Counter(t.label for t in things), Counter(d.label for d in seen)
            errors[f"missed {sorted((true - found).elements())}, imagined {sorted((found - true).elements())}"] += 1
            failures.append(draw_failure(picture, things, seen))
    total = [right for rights in by_count.values() for right in rights]
    print(f"{name}: {sum(total)} of {len(total)} exactly right ({sum(total) / len(total):.2%})")
    for count in sorted(by_count):
        print(f"  {count:2d} things: {sum(by_count[count])}/{len(by_count[count])}")
    apart.sort()
    print(f"  centres off by {apart[len(apart) // 2]:.4f} of the side in the middle, {apart[-1]:.4f} at most")
    for error, times in errors.most_common(30):
        print(f"  {times} x {error}")
    return failures


def false_alarms(detector: Any, n_pictures: int) -> list[Image.Image]:
    """Print how often something is seen where nothing is."""
    found = {"empty": 0, "text": 0}
    failures = []
    for i in range(n_pictures):
        rng = random.Random(FIRST_SEED + i)
        empty = to_picture(draw_background("varied", 256, rng.getrandbits(31)))
        words = rng.sample(["there is", "a cat", "two dogs", "on the left", "otherwise", "apple", "not the case"], 2)
        width, height = text_box_size(" ".join(words), 256)
        x, y = rng.uniform(0, max(0, 1 - width)), rng.uniform(0, 1 - height)
        strip = TextStrip(text=" ".join(words), box=(x, y, min(1, x + width), y + height), is_dark=rng.random() < 0.5)
        seed = rng.getrandbits(31)
        written = draw((), side=256, background="varied", seed=seed, has_shadows=False, text=strip)
        for kind, picture in (("empty", empty), ("text", written)):
            if seen := look(detector, picture):
                found[kind] += 1
                failures.append(draw_failure(picture, (), seen))
    for kind, n in found.items():
        print(f"false alarms, {kind}: {n} of {n_pictures} pictures ({n / n_pictures:.2%})")
    return failures


class Candidate:
    """A detector file that is not shipped yet, asked like the shipped one."""

    def __init__(self, path: Path, threshold: float) -> None:
        import onnxruntime

        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
        self.threshold = threshold

    def observe(self, requests: Sequence[ObserveRequest]) -> list[Detections]:
        """The boxes of each picture."""
        seen = []
        for request in requests:
            pixels, frame = to_input(request.picture)
            heat, box = self.session.run(None, {"picture": pixels})
            boxes = find_boxes(heat[0], box[0], PocketDetector.labels(), self.threshold, frame)
            seen.append(Detections(boxes=boxes))
        return seen


def _stamp(rng: random.Random, label: str, px: float, turn: float) -> Image.Image:
    """One thing with this longer side, turned by so many degrees to either side."""
    sprite = _sprite(label, rng.choice(sprite_index()["entities"][label]["styles"]))
    scale = px / max(sprite.size)
    sprite = sprite.resize((max(1, round(sprite.width * scale)), max(1, round(sprite.height * scale))), LANCZOS)
    if not turn:
        return sprite
    turned = sprite.rotate(rng.choice((-1, 1)) * turn, Image.Resampling.BICUBIC, expand=True)
    return turned.crop(turned.getchannel("A").getbbox())


def _scattered(rng: random.Random, ground: Image.Image, px: tuple[float, float], turn: float) -> list[str]:
    """Paste one to four things apart from each other; returns their labels."""
    labels: list[str] = []
    taken: list[tuple[int, int, int, int]] = []
    for _ in range(rng.randint(1, 4)):
        label = rng.choice(PocketDetector.labels())
        stamp = _stamp(rng, label, rng.uniform(*px), turn)
        for _ in range(60):
            x, y = rng.randint(0, 256 - stamp.width), rng.randint(0, 256 - stamp.height)
            box = (x - 3, y - 3, x + stamp.width + 3, y + stamp.height + 3)
            if all(box[2] < o[0] or box[0] > o[2] or box[3] < o[1] or box[1] > o[3] for o in taken):
                ground.paste(stamp, (x, y), stamp)
                labels.append(label)
                taken.append(box)
                break
    return labels


def _overlapping(rng: random.Random, ground: Image.Image, share: float, *, is_alike: bool) -> list[str]:
    """Two things side by side or one above the other, so that they share this part of the smaller box's length."""
    one, two = rng.sample(PocketDetector.labels(), 2)
    labels = [one, one if is_alike else two]
    px = rng.uniform(50, 110)
    stamps = [_stamp(rng, label, px, 0) for label in labels]
    axis = rng.randrange(2)
    shift = stamps[0].size[axis] - round(share * min(stamp.size[axis] for stamp in stamps))
    x, y = (rng.randint(4, max(5, 250 - stamps[0].size[i] - stamps[1].size[i])) for i in (0, 1))
    ground.paste(stamps[0], (x, y), stamps[0])
    ground.paste(stamps[1], (x + shift, y) if axis == 0 else (x, y + shift), stamps[1])
    return labels


def _half_cut(rng: random.Random, ground: Image.Image) -> list[str]:
    """One thing half outside of the picture."""
    label = rng.choice(PocketDetector.labels())
    stamp = _stamp(rng, label, rng.uniform(50, 120), 0)
    x, y = rng.randint(0, 256 - stamp.width), rng.randint(0, 256 - stamp.height)
    side = rng.randrange(4)
    if side < 2:
        x = -stamp.width // 2 if side else 256 - stamp.width // 2
    else:
        y = -stamp.height // 2 if side == 2 else 256 - stamp.height // 2
    ground.paste(stamp, (x, y), stamp)
    return [label]


def _photo(rng: random.Random, photos: Sequence[Path]) -> Image.Image:
    """A quarter of a photo-like picture, from its edge, where its subject is least likely to be."""
    photo = Image.open(rng.choice(photos)).convert("RGB")
    side = min(photo.size) // 2
    x, y = rng.choice((0, photo.width - side)), rng.choice((0, photo.height - side))
    return photo.crop((x, y, x + side, y + side)).resize((256, 256), LANCZOS)


def measure_hard(detector: Any, n_scenes: int) -> list[Image.Image]:
    """Print a line for each hard kind of picture; the failures come back as pictures."""
    data = os.environ.get("SALVA_TEST_DATA")
    photos = sorted((Path(data) / "real_images").rglob("*.[jp][pn]g")) if data else []
    usual = (50.0, 110.0)
    kinds: dict[str, Callable[[random.Random, Image.Image], list[str]]] = {
        "upright": partial(_scattered, px=usual, turn=0),
        **{f"turned {t}": partial(_scattered, px=usual, turn=t) for t in (15, 30, 45, 90, 180)},
        **{f"{px} px": partial(_scattered, px=(px, px), turn=0) for px in (28, 20, 14)},
        **{
            f"{name} overlapping {share:.0%}": partial(_overlapping, share=share, is_alike=name == "alike")
            for name in ("alike", "different")
            for share in (0.2, 0.4, 0.6)
        },
        "half outside": _half_cut,
    }
    if photos:
        kinds["photo ground"] = kinds["upright"]
    failures: list[Image.Image] = []
    for name, put in kinds.items():
        n_right = 0
        for i in range(n_scenes):
            rng = random.Random(f"{FIRST_SEED}-{name}-{i}")
            is_photo = name == "photo ground"
            ground = _photo(rng, photos) if is_photo else draw_background("varied", 256, rng.getrandbits(31))
            labels = put(rng, ground)
            seen = look(detector, to_picture(ground))
            if Counter(labels) == Counter(detection.label for detection in seen):
                n_right += 1
            elif len(failures) < 400:
                failures.append(draw_failure(to_picture(ground), (), seen))
        print(f"hard, {name}: {n_right} of {n_scenes} ({n_right / n_scenes:.1%})", flush=True)
    return failures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--scenes", type=int, default=2000)
    parser.add_argument("--threshold", type=float)
    parser.add_argument("--sheet", type=Path)
    parser.add_argument("--weights", type=Path, help="an exported file; else the shipped one")
    parser.add_argument("--hard", type=int, default=0, help="hard pictures of each kind")
    given = parser.parse_args()
    threshold = given.threshold or 0.4
    detector: Any = PocketDetector(PocketDetector.Options())
    if given.weights:
        detector = Candidate(given.weights, threshold)
    failures = measure_hard(detector, given.hard) if given.hard else []
    if given.scenes:
        failures += measure(detector, given.scenes, "painter scenes, 256 px")
        failures += measure(detector, given.scenes // 4, "coloured things beside words", text="two dogs", colours=0.7)
        failures += measure(detector, given.scenes // 4, "softened, 96 to 128 px", wear=soften)
        failures += false_alarms(detector, given.scenes // 2)
    if given.sheet and failures:
        columns = 5
        rows = -(-len(failures[:40]) // columns)
        sheet = Image.new("RGB", (columns * 260, rows * 260), "white")
        for i, image in enumerate(failures[:40]):
            sheet.paste(image, (i % columns * 260, i // columns * 260))
        sheet.save(given.sheet)


if __name__ == "__main__":
    main()
