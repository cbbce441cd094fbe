"""Trains the pocket painter for some minutes, going on from where the last piece stopped.

    python3 training/train_pocket.py --minutes 8.5 --out OUT                    the first piece
    python3 training/train_pocket.py --minutes 8.5 --resume DIR --out OUT       each further one
    ... --new-text                                            keep the canvas learnt so far, begin anew with the words
    ... --cool-down                                                             the last: learning fades to nothing

OUT gets raw-*.pt and ema-*.pt (bf16), pocket.json, samples.png and world.png (training pictures with captions).
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import time
from pathlib import Path
from typing import Any

import torch
from pocket_captions import END, MAX_TOKENS, START, vocabulary
from pocket_drawing import Drawer, bank_rows, drawing_extents
from pocket_model import TEXT_REACH, PocketPainter, Shape, parameter_count
from pocket_sampling import SHEET_PROMPTS, encode_prompts, paint, save_sheet
from pocket_stream import Chunk, Stream, make_chunk
from pocket_weights import load_facts, load_weights, save_facts, save_weights
from torch import Tensor
from torch.nn import functional

HERE = Path(__file__).resolve().parent
# Left on the machine beside the code: a next piece on the same machine then keeps the optimiser's memory.
STATE = HERE / "out" / "pocket-state.pt"
TINY = {"text_width": 32, "n_text_layers": 1, "fine_width": 32, "coarse_width": 32, "n_fine": 1, "n_coarse": 1}


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=8.5, help="all of it: start, compiling and saving included")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--new-text", action="store_true", help="with --resume: take the canvas alone")
    parser.add_argument("--cool-down", action="store_true")
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--warm-up", type=int, default=300)
    parser.add_argument("--ema", type=float, default=0.9993)
    # What stands where is settled above t = 0.85; a quarter of the times lie there.
    parser.add_argument("--time-mean", type=float, default=1.0, help="of the logit-normal; above 0 favours noise")
    parser.add_argument("--time-spread", type=float, default=1.2, help="of the logit-normal")
    parser.add_argument("--compiled", type=Path, help="what compiling made: read if there, written at the end")
    parser.add_argument("--profile", action="store_true", help="write where five steps spend their time to OUT")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--max-steps", type=int, default=10**9)
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--tiny", action="store_true", help="a network of no use, to try the code on a CPU")
    parser.add_argument("--seed", type=int, default=11)
    return parser.parse_args()


class Trainer:
    """The network, its average and its optimiser, and the steps they have taken."""

    def __init__(self, args: argparse.Namespace, device: torch.device) -> None:
        self.args = args
        self.device = device
        own = {"n_words": len(vocabulary()), "max_tokens": MAX_TOKENS, "text_reach": TEXT_REACH}
        self.shape = Shape(**own, **(TINY if args.tiny else {}))
        if args.resume:
            facts = load_facts(args.resume)
            if facts["words"] != vocabulary():
                raise SystemExit(
                    f"the words in {str(args.resume)!r} are not today's; train from the start or undo the change"
                )
            self.shape = Shape(**{**facts["shape"], **({"text_reach": TEXT_REACH} if args.new_text else {})})
        self.painter = PocketPainter(self.shape).to(device, memory_format=torch.channels_last)
        self.average = copy.deepcopy(self.painter).requires_grad_(False)
        self.step = 0
        self.pieces: list[dict[str, Any]] = []
        matrices = [p for p in self.painter.parameters() if p.ndim > 1]
        vectors = [p for p in self.painter.parameters() if p.ndim <= 1]
        groups = [{"params": matrices, "weight_decay": 0.01}, {"params": vectors, "weight_decay": 0.0}]
        is_cuda = device.type == "cuda"
        self.optimiser = torch.optim.AdamW(groups, lr=args.learning_rate, betas=(0.9, 0.99), fused=is_cuda)
        self.warm_from, self.average_from = 0, 0
        if args.resume:
            self._resume(args.resume)
        self.learner = self.painter if args.no_compile else torch.compile(self.painter)

    def _resume(self, folder: Path) -> None:
        facts = load_facts(folder)
        self.step, self.pieces, self.warm_from = facts["step"], facts["pieces"], facts["step"]
        state = torch.load(STATE, map_location=self.device, weights_only=True) if STATE.exists() else {}
        if self.args.new_text:
            learnt = load_weights(folder, "raw").items()
            canvas = {key.removeprefix("canvas."): value for key, value in learnt if key.startswith("canvas.")}
            self.painter.canvas.load_state_dict(canvas)
            self.average.canvas.load_state_dict(canvas)
            self.average_from = self.step  # a text that knows nothing must not linger in the average
        elif state.get("step") == self.step:
            self.painter.load_state_dict(state["raw"])
            self.average.load_state_dict(state["ema"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.warm_from = -(10**9)
        else:
            self.painter.load_state_dict(load_weights(folder, "raw"))
            self.average.load_state_dict(load_weights(folder, "ema"))
        print(f"resumed at step {self.step}, {'with' if self.warm_from < 0 else 'without'} the optimiser's memory")

    def loss(self, pictures: Tensor, tokens: Tensor) -> Tensor:
        """Mean squared error of the velocity at random times."""
        b = pictures.shape[0]
        t = torch.sigmoid(self.args.time_spread * torch.randn(b, device=self.device) + self.args.time_mean)
        noise = torch.randn_like(pictures)
        where = t.view(b, 1, 1, 1)
        mixed = torch.lerp(pictures, noise, where).contiguous(memory_format=torch.channels_last)
        is_unsaid = torch.rand(b, 1, device=self.device) < 0.1
        empty = torch.zeros_like(tokens)
        empty[:, 0], empty[:, 1] = START, END
        tokens = torch.where(is_unsaid, empty, tokens)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            velocity = self.learner(mixed, t, tokens)
        return functional.mse_loss(velocity.float(), noise - pictures)

    def learn(self, pictures: Tensor, tokens: Tensor, fade: float) -> Tensor:
        """One step; returns the loss, still on the device."""
        warmth = min(1.0, (self.step - self.warm_from + 1) / self.args.warm_up)
        for group in self.optimiser.param_groups:
            group["lr"] = self.args.learning_rate * warmth * fade
        loss = self.loss(pictures, tokens)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.painter.parameters(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.step += 1
        n_averaged = self.step - self.average_from
        keep = min(self.args.ema, (1 + n_averaged) / (20 + n_averaged))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.painter.parameters()), 1 - keep)
        return loss.detach()

    def save(self, out: Path, piece: dict[str, Any], *, is_last: bool) -> None:
        """Weights, facts and, at the end, the samples."""
        save_weights(out, "raw", self.painter.state_dict())
        save_weights(out, "ema", self.average.state_dict())
        facts = {
            "shape": self.shape.to_json(),
            "words": vocabulary(),
            "step": self.step,
            "n_parameters": {
                "canvas": parameter_count(self.painter.canvas),
                "text": parameter_count(self.painter.text),
            },
            "pieces": [*self.pieces, piece],
        }
        save_facts(out, facts)
        if is_last:
            STATE.parent.mkdir(exist_ok=True)
            everything = {"step": self.step, "raw": self.painter.state_dict(), "ema": self.average.state_dict()}
            torch.save({**everything, "optimiser": self.optimiser.state_dict()}, STATE)


def to_device(chunk: Chunk, device: torch.device) -> tuple[Tensor, Tensor, Tensor, list[int]]:
    """The chunk's arrays as tensors."""
    arrays = [torch.from_numpy(array) for array in (chunk.rows, chunk.places, chunk.tokens)]
    if device.type == "cuda":
        arrays = [array.pin_memory().to(device, non_blocking=True) for array in arrays]
    return arrays[0], arrays[1], arrays[2].long(), chunk.n_with


