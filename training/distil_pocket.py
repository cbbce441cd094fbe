"""Makes the trained painter quick: first guidance, then steps, each learnt into the network itself.

    python3 training/distil_pocket.py guidance --from DIR --minutes 5 --out OUT     one pass instead of two
    python3 training/distil_pocket.py steps    --from DIR --minutes 8.5 --out OUT   four passes instead of many
    ... --resume DIR                                                                go on with a stage begun before

The first stage reads ema-*.pt and writes guided-*.pt; the second reads guided-*.pt and writes student-*.pt. In the
second the student walks by itself to where it stands and asks the teacher for the next stretch only from there:
it learns from its own mistakes, and needs captions but no pictures.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from pocket_drawing import Drawer, bank_rows, drawing_extents
from pocket_model import PocketPainter
from pocket_sampling import SHEET_PROMPTS, encode_prompts, paint, save_sheet, shifted_times, unsaid
from pocket_stream import Stream
from pocket_weights import load_facts, load_painter, load_weights, save_facts, save_weights
from torch import Tensor
from torch.nn import functional
from train_pocket import synchronise, to_device

NAMES = {"guidance": ("ema", "guided"), "steps": ("guided", "student")}
Forward = Callable[[Tensor, Tensor, Tensor], Tensor]


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=tuple(NAMES))
    parser.add_argument("--from", dest="source", type=Path, required=True, help="folder of the teacher's weights")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--resume", type=Path, help="folder with this stage's own weights")
    parser.add_argument("--minutes", type=float, default=8.5)
    parser.add_argument("--batch", type=int, default=512, help="a multiple of the student's steps")
    parser.add_argument("--learning-rate", type=float, default=2e-4)
    parser.add_argument("--warm-up", type=int, default=100)
    parser.add_argument("--ema", type=float, default=0.998)
    parser.add_argument("--guidance", type=float, default=3.0)
    parser.add_argument("--student-steps", type=int, default=4)
    parser.add_argument("--teacher-steps", type=int, default=5, help="for each of the student's")
    parser.add_argument("--shift", type=float, default=1.5)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--max-steps", type=int, default=10**9)
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--seed", type=int, default=23)
    return parser.parse_args()


def huber(error: Tensor, width: float = 0.1) -> Tensor:
    """Squared near nothing, straight further out: a mean of absolute errors keeps edges crisp."""
    return ((error.square() + width * width).sqrt() - width).mean()


class Distiller:
    """A frozen teacher and a student on its way."""

    def __init__(self, args: argparse.Namespace, device: torch.device) -> None:
        self.args, self.device = args, device
        source, self.name = NAMES[args.stage]
        self.facts = load_facts(args.source)
        self.teacher = (
            load_painter(args.source, source).to(device, memory_format=torch.channels_last).requires_grad_(False)
        )
        self.student = copy.deepcopy(self.teacher).requires_grad_(True)
        if args.resume:
            self.student.load_state_dict(load_weights(args.resume, self.name))
        self.average = copy.deepcopy(self.student).requires_grad_(False)
        self.optimiser = torch.optim.AdamW(
            self.student.parameters(),
            lr=args.learning_rate,
            betas=(0.9, 0.99),
            weight_decay=0.0,
            fused=device.type == "cuda",
        )
        self.step = 0
        self.times = shifted_times(args.student_steps, args.shift)
        self.ask_teacher, self.ask_student = self._forward(self.teacher), self._forward(self.student)

    def _forward(self, painter: PocketPainter) -> Forward:
        compiled: Forward = painter if self.args.no_compile else torch.compile(painter, dynamic=False)
        return compiled

    def autocast(self) -> torch.autocast:
        """bf16 where the device has it."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda")

    def guidance_loss(self, pictures: Tensor, tokens: Tensor) -> Tensor:
        """The student in one pass against the teacher's two."""
        b = pictures.shape[0]
        # Evener than in training: the student is asked at every time, and most often early.
        t = torch.sigmoid(1.4 * torch.randn(b, device=self.device) + 0.4)
        # A walk begins at pure noise, so that must be met as well.
        t = torch.where(torch.rand(b, device=self.device) < 0.08, torch.ones_like(t), t)
        mixed = torch.lerp(pictures, torch.randn_like(pictures), t.view(b, 1, 1, 1))
        mixed = mixed.contiguous(memory_format=torch.channels_last)
        with self.autocast():
            with torch.no_grad():
                said = self.ask_teacher(mixed, t, tokens).float()
                not_said = self.ask_teacher(mixed, t, unsaid(tokens)).float()
            velocity = self.ask_student(mixed, t, tokens)
        return functional.mse_loss(velocity.float(), not_said + self.args.guidance * (said - not_said))

    def steps_loss(self, tokens: Tensor) -> Tensor:
        """The student's one step against the teacher's several, from where the student itself got to."""
        n, side = self.args.student_steps, self.student.shape.side
        blocks = tokens.chunk(n)
        starts = []
        with self.autocast(), torch.no_grad():
            for k, block in enumerate(blocks):
                x = torch.randn(block.shape[0], 3, side, side, device=self.device)
                x = x.contiguous(memory_format=torch.channels_last)
                for j in range(k):
                    t = torch.full((block.shape[0],), self.times[j], device=self.device)
                    x = x + (self.times[j + 1] - self.times[j]) * self.ask_student(x, t, block).float()
                starts.append(x)
            start = torch.cat(starts).contiguous(memory_format=torch.channels_last)
            t_from = torch.tensor(self.times[:-1], device=self.device).repeat_interleave(blocks[0].shape[0])
            t_to = torch.tensor(self.times[1:], device=self.device).repeat_interleave(blocks[0].shape[0])
            x = start
            for j in range(self.args.teacher_steps):
                t = torch.lerp(t_from, t_to, j / self.args.teacher_steps)
                stride = ((t_to - t_from) / self.args.teacher_steps).view(-1, 1, 1, 1)
                x = x + stride * self.ask_teacher(x, t, tokens).float()
            target = (x - start) / (t_to - t_from).view(-1, 1, 1, 1)
        with self.autocast():
            velocity = self.ask_student(start, t_from, tokens)
        return huber(velocity.float() - target)

    def learn(self, loss: Tensor, fade: float) -> None:
        """One step of the optimiser and of the average."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.args.learning_rate * min(1.0, (self.step + 1) / self.args.warm_up) * fade
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.student.parameters(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.step += 1
        keep = min(self.args.ema, self.step / (10 + self.step))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.student.parameters()), 1 - keep)

    def save(self, out: Path, log: dict[str, Any]) -> None:
        """The averaged student and what is known about it."""
        save_weights(out, self.name, self.average.state_dict())
        piece = {"stage": self.args.stage, "steps": self.step, **log}
        facts = {**self.facts, "distilling": [*self.facts.get("distilling", []), piece], "guidance": self.args.guidance}
        if self.args.stage == "steps":
            facts["times"] = self.times
        save_facts(out, facts)


def main() -> None:
    """Distil one stage, or one piece of it."""
    begin = time.time()
    args = parse_arguments()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    is_cuda = device.type == "cuda"
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(args.seed)
    if args.batch % args.student_steps:
        raise SystemExit(f"--batch {args.batch} is no multiple of --student-steps {args.student_steps}")
    rows_of = {row: i for i, row in enumerate(bank_rows())}
    seed = args.seed + int(begin) % 100_000
    stream = Stream(n=args.batch, seed=seed, extents=drawing_extents(), rows_of=rows_of, n_workers=args.workers)
    distiller = Distiller(args, device)
    drawer = Drawer(distiller.student.shape.side, device) if args.stage == "guidance" else None
    limit_s = args.minutes * 60 - (20 if is_cuda else 1)
    losses, log, last_save, started = [], {"losses": {}}, time.time(), 0.0
    while time.time() - begin < limit_s and distiller.step < args.max_steps:
        rows, places, tokens, n_with = to_device(stream.next(), device)
        tokens = tokens[torch.randperm(tokens.shape[0], device=device)] if drawer is None else tokens
        loss = (
            distiller.steps_loss(tokens)
            if drawer is None
            else distiller.guidance_loss(drawer.draw(rows, places, n_with), tokens)
        )
        # Every piece fades: a distilled network is used as it is, and a next piece warms up again.
        distiller.learn(loss, max(0.02, 1 - ((time.time() - begin) / limit_s) ** 2))
        losses.append(loss.detach())
        if distiller.step == 3:
            synchronise(device)
            started = time.time()
            print(f"compiled after {started - begin:.0f} s", flush=True)
        if distiller.step % 50 == 0:
            mean, losses = torch.stack(losses).mean().item(), []
            if mean != mean:
                raise SystemExit(f"the loss is {mean!r} at step {distiller.step}; lower --learning-rate")
            rate = (distiller.step - 3) * args.batch / (time.time() - started)
            log["losses"][distiller.step] = round(mean, 5)
            log["pictures_per_s"] = round(rate)
            print(f"step {distiller.step}  loss {mean:.5f}  {rate:.0f} pictures/s", flush=True)
        if time.time() - last_save > 150:
            distiller.save(args.out, log)
            last_save = time.time()
    stream.close()
    distiller.save(args.out, log)
    tokens = encode_prompts(SHEET_PROMPTS, device)
    n_steps = args.student_steps if args.stage == "steps" else (25 if is_cuda else 2)
    pictures = paint(distiller.average, tokens, seed=5, n_steps=n_steps, shift=args.shift)
    save_sheet(pictures, SHEET_PROMPTS, args.out / f"{distiller.name}.png")
    print(json.dumps({"stage": args.stage, "steps": distiller.step, "seconds": round(time.time() - begin)}))


if __name__ == "__main__":
    main()
