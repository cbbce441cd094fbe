"""Trains the pocket embedder: pictures and sentences that belong together get vectors that lie together.

    python3 training/train_embedder.py --minutes 2 --out OUT
    python3 training/train_embedder.py --tiny --max-steps 5 --out OUT            a network of no use, to try the code

OUT gets embedder.pt (fp16) and embedder.json. Each picture is told from the captions of its neighbours and from false
captions of its own that differ in little; neighbours with the same things in the same numbers are left out. To learn
faster, both networks also say how many of each thing there are (the picture in which half); that part is not kept.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pocket_priors as priors
import torch
from embedder_drawing import WideDrawer, wear, wide_rows
from embedder_model import Embedder, EmbedderShape, parameter_count, unit
from embedder_scenes import N_FALSE, Chunk, Stream, make_chunk
from pocket_captions import MAX_TOKENS, vocabulary
from pocket_drawing import drawing_extents, make_bank
from torch import Tensor, nn
from torch.nn import functional

TINY = {"width": 64, "wide": 64, "fine_width": 16, "coarse_width": 32, "n_fine": 1, "n_coarse": 1, "text_width": 48}
N_KEPT = 64
"""Chunks kept on the GPU, to be drawn anew when the processes that make them fall behind."""
AMONG = 100


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0, help="all of it: start and saving included")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--warm-up", type=int, default=150)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--max-steps", type=int, default=10**9)
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--seed", type=int, default=23)
    return parser.parse_args()


class OnDevice:
    """A chunk's arrays on the device."""

    def __init__(self, chunk: Chunk, device: torch.device) -> None:
        def moved(array: np.ndarray) -> Tensor:
            tensor = torch.from_numpy(array)
            return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor

        self.rows, self.places, self.kinds = moved(chunk.rows), moved(chunk.places), moved(chunk.kinds)
        self.tokens = moved(chunk.tokens)
        self.n_with = chunk.n_with


@dataclass(slots=True, kw_only=True)
class Told:
    """What both networks make of a batch."""

    true: Tensor
    """Pictures against true captions, [b, b]."""
    false: Tensor
    """Pictures against their own false captions, [b, N_FALSE]."""
    seen: Tensor
    """What the pictures' cells say on average, [b, wide]."""
    said: Tensor
    """What the true captions' words say on average, [b, wide]."""


def compare(embedder: Embedder, pictures: Tensor, tokens: Tensor) -> Told:
    """Both networks on a batch, and how their vectors lie."""
    b = pictures.shape[0]
    with torch.autocast(pictures.device.type, torch.bfloat16, enabled=pictures.is_cuda):
        seen = embedder.picture.averaged((pictures * 2 - 1).contiguous(memory_format=torch.channels_last))
        said = embedder.text.averaged(tokens.long().flatten(0, 1))
        by_picture = unit(embedder.picture.leave(seen))
        by_caption = unit(embedder.text.leave(said)).view(b, 1 + N_FALSE, -1)
    return Told(
        true=by_picture @ by_caption[:, 0].T,
        false=torch.einsum("bw,bkw->bk", by_picture, by_caption[:, 1:]),
        seen=seen,
        said=said.view(b, 1 + N_FALSE, -1)[:, 0],
    )


def contrast(embedder: Embedder, batch: OnDevice, told: Told) -> Tensor:
    """How far pictures and captions are from finding each other."""
    sharpness = embedder.log_sharpness.clamp(max=4.6).exp()
    same = batch.kinds[:, None] == batch.kinds[None, :]
    same.fill_diagonal_(False)
    true, false = (told.true * sharpness).masked_fill(same, -1e4), told.false * sharpness
    target = torch.arange(len(true), device=true.device)
    by_picture = functional.cross_entropy(torch.cat([true, false], 1), target)
    by_caption = functional.cross_entropy(true.T, target)
    # Among a thousand neighbours the false ones of its own hardly count, so they are asked about once more alone.
    own = functional.cross_entropy(torch.cat([true.diagonal()[:, None], false], 1), torch.zeros_like(target))
    return by_picture + 0.5 * by_caption + own