def synchronise(device: torch.device) -> None:
    """Wait until the device has done what it was told."""
    if device.type == "cuda":
        torch.cuda.synchronize()


def time_parts(trainer: Trainer, drawer: Drawer, stream: Stream, n_rounds: int) -> dict[str, float]:
    """Pictures a second of drawing alone and of learning alone, the first compile left out."""
    batch = to_device(stream.next(), trainer.device)
    drawer.draw(batch[0], batch[1], batch[3])
    synchronise(trainer.device)
    start = time.time()
    for _ in range(n_rounds):
        pictures = drawer.draw(batch[0], batch[1], batch[3])
    synchronise(trainer.device)
    drawn = time.time()
    trainer.learn(pictures, batch[2], 1.0)
    synchronise(trainer.device)
    compiled = time.time()
    for _ in range(n_rounds):
        trainer.learn(pictures, batch[2], 1.0)
    synchronise(trainer.device)
    n = n_rounds * trainer.args.batch
    return {
        "drawing_pictures_per_s": round(n / (drawn - start)),
        "learning_pictures_per_s": round(n / (time.time() - compiled)),
        "compile_s": round(compiled - drawn, 1),
    }


def write_profile(trainer: Trainer, drawer: Drawer, stream: Stream, path: Path) -> None:
    """Where five whole steps spend the GPU's time, kernel by kernel."""
    with torch.profiler.profile(activities=list(torch.profiler.supported_activities())) as profiler:
        for _ in range(5):
            rows, places, tokens, n_with = to_device(stream.next(), trainer.device)
            trainer.learn(drawer.draw(rows, places, n_with), tokens, 1.0)
        synchronise(trainer.device)
    by = "self_cuda_time_total" if trainer.device.type == "cuda" else "self_cpu_time_total"
    path.write_text(profiler.key_averages().table(sort_by=by, row_limit=40, max_name_column_width=90))


