"""Makes the trained painter quick: guidance and many steps are learnt into a few plain ones.

    python3 training/distil_pocket.py --from DIR --minutes 4.5 --out OUT
    ... --resume DIR                                                       go on with a student begun before

Reads ema-*.safetensors, writes student-*.safetensors. The student walks by itself to where it stands and asks the
teacher, guided and in smaller steps, for the next stretch from there only: it learns from its own mistakes, and needs
captions but no pictures.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from pathlib import Path
from typing import Any

import torch
from pocket_drawing import bank_rows, drawing_extents
from pocket_model import Forward, PocketPainter, compile_parts
from pocket_optimiser import PocketOptimiser
from pocket_repeat import Repeated
from pocket_sampling import SHEET_PROMPTS, encode_prompts, paint, save_sheet, shifted_times, unsaid
from pocket_stream import Stream
from pocket_weights import load_facts, load_painter, load_weights, save_facts, save_weights
from torch import Tensor, nn
from train_pocket import synchronise, to_device


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", type=Path, required=True, help="folder of the teacher's weights")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--resume", type=Path, help="folder with a student's weights")
    parser.add_argument("--minutes", type=float, default=4.5)
    parser.add_argument("--batch", type=int, default=128, help="walks; each is learnt from at every one of its steps")
    parser.add_argument("--muon-rate", type=float, default=6e-4)
    parser.add_argument("--adam-rate", type=float, default=2e-4)
    parser.add_argument("--warm-up", type=int, default=50)
    parser.add_argument("--ema", type=float, default=0.995)
    parser.add_argument("--guidance", type=float, default=2.0)
    parser.add_argument("--student-steps", type=int, default=6)
    parser.add_argument("--teacher-steps", type=int, default=3, help="for each of the student's")
    parser.add_argument("--shift", type=float, default=2.0)
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
        self.facts = load_facts(args.source)
        teacher: PocketPainter = load_painter(args.source, "ema").to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch documents memory_format, its types lack it
        teacher.requires_grad_(False)
        self.student = copy.deepcopy(teacher).requires_grad_(True)
        if args.resume:
            self.student.load_state_dict(load_weights(args.resume, "student"))
        self.average = copy.deepcopy(self.student).requires_grad_(False)
        rates = {"adam_rate": args.adam_rate, "muon_rate": args.muon_rate}
        self.optimiser = PocketOptimiser(self.student, **rates, weight_decay=0.0)
        self.step = 0
        self.times = shifted_times(args.student_steps, args.shift)
        self.speed, self.losses = torch.zeros((), device=device), torch.zeros((), device=device)
        self.t_from = torch.tensor(self.times[:-1], device=device).repeat_interleave(args.batch)
        self.t_to = torch.tensor(self.times[1:], device=device).repeat_interleave(args.batch)
        self.ask_teacher: Forward = teacher
        self.ask_student: Forward = self.student
        if not args.no_compile:
            compile_parts(teacher)
            compile_parts(self.student)

    def autocast(self) -> torch.autocast:
        """bf16 where the device has it."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda")

    def guided(self, x: Tensor, t: Tensor, tokens: Tensor) -> Tensor:
        """The teacher's velocity, pulled away from that of an empty sentence."""
        twice = torch.cat([x, x]).contiguous(memory_format=torch.channels_last)
        both = self.ask_teacher(twice, torch.cat([t, t]), torch.cat([tokens, unsaid(tokens)])).float()
        said, not_said = both.chunk(2)
        return not_said + self.args.guidance * (said - not_said)

    def once(self, tokens: Tensor) -> None:
        """The student's one step against the teacher's several, from where the student itself got to; then learn."""
        n, side = self.args.student_steps, self.student.shape.side
        with self.autocast(), torch.no_grad():
            x = torch.randn(tokens.shape[0], 3, side, side, device=self.device)
            x = x.contiguous(memory_format=torch.channels_last)
            starts = [x]
            for j in range(n - 1):
                t = torch.full((tokens.shape[0],), self.times[j], device=self.device)
                x = x + (self.times[j + 1] - self.times[j]) * self.ask_student(x, t, tokens).float()
                starts.append(x)
            tokens = tokens.repeat(n, 1)
            start = torch.cat(starts).contiguous(memory_format=torch.channels_last)
            x, span = start, (self.t_to - self.t_from).view(-1, 1, 1, 1)
            for j in range(self.args.teacher_steps):
                t = torch.lerp(self.t_from, self.t_to, j / self.args.teacher_steps)
                x = x + span / self.args.teacher_steps * self.guided(x, t, tokens)
            target = (x - start) / span
        with self.autocast():
            velocity = self.ask_student(start, self.t_from, tokens)
        loss = huber(velocity.float() - target)
        loss.backward()
        nn.utils.clip_grad_norm_(self.student.parameters(), 1.0)
        self.optimiser.step(self.speed)
        self.losses += loss.detach()

    def prepare(self, tokens: Tensor) -> None:
        """Compile and record a step; leaves the weights as they are."""
        self.speed.zero_()
        self.repeated = Repeated(self.once, (tokens,), is_recorded=self.device.type == "cuda")
        self.losses.zero_()

    def learn(self, tokens: Tensor, fade: float) -> None:
        """One step of the optimiser and of the average."""
        self.speed.fill_(min(1.0, (self.step + 1) / self.args.warm_up) * fade)
        self.repeated(tokens)
        self.step += 1
        keep = min(self.args.ema, self.step / (10 + self.step))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.student.parameters()), 1 - keep)

    def save(self, out: Path, log: dict[str, Any]) -> None:
        """The averaged student and what is known about it."""
        save_weights(out, "student", self.average.state_dict())
        piece = {"steps": self.step, "batch": self.args.batch, **log}
        facts = {**self.facts, "distilling": [*self.facts.get("distilling", []), piece], "guidance": self.args.guidance}
        save_facts(out, {**facts, "times": self.times})


