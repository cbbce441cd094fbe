"""Trains the pocket detector on scenes that are painted while it learns; no scene is seen twice.

    python training/train_detector.py --minutes 9 --out OUT [--start start.pt | --resume OUT/detector.pt]

Writes detector.pt (averaged weights) and train.log every minute and at the end, so that a run that is cut short loses
little. Needs torch and the bank made by make_bank.py. --start begins with the weights of another detector, which
export_detector.py takes from a shipped file.
"""

from __future__ import annotations

import argparse
import copy
import math
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from compositor import HIDDEN, NOTHING, Batch, Compositor
from export_detector import THRESHOLD, save_weights
from layouts import KINDS, Planner
from network import STRIDE, PocketNetwork, start_from
from PIL import Image, ImageDraw
from targets import loss, make_targets
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from salva.detectors.pocket_detector import find_boxes

HERE = Path(__file__).resolve().parent
SIDE = 256


class Plans(IterableDataset):  # type: ignore[type-arg]  # torch's class takes no parameters at run time
    """Plans from worker processes, each with a seed of its own."""

    def __init__(self, bank: Path, batch: int, seed: int) -> None:
        self.bank, self.batch, self.seed = bank, batch, seed

    def __iter__(self):  # type: ignore[no-untyped-def]  # an iterator of Plan
        worker = get_worker_info()
        seed = self.seed * 1000 + (worker.id if worker else 0)
        return iter(Planner(self.bank, SIDE, self.batch, seed))


def as_is(plan: Any) -> Any:
    """Keeps the loader from taking plans apart."""
    return plan


@torch.no_grad()
def blend(average: nn.Module, network: nn.Module, keep: float) -> None:
    """Move the averaged weights a little towards the current ones."""
    for mine, theirs in zip(average.state_dict().values(), network.state_dict().values(), strict=True):
        if mine.dtype.is_floating_point:
            mine.lerp_(theirs, 1 - keep)
        else:
            mine.copy_(theirs)