def main() -> None:
    """Train one piece."""
    begin = time.time()
    args = parse_arguments()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.benchmark = True
    if args.compiled and args.compiled.exists():
        torch.compiler.load_cache_artifacts(args.compiled.read_bytes())
    extents = drawing_extents()
    rows_of = {row: i for i, row in enumerate(bank_rows())}
    resumed = load_facts(args.resume)["step"] if args.resume else 0
    # The seed moves on with the steps, so that no piece sees the scenes of another again.
    seed = args.seed + resumed
    torch.manual_seed(seed)
    stream = Stream(n=args.batch, seed=seed, extents=extents, rows_of=rows_of, n_workers=args.workers)
    trainer = Trainer(args, device)
    drawer = Drawer(trainer.shape.side, device)
    world = make_chunk(random.Random(seed), 64, extents, rows_of, keeps_captions=True)
    drawn = to_device(world, device)
    save_sheet(drawer.draw(drawn[0], drawn[1], drawn[3]), world.captions or [], args.out / "world.png")
    print(f"{parameter_count(trainer.painter) / 1e6:.2f} M parameters, started in {time.time() - begin:.0f} s")
    speeds = time_parts(trainer, drawer, stream, 10 if device.type == "cuda" else 1)
    print(json.dumps(speeds), flush=True)
    if args.profile:
        write_profile(trainer, drawer, stream, args.out / "profile.txt")

    # Saving and sampling take a share of the minutes.
    limit_s = args.minutes * 60 - (25 if device.type == "cuda" else 1)
    learning_from, first_step = time.time(), trainer.step
    waited, losses, last_log, last_save = 0.0, [], time.time(), time.time()
    piece: dict[str, Any] = {**speeds, "batch": args.batch, "losses": {}, "cool_down": args.cool_down}
    piece |= {"time_mean": args.time_mean, "time_spread": args.time_spread, "new_text": args.new_text}
    while time.time() - begin < limit_s and trainer.step < args.max_steps:
        asked = time.time()
        rows, places, tokens, n_with = to_device(stream.next(), device)
        waited += time.time() - asked
        pictures = drawer.draw(rows, places, n_with)
        left = 1 - (time.time() - learning_from) / (begin + limit_s - learning_from)
        losses.append(trainer.learn(pictures, tokens, max(0.02, left) if args.cool_down else 1.0))
        if trainer.step % 100 == 0 or time.time() - last_log > 20:
            loss = torch.stack(losses).mean().item()
            losses, last_log = [], time.time()
            if loss != loss:
                raise SystemExit(
                    f"the loss is {loss!r} at step {trainer.step}; nothing was saved since the last checkpoint"
                )
            rate = (trainer.step - first_step) * args.batch / (time.time() - learning_from)
            piece["losses"][trainer.step] = round(loss, 5)
            print(f"step {trainer.step}  loss {loss:.5f}  {rate:.0f} pictures/s  waited {waited:.1f} s", flush=True)
        piece |= {
            "steps": trainer.step - first_step,
            "pictures_per_s": round((trainer.step - first_step) * args.batch / (time.time() - learning_from)),
            "waited_for_scenes_s": round(waited, 1),
        }
        if time.time() - last_save > 150:
            trainer.save(args.out, piece, is_last=False)
            last_save = time.time()
    stream.close()
    trainer.save(args.out, piece, is_last=True)
    if args.compiled and not args.no_compile and (made := torch.compiler.save_cache_artifacts()) is not None:
        args.compiled.write_bytes(made[0])
    n_steps = 25 if device.type == "cuda" else 2
    pictures = paint(trainer.average, encode_prompts(SHEET_PROMPTS, device), seed=5, n_steps=n_steps, guidance=3.0)
    save_sheet(pictures, SHEET_PROMPTS, args.out / "samples.png")
    print(f"done after {time.time() - begin:.0f} s at step {trainer.step}")


if __name__ == "__main__":
    main()