@torch.no_grad()
def measure(embedder: Embedder, drawer: WideDrawer, chunks: list[Chunk], device: torch.device) -> dict[str, float]:
    """The right caption among 100 and before its false ones, on scenes never learnt from."""
    embedder.eval()
    among: list[bool] = []
    before: list[bool] = []
    kinds_before: list[list[bool]] = [[] for _ in range(N_FALSE)]
    for chunk in chunks:
        batch = OnDevice(chunk, device)
        pictures = drawer.draw(batch.rows, batch.places, batch.n_with, is_plain=True)
        told = compare(embedder, pictures, batch.tokens)
        same = batch.kinds[:, None] == batch.kinds[None, :]
        same.fill_diagonal_(False)
        true = told.true.float().masked_fill(same, -2).cpu().numpy()
        for row, scores in enumerate(true):
            others = np.random.default_rng(row).permutation(np.flatnonzero(np.arange(len(scores)) != row))
            others = others[scores[others] > -2][: AMONG - 1]
            among.append(bool(scores[row] > scores[others].max()))
        beaten = torch.from_numpy(true.diagonal().copy())[:, None] > told.false.float().cpu()
        before += beaten.all(1).tolist()
        for kind in range(N_FALSE):
            kinds_before[kind] += beaten[:, kind].tolist()
    embedder.train()
    named = zip(("exchanged", "changed", "other_things"), kinds_before, strict=True)
    found = {f"before_{name}": marks for name, marks in named}
    found |= {"right_among_100": among, "before_all_false": before}
    return {name: round(100 * sum(marks) / len(marks), 2) for name, marks in found.items()}


def save(embedder: Embedder, out: Path, facts: dict[str, Any]) -> None:
    """Weights in half precision and what is known about them."""
    out.mkdir(parents=True, exist_ok=True)
    halved = {
        name: value.detach().cpu().half() if value.is_floating_point() else value.cpu()
        for name, value in embedder.state_dict().items()
    }
    torch.save({name: value.contiguous().clone() for name, value in halved.items()}, out / "embedder.pt")
    own = {"shape": embedder.shape.to_json(), "words": vocabulary(), "n_parameters": parameter_count(embedder)}
    (out / "embedder.json").write_text(json.dumps({**own, **facts}, indent=1) + "\n")


def halves(batch: OnDevice, kinds: Tensor) -> Tensor:
    """How many of each thing stand left, right, at the top and at the bottom, [b, things x 4]."""
    x, y, size, _ = batch.places.unbind(2)
    which = kinds[batch.rows.long()]
    is_thing = (size > 0) & (which >= 0)
    where = torch.stack([x < 0.5, x >= 0.5, y < 0.5, y >= 0.5], 2) & is_thing[:, :, None]
    counts = torch.zeros(len(x), len(priors.THINGS), 4, device=x.device)
    at = which.clamp_min(0)[:, :, None].expand(-1, -1, 4)
    return counts.scatter_add_(1, at, where.float()).flatten(1)


