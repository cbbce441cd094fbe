"""Trains the pocket family for some minutes, from nothing or on from where the last piece stopped.

    python3 training/train_pocket.py --minutes 15 --out OUT                 all in one piece: learning fades at its end
    python3 training/train_pocket.py --minutes 8 --fade 0 --keep-raw --out OUT    a first piece, others to follow
    python3 training/train_pocket.py --minutes 8 --resume DIR --out OUT     a further one

All members learn from the same pictures in the same steps; early is pocket as it was after a tenth of them.
OUT/<member> gets ema-*.safetensors (bf16; raw-* on request), pocket.json with the held-out loss, and samples.png; OUT
gets world.png (training pictures with captions).
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import time
from pathlib import Path
from typing import Any

import pocket_priors as priors
import torch
from pocket_captions import END, MAX_TOKENS, START, vocabulary
from pocket_drawing import Drawer, bank_rows, drawing_extents
from pocket_model import EARLIEST, PATCH, PocketPainter, Shape, compile_parts, parameter_count, start_as_nothing
from pocket_optimiser import PocketOptimiser
from pocket_repeat import Repeated
from pocket_sampling import SHEET_PROMPTS, encode_prompts, paint, save_sheet
from pocket_stream import Chunk, Stream, make_chunk
from pocket_weights import has_weights, load_facts, load_weights, save_facts, save_weights
from torch import Tensor, nn
from torch.nn import functional

TINY = {"text_width": 32, "n_text_layers": 1, "fine_width": 32, "coarse_width": 32, "n_fine": 1, "n_coarse": 1}
SHAPES = {
    "pocket": {},
    "small": {"text_width": 128, "fine_width": 64, "coarse_width": 96},
}
"""The members of the family by what differs from the network's usual sizes."""
EARLY = 0.1
"""The share of the training after which pocket is kept as early."""
AVERAGE_EVERY = 8
HELD_OUT_SEED = 987_654_321
HELD_OUT_TIMES = (0.2, 0.4, 0.6, 0.8, 0.95)


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=8.5, help="all of it: start, compiling and saving included")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--members", nargs="+", default=["pocket", "small"], choices=tuple(SHAPES))
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--keep-raw", action="store_true", help="save the weights before averaging too")
    parser.add_argument("--fade", type=float, default=0.3, help="the last share of the time, in which learning fades")
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--muon-rate", type=float, default=2e-3)
    parser.add_argument("--adam-rate", type=float, default=1e-3)
    parser.add_argument("--weight-decay", type=float, default=0.02)
    parser.add_argument("--warm-up", type=int, default=300)
    parser.add_argument("--ema", type=float, default=0.9993)
    # What stands where is settled above t = 0.85; a quarter of the times lie there.
    parser.add_argument("--time-mean", type=float, default=1.0, help="of the logit-normal; above 0 favours noise")
    parser.add_argument("--time-spread", type=float, default=1.2, help="of the logit-normal")
    parser.add_argument("--map-weight", type=float, default=0.03, help="of telling what stands where")
    parser.add_argument("--save-every-s", type=float, default=100)
    parser.add_argument("--profile", action="store_true", help="write where five steps spend their time to OUT")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--max-steps", type=int, default=10**9)
    parser.add_argument("--compile", default="parts", choices=("parts", "whole", "none"))
    parser.add_argument("--held-out", type=int, default=2048, help="scenes for the loss that orders the family")
    parser.add_argument("--tiny", action="store_true", help="a network of no use, to try the code on a CPU")
    parser.add_argument("--seed", type=int, default=11)
    return parser.parse_args()


