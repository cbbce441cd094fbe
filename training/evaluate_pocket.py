"""Measures the painter by the pocket detector: paint held-out sentences, then count what is exactly right.

    python3 training/evaluate_pocket.py paint --from DIR --name ema --guidance 3 --steps 25 --to OUT/ema.npz     (GPU)
    python3 training/evaluate_pocket.py paint --onnx src/salva/assets/pocket --to FILE                 the shipped files
    python3 training/evaluate_pocket.py paint --truth --to FILE     drawn without fault: what the detector itself misses
    python3 training/evaluate_pocket.py judge FILE [--sheet PNG]      the table, and the pictures that failed

A picture is right when it shows what was said in the numbers said and nothing else the detector knows, its things
in their order on the axis, and its colours nearest to the colours said.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
import time
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pocket_priors as priors
import torch
from pocket_drawing import Drawer, bank_rows, drawing_extents
from pocket_questions import Question, questions
from pocket_sampling import encode_prompts, paint, save_sheet, to_bytes
from pocket_weights import load_painter
from pocket_world import Scene, lay_out
from torch import Tensor

from salva.core.boxes import boxes_above
from salva.core.image import Picture
from salva.core.observation import Detection, Detections
from salva.core.protocols import ObserveRequest, Query

CHUNK = 256


def paint_torch(args: argparse.Namespace, asked: list[Question]) -> Tensor:
    """With weights from training."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    painter = load_painter(args.source, args.name).to(device)
    texts = [question.text for question in asked]
    pictures = []
    for i in range(0, len(texts), CHUNK):
        tokens = encode_prompts(texts[i : i + CHUNK], device)
        painted = paint(painter, tokens, seed=i + 1, n_steps=args.steps, guidance=args.guidance, shift=args.shift)
        pictures.append(painted.cpu())
    return torch.cat(pictures)


def paint_onnx(folder: Path, asked: list[Question]) -> Tensor:
    """With the shipped files, batch by batch."""
    from export_pocket import session

    card = json.loads((folder / "painter.json").read_text())
    text, canvas = session(folder / "painter-text.onnx", 2), session(folder / "painter-canvas.onnx", 2)
    batch, side, times = card["batch"], card["side"], card["times"]
    pictures = []
    for i in range(0, len(asked), batch):
        texts = [question.text for question in asked[i : i + batch]]
        tokens = encode_prompts(texts + [""] * (batch - len(texts)), torch.device("cpu")).numpy()
        x = np.random.default_rng(i + 1).standard_normal((batch, 3, side, side), np.float32)
        words, bias, sentence = text.run(None, {"tokens": tokens})
        for t, t_next in itertools.pairwise(times):
            fed = {"x": x, "t": np.full(batch, t, np.float32), "words": words, "bias": bias, "sentence": sentence}
            x = x + np.float32(t_next - t) * canvas.run(None, fed)[0]
        pictures.append(torch.from_numpy(x[: len(texts)]).clamp(-1, 1))
    return torch.cat(pictures)


def draw_truth(asked: list[Question]) -> Tensor:
    """Faultless pictures of the same questions."""
    rng = random.Random(3)
    extents, rows_of = drawing_extents(), {row: i for i, row in enumerate(bank_rows())}
    drawer = Drawer(96, torch.device("cpu"))
    pictures = []
    for question in asked:
        groups = list(question.groups)
        placements = None
        while placements is None:
            placements = lay_out(rng, groups, question.relation, extents)
        scene = Scene(groups=groups, relation=question.relation, placements=placements)
        rows = torch.tensor([[rows_of[one.thing, one.style, one.colour] for one in scene.placements]])
        places = torch.tensor([[[one.x, one.y, one.size, one.turn] for one in scene.placements]])
        pictures.append(drawer.draw(rows, places))
    return torch.cat(pictures)


class ColourReader:
    """Tells a thing's colour by the mean of the middle of its box, against that of its own drawings."""

    def __init__(self) -> None:
        bank = Drawer(96, torch.device("cpu")).bank[:, 1].float().numpy() / 255
        extents = drawing_extents()
        self.middles: dict[str, list[tuple[str, np.ndarray, float]]] = defaultdict(list)
        for (thing, style, colour), stamp in zip(bank_rows(), bank, strict=True):
            if thing not in priors.COLOURED or not colour:
                continue
            half_w, half_h = (int(side * 64 * 0.3) for side in extents[thing, style])
            middle = stamp[:, 32 - half_h : 32 + half_h, 32 - half_w : 32 + half_w].mean((1, 2))
            self.middles[thing].append((colour, middle[:3], float(middle[3])))

    def read(self, pixels: np.ndarray, found: Detection) -> str:
        """The nearest colour of the thing's drawings on this background."""
        side = pixels.shape[0]
        x0, y0, x1, y1 = (edge * side for edge in found.box)
        half_w, half_h = (x1 - x0) * 0.3, (y1 - y0) * 0.3
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        rows, columns = slice(int(y - half_h), math.ceil(y + half_h)), slice(int(x - half_w), math.ceil(x + half_w))
        middle = pixels[rows, columns].reshape(-1, 3).mean(0) / 255
        near = pixels[int(max(0, y0 - 3)) : int(y1) + 4, [int(max(0, x0 - 3)), int(min(side - 1, x1 + 2))]]
        behind = np.median(near.reshape(-1, 3), 0) / 255
        distances = {
            (c, i): np.abs(rgb + (1 - a) * behind - middle).sum()
            for i, (c, rgb, a) in enumerate(self.middles[found.label])
        }
        return min(distances, key=lambda key: distances[key])[0]


