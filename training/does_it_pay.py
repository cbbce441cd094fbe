"""The worked example "does it pay?": fine-tune pocket on what salva selected from its own runs, measure both.

    python training/does_it_pay.py here-before                          CPU, about 20 minutes
    python training/does_it_pay.py gpu --minutes 8.8 --out TUNED        one GPU, under 9 minutes; needs WORK/*.npz
    python training/does_it_pay.py here-after --tuned TUNED             CPU, about 25 minutes

here-before runs semvar's train split and MetaLogic on pocket, exports and packs what was selected, and measures
pocket on held-out cases. gpu makes three painters from the same base in equal time: control (ordinary world
alone), sft and dpo; each is then distilled to six steps. here-after measures these on the same held-out cases and
writes the table. The stages on the CPU go on where they stopped.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "explanation" / "does-it-pay.md"
TRAIN_THINGS = ("cat", "dog", "apple", "banana", "cow", "airplane")
HELD_OUT_THINGS = ("horse", "bird", "car", "pizza", "ball", "bicycle")
ARMS = ("control", "sft", "dpo")
DISTIL_STEPS = 550
DISTIL_CAPTIONS = 0.5
"""Of the captions a student practises on, those of the training cases; the same for every arm."""
LOGIC = ("metalogic", "--reader", "none")
RUNS = {
    "semvar-train": ("semvar", "--size", "train", "--repeats", "2"),
    "metalogic-train": (*LOGIC, "--size", "720", "--set", f"suite.entities={','.join(TRAIN_THINGS)}"),
    "semvar-test": ("semvar", "--size", "test", "--repeats", "2"),
    "metalogic-test": (*LOGIC, "--size", "300", "--set", f"suite.entities={','.join(HELD_OUT_THINGS)}"),
}


def salva(*words: str) -> str:
    """Run the salva command; gives what it printed."""
    done = subprocess.run(
        [str(Path(sys.executable).with_name("salva")), *words], cwd=ROOT, check=False, text=True, stdout=subprocess.PIPE
    )
    if done.returncode:
        raise SystemExit(f"`salva {' '.join(words)}` ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def run(name: str, painter: str, work: Path, weights: Path | None = None) -> Path:
    """One run of RUNS on a painter; one that is finished costs nothing."""
    out = work / "runs" / f"{painter}-{name}"
    chosen = ("--set", f"model.weights={weights}") if weights else ()
    asked = ("--model", "pocket", "--no-progress", "--out", str(out))
    print(f"{painter}: {name}", flush=True)
    salva("run", *RUNS[name], *chosen, *asked)
    return out


def check_held_out() -> None:
    """No pair of things is in both a training case and a held-out one, whichever suite they are of."""
    from salva.suites.semvar.suite import SemVar, SemVarOptions

    pairs = {"train": set[frozenset[str]](), "test": set[frozenset[str]]()}
    for split, things in (("train", TRAIN_THINGS), ("test", HELD_OUT_THINGS)):
        pairs[split] |= {frozenset(pair) for pair in itertools.combinations(things, 2)}
        for case in SemVar(SemVarOptions()).cases(split):
            pairs[split].add(frozenset(case.labels["entities"].split(",")))
    both = pairs["train"] & pairs["test"]
    assert not both, f"in training and held out: {sorted(map(sorted, both))}"


def here_before(args: argparse.Namespace) -> None:
    """Paint, select, pack, and measure what there is before any tuning."""
    import pay_tables
    from pocket_student import pack_student, read_student
    from pocket_tuning_data import prepare
    from pocket_weights import load_weights

    check_held_out()
    work: Path = args.work
    runs, exported = {}, {}
    for suite in pay_tables.SUITES:
        runs[suite] = run(f"{suite}-train", "base", work)
        exported[suite] = (work / "export" / f"{suite}-sft", work / "export" / f"{suite}-dpo.parquet")
        for form, to in zip(("sft", "dpo"), exported[suite], strict=True):
            print(salva("export", str(runs[suite]), "--as", form, "--need-kept", "-o", str(to)))
    folders, tables = zip(*exported.values(), strict=True)
    packed = prepare(folders, tables, work / "own.npz")
    print(json.dumps(packed))
    told = f"Together {packed['pictures']} different pictures, packed in {packed['bytes'] / 1e6:.1f} MB."
    write_between("selected", f"{pay_tables.selected(runs, exported)}\n\n{told}")
    base = load_weights(ROOT / "training" / "weights" / "pocket", "ema")
    student = read_student(ROOT / "src" / "salva" / "assets" / "pocket", base)
    pack_student(student, base, work / "student.npz")
    held_out = {"pocket as shipped": {suite: run(f"{suite}-test", "base", work) for suite in pay_tables.SUITES}}
    write_between("before", pay_tables.table(held_out, against=()))


def here_after(args: argparse.Namespace) -> None:
    """Export the tuned painters, measure them on the held-out cases, and write the table."""
    import pay_tables
    from pocket_student import unpack_student
    from pocket_weights import load_weights, save_facts, save_weights

    work: Path = args.work
    base = load_weights(ROOT / "training" / "weights" / "pocket", "ema")
    facts = json.loads((args.tuned / "pay.json").read_text())
    painters = {"pocket as shipped": {suite: run(f"{suite}-test", "base", work) for suite in pay_tables.SUITES}}
    for arm in ARMS:
        student, onnx = work / "students" / arm, work / "onnx" / arm
        if not (onnx / "painter.json").is_file():
            save_weights(student, "student", unpack_student(args.tuned / f"{arm}.npz", base))
            save_facts(student, facts[arm])
            command = [sys.executable, str(ROOT / "training" / "export_pocket.py"), "--from", str(student)]
            subprocess.run([*command, "--name", "student", "--out", str(onnx)], check=True)
        painters[arm] = {suite: run(f"{suite}-test", arm, work, onnx) for suite in pay_tables.SUITES}
    write_between("after", pay_tables.table(painters, against=("pocket as shipped", "control")))


def write_between(name: str, text: str) -> None:
    """Put text between the page's markers of that name."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(begin)
    _, found, tail = rest.partition(end)
    if not found:
        raise SystemExit(f"{PAGE.name} has no markers {begin!r} and {end!r}; the table:\n{text}")
    PAGE.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")
    print(text)


