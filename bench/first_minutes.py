"""A GPU user's first minutes: `salva run` as typed, from Enter to the last picture, no flag set.

Stable Diffusion 1.5 and Florence-2-base as they are, with random weights, in files that the page cache holds. Each size
is run in processes of its own and the median told: seconds to the first picture on disk and to the end. Florence-2 is
held to 48 tokens a picture, about what real ones take: random weights would never say that they are done.

    python bench/first_minutes.py                           120 and 300 pictures thrice, 2,000 once: one H200
    python bench/first_minutes.py --pictures 120 300 --times 1 --trace stacks.txt --imports imports.txt
                                                            in four minutes, and where the time goes: what was imported
                                                            for how long, and every thread's stack twice a second
    python bench/first_minutes.py --tiny                    the same measurement in miniature, on any processor
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from gpu_architectures import save_florence2, save_stable_diffusion
from gpu_scripts import N_TOKENS, can_measure, own_folder

WANTED_S = {120: 40.0, 300: 65.0, 2000: 2000 / 6.3}
_LIBRARIES = ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "CUDA_CACHE_PATH")
"""Where the libraries keep what they compiled."""
_START = "from salva.cli.main import main; main()"
_TRACED = "import sys; sys.path.append({bench!r}); import watching; watching.watch({file!r}); "


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """What a user waited, in seconds."""

    first_picture_s: float
    whole_s: float


def as_installed(arguments: list[str], root: Path) -> dict[str, str]:
    """The variables of a machine that has used these libraries before: some come without their bytecode."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(root / "bytecode")
    environment |= {name: str(root / "libraries" / name) for name in _LIBRARIES}
    small_run(arguments, "bytecode", root, environment)
    return environment


def small_run(
    arguments: list[str], name: str, root: Path, environment: dict[str, str], *, python: Sequence[str] = ()
) -> str:
    """Four pictures, and nothing told of them; what the process said of itself."""
    command = [*(sys.executable, *python, "-c", _START, "run", "metalogic", *arguments), "--size", "2"]
    done = subprocess.run(
        [*command, "--out", str(root / f"run-{name}")],
        env={**environment, "XDG_CACHE_HOME": str(root / f"cache-{name}")},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 3):
        raise SystemExit(f"salva run ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stderr


def imports_of(arguments: list[str], file: Path, root: Path, environment: dict[str, str]) -> None:
    """A small run with every import timed; prints the packages that took longest themselves."""
    file.write_text(small_run(arguments, "imports", root, environment, python=("-X", "importtime")), encoding="utf-8")
    microseconds, n_modules = Counter[str](), Counter[str]()
    for line in file.read_text(encoding="utf-8").splitlines():
        parts = line.removeprefix("import time:").split("|")
        if line.startswith("import time:") and parts[0].strip().isdecimal():
            package = parts[2].strip().partition(".")[0]
            microseconds[package] += int(parts[0])
            n_modules[package] += 1
    print(f"imports: {n_modules.total():,} modules in {microseconds.total() / 1e6:.1f} s")
    for package, spent in microseconds.most_common(12):
        print(f"{package:>24} {spent / 1e6:>6.2f} s {n_modules[package]:>6,} modules", flush=True)


def run_once(arguments: list[str], out: Path, trace: str, environment: dict[str, str]) -> Times:
    """One process; what it prints goes to ours."""
    began = time.perf_counter()
    code = (_TRACED.format(bench=str(Path(__file__).parent), file=trace) if trace else "") + _START
    process = subprocess.Popen(
        [sys.executable, "-c", code, "run", "metalogic", *arguments, "--out", str(out)], env=environment
    )
    first = 0.0
    while process.poll() is None:
        if not first and next((out / "images").glob("*/*.webp"), None) is not None:
            first = time.perf_counter() - began
        time.sleep(0.05)
    whole = time.perf_counter() - began
    if process.returncode not in (0, 3):  # 3: random weights show nothing, and the run says so
        raise SystemExit(f"salva run ended with {process.returncode}")
    return Times(first_picture_s=first or whole, whole_s=whole)


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description="A GPU user's first minutes.")
    parser.add_argument("--pictures", type=int, nargs="+", default=[120, 300, 2000])
    parser.add_argument("--times", type=int, default=3, help="how often each size is run, but for 2,000")
    parser.add_argument("--trace", default="", help="write every thread's stack to this file, twice a second")
    parser.add_argument("--imports", type=Path, help="time every import of a small run, into this file")
    parser.add_argument("--keep", type=Path, help="folder for the random checkpoints, to use them again")
    parser.add_argument("--cold", action="store_true", help="without what libraries compiled in an earlier process")
    parser.add_argument("--tiny", action="store_true", help="in miniature, on the processor")
    parser.add_argument("--set", action="append", default=[], help="settings handed on to salva run")
    asked = parser.parse_args()
    if not can_measure(is_tiny=asked.tiny):
        return
    device = "cpu" if asked.tiny else "cuda:0"
    with own_folder() as root:
        checkpoints = asked.keep or root
        model = save_stable_diffusion(checkpoints / "sd15", device, is_tiny=asked.tiny)
        detector = save_florence2(checkpoints / "florence2", device, is_tiny=asked.tiny)
        arguments = [
            *("--model", f"diffusers/{model}", "--detector", f"florence2/{detector}", "--reader", "none"),
            *("--set", f"detector.max_tokens={N_TOKENS}", "--set", "detector.cut=keep", "--no-progress"),
            *(part for setting in asked.set for part in ("--set", setting)),
        ]
        if asked.tiny:
            arguments += ["--set", "model.steps=2"]
        environment = as_installed(arguments, root)
        if asked.imports:
            imports_of(arguments, asked.imports, root, environment)
        print(f"{'pictures':>8} {'first picture s':>16} {'whole s':>8} {'images/s':>9}  wanted", flush=True)
        for n in [8] if asked.tiny else asked.pictures:
            runs = []
            for turn in range(1 if n >= 2000 else asked.times):
                # A cache of its own for each: what an earlier run found out must not help.
                where = root / f"run-{n}-{turn}"
                names = ("XDG_CACHE_HOME", *(_LIBRARIES if asked.cold else ()))
                fresh = {name: str(root / f"cache-{n}-{turn}" / name) for name in names}
                repeats = 1 if n <= 1000 else 2  # there are not so many different pairs
                size = ["--size", str(n // 2 // repeats), "--repeats", str(repeats)]
                runs.append(run_once([*arguments, *size], where, asked.trace, environment | fresh))
            first = statistics.median(times.first_picture_s for times in runs)
            whole = statistics.median(times.whole_s for times in runs)
            wanted = f"{WANTED_S[n]:.0f} s" if n in WANTED_S else "-"
            print(f"{n:>8,} {first:>16.1f} {whole:>8.1f} {n / whole:>9.2f}  {wanted}", flush=True)


if __name__ == "__main__":
    main()