def faults(question: Question, boxes: tuple[Detection, ...], pixels: np.ndarray, colours: ColourReader) -> list[str]:
    """What is wrong with the picture; nothing when it is right."""
    wanted = Counter({group.thing: group.n for group in question.groups})
    seen = Counter(box.label for box in boxes)
    if wanted != seen:
        kinds = {"missing": wanted - seen, "too many": seen - wanted}
        return [f"{name} {n} {label}" for name, extra in kinds.items() for label, n in extra.items()]
    centres = {box.label: ((box.box[0] + box.box[2]) / 2, (box.box[1] + box.box[3]) / 2) for box in boxes}
    found = []
    places = {group.place: centres[group.thing] for group in question.groups if group.place}
    if "left" in places and places["left"][0] >= places["right"][0]:
        found.append("left and right exchanged")
    if "top" in places and places["top"][1] >= places["bottom"][1]:
        found.append("top and bottom exchanged")
    if question.relation:
        axis = 0 if question.relation == "left of" else 1
        if centres[question.groups[0].thing][axis] >= centres[question.groups[1].thing][axis]:
            found.append(f"not {question.relation}")
    for group in question.groups:
        if group.colour:
            box = next(box for box in boxes if box.label == group.thing)
            colour = colours.read(pixels, box)
            if colour != group.colour:
                found.append(f"{group.thing} is {colour}")
    return found


def judge(path: Path, sheet: Path | None) -> None:
    """Print the table of what is right."""
    from salva.detectors.pocket_detector import PocketDetector

    stored = np.load(path)
    asked = questions(int(stored["n_each"]))
    detector, colours = PocketDetector(PocketDetector.Options()), ColourReader()
    right: dict[str, list[bool]] = defaultdict(list)
    by_thing: dict[str, list[bool]] = defaultdict(list)
    wrong = []
    for question, pixels in zip(asked, stored["pictures"], strict=True):
        picture = Picture(rgb=pixels.tobytes(), width=pixels.shape[1], height=pixels.shape[0])
        sight = detector.observe([ObserveRequest(picture=picture, query=Query(role="detector"))])[0]
        assert isinstance(sight, Detections), sight
        problems = faults(question, boxes_above(sight), pixels, colours)
        right[question.category].append(not problems)
        for group in question.groups:
            by_thing[group.thing].append(not problems)
        if problems:
            wrong.append((question, pixels, problems))
    for category, marks in right.items():
        print(f"{category:28} {100 * sum(marks) / len(marks):5.1f} %  of {len(marks)}")
    worst = sorted(by_thing, key=lambda thing: sum(by_thing[thing]) / len(by_thing[thing]))[:8]
    print("worst things:", ", ".join(f"{t} {100 * sum(by_thing[t]) / len(by_thing[t]):.0f} %" for t in worst))
    if sheet is not None and wrong:
        shown = random.Random(1).sample(wrong, min(64, len(wrong)))
        pictures = (
            torch.from_numpy(np.stack([pixels for _, pixels, _ in shown])).permute(0, 3, 1, 2).float() / 127.5 - 1
        )
        save_sheet(pictures, [f"{question.text}: {'; '.join(problems)}" for question, _, problems in shown], sheet)


def main() -> None:
    """Paint or judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    painting = verbs.add_parser("paint")
    painters = painting.add_mutually_exclusive_group(required=True)
    painters.add_argument("--from", dest="source", type=Path)
    painters.add_argument("--onnx", type=Path)
    painters.add_argument("--truth", action="store_true")
    painting.add_argument("--name", default="ema", choices=("ema", "raw", "student"))
    painting.add_argument("--steps", type=int, default=25)
    painting.add_argument("--guidance", type=float, default=1.0)
    painting.add_argument("--shift", type=float, default=1.5, help="above 1 takes more of the steps early")
    painting.add_argument("--each", type=int, default=100)
    painting.add_argument("--to", type=Path, required=True)
    judging = verbs.add_parser("judge")
    judging.add_argument("file", type=Path)
    judging.add_argument("--sheet", type=Path)
    args = parser.parse_args()
    if args.verb == "judge":
        if not args.file.exists():
            raise SystemExit(f"no file {str(args.file)!r}; `paint --to` writes one")
        judge(args.file, args.sheet)
        return
    begin = time.time()
    asked = [replace(question) for question in questions(args.each)]
    pictures = (
        draw_truth(asked) if args.truth else paint_onnx(args.onnx, asked) if args.onnx else paint_torch(args, asked)
    )
    args.to.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(args.to, pictures=to_bytes(pictures), n_each=args.each)
    seconds = time.time() - begin
    print(f"{len(asked)} pictures in {seconds:.1f} s, {args.to.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
