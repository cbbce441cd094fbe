"""How a run bears length and bad luck: an instant generator and the full store, up to 113,736 images.

Every size is run twice. Once undisturbed, with a report read beside it again and again: rate, memory, sizes, and how
long the report, the finished run again and the rows as CSV take. Once with kills at random, a disk that fills up (a
limit on the size of files) and a clock that jumps: what is stored afterwards is held against the undisturbed run.

    python bench/endurance.py [N_IMAGES...]      default 1000 10000; all of it: 1000 10000 113736
"""

from __future__ import annotations

import hashlib
import json
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

N_KILLS, N_FULL_DISKS = 8, 3
SIZES = (1_000, 10_000)
_WIDTH = 10


def main() -> None:
    """Measure and print the tables."""
    sizes = [int(word) for word in sys.argv[1:]] or list(SIZES)
    measured, endured = [], []
    for n_images in sizes:
        root = Path(tempfile.mkdtemp(prefix="salva-endurance-"))
        try:
            calm = undisturbed(root / "calm", n_images)
            measured.append({"images": n_images, **calm})
            endured.append({"images": n_images, **disturbed(root, n_images, calm["run s"])})
        finally:
            shutil.rmtree(root)
    print_table(measured)
    print()
    print_table(endured)
    if any(row["lost"] or row["doubled"] or row["torn"] or not row["same verdicts"] for row in endured):
        sys.exit("something was lost, doubled or torn")


def undisturbed(directory: Path, n_images: int) -> dict[str, float]:
    """The run with somebody who reads its report all the time, then what is done with it afterwards."""
    seconds: list[float] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.wait(1.0):
            done = child("report", directory, n_images, check=False)
            if done is not None:
                seconds.append(done["s"])

    reader = threading.Thread(target=read)
    reader.start()
    try:
        run = told("run", directory, n_images)
    finally:
        stop.set()
        reader.join()
    report, again, rows = (told(what, directory, n_images) for what in ("report", "run", "csv"))
    return {
        "images/s": n_images / run["s"],
        "run s": run["s"],
        "run MiB": run["mib"],
        "db MiB": (directory / "salva.db").stat().st_size / 2**20,
        "files MiB": sum(path.stat().st_size for path in (directory / "images").rglob("*.webp")) / 2**20,
        "reports beside": len(seconds),
        "report s": report["s"],
        "report MiB": report["mib"],
        "again s": again["s"],
        "csv s": rows["s"],
        "csv MiB": rows["mib"],
    }