def distil(distiller: Distiller, stream: Stream, begin: float) -> dict[str, Any]:
    """Learn until the time is up; returns what was measured."""
    args, device = distiller.args, distiller.device
    limit_s = args.minutes * 60 - (12 if device.type == "cuda" else 1)
    log: dict[str, Any] = {"losses": {}}
    distiller.prepare(to_device(stream.next(), device)[2])
    synchronise(device)
    last_save = started = time.time()
    print(f"compiled after {started - begin:.0f} s", flush=True)
    while time.time() - begin < limit_s and distiller.step < args.max_steps:
        _, _, tokens = to_device(stream.next(), device)
        # Every piece fades: a distilled network is used as it is, and a next piece warms up again.
        done = (time.time() - started) / (begin + limit_s - started)
        distiller.learn(tokens, max(0.01, 1 - done**2))
        if distiller.step % 50 == 0:
            mean = distiller.losses.item() / 50
            distiller.losses.zero_()
            if mean != mean:
                raise SystemExit(f"the loss is {mean!r} at step {distiller.step}; lower --muon-rate")
            rate = distiller.step * args.batch / (time.time() - started)
            log["losses"][distiller.step] = round(mean, 5)
            log["walks_per_s"] = round(rate)
            print(f"step {distiller.step}  loss {mean:.5f}  {rate:.0f} walks/s", flush=True)
        if time.time() - last_save > 100:
            distiller.save(args.out, log)
            last_save = time.time()
    return log


def main() -> None:
    """Distil, or go on with it."""
    begin = time.time()
    args = parse_arguments()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(args.seed)
    rows_of = {row: i for i, row in enumerate(bank_rows())}
    seed = args.seed + int(begin) % 100_000
    stream = Stream(n=args.batch, seed=seed, extents=drawing_extents(), rows_of=rows_of, n_workers=args.workers)
    distiller = Distiller(args, device)
    log = distil(distiller, stream, begin)
    stream.close()
    distiller.save(args.out, log)
    tokens = encode_prompts(SHEET_PROMPTS, device)
    pictures = paint(distiller.average, tokens, seed=5, n_steps=args.student_steps, shift=args.shift)
    save_sheet(pictures, SHEET_PROMPTS, args.out / "student.png")
    print(json.dumps({"steps": distiller.step, "seconds": round(time.time() - begin)}))


if __name__ == "__main__":
    main()