class Lesson(nn.Module):
    """The painter and a head that only training needs.

    The head tells from the middle of the network which thing covers each coarse cell and which cells hold a centre.
    The painter must know that anyway, and asked outright it learns from the first steps on which words count;
    the difference between two exchanged things alone is a small part of the squared error of a noisy picture.
    """

    def __init__(self, painter: PocketPainter, drawer: Drawer, args: argparse.Namespace) -> None:
        super().__init__()
        self.painter = painter
        self.head = nn.Conv2d(painter.shape.coarse_width, len(priors.THINGS) + 2, 1)
        # From zero, so that a head that knows nothing yet disturbs nothing when training goes on.
        start_as_nothing(self.head)
        self.drawer, self.args = drawer, args

    def forward(self, pictures: Tensor, tokens: Tensor, rows: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        """Mean squared error of the velocity at random times, and what the head is wrong by."""
        b = pictures.shape[0]
        t = torch.sigmoid(self.args.time_spread * torch.randn(b, device=pictures.device) + self.args.time_mean)
        noise = torch.randn_like(pictures)
        mixed = torch.lerp(pictures, noise, t.view(b, 1, 1, 1)).contiguous(memory_format=torch.channels_last)
        empty = torch.zeros_like(tokens)
        empty[:, 0], empty[:, 1] = START, END
        tokens = torch.where(torch.rand(b, 1, device=pictures.device) < 0.1, empty, tokens)
        kinds, centres = self.drawer.maps(rows, places, pictures.shape[2] // PATCH // 2)
        with torch.autocast(pictures.device.type, torch.bfloat16, enabled=pictures.is_cuda):
            velocity, middle = self.painter.canvas.both(mixed, t, *self.painter.text(tokens))
            told = self.head(middle).float()
        wrong = functional.cross_entropy(told[:, :-1], kinds)
        wrong = wrong + functional.binary_cross_entropy_with_logits(told[:, -1], centres)
        truth = (mixed - pictures) / t.clamp_min(EARLIEST).view(b, 1, 1, 1)
        return functional.mse_loss(velocity.float(), truth), wrong


class Member:
    """One network of the family with its average and optimiser."""

    def __init__(self, name: str, args: argparse.Namespace, drawer: Drawer) -> None:
        self.name, self.args = name, args
        sizes = TINY | {"fine_width": 32 + 32 * (name == "pocket")} if args.tiny else SHAPES[name]
        self.shape = Shape(n_words=len(vocabulary()), max_tokens=MAX_TOKENS, **sizes)
        self.painter: PocketPainter = PocketPainter(self.shape).to(drawer.device, memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch documents memory_format, its types lack it
        self.lesson = Lesson(self.painter, drawer, args).to(drawer.device)
        self.average = copy.deepcopy(self.painter).requires_grad_(False)
        self.pieces: list[dict[str, Any]] = []
        self.step = 0
        if args.resume:
            self._resume(args.resume / name)
        rates = {"adam_rate": args.adam_rate, "muon_rate": args.muon_rate, "weight_decay": args.weight_decay}
        self.optimiser = PocketOptimiser(self.lesson, **rates)
        self.losses = torch.zeros(3, device=drawer.device)
        if args.compile == "parts":
            compile_parts(self.painter)
        self.ask = torch.compile(self.lesson) if args.compile == "whole" else self.lesson

    def _resume(self, folder: Path) -> None:
        facts = load_facts(folder)
        if facts["words"] != vocabulary():
            raise SystemExit(f"the words in {str(folder)!r} are not today's; train from the start or undo the change")
        if Shape(**facts["shape"]) != self.shape:
            raise SystemExit(f"the network in {str(folder)!r} has other sizes than today's {self.name}; train it anew")
        self.step, self.pieces = facts["step"], facts["pieces"]
        # After learning has faded both differ little, so the average alone is enough to go on from.
        raw = "raw" if has_weights(folder, "raw") else "ema"
        self.painter.load_state_dict(load_weights(folder, raw))
        self.average.load_state_dict(load_weights(folder, "ema"))

    def learn(self, batch: tuple[Tensor, Tensor, Tensor], pictures: Tensor, speed: Tensor) -> None:
        """One step on these pictures."""
        rows, places, tokens = batch
        mistake, wrong = self.ask(pictures, tokens, rows, places)
        (mistake + self.args.map_weight * speed * wrong).backward()
        nn.utils.clip_grad_norm_(self.lesson.parameters(), 1.0)
        self.optimiser.step(speed)
        self.losses += torch.stack([mistake.detach(), wrong.detach(), torch.ones_like(wrong)])

    @torch.no_grad()
    def blend(self, keep: float) -> None:
        """Move the average towards the weights."""
        torch._foreach_lerp_(list(self.average.parameters()), list(self.painter.parameters()), 1 - keep)

    def mean_losses(self) -> tuple[float, float]:
        """Of the steps since last asked."""
        mistake, wrong, n_steps = self.losses.tolist()
        self.losses.zero_()
        return mistake / n_steps, wrong / n_steps

    def save(self, folder: Path, piece: dict[str, Any], held_out: dict[str, float]) -> None:
        """Weights and facts."""
        save_weights(folder, "ema", self.average.state_dict())
        if self.args.keep_raw:
            save_weights(folder, "raw", self.painter.state_dict())
        parts = {"canvas": self.painter.canvas, "text": self.painter.text}
        facts = {"shape": self.shape.to_json(), "words": vocabulary(), "step": self.step}
        facts |= {"n_parameters": {name: parameter_count(part) for name, part in parts.items()}}
        save_facts(folder, facts | {"held_out_loss": held_out, "pieces": [*self.pieces, piece]})


class Trainer:
    """The members, the pictures they share, and the steps they have taken."""

    def __init__(self, args: argparse.Namespace, device: torch.device, held_out: Chunk) -> None:
        self.args, self.device = args, device
        self.drawer = Drawer(Shape(n_words=0).side, device)
        self.members = [Member(name, args, self.drawer) for name in args.members]
        self.step = self.first_step = self.members[0].step
        self.speed = torch.zeros((), device=device)
        rows, places, tokens = to_device(held_out, device)
        self.held_out = (self.drawer.paste(rows, places), tokens)
        self.has_early = bool(args.resume)

    def prepare(self, batch: tuple[Tensor, Tensor, Tensor]) -> None:
        """Compile and record a step; leaves the weights as they are."""
        self.speed.zero_()
        # The learning is compiled first: the drawing may meanwhile be compiled by another process into the same cache.
        pictures = self.drawer.paste(*batch[:2]).contiguous()
        for member in self.members:
            begin = time.time()
            member.learn(batch, pictures, self.speed)
            print(f"{member.name}: {parameter_count(member.painter) / 1e6:.2f} M, ready in {time.time() - begin:.0f} s")
        self.repeated = Repeated(self.once, batch, is_recorded=self.device.type == "cuda")
        for member in self.members:
            member.losses.zero_()

    def once(self, rows: Tensor, places: Tensor, tokens: Tensor) -> None:
        """Draw, and let every member learn from it."""
        pictures = self.drawer.draw(rows, places)
        for member in self.members:
            member.learn((rows, places, tokens), pictures, self.speed)

    def learn(self, batch: tuple[Tensor, Tensor, Tensor], fade: float) -> None:
        """One step."""
        n_steps = self.step - self.first_step
        self.speed.fill_(min(1.0, (n_steps + 1) / self.args.warm_up) * fade)
        self.repeated(*batch)
        self.step += 1
        if self.step % AVERAGE_EVERY == 0:
            keep = self.args.ema**AVERAGE_EVERY
            if not self.first_step:
                keep = min(keep, (1 + n_steps) / (10 * AVERAGE_EVERY + n_steps))
            for member in self.members:
                member.blend(keep)

    @torch.no_grad()
    def held_out_loss(self, painter: PocketPainter) -> dict[str, float]:
        """Of the picture said, at each time, on scenes nobody learnt from; the same noise for every network."""
        pictures, tokens = self.held_out
        seeded = torch.Generator(self.device).manual_seed(HELD_OUT_SEED)
        losses = {}
        for t in HELD_OUT_TIMES:
            parts = []
            for start in range(0, len(pictures), 256):
                clean = pictures[start : start + 256]
                noise = torch.randn(clean.shape, generator=seeded, device=self.device)
                mixed = torch.lerp(clean, noise, t).contiguous(memory_format=torch.channels_last)
                times = torch.full((len(clean),), t, device=self.device)
                with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
                    velocity = painter(mixed, times, tokens[start : start + 256])
                parts.append((velocity.float() - (mixed - clean) / t).square().mean((1, 2, 3)))
            losses[str(t)] = round(torch.cat(parts).mean().item(), 6)
        return losses | {"mean": round(sum(losses.values()) / len(losses), 6)}

    def save(self, piece: dict[str, Any], *, is_early: bool = False) -> None:
        """Every member, or pocket as it is now under the name of early."""
        for member in self.members[:1] if is_early else self.members:
            member.step = self.step
            name = "early" if is_early else member.name
            loss = self.held_out_loss(member.average)
            print(f"{name}: held-out loss {loss['mean']:.5f} at step {self.step}", flush=True)
            member.save(self.args.out / name, piece, loss)


def to_device(chunk: Chunk, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """The chunk's bank rows, places and word numbers as tensors."""
    arrays = [torch.from_numpy(array) for array in (chunk.rows, chunk.places, chunk.tokens)]
    if device.type == "cuda":
        arrays = [array.pin_memory().to(device, non_blocking=True) for array in arrays]
    return arrays[0], arrays[1], arrays[2].long()


def synchronise(device: torch.device) -> None:
    """Wait until the device has done what it was told."""
    if device.type == "cuda":
        torch.cuda.synchronize()


def time_parts(trainer: Trainer, stream: Stream, n_rounds: int) -> dict[str, float]:
    """Pictures a second of drawing alone and of whole steps, the first compile left out."""
    begin = time.time()
    batch = to_device(stream.next(), trainer.device)
    trainer.prepare(batch)
    synchronise(trainer.device)
    compiled = time.time()
    for _ in range(n_rounds):
        trainer.drawer.draw(batch[0], batch[1])
    synchronise(trainer.device)
    drawn = time.time()
    for _ in range(n_rounds):
        trainer.repeated(*batch)
    synchronise(trainer.device)
    for member in trainer.members:
        member.losses.zero_()
    n = n_rounds * trainer.args.batch
    return {
        "drawing_pictures_per_s": round(n / (drawn - compiled)),
        "step_pictures_per_s": round(n / (time.time() - drawn)),
        "compile_s": round(compiled - begin, 1),
    }


def write_profile(trainer: Trainer, stream: Stream, path: Path) -> None:
    """Where five whole steps spend the GPU's time, kernel by kernel."""
    with torch.profiler.profile(activities=list(torch.profiler.supported_activities())) as profiler:
        for _ in range(5):
            trainer.learn(to_device(stream.next(), trainer.device), 1.0)
        synchronise(trainer.device)
    by = "self_cuda_time_total" if trainer.device.type == "cuda" else "self_cpu_time_total"
    path.write_text(profiler.key_averages().table(sort_by=by, row_limit=60, max_name_column_width=90))


def train(trainer: Trainer, stream: Stream, begin: float, piece: dict[str, Any]) -> None:
    """Learn until the time is up, saving now and then."""
    args = trainer.args
    # Saving and sampling take a share of the minutes.
    limit_s = args.minutes * 60 - (15 if trainer.device.type == "cuda" else 1)
    learning_from = last_save = last_told = time.time()
    waited = 0.0
    while time.time() - begin < limit_s and trainer.step < args.max_steps:
        asked = time.time()
        batch = to_device(stream.next(), trainer.device)
        waited += time.time() - asked
        by_time = (time.time() - learning_from) / (begin + limit_s - learning_from)
        by_steps = (trainer.step - trainer.first_step) / max(1, args.max_steps - trainer.first_step)
        left = 1 - max(by_time, by_steps)
        trainer.learn(batch, max(0.01, min(1.0, left / args.fade)) if args.fade else 1.0)
        if trainer.step % 200 == 0 or time.time() - last_told > 30:
            last_told = time.time()
            rate = (trainer.step - trainer.first_step) * args.batch / (time.time() - learning_from)
            piece |= {"steps": trainer.step - trainer.first_step, "pictures_per_s": round(rate)}
            piece |= {"waited_for_scenes_s": round(waited, 1), "seconds": round(time.time() - begin)}
            losses = {member.name: member.mean_losses() for member in trainer.members}
            if any(mistake != mistake for mistake, _ in losses.values()):
                raise SystemExit(f"a loss is no number at step {trainer.step}: {losses}; the last checkpoint stands")
            piece["losses"][trainer.step] = {name: [round(x, 5) for x in pair] for name, pair in losses.items()}
            said = "  ".join(f"{name} {mistake:.5f} maps {wrong:.4f}" for name, (mistake, wrong) in losses.items())
            print(f"step {trainer.step}  {said}  {rate:.0f} pictures/s  waited {waited:.1f} s  "
                  f"after {time.time() - begin:.0f} s", flush=True)  # fmt: skip
        if not trainer.has_early and left < 1 - EARLY:
            trainer.has_early = True
            trainer.save(piece, is_early=True)
        if time.time() - last_save > args.save_every_s:
            trainer.save(piece)
            last_save = time.time()
    trainer.save(piece)


def main() -> None:
    """Train one piece."""
    begin = time.time()
    args = parse_arguments()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.benchmark = True
    extents = drawing_extents()
    rows_of = {row: i for i, row in enumerate(bank_rows())}
    # The seed moves on with the steps, so that no piece sees the scenes of another again.
    seed = args.seed + (load_facts(args.resume / args.members[0])["step"] if args.resume else 0)
    torch.manual_seed(seed)
    stream = Stream(n=args.batch, seed=seed, extents=extents, rows_of=rows_of, n_workers=args.workers)
    held_out = make_chunk(random.Random(HELD_OUT_SEED), args.held_out, extents, rows_of)
    trainer = Trainer(args, device, held_out)
    args.out.mkdir(parents=True, exist_ok=True)
    world = make_chunk(random.Random(seed), 64, extents, rows_of, keeps_captions=True)
    rows, places, _ = to_device(world, device)
    save_sheet(trainer.drawer.paste(rows, places), world.captions or [], args.out / "world.png")
    print(f"torch {torch.__version__} on {device}, started in {time.time() - begin:.0f} s", flush=True)
    speeds = time_parts(trainer, stream, 20 if device.type == "cuda" else 1)
    print(json.dumps(speeds), flush=True)
    if args.profile:
        write_profile(trainer, stream, args.out / "profile.txt")
    told = ("batch", "fade", "muon_rate", "adam_rate", "weight_decay", "time_mean", "time_spread", "map_weight")
    train(trainer, stream, begin, {**speeds, **{name: getattr(args, name) for name in told}, "losses": {}})
    stream.close()
    n_steps = 25 if device.type == "cuda" else 2
    tokens = encode_prompts(SHEET_PROMPTS, device)
    for member in trainer.members:
        pictures = paint(member.average, tokens, seed=5, n_steps=n_steps, guidance=2.0)
        save_sheet(pictures, SHEET_PROMPTS, args.out / member.name / "samples.png")
    print(f"done after {time.time() - begin:.0f} s at step {trainer.step}")


if __name__ == "__main__":
    main()