def disturbed(root: Path, n_images: int, run_s: float) -> dict[str, float]:
    """The same run, killed and starved at random moments until nobody is left to disturb it."""
    rng = random.Random(n_images)
    directory, n_killed, n_starved = root / "rough", 0, 0
    for turn in range(N_KILLS + N_FULL_DISKS):
        is_full = turn % 4 == 1
        extra = ["--most-bytes", str(_largest(directory) + rng.randrange(20_000, 200_000))] if is_full else []
        process = subprocess.Popen(
            [*command("rough", directory, n_images), *extra], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(timeout=None if is_full else rng.uniform(0.3, 0.5 + run_s / (4 * N_KILLS)))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            n_killed += 1
        else:
            n_starved += process.returncode == STARVED
        assert process.stdout is not None
        process.stdout.close()
    told("rough", directory, n_images)
    calm, rough = contents(root / "calm"), contents(directory)
    return {
        "killed": n_killed,
        "disk full": n_starved,
        "lost": sum(len(calm[table] - rough[table]) for table in calm),
        "doubled": sum(len(rough[table] - calm[table]) for table in calm),
        "torn": n_torn(directory),
        "same verdicts": digest(root / "calm") == digest(directory),
    }


def _largest(directory: Path) -> int:
    sizes = [path.stat().st_size for path in directory.glob("salva.db*")]
    return max(sizes, default=0)


def contents(directory: Path) -> dict[str, set[str]]:
    """The keys of everything that is stored."""
    keys = {"renders": "render_key", "observations": "observation_key", "images": "image_id", "cases": "case_id"}
    connection = sqlite3.connect(directory / "salva.db")
    found = {table: {row[0] for row in connection.execute(f"SELECT {key} FROM {table}")} for table, key in keys.items()}
    connection.close()
    return found


def digest(directory: Path) -> str:
    """All verdict rows, as one hash."""
    connection = sqlite3.connect(directory / "salva.db")
    hashed = hashlib.sha256()
    for row in connection.execute('SELECT * FROM verdicts ORDER BY case_id, repeat, arm, model, "check", observers'):
        hashed.update(repr(row).encode())
    connection.close()
    return hashed.hexdigest()


def n_torn(directory: Path) -> int:
    """Images whose file is not what its row says, and a database that is not whole."""
    connection = sqlite3.connect(directory / "salva.db")
    n = int(connection.execute("PRAGMA integrity_check").fetchone()[0] != "ok")
    for image_id, expected in connection.execute("SELECT image_id, digest FROM images"):
        path = directory / "images" / image_id[:2] / f"{image_id[2:]}.webp"
        n += not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != expected
    connection.close()
    return n


def print_table(rows: Sequence[Mapping[str, float | str]]) -> None:
    """Columns wide enough for figures and names."""
    names = list(rows[0])
    print("  ".join(f"{name:>{max(_WIDTH, len(name))}}" for name in names))
    for row in rows:
        cells = (f"{row[name]:,.1f}" if isinstance(row[name], float) else f"{row[name]}" for name in names)
        print("  ".join(f"{cell:>{max(_WIDTH, len(name))}}" for cell, name in zip(cells, names, strict=True)))


# What fresh processes do

STARVED = 7


def command(what: str, directory: Path, n_images: int) -> list[str]:
    """The command of a fresh process."""
    return [sys.executable, __file__, "--child", what, str(directory), str(n_images)]


def child(what: str, directory: Path, n_images: int, *, check: bool = True) -> dict[str, float] | None:
    """One step in a fresh process; None where it failed and may."""
    done = subprocess.run(command(what, directory, n_images), check=check, capture_output=True, text=True)
    figures: dict[str, float] | None = json.loads(done.stdout) if done.returncode == 0 else None
    return figures


def told(what: str, directory: Path, n_images: int) -> dict[str, float]:
    """One step in a fresh process that must not fail."""
    figures = child(what, directory, n_images)
    assert figures is not None
    return figures


def work(what: str, directory: Path, n_images: int) -> None:
    """The step, with the seconds and the memory it took."""
    if "--most-bytes" in sys.argv:
        # As on a full disk: whatever grows beyond this cannot be written.
        most = int(sys.argv[sys.argv.index("--most-bytes") + 1])
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    if what == "rough":
        jump_about()
    began = time.perf_counter()
    if what in ("run", "rough"):
        # What is killed reads its files back; stubs of a usual size are for measuring alone.
        run(directory, n_images, "stub" if what == "run" else "yes")
    elif what == "report":
        from salva.report.summary import summarise_run

        summarise_run(directory)
    else:
        from salva.exchange.exporting import export_run

        export_run(directory, "csv", directory.with_name("rows.csv"))
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"s": time.perf_counter() - began, "mib": mib}))


def jump_about() -> None:
    """From now on the clock on the wall jumps by up to a day, forwards and backwards, whenever it is read."""
    plain = time.time
    time.time = lambda: plain() + random.uniform(-86_400, 86_400)


def run(directory: Path, n_images: int, encoded: str) -> None:
    """The run, from the beginning or from wherever it was killed."""
    from salva.core.plan import Binding, Plan
    from salva.core.run_spec import RunSpec
    from salva.engine.progress import SilentProgress
    from salva.errors import StoreError
    from salva.runs.pipeline import execute
    from salva.testing.fakes import FakeDetector, FakeGenerator, FakeSame, FakeSuite

    painter = FakeGenerator.Options(omits=0.3, encoded=encoded, batch=32)
    spec = Plan(
        suite=Binding(role="suite", label="fake", component=FakeSuite, options=FakeSuite.Options(n=n_images // 2)),
        models=(Binding(role="model", label="fake", component=FakeGenerator, options=painter),),
        detector=Binding(role="detector", label="fake", component=FakeDetector, options=FakeDetector.Options(batch=32)),
        checks=(Binding(role="check", label="fake-same", component=FakeSame, options=FakeSame.Options()),),
        spec=RunSpec(size="full", preflight=False),
    )
    try:
        summary = execute(spec, directory, SilentProgress())
    except StoreError:
        sys.exit(STARVED)
    assert sum(summary.outcomes.values()) == n_images // 2


if __name__ == "__main__":
    if "--child" in sys.argv:
        work(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