def gpu(args: argparse.Namespace) -> None:
    """Tune three painters from one base, distil each, and leave them packed."""
    begin = time.time()
    import finetune_pocket
    import pocket_tuning_data
    import torch
    from distil_pocket import Distiller

    data = pocket_tuning_data.load(args.work / "own.npz")
    stream, device = finetune_pocket.start(args)
    practice = Practice(args, data, stream, device)
    # Another process compiles the distilling meanwhile; what it compiled is found again on the disk.
    ahead = compile_ahead(args, practice.length) if device.type == "cuda" and not args.no_compile else None
    facts: dict[str, Any] = {}
    is_anew = False
    try:
        tuner = finetune_pocket.Tuner(args, device, data)
        tuned = {}
        for i, arm in enumerate(ARMS):
            left = begin + 60 * args.minutes * args.tune_share - time.time()
            try:
                piece = finetune_pocket.tune(tuner, stream, arm, max(1.0, left) / (len(ARMS) - i))
            except RuntimeError as error:
                if args.no_record or device.type != "cuda":
                    raise
                is_anew = True
                print(f"{arm}: a step could not be recorded ({error}); once more without", flush=True)
                return
            tuned[arm] = {key: value.detach().clone() for key, value in tuner.average.state_dict().items()}
            facts[arm] = {**tuner.facts, "tuning": [piece], "distilling": []}
        base = {key: value.clone() for key, value in tuner.before.state_dict().items()}
        del tuner
        if device.type == "cuda":
            torch.cuda.empty_cache()
        if ahead is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                ahead.wait(timeout=120)
        distiller = Distiller(distil_arguments(args), device)
        distil_all(distiller, practice, (base, tuned, facts), begin)
    finally:
        stream.close()
        if ahead is not None and ahead.poll() is None:
            ahead.kill()
        if is_anew:
            # What a failed recording leaves behind on the GPU goes only with the process.
            left = args.minutes - (time.time() - begin) / 60
            os.execv(sys.executable, [sys.executable, *sys.argv, "--no-record", "--minutes", f"{left:.2f}"])
    print(f"done after {time.time() - begin:.0f} s")


def compile_ahead(args: argparse.Namespace, length: int) -> subprocess.Popen[bytes]:
    """A process that compiles the distilling for captions of this length, and ends."""
    words = ["compile", "--out", str(args.out), "--base", str(args.base), "--batch", str(args.batch)]
    return subprocess.Popen([sys.executable, str(Path(__file__).resolve()), *words, "--length", str(length)])


def compile_only(args: argparse.Namespace) -> None:
    """Compile the distilling and throw it away; the compiler keeps its own copy on the disk."""
    import torch
    from distil_pocket import Distiller
    from pocket_captions import END, START

    begin = time.time()
    distiller = Distiller(distil_arguments(args), torch.device("cuda"))
    tokens = torch.zeros(distiller.args.batch, args.length, dtype=torch.long, device="cuda")
    tokens[:, 0], tokens[:, 1] = START, END
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.benchmark = True
    distiller.prepare(tokens)
    print(f"compiled ahead in {time.time() - begin:.0f} s", flush=True)


def distil_arguments(args: argparse.Namespace) -> argparse.Namespace:
    """As distil_pocket.py is told, with the rates of a student that only goes on."""
    from finetune_pocket import stream_size

    return argparse.Namespace(
        source=args.base, resume=None, batch=stream_size(args), muon_rate=4e-4, adam_rate=1.5e-4, warm_up=50, ema=0.99,
        guidance=2.0, student_steps=6, teacher_steps=3, shift=2.0, no_compile=args.no_compile,
        minutes=args.minutes, steps=args.distil_steps,
    )  # fmt: skip