def save_view(batch: Batch, path: Path, n_columns: int = 8) -> None:
    """The first pictures with the boxes of what is asked for (green) and of what is not (red)."""
    shown = batch.pictures[: 4 * n_columns].cpu().permute(0, 2, 3, 1).mul(255).byte().numpy()
    sheet = Image.new("RGB", (n_columns * SIDE, -(-len(shown) // n_columns) * SIDE))
    for i, pixels in enumerate(shown):
        picture = Image.fromarray(pixels)
        pen = ImageDraw.Draw(picture)
        for label, box in zip(batch.labels[i].tolist(), (batch.boxes[i] * SIDE).tolist(), strict=True):
            if label != NOTHING:
                pen.rectangle(box, outline="red" if label == HIDDEN else "lime")
        sheet.paste(picture, (i % n_columns * SIDE, i // n_columns * SIDE))
    sheet.save(path)


def rate(progress: float, step: int, peak: float) -> float:
    """Learning rate: a climb of 150 steps, then half a cosine down to nearly nothing."""
    climb = min(1.0, (step + 1) / 150)
    return peak * climb * (0.005 + 0.995 * 0.5 * (1 + math.cos(math.pi * progress)))


class HeldOut:
    """Pictures nobody learns from, and how many of each kind a network gets right."""

    def __init__(self, compositor: Compositor, planner: Planner, n_batches: int) -> None:
        plans = [planner.plan(planner.batch) for _ in range(n_batches)]
        self.batches = [(plan.kind, compositor.draw(plan)) for plan in plans]
        self.labels = compositor.labels

    @torch.no_grad()
    def count(self, network: nn.Module) -> str:
        """Right and all of each kind, without the pictures where something is neither asked for nor denied."""
        right: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for kinds, batch in self.batches:
            heat, box = (part.float().cpu().numpy() for part in network(batch.pictures))
            for i, (kind, asked) in enumerate(zip(kinds, batch.labels.tolist(), strict=True)):
                if HIDDEN not in asked:
                    seen = Counter(found.label for found in find_boxes(heat[i], box[i], self.labels, THRESHOLD))
                    total[kind] += 1
                    right[kind] += seen == Counter(self.labels[label] for label in asked if label != NOTHING)
        return "held out: " + ", ".join(f"{kind} {right[kind]}/{total[kind]}" for kind in KINDS)


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=9)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=10)
    parser.add_argument("--bank", type=Path, default=HERE / "out" / "bank.npz")
    parser.add_argument("--out", type=Path, default=HERE / "out")
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--start", type=Path)
    parser.add_argument("--photos", type=Path, help="folder of .jpg: photographs to take grounds from")
    parser.add_argument("--held-out", type=int, default=16, help="batches of 64 to count on")
    parser.add_argument("--max-steps", type=int, default=10**9)
    parser.add_argument("--no-compile", action="store_true")
    return parser.parse_args()


def main() -> None:
    """Train for so many minutes."""
    given = read_arguments()
    started = time.monotonic()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(given.seed)
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = True
    compositor = Compositor(given.bank, SIDE, device, given.photos)
    network: PocketNetwork = PocketNetwork(len(compositor.labels)).to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch documents memory_format, its types lack it
    if given.resume:
        network.load_state_dict(torch.load(given.resume, map_location=device)["weights"])
    planner = Planner(given.bank, SIDE, min(64, given.batch), given.seed + 77)
    first = compositor.draw(planner.plan(planner.batch))
    if given.start:
        folded = [(weight.to(device), bias.to(device)) for weight, bias in torch.load(given.start)]
        start_from(network, folded, first.pictures)
    given.out.mkdir(parents=True, exist_ok=True)
    save_view(first, given.out / "scenes.jpg")
    held_out = HeldOut(compositor, planner, given.held_out)
    average = copy.deepcopy(network).eval()
    quick = network if given.no_compile or device.type == "cpu" else torch.compile(network)
    plans = iter(DataLoader(Plans(given.bank, given.batch, given.seed), batch_size=None, collate_fn=as_is,
                            num_workers=given.workers, prefetch_factor=4 if given.workers else None))  # fmt: skip
    decayed = [p for p in network.parameters() if p.ndim > 1]
    others = [p for p in network.parameters() if p.ndim <= 1]
    optimiser = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.02}, {"params": others, "weight_decay": 0.0}],
                                  lr=given.rate, fused=device.type == "cuda")  # fmt: skip
    log = (given.out / "train.log").open("a")

    def say(line: str) -> None:
        for place in (sys.stdout, log):
            print(line, file=place, flush=True)

    say(f"{time.monotonic() - started:5.0f} s  {held_out.count(average)}")
    step, logged_step = 0, 0
    began = saved_at = logged_at = time.monotonic()
    end = started + 60 * given.minutes
    while (progress := (time.monotonic() - began) / max(1e-9, end - began)) < 1 and step < given.max_steps:
        for group in optimiser.param_groups:
            group["lr"] = rate(progress, step, given.rate)
        batch: Batch = compositor.draw(next(plans))
        targets = make_targets(batch, len(compositor.labels), SIDE // STRIDE)
        pictures = batch.pictures.contiguous(memory_format=torch.channels_last)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            heat, box = quick(pictures)
        heat_loss, box_loss = loss(heat.float(), box.float(), targets)
        optimiser.zero_grad(set_to_none=True)
        (heat_loss + box_loss).backward()
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimiser.step()
        step += 1
        blend(average, network, min(0.999, (1 + step) / (10 + step)))
        now = time.monotonic()
        if now - logged_at > 10:
            say(f"{now - started:5.0f} s  step {step:6d}  {(step - logged_step) / (now - logged_at):5.1f} steps/s  "
                f"heat {heat_loss.item():.4f}  box {box_loss.item():.4f}")  # fmt: skip
            logged_at, logged_step = now, step
        if now - saved_at > 75:
            save_weights(average, compositor.labels, SIDE, given.out, step * given.batch)
            saved_at = time.monotonic()
            say(f"{saved_at - started:5.0f} s  {held_out.count(average)}")
    save_weights(average, compositor.labels, SIDE, given.out, step * given.batch)
    say(f"done: {step} steps, {step * given.batch} scenes; {held_out.count(average)}")


if __name__ == "__main__":
    main()