class Learner:
    """The embedder, what helps it to learn, and the optimiser."""

    def __init__(self, args: argparse.Namespace, device: torch.device) -> None:
        shape = EmbedderShape(n_words=len(vocabulary()), max_tokens=MAX_TOKENS, **(TINY if args.tiny else {}))
        self.embedder: Embedder = Embedder(shape).to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch documents memory_format, its types lack it
        self.embedder.train()
        self.picture_counts = nn.Linear(shape.wide, 4 * len(priors.THINGS)).to(device)
        self.caption_counts = nn.Linear(shape.wide, len(priors.THINGS)).to(device)
        numbers = {thing: i for i, thing in enumerate(priors.THINGS)}
        self.kinds = torch.tensor([numbers.get(thing, -1) for thing, _, _ in wide_rows()], device=device)
        everything = nn.ModuleList([self.embedder, self.picture_counts, self.caption_counts])
        self.parameters = list(everything.parameters())
        matrices = [p for p in self.parameters if p.ndim > 1]
        vectors = [p for p in self.parameters if p.ndim <= 1]
        groups = [{"params": matrices, "weight_decay": 0.05}, {"params": vectors, "weight_decay": 0.0}]
        self.optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.98), fused=device.type == "cuda")
        self.args, self.step = args, 0

    def learn(self, batch: OnDevice, pictures: Tensor, fade: float) -> Tensor:
        """One step; returns the loss, still on the device."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.args.learning_rate * fade * min(1.0, (self.step + 1) / self.args.warm_up)
        told = compare(self.embedder, pictures, batch.tokens)
        loss = contrast(self.embedder, batch, told) + self._counting(batch, told)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.step += 1
        return loss.detach()

    def _counting(self, batch: OnDevice, told: Told) -> Tensor:
        """How wrong both are about the numbers of things."""
        by_half = halves(batch, self.kinds)
        in_all = by_half.view(len(by_half), -1, 4)[:, :, :2].sum(2)
        by_picture = functional.smooth_l1_loss(self.picture_counts(told.seen.float()), by_half)
        by_caption = functional.smooth_l1_loss(self.caption_counts(told.said.float()), in_all)
        return 30 * (by_picture + 0.5 * by_caption)


def main() -> None:
    """Train, measure, save."""
    begin = time.time()
    args = parse_arguments()
    extents, rows_of = drawing_extents(), {row: i for i, row in enumerate(wide_rows())}
    bank = make_bank(wide_rows())
    stream = Stream(n=args.batch, seed=args.seed, extents=extents, rows_of=rows_of, n_workers=args.workers)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    learner = Learner(args, device)
    drawer = WideDrawer(bank, learner.embedder.shape.side, device)
    n_parameters = parameter_count(learner.embedder)
    print(f"{n_parameters / 1e6:.2f} M parameters, started in {time.time() - begin:.0f} s", flush=True)
    # Measuring and saving take a share of the minutes.
    limit_s = args.minutes * 60 - (8 if device.type == "cuda" else 1)
    kept: deque[OnDevice] = deque(maxlen=N_KEPT)
    losses: list[Tensor] = []
    facts: dict[str, Any] = {"batch": args.batch, "losses": {}}
    learning_from, n_again = time.time(), 0
    last_save = last_log = learning_from
    while (now := time.time()) - begin < limit_s and learner.step < args.max_steps:
        chunk = stream.next(waits=len(kept) < min(8, N_KEPT))
        if chunk is not None:
            kept.append(OnDevice(chunk, device))
            batch = kept[-1]
        else:
            batch, n_again = kept[int(rng.integers(len(kept)))], n_again + 1
        pictures = wear(drawer.draw(batch.rows, batch.places, batch.n_with), rng)
        left = 1 - (now - learning_from) / (begin + limit_s - learning_from)
        losses.append(learner.learn(batch, pictures, min(1.0, max(0.01, left / 0.7))))
        if learner.step % 100 == 0 or now - last_log > 10:
            loss = torch.stack(losses).mean().item()
            losses, last_log = [], time.time()
            if loss != loss:
                raise SystemExit(f"the loss is {loss!r} at step {learner.step}; try a lower --learning-rate")
            rate = learner.step * args.batch / (time.time() - learning_from)
            facts["losses"][learner.step] = round(loss, 4)
            print(f"step {learner.step}  loss {loss:.4f}  {rate:.0f} pictures/s  drawn again {n_again}", flush=True)
        facts |= {"steps": learner.step, "n_drawn_again": n_again, "seconds": round(now - begin, 1)}
        if now - last_save > 45:
            save(learner.embedder, args.out, facts)
            last_save = time.time()
    stream.close()
    save(learner.embedder, args.out, facts)
    unseen = random.Random(987_654_321)
    size = 512 if device.type == "cuda" else 128
    chunks = [make_chunk(unseen, size, extents, rows_of, wild=0.0) for _ in range(2)]
    facts["measured"] = measure(learner.embedder, drawer, chunks, device)
    save(learner.embedder, args.out, facts)
    print(json.dumps(facts["measured"]), f"done after {time.time() - begin:.0f} s at step {learner.step}")


if __name__ == "__main__":
    main()