class Practice:
    """Captions for the students: of the ordinary world, and of the training cases."""

    def __init__(self, args: argparse.Namespace, data: Any, stream: Any, device: Any) -> None:
        import numpy as np
        import torch
        from finetune_pocket import stream_size
        from pocket_stream import LONGEST

        self.work, self.out, self.stream, self.device = args.work, args.out, stream, device
        length = max(LONGEST, data.right_tokens.shape[1], data.pair_tokens.shape[1])
        padded = [np.pad(one, ((0, 0), (0, length - one.shape[1]))) for one in (data.right_tokens, data.pair_tokens)]
        self.own = torch.from_numpy(np.unique(np.concatenate(padded), axis=0)).long()
        self.length, self.n_own = length, round(DISTIL_CAPTIONS * stream_size(args))
        self.chance = torch.Generator().manual_seed(args.seed)

    def tokens(self) -> Any:
        """One batch."""
        import torch
        from torch.nn import functional

        world = torch.from_numpy(self.stream.next().tokens).long()
        world = functional.pad(world, (0, self.length - world.shape[1]))
        which = torch.randint(0, self.own.shape[0], (self.n_own,), generator=self.chance)
        return torch.cat([self.own[which], world[self.n_own :]]).to(self.device)


def distil_all(distiller: Any, practice: Practice, weights: tuple[Any, Any, Any], begin: float) -> None:
    """A student for each arm, one after the other in the same memory, so that only the first is compiled."""
    from finetune_pocket import forget
    from pocket_student import pack_student, unpack_student

    base, tuned, facts = weights
    shipped = unpack_student(practice.work / "student.npz", {key: value.cpu() for key, value in base.items()})
    teacher = getattr(distiller.ask_teacher, "_orig_mod", distiller.ask_teacher)
    distiller.prepare(practice.tokens())
    practice.out.mkdir(parents=True, exist_ok=True)
    for i, arm in enumerate(ARMS):
        teacher.load_state_dict(tuned[arm])
        # What tuning changed in the teacher is a good guess at what it will change in the student.
        guess = {key: shipped[key].to(base[key].device) + tuned[arm][key] - base[key] for key in base}
        distiller.student.load_state_dict(guess)
        distiller.average.load_state_dict(guess)
        forget(distiller.optimiser)
        distiller.step = 0
        distiller.losses.zero_()
        until = begin + 60 * distiller.args.minutes - 15
        limit_s = max(1.0, until - time.time()) / (len(ARMS) - i)
        facts[arm]["distilling"] = [_distil(distiller, practice, arm, limit_s)]
        facts[arm] |= {"times": distiller.times, "guidance": distiller.args.guidance}
        student = {key: value.detach().float().cpu() for key, value in distiller.average.state_dict().items()}
        pack_student(student, {key: value.cpu() for key, value in base.items()}, practice.out / f"{arm}.npz")
        (practice.out / "pay.json").write_text(json.dumps(facts) + "\n")


def _distil(distiller: Any, practice: Practice, arm: str, limit_s: float) -> dict[str, Any]:
    args, started = distiller.args, time.time()
    losses: dict[int, float] = {}
    while distiller.step < args.steps and time.time() - started < limit_s:
        done = max(distiller.step / args.steps, (time.time() - started) / limit_s)
        distiller.learn(practice.tokens(), max(0.01, 1 - done**2))
        if distiller.step % 50 == 0 or distiller.step == args.steps:
            losses[distiller.step] = round(distiller.losses.item() / ((distiller.step - 1) % 50 + 1), 5)
            distiller.losses.zero_()
            if losses[distiller.step] != losses[distiller.step]:
                raise SystemExit(f"{arm}: the loss is no number at step {distiller.step}; lower the rates")
            print(f"{arm} student {distiller.step}  loss {losses[distiller.step]}", flush=True)
    return {"steps": distiller.step, "batch": args.batch, "losses": losses, "seconds": round(time.time() - started, 1)}


def main() -> None:
    """One stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    stages = parser.add_subparsers(dest="stage", required=True)
    acts = {"here-before": here_before, "gpu": gpu, "compile": compile_only, "here-after": here_after}
    for name, act in acts.items():
        stage = stages.add_parser(name)
        stage.add_argument("--work", type=Path, default=ROOT / "training" / "out" / "pay")
        stage.set_defaults(act=act)
        if name in ("gpu", "compile"):
            from finetune_pocket import add_options

            add_options(stage)
            stage.add_argument("--out", type=Path, required=True)
            stage.add_argument("--minutes", type=float, default=8.8, help="for everything")
            stage.add_argument("--tune-share", type=float, default=0.4, help="of the minutes, over when tuning must be")
            stage.add_argument("--distil-steps", type=int, default=DISTIL_STEPS)
            stage.add_argument("--no-compile", action="store_true")
            stage.add_argument("--length", type=int, default=0, help="compile: of the captions, in words")
        elif name == "here-after":
            stage.add_argument("--tuned", type=Path, required=True, help="what the stage gpu left")
    args = parser.parse_args()
    # The folder of weights is part of what a run was asked, so it must not depend on where one stands.
    args.work = args.work.resolve()
    args.act(args)


if __name__ == "__main__":
    main()
