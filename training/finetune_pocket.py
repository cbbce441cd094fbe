"""Fine-tunes the pocket painter on pictures that `salva export` selected from a run.

    python3 training/finetune_pocket.py prepare --data SFT_FOLDER --pairs FILE.parquet --to own.npz
    python3 training/finetune_pocket.py tune --how sft --base DIR --data own.npz --minutes 1.5 --out OUT
    python3 training/finetune_pocket.py tune --how dpo --base DIR --data own.npz --minutes 1.5 --out OUT

--data of tune can also be the folder (sft) or the Parquet file (dpo) itself. Every weight moves, slowly; a share
of each batch comes from the ordinary world, so that nothing is forgotten. OUT gets ema-*.safetensors and pocket.json,
which distil_pocket.py and export_pocket.py read.

sft        flow matching on right pictures: the mean squared error of the velocity, as in training.
dpo        Diffusion-DPO (Wallace et al. 2023) for flow matching. For a caption c with a better picture w and a
           worse one l, one time t and one noise n for both, x_t = (1 - t) x + t n, and

               e(x)  = mean over pixels of (v(x_t, t, c) - (n - x))^2         the network that learns
               e0(x) = the same of the frozen network it started from
               loss  = -log sigmoid(-beta * ((e(w) - e0(w)) - (e(l) - e0(l))))

           Its slope at the start is beta / 2 times that of e(w) - e(l); it is taken times 2 / beta, so that whatever
           beta is, it begins as strong as the plain error of the other pictures in the batch. Where t is below
           pocket_model.EARLIEST, errors are weighed as in training.
control    no selected picture at all: the whole batch comes from the ordinary world.
"""

from __future__ import annotations

import argparse
import copy
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pocket_tuning_data as tuning_data
import torch
from pocket_captions import END, START, vocabulary
from pocket_drawing import Drawer, bank_rows, drawing_extents
from pocket_model import EARLIEST, Forward, PocketPainter
from pocket_optimiser import PocketOptimiser
from pocket_repeat import Repeated
from pocket_stream import Stream
from pocket_weights import load_facts, load_painter, save_facts, save_weights
from torch import Tensor, nn
from torch.nn import functional

HOWS = ("sft", "dpo", "control")
UNSAID_SHARE = 0.1
"""Of captions left out, so that guidance keeps something to pull away from."""
SHOWN_EVERY = 50


def add_options(parser: argparse.ArgumentParser) -> None:
    """What fine-tuning can be told, here and where several ways are compared."""
    parser.add_argument("--base", type=Path, required=True, help="folder of train_pocket.py, to start from")
    parser.add_argument("--max-steps", type=int, default=500)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--world-share", type=float, default=0.5, help="of a batch, drawn from the ordinary world")
    parser.add_argument("--beta", type=float, default=2000.0, help="dpo: how sharply a preference is judged")
    parser.add_argument("--muon-rate", type=float, default=2e-4)
    parser.add_argument("--adam-rate", type=float, default=1e-4)
    parser.add_argument("--warm-up", type=int, default=50)
    parser.add_argument("--ema", type=float, default=0.99)
    parser.add_argument("--time-mean", type=float, default=1.0, help="of the logit-normal, as in training")
    parser.add_argument("--time-spread", type=float, default=1.2, help="of the logit-normal, as in training")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument(
        "--no-record", action="store_true", help="tell the GPU every step anew; slower, and always works"
    )
    parser.add_argument("--seed", type=int, default=31)


def velocity_errors(painter: Forward, pictures: Tensor, noise: Tensor, t: Tensor, tokens: Tensor) -> Tensor:
    """Mean squared error of the velocity for each picture [b]."""
    b = pictures.shape[0]
    mixed = torch.lerp(pictures, noise, t.view(b, 1, 1, 1)).contiguous(memory_format=torch.channels_last)
    # Nothing is kept between uses of a weight: a recorded step would go on using what the first one kept.
    with torch.autocast(pictures.device.type, torch.bfloat16, enabled=pictures.is_cuda, cache_enabled=False):
        velocity = painter(mixed, t, tokens)
    truth = (mixed - pictures) / t.clamp_min(EARLIEST).view(b, 1, 1, 1)
    return (velocity.float() - truth).square().mean((1, 2, 3))


def preference_loss(better: Tensor, worse: Tensor, better_before: Tensor, worse_before: Tensor, beta: float) -> Tensor:
    """The dpo loss of the module's docstring, from the four errors of each pair [k]."""
    lag = (better - better_before) - (worse - worse_before)
    return -functional.logsigmoid(-beta * lag).mean()


def some_unsaid(tokens: Tensor) -> Tensor:
    """The same captions, some of them empty."""
    empty = torch.zeros_like(tokens)
    empty[:, 0], empty[:, 1] = START, END
    return torch.where(torch.rand(tokens.shape[0], 1, device=tokens.device) < UNSAID_SHARE, empty, tokens)


class Tuner:
    """A network on its way from the base, the base itself, and the pictures they learn from."""

    def __init__(self, args: argparse.Namespace, device: torch.device, data: tuning_data.TuningData | None) -> None:
        self.args, self.device = args, device
        self.facts = load_facts(args.base)
        if self.facts["words"] != vocabulary():
            raise SystemExit(
                f"the words in {str(args.base)!r} are not today's; train from the start or undo the change"
            )
        self.painter: PocketPainter = load_painter(args.base, "ema").to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch documents memory_format, its types lack it
        self.before = copy.deepcopy(self.painter).requires_grad_(False)
        self.average = copy.deepcopy(self.before)
        self.optimiser = PocketOptimiser(
            self.painter, adam_rate=args.adam_rate, muon_rate=args.muon_rate, weight_decay=0.0
        )
        self.drawer = Drawer(self.painter.shape.side, device)
        self.n_world = round(args.batch * args.world_share)
        self.n_own = args.batch - self.n_world
        self.rng = np.random.default_rng(args.seed)
        self.speed = torch.zeros((), device=device)
        self.losses = torch.zeros(4, device=device)
        if data is not None:
            if data.pictures.shape[1] != self.painter.shape.side:
                raise SystemExit(f"pictures have {data.pictures.shape[1]} pixels; wanted {self.painter.shape.side}")
            self.pictures = torch.from_numpy(data.pictures).permute(0, 3, 1, 2).contiguous().to(device)
            self.right, self.right_tokens = self._on_device(data.right), self._on_device(data.right_tokens)
            self.chosen, self.rejected = self._on_device(data.chosen), self._on_device(data.rejected)
            self.pair_tokens = self._on_device(data.pair_tokens)
            self.weights = {"sft": data.right_weights, "dpo": data.pair_weights}

    def _on_device(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(array).long().to(self.device)

    def start_over(self) -> None:
        """Weights, average and the optimiser's memory as at the beginning, where they lie."""
        with torch.no_grad():
            for mine, base in zip(self.painter.parameters(), self.before.parameters(), strict=True):
                mine.copy_(base)
            for mine, base in zip(self.average.parameters(), self.before.parameters(), strict=True):
                mine.copy_(base)
        forget(self.optimiser)
        self.losses.zero_()

    def show(self, which: Tensor) -> Tensor:
        """Selected pictures by number, in -1 to 1."""
        return self.pictures[which].float() / 127.5 - 1

    def chance(self, n: int) -> tuple[Tensor, Tensor]:
        """Noise and times for n pictures."""
        side = self.painter.shape.side
        t = torch.sigmoid(self.args.time_spread * torch.randn(n, device=self.device) + self.args.time_mean)
        return torch.randn(n, 3, side, side, device=self.device), t

    def plain_step(self, world: Tensor, said: Tensor, which: Tensor) -> None:
        """Flow matching on the world and on right pictures."""
        pictures, tokens = world, some_unsaid(said)
        if which.shape[0]:
            pictures = torch.cat([self.show(self.right[which]), world])
            tokens = _stacked(some_unsaid(self.right_tokens[which]), tokens)
        errors = velocity_errors(self.painter, pictures, *self.chance(pictures.shape[0]), tokens)
        n_own = which.shape[0]
        self._move(errors.mean(), errors[n_own:], errors[:n_own], errors.new_zeros(1))

    def preference_step(self, world: Tensor, said: Tensor, which: Tensor) -> None:
        """Flow matching on the world, preferences on pairs."""
        k = which.shape[0]
        both = torch.cat([self.show(self.chosen[which]), self.show(self.rejected[which])])
        tokens = self.pair_tokens[which].repeat(2, 1)
        noise, t = (one.repeat(2, *[1] * (one.ndim - 1)) for one in self.chance(k))
        world_noise, world_t = self.chance(world.shape[0])
        errors = velocity_errors(
            self.painter,
            torch.cat([both, world]),
            torch.cat([noise, world_noise]),
            torch.cat([t, world_t]),
            _stacked(tokens, some_unsaid(said)),
        )
        with torch.no_grad():
            old = velocity_errors(self.before, both, noise, t, tokens)
        better, worse, plain = errors[:k], errors[k : 2 * k], errors[2 * k :]
        beta = self.args.beta
        preference = preference_loss(better, worse, old[:k], old[k:], beta)
        share = self.args.world_share
        loss = share * plain.mean() + (1 - share) * 2 / beta * preference
        is_ahead = (better - old[:k] < worse - old[k:]).float()
        self._move(loss, plain, preference[None], is_ahead)

    def _move(self, loss: Tensor, world: Tensor, own: Tensor, ahead: Tensor) -> None:
        loss.backward()
        nn.utils.clip_grad_norm_(self.painter.parameters(), 1.0)
        self.optimiser.step(self.speed)
        shown = [world.sum() / max(1, world.shape[0]), own.sum() / max(1, own.shape[0]), ahead.mean()]
        self.losses += torch.stack([*(one.detach() for one in shown), torch.ones_like(self.speed)])

    def step_of(self, how: str) -> tuple[Callable[..., None], int, int]:
        """What a step does, how many numbers of pictures or pairs it takes, and how many there are."""
        if how == "control":
            return self.plain_step, 0, 1
        n = (self.right if how == "sft" else self.chosen).shape[0]
        if not n:
            raise SystemExit(
                f"the data holds nothing for {how}; prepare it with {'--data' if how == 'sft' else '--pairs'}"
            )
        return (self.plain_step, self.n_own, n) if how == "sft" else (self.preference_step, self.n_own // 2, n)

    def batch(self, stream: Stream, how: str, k: int, n: int) -> tuple[Tensor, Tensor, Tensor]:
        """Drawn pictures of the world, their captions, and numbers of selected ones."""
        wanted = self.args.batch if how == "control" else self.n_world
        chunks = [stream.next() for _ in range(-(-wanted // stream_size(self.args)))]
        rows, places, tokens = (
            torch.from_numpy(np.concatenate([getattr(chunk, name) for chunk in chunks])[:wanted]).to(self.device)
            for name in ("rows", "places", "tokens")
        )
        which = torch.from_numpy(self.rng.choice(n, k, p=self.weights[how] if k else None)).to(self.device)
        return self.drawer.paste(rows, places).contiguous(), tokens.long(), which

    def save(self, out: Path, piece: dict[str, Any]) -> None:
        """The averaged network and what is known about it."""
        save_weights(out, "ema", self.average.state_dict())
        save_facts(out, {**self.facts, "distilling": [], "tuning": [*self.facts.get("tuning", []), piece]})


def forget(optimiser: PocketOptimiser) -> None:
    """Clear the optimiser's memory where it lies."""
    for memory in optimiser.memory.values():
        memory.zero_()
    for state in optimiser.adam.state.values():
        for value in state.values():
            value.zero_()


def stream_size(args: argparse.Namespace) -> int:
    """Pictures a chunk: small, so that batches of several sizes can be put together from them."""
    return min(128, int(args.batch))


def _stacked(one: Tensor, two: Tensor) -> Tensor:
    """Captions of two lengths, one above the other."""
    length = max(one.shape[1], two.shape[1])
    return torch.cat([functional.pad(tokens, (0, length - tokens.shape[1])) for tokens in (one, two)])


def tune(tuner: Tuner, stream: Stream, how: str, limit_s: float) -> dict[str, Any]:
    """Learn from the base on, until the steps or the seconds are used up; says what was measured."""
    args, began = tuner.args, time.time()
    work, k, n = tuner.step_of(how)
    tuner.speed.zero_()
    is_recorded = tuner.device.type == "cuda" and not args.no_record
    repeated = Repeated(work, tuner.batch(stream, how, k, n), is_recorded=is_recorded)
    tuner.start_over()
    piece: dict[str, Any] = {"how": how, "examples": n if k else 0, "own_a_step": k, "losses": {}}
    told = ("batch", "world_share", "beta", "muon_rate", "adam_rate", "ema", "warm_up", "max_steps")
    piece |= {name: getattr(args, name) for name in told}
    step, started = 0, time.time()
    while step < args.max_steps and time.time() - began < limit_s:
        # Learning fades with whichever ends sooner, the steps or the time.
        done = max(step / args.max_steps, (time.time() - started) / max(1e-3, began + limit_s - started))
        tuner.speed.fill_(min(1.0, (step + 1) / args.warm_up) * max(0.01, 1 - done))
        repeated(*tuner.batch(stream, how, k, n))
        step += 1
        keep = min(args.ema, step / (10 + step))
        with torch.no_grad():
            torch._foreach_lerp_(list(tuner.average.parameters()), list(tuner.painter.parameters()), 1 - keep)
        if step % SHOWN_EVERY == 0 or step == args.max_steps:
            world, own, ahead, count = tuner.losses.tolist()
            tuner.losses.zero_()
            if world != world or own != own:
                raise SystemExit(f"{how}: the loss is no number at step {step}; lower --muon-rate")
            piece["losses"][step] = [round(value / count, 5) for value in (world, own, ahead)]
            seconds = time.time() - began
            print(f"{how} {step}  world, own, ahead {piece['losses'][step]}  after {seconds:.0f} s", flush=True)
    piece |= {"steps": step, "seconds": round(time.time() - began, 1)}
    return piece


def open_data(path: Path | None, how: str) -> tuning_data.TuningData | None:
    """A packed file as it is; a folder or a Parquet file is packed first."""
    if how == "control":
        return None
    if path is None:
        raise SystemExit(f"--how {how} needs --data")
    if path.suffix == ".npz":
        return tuning_data.load(path)
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder) / "own.npz"
        is_table = path.suffix == ".parquet"
        tuning_data.prepare([] if is_table else [path], [path] if is_table else [], packed)
        return tuning_data.load(packed)


def start(args: argparse.Namespace) -> tuple[Stream, torch.device]:
    """The world's stream, before anything touches the GPU, and the device."""
    rows_of = {row: i for i, row in enumerate(bank_rows())}
    # The seconds move the seed on, so that no two pieces see the same scenes.
    seed = args.seed + int(time.time()) % 100_000
    stream = Stream(n=stream_size(args), seed=seed, extents=drawing_extents(), rows_of=rows_of, n_workers=args.workers)
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(args.seed)
    return stream, torch.device("cuda" if torch.cuda.is_available() else "cpu")


def main() -> None:
    """Prepare or tune."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    preparing = verbs.add_parser("prepare")
    preparing.add_argument("--data", type=Path, nargs="*", default=[], help="folders of `salva export --as sft`")
    preparing.add_argument("--pairs", type=Path, nargs="*", default=[], help="files of `salva export --as dpo`")
    preparing.add_argument("--to", type=Path, required=True)
    tuning = verbs.add_parser("tune")
    tuning.add_argument("--how", choices=HOWS, required=True)
    tuning.add_argument("--data", type=Path, help="a packed .npz, an sft folder or a dpo Parquet file")
    tuning.add_argument("--out", type=Path, required=True)
    tuning.add_argument("--minutes", type=float, default=2.0, help="of learning, at most")
    add_options(tuning)
    args = parser.parse_args()
    if args.verb == "prepare":
        print(json.dumps(tuning_data.prepare(args.data, args.pairs, args.to)))
        return
    data = open_data(args.data, args.how)
    stream, device = start(args)
    tuner = Tuner(args, device, data)
    try:
        piece = tune(tuner, stream, args.how, args.minutes * 60)
    finally:
        stream.close()
    tuner.save(args.out, piece)
    print(json.dumps({name: piece[name] for name in ("how", "examples", "steps", "seconds")}))


if __name__ == "__main__":
    main()
